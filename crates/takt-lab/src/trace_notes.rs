//! Description of a trace of a run made by hand: its run, scenario, settings, host and counts, as lines of the trace file.

use crate::case_record::EndRecord;
use crate::host::HostFact;
use crate::run_id::RunId;
use crate::scenario_loop::LoopEnd;

/// Beginning of the names of host facts in a description.
const HOST: &str = "host.";

/// Notes of a trace about its run.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceNotes {
    /// Run of a Publisher; runs whose messages a loopback has received.
    pub runs: Vec<RunId>,
    /// SHA-256 of the text of the scenario, in hexadecimal.
    pub scenario_digest: String,
    /// Values of fields that were given, as [`takt_scenario::ScenarioFile::with_settings`] takes them.
    pub settings: Vec<(String, String)>,
    /// PublisherIds of Publisher and loopback.
    pub publisher_ids: (u64, u64),
    /// Digest of the identity of the host's boot: equal for two ends on one host.
    pub boot: Option<String>,
    /// Facts about the host.
    pub host: Vec<HostFact>,
    /// Counts of the end.
    pub end: EndRecord,
}

/// Reason why a description has no notes of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the description has no valid `{0}`")]
pub struct NoTraceNotes(pub &'static str);

impl TraceNotes {
    /// Returns the digest of a scenario's text.
    #[must_use]
    pub fn digest_of(text: &str) -> String {
        crate::digest::full(text.as_bytes())
    }

    /// Returns the side of the trace.
    #[must_use]
    pub fn side(&self) -> Option<LoopEnd> {
        [LoopEnd::Publisher, LoopEnd::Loopback]
            .into_iter()
            .find(|end| end.name() == self.end.end)
    }

    /// Returns the lines of a description.
    ///
    /// # Errors
    /// A text cannot be written as JSON.
    pub fn lines(&self) -> Result<Vec<(String, String)>, serde_json::Error> {
        let runs: Vec<String> = self.runs.iter().map(|run| run.0.to_string()).collect();
        let mut lines = vec![
            ("runs", runs.join(" ")),
            ("scenario_sha256", self.scenario_digest.clone()),
            ("settings", serde_json::to_string(&self.settings)?),
            ("publisher_id", self.publisher_ids.0.to_string()),
            ("loopback_id", self.publisher_ids.1.to_string()),
            ("end", serde_json::to_string(&self.end)?),
            ("takt", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        lines.extend(self.boot.clone().map(|boot| ("boot", boot)));
        let lines = lines.into_iter().map(|(name, it)| (name.to_owned(), it));
        let host = self.host.iter();
        let host = host.map(|(name, value)| (format!("{HOST}{name}"), value.clone()));
        Ok(lines.chain(host).collect())
    }

    /// Reads a description.
    ///
    /// # Errors
    /// [`NoTraceNotes`]: the trace is of another origin, such as `takt lab run` or an earlier version.
    pub fn of(description: &[(String, String)]) -> Result<Self, NoTraceNotes> {
        let text = |wanted: &'static str| {
            let mut lines = description.iter();
            let found = lines.find(|(name, _)| name == wanted);
            found
                .map(|(_, value)| value.as_str())
                .ok_or(NoTraceNotes(wanted))
        };
        let number = |name| text(name)?.parse().map_err(|_| NoTraceNotes(name));
        let runs = text("runs")?.split_whitespace();
        let runs = runs.map(|run| run.parse().map(RunId));
        let host = description.iter();
        let host = host
            .filter_map(|(name, value)| Some((name.strip_prefix(HOST)?.to_owned(), value.clone())));
        let mut notes = Self {
            runs: runs
                .collect::<Result<_, _>>()
                .map_err(|_| NoTraceNotes("runs"))?,
            scenario_digest: text("scenario_sha256")?.to_owned(),
            settings: serde_json::from_str(text("settings")?)
                .map_err(|_| NoTraceNotes("settings"))?,
            publisher_ids: (number("publisher_id")?, number("loopback_id")?),
            boot: text("boot").ok().map(str::to_owned),
            host: host.collect(),
            end: serde_json::from_str(text("end")?).map_err(|_| NoTraceNotes("end"))?,
        };
        let end = &mut notes.end;
        // Earlier versions wrote these counts as lines only.
        for (name, count) in [
            ("messages_to_send", &mut end.attempts),
            ("messages_not_made", &mut end.unmade),
            ("messages_without_room", &mut end.overflowed),
        ] {
            let of_line = || text(name).ok()?.parse().ok();
            *count = count.or_else(of_line);
        }
        match notes.side() {
            Some(_) => Ok(notes),
            None => Err(NoTraceNotes("end")),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Returns notes of an end.
    pub(crate) fn notes(end: LoopEnd, runs: &[u32]) -> TraceNotes {
        TraceNotes {
            runs: runs.iter().copied().map(RunId).collect(),
            scenario_digest: TraceNotes::digest_of(""),
            settings: vec![("discipline".to_owned(), "a = \"b\"".to_owned())],
            publisher_ids: (1, 2),
            boot: Some("00ff".to_owned()),
            host: vec![("processor".to_owned(), "x".to_owned())],
            end: EndRecord {
                application: "control".to_owned(),
                end: end.name().to_owned(),
                cycles: 7,
                unset: vec!["a = b".to_owned()],
                ..EndRecord::default()
            },
        }
    }

    #[test]
    fn notes_are_read_as_they_were_written() {
        for (end, runs) in [
            (LoopEnd::Publisher, &[7][..]),
            (LoopEnd::Loopback, &[7, 9][..]),
            (LoopEnd::Loopback, &[][..]),
        ] {
            let notes = notes(end, runs);
            assert_eq!(TraceNotes::of(&notes.lines().unwrap()).unwrap(), notes);
        }
    }

    /// Traces of earlier versions have the counts as lines, or not at all.
    #[test]
    fn counts_of_earlier_traces_are_those_of_their_lines() {
        let mut old = notes(LoopEnd::Publisher, &[7]).lines().unwrap();
        for (name, value) in &mut old {
            if name == "end" {
                let mut end: serde_json::Value = serde_json::from_str(value).unwrap();
                let members = end.as_object_mut().unwrap();
                for member in ["attempts", "unmade", "overflowed"] {
                    members.remove(member).unwrap();
                }
                *value = end.to_string();
            }
        }
        let counts = |lines: &[(String, String)]| {
            let end = TraceNotes::of(lines).unwrap().end;
            [end.attempts, end.unmade, end.overflowed]
        };
        assert_eq!(counts(&old), [None; 3]);
        for (name, count) in [
            ("messages_to_send", "9"),
            ("messages_not_made", "2"),
            ("messages_without_room", "x"),
        ] {
            old.push((name.to_owned(), count.to_owned()));
        }
        assert_eq!(counts(&old), [Some(9), Some(2), None]);
    }

    #[test]
    fn other_descriptions_are_refused_with_the_missing_line() {
        assert_eq!(TraceNotes::of(&[]), Err(NoTraceNotes("runs")));
        let complete = notes(LoopEnd::Publisher, &[7]).lines().unwrap();
        for (index, (name, _)) in complete.iter().enumerate() {
            let mut lines = complete.clone();
            lines.remove(index);
            let is_needed = !["takt", "boot"].contains(&name.as_str()) && !name.starts_with(HOST);
            assert_eq!(TraceNotes::of(&lines).is_err(), is_needed, "{name}");
        }
        for (name, value) in [
            ("runs", "7 x"),
            ("settings", "{"),
            ("end", "{}"),
            ("loopback_id", "-1"),
        ] {
            let mut lines = complete.clone();
            lines
                .iter_mut()
                .filter(|it| it.0 == name)
                .for_each(|it| value.clone_into(&mut it.1));
            assert_eq!(TraceNotes::of(&lines).map_err(|it| it.0), Err(name));
        }
    }

    proptest::proptest! {
        /// A trace may come from anybody.
        #[test]
        fn any_lines_are_read_or_refused(
            values in proptest::collection::vec(".{0,40}", 5),
            replaced in proptest::collection::vec(proptest::bool::ANY, 5),
        ) {
            let mut lines = notes(LoopEnd::Loopback, &[7]).lines().unwrap();
            for ((line, value), is_replaced) in lines.iter_mut().zip(values).zip(replaced) {
                if is_replaced {
                    line.1 = value;
                }
            }
            let _ = TraceNotes::of(&lines);
        }
    }
}
