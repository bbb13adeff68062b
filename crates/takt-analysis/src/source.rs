//! Files of a run: trace files and captures, read twice as streams.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use takt_control::trace_file::TraceReader;
use takt_control::{TracePoint, TraceRecord};

use crate::capture::{CapturedMessages, Sender};
use crate::error::AnalysisError;
use crate::sent_stamp::SentStamp;
use crate::survey::{PointSurvey, SenderSurvey};

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunFileFormat {
    /// Trace file of Takt.
    Trace,
    /// Capture in the format pcapng or pcap.
    Capture,
}

impl RunFileFormat {
    /// Returns the format of a file; `None` if it has none of these.
    ///
    /// # Errors
    /// [`AnalysisError::Io`].
    pub fn of(path: &Path) -> Result<Option<Self>, AnalysisError> {
        let mut start = Vec::new();
        let file = open(path)?;
        let read = file.take(8).read_to_end(&mut start);
        read.map_err(|error| io(path, error))?;
        Ok(match start.as_slice() {
            b"TAKTTRC1" => Some(Self::Trace),
            start if takt_capture::is_capture(start) => Some(Self::Capture),
            _ => None,
        })
    }
}

/// Port at which a capture was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CapturePort {
    /// True for the port of the loopback (T3 and T6), false for that of the Publisher (T2 and T7).
    pub is_loopback: bool,
    /// PublisherId of the Publisher, as text. By default, the sender that has each counter first.
    pub publisher_id: Option<String>,
    /// PublisherId of the loopback, as text.
    pub loopback_id: Option<String>,
    /// Time that the capture has of sent frames. By default, it is unknown.
    pub sent_stamp: SentStamp,
    /// True if the network card stamped the packets, with a clock of its own: its times are compared with those of cards only.
    pub has_card_stamps: bool,
}

/// File with what a first reading has found.
#[derive(Debug)]
pub(crate) struct RunSource {
    pub(crate) path: PathBuf,
    pub(crate) format: RunFileFormat,
    pub(crate) points: BTreeMap<TracePoint, PointSurvey>,
    /// Number of records that were lost because the memory was full.
    pub(crate) lost: u64,
    /// Number of packets of a capture without counter.
    pub(crate) skipped: u64,
    pub(crate) damage: Option<String>,
    pub(crate) description: Vec<(String, String)>,
    /// Step of the times in nanoseconds.
    pub(crate) step_nanos: u64,
    /// True if the clock of a network card made the times.
    pub(crate) has_card_stamps: bool,
    /// Offset of the clock from UTC, in nanoseconds.
    utc_offset: i64,
    /// Trace points of the senders of a capture.
    roles: Vec<Option<TracePoint>>,
    /// Time that a capture has of sent frames.
    sent_stamp: Option<SentStamp>,
}

/// Records of a file, with times in UTC. They end at damage.
pub(crate) type Records = Box<dyn Iterator<Item = TraceRecord>>;

impl RunSource {
    /// Opens a file and reads it once.
    pub(crate) fn open(path: &Path, port: &CapturePort) -> Result<Self, AnalysisError> {
        let path_of = || path.to_owned();
        match RunFileFormat::of(path)? {
            Some(RunFileFormat::Trace) => Self::trace(path),
            Some(RunFileFormat::Capture) => Self::capture(path, port),
            None => Err(AnalysisError::UnknownFormat { path: path_of() }),
        }
    }

    fn trace(path: &Path) -> Result<Self, AnalysisError> {
        let mut reader = trace_reader(path)?;
        let header = reader.header().clone();
        let value = |wanted: &str| {
            let mut pairs = header.description.iter();
            pairs.find(|(name, _)| name == wanted).map(|(_, it)| it)
        };
        let tai_offset = value("tai_offset_s").and_then(|text| text.parse::<i64>().ok());
        let mut source = Self {
            path: path.to_owned(),
            format: RunFileFormat::Trace,
            points: BTreeMap::new(),
            lost: header.lost,
            skipped: 0,
            damage: None,
            step_nanos: 1,
            has_card_stamps: false,
            // Traces have times of CLOCK_TAI, captures have UTC.
            utc_offset: tai_offset.unwrap_or(0).saturating_mul(1_000_000_000),
            description: header.description,
            roles: Vec::new(),
            sent_stamp: None,
        };
        for record in &mut reader {
            match record {
                Ok(record) => source.points.entry(record.point).or_default().note(record),
                Err(error) => source.damage = Some(error.to_string()),
            }
        }
        Ok(source)
    }

    fn capture(path: &Path, port: &CapturePort) -> Result<Self, AnalysisError> {
        let mut messages = captured(path)?;
        let mut survey = SenderSurvey::default();
        let mut damage = None;
        for message in &mut messages {
            match message {
                Ok(message) => survey.note(message),
                Err(error) => damage = Some(error),
            }
        }
        let roles = roles(path, port, &messages.senders, &survey)?;
        let found = roles.iter().zip(survey.senders);
        let points = found.filter_map(|(role, sender)| Some(((*role)?, sender.survey)));
        Ok(Self {
            path: path.to_owned(),
            format: RunFileFormat::Capture,
            points: points.collect(),
            lost: 0,
            skipped: messages.skipped,
            damage,
            description: Vec::new(),
            step_nanos: messages.step_nanos().unwrap_or(1),
            has_card_stamps: port.has_card_stamps,
            utc_offset: 0,
            roles,
            sent_stamp: Some(port.sent_stamp),
        })
    }

    /// Returns the time that the file has of frames that a port sends; `None` for a trace, and for points at which none is sent.
    pub(crate) fn sent_stamp(&self, point: TracePoint) -> Option<SentStamp> {
        match point {
            TracePoint::T2 | TracePoint::T6 => self.sent_stamp,
            _ => None,
        }
    }

    /// Reads the file again.
    pub(crate) fn records(&self) -> Result<Records, AnalysisError> {
        let offset = self.utc_offset;
        match self.format {
            RunFileFormat::Trace => {
                // The first reading has noted the damage at which the records end.
                let records = trace_reader(&self.path)?.map_while(Result::ok);
                Ok(Box::new(records.map(move |record| TraceRecord {
                    nanos: record.nanos.saturating_sub(offset),
                    ..record
                })))
            }
            RunFileFormat::Capture => {
                let roles = self.roles.clone();
                let messages = captured(&self.path)?.map_while(Result::ok);
                Ok(Box::new(messages.filter_map(move |message| {
                    Some(TraceRecord {
                        point: roles.get(message.sender).copied().flatten()?,
                        counter: message.counter,
                        nanos: message.nanos,
                    })
                })))
            }
        }
    }
}

/// Content of a file: what it has, without an analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSurvey {
    /// Format.
    pub format: RunFileFormat,
    /// Description of a trace file.
    pub description: Vec<(String, String)>,
    /// Trace points of a trace file, and the records of each.
    pub points: Vec<(TracePoint, RecordSpan)>,
    /// Senders of a capture.
    pub senders: Vec<SenderSpan>,
    /// Step of the times in nanoseconds: 1000 for a capture with microseconds.
    pub step_nanos: u64,
    /// Damage at which the records end.
    pub damage: Option<String>,
}

/// Number and times of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordSpan {
    /// Number of records.
    pub count: u64,
    /// Earliest time: nanoseconds since 1970, UTC.
    pub begin: i64,
    /// Latest time.
    pub end: i64,
}

/// Messages of a sender in a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderSpan {
    /// PublisherId, as text.
    pub publisher_id: Option<String>,
    /// PublisherId, WriterGroupId and DataSetWriterId, for people.
    pub name: String,
    /// Different GroupVersions (OPC 10000-14, 7.2.4.4.2) of its messages.
    pub group_versions: Vec<u32>,
    /// Different hardware addresses from which they came, `02:00:00:00:00:01`; none for other packets than Ethernet frames of UADP.
    pub sources: Vec<String>,
    /// Its messages.
    pub span: RecordSpan,
}

impl RecordSpan {
    const fn of(survey: &PointSurvey) -> Self {
        Self {
            count: survey.count,
            begin: survey.begin,
            end: survey.end,
        }
    }
}

impl FileSurvey {
    /// Reads a trace file or a capture.
    ///
    /// # Errors
    /// [`AnalysisError`]: the file cannot be read, or its beginning is damaged. Damage behind that is no error:
    /// [`Self::damage`] has it.
    pub fn of(path: &Path) -> Result<Self, AnalysisError> {
        let mut survey = Self {
            format: RunFileFormat::Capture,
            description: Vec::new(),
            points: Vec::new(),
            senders: Vec::new(),
            step_nanos: 1,
            damage: None,
        };
        match RunFileFormat::of(path)? {
            Some(RunFileFormat::Trace) => {
                let source = RunSource::trace(path)?;
                let offset = source.utc_offset;
                let points = source.points.iter().map(|(point, found)| {
                    let span = RecordSpan::of(found);
                    let in_utc = RecordSpan {
                        begin: span.begin.saturating_sub(offset),
                        end: span.end.saturating_sub(offset),
                        ..span
                    };
                    (*point, in_utc)
                });
                survey.points = points.collect();
                survey.format = RunFileFormat::Trace;
                survey.description = source.description;
                survey.damage = source.damage;
            }
            Some(RunFileFormat::Capture) => {
                let mut messages = captured(path)?;
                let mut found = SenderSurvey::default();
                for message in &mut messages {
                    match message {
                        Ok(message) => found.note(message),
                        Err(error) => survey.damage = Some(error),
                    }
                }
                let senders = messages.senders.iter().zip(found.senders);
                let senders = senders.map(|(sender, found)| SenderSpan {
                    publisher_id: sender.publisher_id(),
                    name: sender.to_string(),
                    group_versions: found.group_versions,
                    sources: (found.sources.iter())
                        .filter_map(|index| messages.sources.get(*index).cloned())
                        .collect(),
                    span: RecordSpan::of(&found.survey),
                });
                survey.senders = senders.collect();
                survey.step_nanos = messages.step_nanos().unwrap_or(1);
            }
            None => {
                return Err(AnalysisError::UnknownFormat {
                    path: path.to_owned(),
                });
            }
        }
        Ok(survey)
    }
}

/// Returns the trace point of each sender of a capture.
fn roles(
    path: &Path,
    port: &CapturePort,
    senders: &[Sender],
    survey: &SenderSurvey,
) -> Result<Vec<Option<TracePoint>>, AnalysisError> {
    let (there, back) = match port.is_loopback {
        false => (TracePoint::T2, TracePoint::T7),
        true => (TracePoint::T3, TracePoint::T6),
    };
    let named = |id: &Option<String>| {
        let id = id.as_deref()?;
        senders.iter().position(|it| it.has_publisher_id(id))
    };
    let is_named = port.publisher_id.is_some() || port.loopback_id.is_some();
    let (publisher, loopback) = match senders.len() {
        _ if is_named => (named(&port.publisher_id), named(&port.loopback_id)),
        0 => (None, None),
        1 => (Some(0), None),
        2 if survey.leader() == Some(1) => (Some(1), Some(0)),
        2 => (Some(0), Some(1)),
        _ => {
            let counts = survey.senders.iter().map(|it| it.survey.count);
            let lines = senders.iter().zip(counts);
            return Err(AnalysisError::SeveralSenders {
                path: path.to_owned(),
                senders: lines
                    .map(|(sender, count)| format!("{sender}: {count}"))
                    .collect(),
            });
        }
    };
    let role = |index| match Some(index) {
        it if it == publisher => Some(there),
        it if it == loopback => Some(back),
        _ => None,
    };
    Ok((0..senders.len()).map(role).collect())
}

fn open(path: &Path) -> Result<File, AnalysisError> {
    File::open(path).map_err(|error| io(path, error))
}

fn io(path: &Path, error: std::io::Error) -> AnalysisError {
    AnalysisError::Io {
        path: path.to_owned(),
        error,
    }
}

fn trace_reader(path: &Path) -> Result<TraceReader<BufReader<File>>, AnalysisError> {
    TraceReader::new(BufReader::new(open(path)?)).map_err(|error| AnalysisError::Trace {
        path: path.to_owned(),
        error,
    })
}

fn captured(path: &Path) -> Result<CapturedMessages, AnalysisError> {
    CapturedMessages::new(open(path)?).map_err(|reason| AnalysisError::Capture {
        path: path.to_owned(),
        reason,
    })
}
