//! Traces and captures as they are made by hand.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_capture::CaptureWriter;
use takt_control::{Trace, TracePoint, trace_file};
use takt_lab::collect::{CollectError, CollectRequest, collect};
use takt_lab::run_directory::RunDescription;
use takt_lab::{EndRecord, LoopEnd, RunId, TraceNotes, UnfinishedDirectory};
use takt_scenario::ScenarioFile;

pub(crate) const TEXT: &str = r#"
version = 1
name = "two"
topology = { kind = "p2p", rate = "1 Gbit/s" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
[[applications]]
name = "other"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
"#;

/// 2026-11-30T11:00:00 in UTC, in nanoseconds.
pub(crate) const START: i64 = 1_796_036_400_000_000_000;
pub(crate) const RUN: RunId = RunId(849_351_600);
pub(crate) const CYCLE: i64 = 1_000_000;
pub(crate) const MESSAGES: i64 = 400;
pub(crate) const TAI: i64 = 37_000_000_000;

/// Folder with the files of a run.
pub(crate) struct Files {
    folder: tempfile::TempDir,
}

/// Trace that is to be written.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) end: LoopEnd,
    pub(crate) application: &'static str,
    pub(crate) runs: Vec<RunId>,
    pub(crate) start: i64,
    pub(crate) boot: &'static str,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) host: Vec<(String, String)>,
}

pub(crate) fn wanted(end: LoopEnd) -> Wanted {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Wanted {
        end,
        application: "control",
        runs: vec![RUN],
        start: START,
        boot: "a",
        settings: Vec::new(),
        text: TEXT.to_owned(),
        host: vec![
            fact("kernel", "6.12"),
            fact("driver", "igb"),
            fact("disciplines", "as planned"),
        ],
    }
}

impl Files {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("two.toml"), TEXT).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn trace(&self, name: &str, wanted: &Wanted) -> PathBuf {
        let mut trace = Trace::with_capacity(2 * MESSAGES as usize);
        let points = match wanted.end {
            LoopEnd::Publisher => [(TracePoint::T1, 0), (TracePoint::T8, 700_000)],
            LoopEnd::Loopback => [(TracePoint::T4, 200_000), (TracePoint::T5, 500_000)],
        };
        for counter in 1..=MESSAGES {
            for (point, after) in points {
                let nanos = wanted.start + TAI + counter * CYCLE + after;
                trace.add(point, counter.cast_unsigned(), nanos);
            }
        }
        let publisher_ids = match wanted.application {
            "control" => (1, 2),
            _ => (3, 4),
        };
        let notes = TraceNotes {
            runs: wanted.runs.clone(),
            scenario_digest: TraceNotes::digest_of(&wanted.text),
            settings: wanted.settings.clone(),
            publisher_ids,
            boot: Some(wanted.boot.to_owned()),
            host: wanted.host.clone(),
            end: EndRecord {
                application: wanted.application.to_owned(),
                end: wanted.end.name().to_owned(),
                overruns: 3,
                ..EndRecord::default()
            },
        };
        let lines = notes.lines().unwrap();
        let mut description: Vec<(&str, String)> = vec![("tai_offset_s", "37".to_owned())];
        description.extend(
            lines
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone())),
        );
        let path = self.path(name);
        trace_file::write(&mut File::create(&path).unwrap(), &description, &trace).unwrap();
        path
    }

    /// Writes a capture at a port, with messages of both ends.
    pub(crate) fn capture(&self, name: &str, publisher: u16, run: RunId, start: i64) -> PathBuf {
        self.capture_with(name, publisher, run, start, |_, _| {})
    }

    /// Writes the same capture, with frames that `change` may change: it gets the counter.
    pub(crate) fn capture_with(
        &self,
        name: &str,
        publisher: u16,
        run: RunId,
        start: i64,
        change: impl Fn(i64, &mut Vec<u8>),
    ) -> PathBuf {
        self.capture_of_two_clocks(name, (publisher, run), [start, start], change)
    }

    /// Writes the same capture, with a clock for the messages of the Publisher, and one for those of the loopback.
    pub(crate) fn capture_of_two_clocks(
        &self,
        name: &str,
        (publisher, run): (u16, RunId),
        [start_there, start_back]: [i64; 2],
        change: impl Fn(i64, &mut Vec<u8>),
    ) -> PathBuf {
        let path = self.path(name);
        let mut writer = CaptureWriter::new(File::create(&path).unwrap()).unwrap();
        let at =
            |nanos: i64| -> SystemTime { UNIX_EPOCH + Duration::from_nanos(nanos.cast_unsigned()) };
        for counter in 1..=MESSAGES {
            let after = counter * CYCLE;
            let mut there = frame(publisher, run.0, counter);
            change(counter, &mut there);
            writer
                .write(at(start_there + after + 10_000), &there)
                .unwrap();
            // The group of the loopback has a version of its own.
            let back = frame(publisher + 1, 77, counter);
            writer
                .write(at(start_back + after + 600_000), &back)
                .unwrap();
        }
        writer.finish().unwrap();
        path
    }

    pub(crate) fn collect(&self, files: &[PathBuf]) -> Result<RunDescription, CollectError> {
        self.collect_with(files, &[], false)
    }

    pub(crate) fn collect_with(
        &self,
        files: &[PathBuf],
        at_loopback: &[PathBuf],
        is_synchronized: bool,
    ) -> Result<RunDescription, CollectError> {
        let scenario = self.path("two.toml").display().to_string();
        let scenario = ScenarioFile::parse(TEXT, &scenario).unwrap();
        let request = CollectRequest {
            scenario: &scenario,
            text: TEXT,
            files,
            at_loopback,
            card_stamps: &[],
            is_synchronized,
        };
        collect(&request, &UnfinishedDirectory::new(&self.path("run"))).map(|it| it.description)
    }

    /// Collects files that must be refused, and returns the reason. Nothing may be written.
    pub(crate) fn refused(&self, files: &[PathBuf]) -> String {
        let error = self.collect(files).unwrap_err().to_string();
        assert!(!self.path("run").exists(), "{error}");
        error
    }

    pub(crate) fn pair(&self) -> [PathBuf; 2] {
        [
            self.trace("publisher.trace", &wanted(LoopEnd::Publisher)),
            self.trace("loopback.trace", &wanted(LoopEnd::Loopback)),
        ]
    }
}

/// Returns an Ethernet frame of `takt publish SCENARIO`: VLAN tag, headers of 32 bytes, and one Variant with a UInt64.
fn frame(publisher: u16, group_version: u32, counter: i64) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5E, 0, 0x54, 1, 2, 0, 0, 0, 0xAB, 0xCD];
    frame.extend([0x81, 0, 0x60, 1, 0xB6, 0x2C]);
    // UADP version 1, PublisherId (UInt16), GroupHeader with all fields, PayloadHeader.
    frame.extend([0xF1, 0x01]);
    frame.extend(publisher.to_le_bytes());
    frame.extend([0x0F, 1, 0]);
    frame.extend(group_version.to_le_bytes());
    frame.extend([1, 0, 9, 0, 1, 1, 0]);
    // Key frame of Variants, with SequenceNumber and Timestamp.
    frame.extend([0x89, 0x10, 9, 0]);
    frame.extend([0; 8]);
    frame.extend([1, 0, 9]);
    frame.extend(counter.to_le_bytes());
    frame
}
