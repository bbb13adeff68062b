//! Every message in a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use takt_scenario::{FlowSource, Variant};
use takt_sim::{Message, MessageOutcome, Observer, Passage, Time};

use crate::explain;

/// The file of all variants.
pub(super) struct Messages {
    path: PathBuf,
    file: BufWriter<File>,
    /// Whether rows for hops are wanted.
    hops: bool,
    failed: Option<std::io::Error>,
}

impl Messages {
    pub(super) fn create(path: &Path, hops: bool) -> miette::Result<Self> {
        let mut messages = Self {
            path: path.to_owned(),
            file: BufWriter::new(File::create(path).map_err(|error| refused(path, &error))?),
            hops,
            failed: None,
        };
        let heading = "settings,flow,counter,published_ns,ended_ns,delay_ns,outcome,port,reason";
        messages.failed = writeln!(messages.file, "{heading}").err();
        messages.check()?;
        Ok(messages)
    }

    /// The rows of a variant.
    pub(super) fn of<'a>(&'a mut self, variant: &'a Variant) -> Rows<'a> {
        let settings = variant
            .settings
            .iter()
            .map(|(parameter, value)| format!("{parameter}={value}"));
        Rows {
            settings: quoted(&settings.collect::<Vec<_>>().join(";")),
            variant,
            messages: self,
        }
    }

    /// Whether all could be written.
    pub(super) fn check(&mut self) -> miette::Result<()> {
        match self.failed.take() {
            Some(error) => Err(refused(&self.path, &error)),
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> miette::Result<()> {
        self.file
            .flush()
            .map_err(|error| refused(&self.path, &error))
    }
}

pub(super) struct Rows<'a> {
    settings: String,
    variant: &'a Variant,
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
        let flow = quoted(&self.variant.scenario.flow_name(source));
        let [from, to] = times;
        let [outcome, port, reason] = ended;
        let row = writeln!(
            self.messages.file,
            "{},{flow},{counter},{},{},{},{outcome},{},{reason}",
            self.settings,
            nanoseconds(from),
            nanoseconds(to),
            nanoseconds(to - from),
            quoted(port),
        );
        if let Err(error) = row {
            self.messages.failed.get_or_insert(error);
        }
    }
}

fn nanoseconds(time: Time) -> String {
    let picoseconds = time.as_picoseconds();
    let sign = if picoseconds < 0 { "-" } else { "" };
    let picoseconds = picoseconds.unsigned_abs();
    format!("{sign}{}.{:03}", picoseconds / 1000, picoseconds % 1000)
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn refused(path: &Path, error: &std::io::Error) -> miette::Report {
    explain::with_help(
        format!("cannot write {}: {error}", path.display()),
        "Give --csv a file in a directory that is there, with room for it.",
    )
}
