//! CSV file of every message.

use std::path::Path;

use takt_figures::{CsvError, CsvFile};
use takt_scenario::{FlowSource, ScenarioVariant};
use takt_sim::{Message, MessageOutcome, Observer, Passage, Time};

use crate::explain;

const HEADING: [&str; 9] = [
    "settings",
    "flow",
    "counter",
    "published_ns",
    "ended_ns",
    "delay_ns",
    "outcome",
    "port",
    "reason",
];

/// The file of all variants.
pub(super) struct Messages {
    file: CsvFile,
    /// True if rows for hops are wanted.
    hops: bool,
}

impl Messages {
    pub(super) fn create(path: &Path, hops: bool) -> miette::Result<Self> {
        let file = CsvFile::create(path, &HEADING).map_err(|error| refused(&error))?;
        Ok(Self { file, hops })
    }

    /// Returns the writer of the rows of a variant.
    pub(super) fn of<'a>(&'a mut self, variant: &'a ScenarioVariant) -> Rows<'a> {
        let settings = variant
            .settings
            .iter()
            .map(|(parameter, value)| format!("{parameter}={value}"));
        Rows {
            settings: settings.collect::<Vec<_>>().join(";"),
            variant,
            messages: self,
        }
    }

    /// Fails if a row could not be written.
    pub(super) fn check(&mut self) -> miette::Result<()> {
        self.file.check().map_err(|error| refused(&error))
    }

    pub(super) fn finish(self) -> miette::Result<()> {
        self.file.finish().map_err(|error| refused(&error))
    }
}

pub(super) struct Rows<'a> {
    settings: String,
    variant: &'a ScenarioVariant,
    messages: &'a mut Messages,
}

impl Observer for Rows<'_> {
    fn message(&mut self, message: &Message) {
        let scenario = &self.variant.scenario;
        let (outcome, port, reason) = match message.outcome {
            MessageOutcome::Arrived => ("arrived", String::new(), ""),
            MessageOutcome::Lost(port, reason) => ("lost", scenario.port_name(port), reason.name()),
            MessageOutcome::Overwritten => ("overwritten", String::new(), ""),
        };
        let counter = message.counter;
        self.row(
            message.source,
            counter,
            [message.published, message.ended],
            [outcome, &port, reason],
        );
    }

    fn passage(&mut self, passage: &Passage) {
        if self.messages.hops {
            let port = self.variant.scenario.port_name(passage.port);
            self.row(
                passage.source,
                passage.counter,
                [passage.queued, passage.arrived],
                ["passed", &port, ""],
            );
        }
    }
}

impl Rows<'_> {
    fn row(&mut self, source: FlowSource, counter: u64, times: [Time; 2], ended: [&str; 3]) {
        let [from, to] = times;
        let [outcome, port, reason] = ended;
        // An observer cannot fail: `check` reports what went wrong here.
        self.messages.file.row([
            self.settings.as_str(),
            &self.variant.scenario.flow_name(source),
            &counter.to_string(),
            &nanoseconds(from),
            &nanoseconds(to),
            &nanoseconds(to - from),
            outcome,
            port,
            reason,
        ]);
    }
}

fn nanoseconds(time: Time) -> String {
    let picoseconds = time.as_picoseconds();
    let sign = if picoseconds < 0 { "-" } else { "" };
    let picoseconds = picoseconds.unsigned_abs();
    format!("{sign}{}.{:03}", picoseconds / 1000, picoseconds % 1000)
}

fn refused(error: &CsvError) -> miette::Report {
    explain::with_help(
        error,
        "Use --csv with a file in an existing directory with enough free space.",
    )
}
