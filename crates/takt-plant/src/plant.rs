//! Configurations and a network file as one scenario.

use takt_scenario::toml_text::visible;
use takt_scenario::{Duration, PlantFile, ScenarioFile};

use crate::configuration::{PlantConfiguration, ValueOrigin};
use crate::error::PlantError;
use crate::flow::{SentFrames, sent_frames};
use crate::heard::{HeardReader, heard_readers};
use crate::instances::instances;
use crate::launch_check::check_launches;
use crate::notes::{Notes, PlantAssumption, PlantWarning};
use crate::receivers::receivers;
use crate::sent::{SentGroup, sent_groups};
use crate::write::ScenarioWriter;

/// A scenario of a plant.
#[derive(Debug, Clone)]
pub struct PlantScenario {
    /// Text of the scenario file.
    pub text: String,
    /// The scenario.
    pub file: ScenarioFile,
    /// Messages, one for each receiving node. Those of an application follow each other.
    pub flows: Vec<PlantFlow>,
    /// Values that no file states.
    pub assumptions: Vec<PlantAssumption>,
    /// Parts of the configurations that are probably not as they were meant, or that the scenario does not have.
    pub warnings: Vec<PlantWarning>,
}

/// Frames from one node to another. On links that several have in common, they are the same frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantFlow {
    /// Name of the application in the scenario; that of all nodes that receive the same frames.
    pub application: String,
    /// Name of the WriterGroup from the outside in, without control characters.
    pub writer_group: String,
    /// Place of the WriterGroup.
    pub origin: ValueOrigin,
    /// Node that sends.
    pub publisher: String,
    /// Node that receives.
    pub subscriber: String,
    /// Readers there, without control characters; empty if the frames come there for another reason.
    pub readers: Vec<String>,
    /// Payload of the longest frame in bytes, with all headers behind the EtherType.
    pub payload: u32,
    /// Parts of the payload, or the place that states it.
    pub parts: String,
    /// Publishing interval.
    pub cycle: Duration,
    /// Offset in it.
    pub offset: Duration,
    /// VLAN.
    pub vlan: u16,
    /// Priority Code Point.
    pub pcp: u8,
}

/// Makes a scenario of a network file and the configurations that its devices run.
///
/// # Errors
/// Mistakes in the network file or in the configurations, parts that a scenario cannot have, ambiguous paths, and a scenario that is
/// not valid, for example because a port has more traffic than its rate.
pub fn scenario_of_plant(
    plant: &PlantFile,
    configurations: &[PlantConfiguration],
) -> Result<PlantScenario, PlantError> {
    let mut notes = Notes::default();
    let instances = instances(plant, configurations)?;
    let groups = sent_groups(plant, &instances, &mut notes)?;
    check_launches(plant, &groups, &mut notes)?;
    let readers = heard_readers(&instances);
    let receivers = receivers(&groups, &readers, &mut notes);
    let frames = sent_frames(plant, &groups, &readers, &receivers, &mut notes)?;
    let mut writer = ScenarioWriter {
        plant,
        groups: &groups,
        readers: &readers,
        frames: &frames,
        notes: &mut notes,
    };
    let text = writer.text(configurations);
    let flows = flows(&writer);
    match ScenarioFile::parse(&text, "the scenario") {
        Ok(file) => Ok(PlantScenario {
            text,
            file,
            flows,
            assumptions: notes.assumptions,
            warnings: notes.warnings,
        }),
        Err(error) => Err(PlantError::Scenario { text, error }),
    }
}

fn flows(writer: &ScenarioWriter<'_>) -> Vec<PlantFlow> {
    let mut flows = Vec::new();
    let name = |node: takt_scenario::NodeIndex| {
        let node = writer.plant.network.nodes.get(node.0);
        node.map_or_else(String::new, |it| it.name.clone())
    };
    let sent: Vec<(&SentFrames, &SentGroup<'_>)> = writer
        .frames
        .iter()
        .filter_map(|frames| Some((frames, writer.groups.get(frames.group)?)))
        .collect();
    for (frames, sent) in sent {
        let Some(frame) = sent.frames.get(frames.message) else {
            continue;
        };
        for destination in &frames.destinations {
            let readers = destination.readers.iter();
            let readers = readers.filter_map(|index| writer.readers.get(*index));
            flows.push(PlantFlow {
                application: frames.name.clone(),
                writer_group: visible(&sent.entry),
                origin: sent.place.origin(sent.instance.configuration, &[]),
                publisher: name(sent.instance.node),
                subscriber: name(destination.node),
                readers: readers
                    .map(|it: &HeardReader<'_>| visible(&it.entry))
                    .collect(),
                payload: frame.payload,
                parts: frame.parts.clone(),
                cycle: sent.cycle,
                offset: sent.offset.value,
                vlan: sent.vlan.value,
                pcp: sent.pcp.value,
            });
        }
    }
    flows
}
