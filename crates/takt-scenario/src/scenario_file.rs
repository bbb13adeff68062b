//! The file of a scenario, and its sweeps.

use std::path::Path;
use std::sync::Arc;

use crate::document::{self, Table};
use crate::error::{Problem, ScenarioError};
use crate::histogram_files::HistogramFiles;
use crate::scenario::Scenario;
use crate::{read, settings, sweep};

impl Scenario {
    /// Reads a scenario. Relative file names in it start at the folder of `file_name`. Sweeps are checked, but not carried out.
    ///
    /// # Errors
    /// All mistakes, with line and column.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScenarioError> {
        ScenarioFile::parse(text, file_name).map(|file| file.scenario)
    }
}

/// A scenario and its document, which sweeps change. A histogram file is read once: all scenarios that are made of this one have the same
/// contents of it, also if the file changes meanwhile.
#[derive(Debug, Clone)]
pub struct ScenarioFile {
    scenario: Scenario,
    pub(crate) document: Table,
    text: String,
    name: String,
    histograms: HistogramFiles,
}

/// One combination of the values of all sweeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioVariant {
    /// Parameter and value of each sweep, in the order of the file.
    pub settings: Vec<(String, String)>,
    /// Scenario with these values.
    pub scenario: Scenario,
    /// Names of the histogram files of the scenario with these values, as they are written, each once.
    pub histogram_files: Vec<String>,
}

/// Length in bytes of the longest line. A longer one is a mistake, since no field is that long.
const LONGEST_LINE: usize = 1 << 20;
/// Maximum number of combinations of swept values; more are a mistake.
const MAX_COMBINATIONS: usize = 10_000;

impl ScenarioFile {
    /// Reads a scenario. Relative file names in it start at the folder of `file_name`.
    ///
    /// # Errors
    /// All mistakes, with line and column.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScenarioError> {
        check_lines(text).map_err(|problem| ScenarioError::new(file_name, text, vec![problem]))?;
        let document = document::parse(text)
            .map_err(|problems| ScenarioError::new(file_name, text, problems))?;
        let histograms = HistogramFiles::default();
        let file = Self {
            scenario: read_as(&document, text, file_name, &histograms)?,
            document,
            text: text.to_owned(),
            name: file_name.to_owned(),
            histograms,
        };
        Ok(file)
    }

    /// Returns the text of a file, which must be UTF-8.
    ///
    /// # Errors
    /// The first byte that is not UTF-8, with line and column.
    pub fn text(bytes: Vec<u8>, file_name: &str) -> Result<String, ScenarioError> {
        String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let byte = bytes.get(place).copied().unwrap_or_default();
            let message = format!("the byte 0x{byte:02x} is not valid UTF-8");
            let text = String::from_utf8_lossy(&bytes[..place]);
            ScenarioError::new(file_name, &text, vec![Problem::new(message, place..place)])
        })
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks that a path leads to a field, as sweeps and settings need it.
    ///
    /// # Errors
    /// The place at which the path ends. It has no position in the file.
    pub fn check_path(&self, path: &str) -> Result<(), ScenarioError> {
        // `find` adds optional tables that are missing, so it works on a copy.
        match sweep::find(&mut self.document.clone(), path) {
            Ok(_) => Ok(()),
            Err(problem) => Err(self.error(problem)),
        }
    }

    /// Returns the scenario as it is written, without its sweeps.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the names of the histogram files that the file refers to, as they are written, each once.
    pub fn histogram_files(&self) -> Vec<&str> {
        histogram_files(&self.document)
    }

    /// Returns the text of a histogram file as this scenario, or one that was made of it with other values, has read it. `None` if none of
    /// them refers to a file of this name.
    pub fn histogram_text(&self, name: &str) -> Option<Arc<str>> {
        self.histograms.get(name)
    }

    /// Returns the scenarios of the sweeps: each combination of their values, the last sweep's changing fastest. Without a sweep
    /// there is one, the scenario itself.
    ///
    /// # Errors
    /// An invalid value. The mistake is shown at the value, or at the place where it leads to a contradiction.
    pub fn variants(&self) -> Result<Vec<ScenarioVariant>, ScenarioError> {
        let mut variants = vec![(Vec::new(), self.document.clone())];
        let sweeps = self.sweeps();
        for sweep in sweeps.iter().filter_map(document::Item::table) {
            let path = sweep.text("parameter").unwrap_or_default();
            let values = sweep
                .get("values")
                .map(document::Item::list)
                .unwrap_or_default();
            // The limit is checked before the documents are copied: few lines can ask for billions of them.
            let combinations = variants.len().saturating_mul(values.len());
            if combinations > MAX_COMBINATIONS {
                let what = format!(
                    "the sweeps make at least {combinations} combinations; at most {MAX_COMBINATIONS} are allowed"
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
            let scenario = read_as(&document, &self.text, &self.name, &self.histograms)
                .map_err(|error| said_with(error, &settings, sweeps))?;
            let histogram_files = histogram_files(&document).into_iter();
            Ok(ScenarioVariant {
                settings,
                scenario,
                histogram_files: histogram_files.map(str::to_owned).collect(),
            })
        };
        variants.into_iter().map(read).collect()
    }

    /// Returns the file with other values in some fields: paths as in sweeps, and values as they are written in the file. A text
    /// needs no quotation marks. Sweeps of these fields are removed.
    ///
    /// # Errors
    /// A path that leads to no field, a field that is given twice, also as a part of another one, a sweep that sets other elements or
    /// fields as well, or values that are no valid scenario; then the help names them.
    pub fn with_settings(&self, settings: &[(String, String)]) -> Result<Self, ScenarioError> {
        let mut document = self.document.clone();
        settings::apply(&mut document, settings).map_err(|problem| self.error(problem))?;
        let given = settings
            .iter()
            .map(|(path, value)| format!("{path} = {value}"));
        let given = format!("with {}", given.collect::<Vec<_>>().join(", "));
        let scenario =
            read_as(&document, &self.text, &self.name, &self.histograms).map_err(|mut error| {
                for mistake in &mut error.mistakes {
                    let help = mistake.help.take().map(|help| format!("{help}, {given}"));
                    mistake.help = Some(help.unwrap_or_else(|| given.clone()));
                }
                error
            })?;
        Ok(Self {
            scenario,
            document,
            text: self.text.clone(),
            name: self.name.clone(),
            histograms: self.histograms.clone(),
        })
    }

    /// Returns the sweeps in the document.
    pub(crate) fn sweeps(&self) -> &[document::Item] {
        let sweeps = self.document.get("sweeps");
        sweeps.map(document::Item::list).unwrap_or_default()
    }

    pub(crate) fn error(&self, problem: Problem) -> ScenarioError {
        ScenarioError::new(&self.name, &self.text, vec![problem])
    }
}

/// Returns the names of the histogram files in a document, each once.
fn histogram_files(document: &Table) -> Vec<&str> {
    let nodes = document.get("nodes");
    let nodes = nodes.map(document::Item::list).unwrap_or_default().iter();
    let mut names: Vec<&str> = nodes
        .filter_map(|node| {
            node.table()?
                .get("wake_up_latency")?
                .table()?
                .text("histogram")
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(crate) fn check_lines(text: &str) -> Result<(), Problem> {
    let mut start = 0;
    for line in text.split('\n') {
        if line.len() > LONGEST_LINE {
            let message = format!(
                "the line has {} bytes; at most {LONGEST_LINE} are allowed",
                line.len()
            );
            return Err(Problem::new(message, start..start));
        }
        start += line.len() + 1;
    }
    Ok(())
}

/// Adds the swept values with which a mistake occurs, if the mistake is not at one of them.
pub(crate) fn said_with(
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

fn read_as(
    document: &Table,
    text: &str,
    name: &str,
    histograms: &HistogramFiles,
) -> Result<Scenario, ScenarioError> {
    let path = Path::new(name);
    let directory = path.parent().unwrap_or(Path::new(""));
    let stem = path
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    read::scenario(document, directory, histograms, &stem)
        .map_err(|problems| ScenarioError::new(name, text, problems))
}
