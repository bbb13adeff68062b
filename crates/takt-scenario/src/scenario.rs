//! A scenario, and the file that it comes from.

use std::path::Path;

use crate::document::{self, Table};
use crate::error::{Problem, ScenarioError};
use crate::model::*;
use crate::quantity::Duration;
use crate::sweep::{self, Sweep};
use crate::{Frame, read};

/// A scenario: checked, with all references resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// What to call it.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Hosts and bridges.
    pub nodes: Vec<Node>,
    /// The links between them.
    pub links: Vec<Link>,
    /// Two for each link, in its order: from its first end to its second, and back.
    pub ports: Vec<Port>,
    /// PubSub applications.
    pub applications: Vec<Application>,
    /// What else is sent.
    pub cross_traffic: Vec<CrossTraffic>,
    /// What `takt bounds` takes into account.
    pub bounds: BoundsOptions,
    /// What `takt simulate` does.
    pub simulation: SimulationOptions,
    /// What is measured.
    pub measure: Vec<Measure>,
    /// The sweeps of the file that it comes from; [`ScenarioFile::variants`] carries them out.
    pub sweeps: Vec<Sweep>,
    pub(crate) flows: Vec<Flow>,
}

/// Frames of one size on one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Whose they are.
    pub source: FlowSource,
    /// The ports that they leave by, in order. At least one.
    pub ports: Vec<PortId>,
    /// Each frame.
    pub frame: Frame,
    /// The Priority Code Point.
    pub pcp: u8,
    /// Between two frames, in the mean: the cycle of an application.
    pub interval: Duration,
}

/// Whose a flow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowSource {
    /// What an application publishes.
    Publish(ApplicationId),
    /// What its loopback sends back.
    Return(ApplicationId),
    /// Cross traffic.
    Cross(CrossTrafficId),
}

impl Scenario {
    /// Reads a scenario. Files that it names are sought beside `file_name`; sweeps are checked, but not carried out.
    ///
    /// # Errors
    /// With line and column of each mistake.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScenarioError> {
        ScenarioFile::parse(text, file_name).map(|file| file.scenario)
    }

    /// All flows: those of applications, each followed by what comes back, then cross traffic, in the order of the file.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// What to call a flow: the name of the application, with `(return)` behind it on the way back, or of the cross traffic.
    pub fn flow_name(&self, source: FlowSource) -> String {
        let application = |id: ApplicationId| self.applications.get(id.0).map_or("", |it| &it.name);
        match source {
            FlowSource::Publish(id) => application(id).to_owned(),
            FlowSource::Return(id) => format!("{} (return)", application(id)),
            FlowSource::Cross(id) => self
                .cross_traffic
                .get(id.0)
                .map_or_else(String::new, |it| it.name.clone()),
        }
    }

    /// What to call a port: `node → node`.
    pub fn port_name(&self, port: PortId) -> String {
        let name = |id: NodeId| self.nodes.get(id.0).map_or("", |node| &node.name);
        let port = self.ports.get(port.0);
        port.map_or_else(String::new, |port| {
            format!("{} \u{2192} {}", name(port.node), name(port.to))
        })
    }
}

/// A scenario and the document that it comes from, which sweeps change.
#[derive(Debug, Clone)]
pub struct ScenarioFile {
    scenario: Scenario,
    document: Table,
    text: String,
    name: String,
}

/// One combination of the values of all sweeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Each sweep's parameter and the value that it has here, in the order of the file.
    pub settings: Vec<(String, String)>,
    /// The scenario with these.
    pub scenario: Scenario,
}

/// A longer line, in bytes, is a mistake: no field is that long.
const LONGEST_LINE: usize = 1 << 20;
/// More combinations of swept values than this are a mistake.
const MAX_COMBINATIONS: usize = 10_000;

impl ScenarioFile {
    /// Reads a scenario. Files that it names are sought beside `file_name`.
    ///
    /// # Errors
    /// With line and column of each mistake.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScenarioError> {
        check_lines(text).map_err(|problem| ScenarioError::new(file_name, text, vec![problem]))?;
        let document = document::parse(text)
            .map_err(|problems| ScenarioError::new(file_name, text, problems))?;
        let file = Self {
            scenario: read_as(&document, text, file_name)?,
            document,
            text: text.to_owned(),
            name: file_name.to_owned(),
        };
        Ok(file)
    }

    /// Text of a file, which is UTF-8.
    ///
    /// # Errors
    /// With line and column of the first byte that is not.
    pub fn text(bytes: Vec<u8>, file_name: &str) -> Result<String, ScenarioError> {
        String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let byte = bytes.get(place).copied().unwrap_or_default();
            let message =
                format!("the byte 0x{byte:02x} is not UTF-8, in which scenarios are written");
            let text = String::from_utf8_lossy(&bytes[..place]);
            ScenarioError::new(file_name, &text, vec![Problem::new(message, place..place)])
        })
    }

    /// The scenario as it is written, without its sweeps.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The scenarios that the sweeps make: each combination of their values, the last sweep's changing fastest. Without a sweep there is
    /// one, the scenario itself.
    ///
    /// # Errors
    /// A value makes no sense. What is wrong is shown where the value is, or where it leads to a contradiction.
    pub fn variants(&self) -> Result<Vec<Variant>, ScenarioError> {
        let mut variants = vec![(Vec::new(), self.document.clone())];
        let sweeps = self
            .document
            .get("sweeps")
            .map(document::Item::list)
            .unwrap_or_default();
        for sweep in sweeps.iter().filter_map(document::Item::table) {
            let path = sweep.text("parameter").unwrap_or_default();
            let values = sweep
                .get("values")
                .map(document::Item::list)
                .unwrap_or_default();
            let combinations = variants.len().saturating_mul(values.len());
            if combinations > MAX_COMBINATIONS {
                let what = format!(
                    "sweeps make {combinations} combinations and more; {MAX_COMBINATIONS} are the most"
                );
                let span = sweep.get("values").map(|values| values.span.clone());
                return Err(self.error(Problem::new(what, span.unwrap_or_default())));
            }
            let mut next = Vec::with_capacity(combinations);
            for (settings, document) in &variants {
                for value in values {
                    let mut document = document.clone();
                    let (tables, field) = sweep::find(&mut document, path)
                        .map_err(|problem| self.error(problem.at(value.span.clone())))?;
                    for table in tables {
                        sweep::set(table, field, value);
                    }
                    let mut settings: Vec<(String, String)> = settings.clone();
                    settings.push((path.to_owned(), value.value.show()));
                    next.push((settings, document));
                }
            }
            variants = next;
        }
        let read = |(settings, document): (Vec<(String, String)>, Table)| {
            let scenario = read_as(&document, &self.text, &self.name)
                .map_err(|error| said_with(error, &settings, sweeps))?;
            Ok(Variant { settings, scenario })
        };
        variants.into_iter().map(read).collect()
    }

    fn error(&self, problem: Problem) -> ScenarioError {
        ScenarioError::new(&self.name, &self.text, vec![problem])
    }
}

fn check_lines(text: &str) -> Result<(), Problem> {
    let mut start = 0;
    for line in text.split('\n') {
        if line.len() > LONGEST_LINE {
            let message = format!(
                "a line of {} bytes; {LONGEST_LINE} are the most",
                line.len()
            );
            return Err(Problem::new(message, start..start));
        }
        start += line.len() + 1;
    }
    Ok(())
}

/// Says with which values a mistake is one, where it is not among them.
fn said_with(
    mut error: ScenarioError,
    settings: &[(String, String)],
    sweeps: &[document::Item],
) -> ScenarioError {
    let values = || {
        sweeps
            .iter()
            .filter_map(|sweep| sweep.table()?.get("values"))
    };
    let settings = settings
        .iter()
        .map(|(path, value)| format!("{path} = {value}"));
    let with = format!("with {}", settings.collect::<Vec<_>>().join(", "));
    for mistake in &mut error.mistakes {
        let is_value = values().any(|values| values.span.contains(&mistake.span.start));
        if !is_value && !sweeps.is_empty() {
            mistake.help = Some(match &mistake.help {
                Some(help) => format!("{help}, {with}"),
                None => with.clone(),
            });
        }
    }
    error
}

fn read_as(document: &Table, text: &str, name: &str) -> Result<Scenario, ScenarioError> {
    let path = Path::new(name);
    let directory = path.parent().unwrap_or(Path::new(""));
    let stem = path
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    read::scenario(document, directory, &stem)
        .map_err(|problems| ScenarioError::new(name, text, problems))
}
