//! Applications of the scenario: the frames of WriterGroups, with all nodes that receive them.

use std::fmt::Write;

use takt_scenario::toml_text::{quoted, visible};

use crate::flow::Destination;
use crate::lines::Step;
use crate::sent::SentGroup;
use crate::write::ScenarioWriter;

impl ScenarioWriter<'_> {
    pub(crate) fn write_frames(&self, to: &mut String, index: usize) -> std::fmt::Result {
        let Some(frames) = self.frames.get(index) else {
            return Ok(());
        };
        let Some(sent) = self.groups.get(frames.group) else {
            return Ok(());
        };
        let Some(frame) = sent.frames.get(frames.message) else {
            return Ok(());
        };
        let file = sent.instance.configuration;
        let origin = |steps: &[Step<'_>]| sent.place.origin(file, steps);
        let part = match sent.frames.len() {
            1 => String::new(),
            count => format!(", NetworkMessage {} of {count}", frames.message + 1),
        };
        writeln!(
            to,
            "[[applications]] # {}: WriterGroup {}{part}",
            origin(&[]),
            visible(&sent.entry)
        )?;
        writeln!(to, "name = {}", quoted(&frames.name))?;
        let device = self.plant.devices.get(sent.instance.device);
        let device = device.map_or(0, |it| self.plant.line(it.span.start));
        writeln!(
            to,
            "publisher = {} # {}",
            quoted(self.node_name(sent.instance.node)),
            self.line(device)
        )?;
        self.write_receivers(to, &frames.destinations)?;
        self.write_times(to, sent)?;
        let payload = frame.payload.saturating_sub(sent.security.bytes());
        writeln!(to, "payload = \"{payload} B\" # {}", visible(&frame.parts))?;
        if let Some(mode) = sent.security.name() {
            let mode_origin = origin(&[Step::Key("security_mode")]);
            writeln!(
                to,
                "security = \"{mode}\" # {mode_origin}; processing_time has its processor time"
            )?;
        }
        if let Some(group) = frames.multicast {
            writeln!(to, "group = \"{group}\" # {}", sent.address_by)?;
        }
        writeln!(to, "vlan = {} # {}", sent.vlan.value, sent.vlan.by)?;
        writeln!(to, "pcp = {} # {}\n", sent.pcp.value, sent.pcp.by)
    }

    fn write_receivers(&self, to: &mut String, destinations: &[Destination]) -> std::fmt::Result {
        let path = |destination: &Destination| {
            let path = destination.path.as_ref()?;
            let names: Vec<String> = path.iter().map(|it| quoted(self.node_name(*it))).collect();
            Some(format!("path = [{}]", names.join(", ")))
        };
        if let [destination] = destinations {
            let node = quoted(self.node_name(destination.node));
            writeln!(
                to,
                "subscriber = {node} # {}",
                self.received_by(destination)
            )?;
            return match path(destination) {
                Some(path) => writeln!(to, "{path}"),
                None => Ok(()),
            };
        }
        writeln!(to, "subscribers = [")?;
        for destination in destinations {
            let node = quoted(self.node_name(destination.node));
            let by = self.received_by(destination);
            match path(destination) {
                Some(path) => writeln!(to, "    {{ node = {node}, {path} }}, # {by}")?,
                None => writeln!(to, "    {node}, # {by}")?,
            }
        }
        writeln!(to, "]")
    }

    /// Writes cycle, offset and launch time.
    fn write_times(&self, to: &mut String, sent: &SentGroup<'_>) -> std::fmt::Result {
        let interval = [Step::Key("publishing_interval")];
        let interval = sent.place.origin(sent.instance.configuration, &interval);
        writeln!(to, "cycle = \"{}\" # {interval}", sent.cycle)?;
        writeln!(
            to,
            "offset = \"{}\" # {}",
            sent.offset.value, sent.offset.by
        )?;
        if let Some(launch) = sent.launch {
            let phase = launch.phase(sent.cycle, sent.offset.value);
            writeln!(
                to,
                "txtime = true # LaunchTimes: {} after the message is made",
                launch.ahead
            )?;
            writeln!(
                to,
                "phases = {{ subscriber = 0, user = 0, publisher = \"{phase}\" }}"
            )?;
        }
        Ok(())
    }

    /// Returns the readers at a destination, or the reason why it gets the frames.
    fn received_by(&self, destination: &Destination) -> String {
        /// More names would make a long line.
        const SHOWN: usize = 3;
        let readers = destination.readers.iter();
        let readers = readers.filter_map(|index| self.readers.get(*index));
        let mut names: Vec<String> = readers
            .map(|it| format!("{}: {}", it.origin, visible(&it.entry)))
            .collect();
        if names.is_empty() {
            return destination.reason.to_owned();
        }
        if names.len() > SHOWN {
            let more = names.len() - SHOWN;
            names.truncate(SHOWN);
            names.push(format!("and {more} more"));
        }
        names.join(", ")
    }
}
