//! Every message in a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use takt_scenario::Variant;
use takt_sim::{Message, Observer, Outcome, Time};

use crate::explain;

/// The file of all variants.
pub(super) struct Messages {
    path: PathBuf,
    file: BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl Messages {
    pub(super) fn create(path: &Path) -> miette::Result<Self> {
        let mut messages = Self {
            path: path.to_owned(),
            file: BufWriter::new(File::create(path).map_err(|error| refused(path, &error))?),
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
            Outcome::Arrived => ("arrived", String::new(), ""),
            Outcome::Lost(port, reason) => ("lost", scenario.port_name(port), reason.name()),
            Outcome::Overwritten => ("overwritten", String::new(), ""),
        };
        let row = writeln!(
            self.messages.file,
            "{},{},{},{},{},{},{outcome},{},{reason}",
            self.settings,
            quoted(&scenario.flow_name(message.source)),
            message.counter,
            nanoseconds(message.published),
            nanoseconds(message.ended),
            nanoseconds(message.ended - message.published),
            quoted(&port),
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
