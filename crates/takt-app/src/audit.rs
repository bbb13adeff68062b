//! Audit log: one JSON object for each action of a client, in a file or in the journal of systemd.
//!
//! Records wait in a bounded queue for each place, whose thread writes them, so a slow disk delays neither clients nor other places.
//! Records for which there is no room, or that cannot be written, are lost: their number is logged, and written when there is room
//! again. The fields have the
//! names of the Properties of AuditEventType and its subtypes (OPC 10000-5, 6.4). Values, arguments and passwords are not in them.

mod journal;
mod log_file;
mod record;
mod writer;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_services::{AuditRecord, AuditSink};
use takt_ua::DateTime;

use journal::Journal;
use log_file::LogFile;
use writer::LineWriter;

/// Largest number of records that wait to be written, of 4 KiB at most.
const WAITING: usize = 4096;

/// Time limit for the records that wait at the end.
const LAST_RECORDS: Duration = Duration::from_secs(3);

/// Shortest time between two messages in the log about lost records.
const QUIET: Duration = Duration::from_secs(10);

/// Place of an audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditTarget {
    /// A file, one line for each record. It is opened again when it was moved or deleted, for example by logrotate.
    File(PathBuf),
    /// The socket of systemd's journal, by default [`AuditTarget::JOURNAL`].
    Journal(PathBuf),
}

impl AuditTarget {
    /// Path of the socket of systemd's journal.
    pub const JOURNAL: &str = "/run/systemd/journal/socket";
}

impl FromStr for AuditTarget {
    type Err = std::convert::Infallible;

    /// Reads `journald` or the path of a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "journald" => Self::Journal(PathBuf::from(Self::JOURNAL)),
            path => Self::File(PathBuf::from(path)),
        })
    }
}

impl fmt::Display for AuditTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Journal(path) => write!(formatter, "journald ({})", path.display()),
        }
    }
}

/// Error of an audit log that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the audit log {target} cannot be opened: {source}")]
pub struct AuditError {
    /// The place.
    pub target: AuditTarget,
    /// Error of the operating system.
    #[source]
    pub source: io::Error,
}

/// An audit log with a thread for each place: one that does not take records keeps the others from nothing. Dropping it writes what
/// waits, for a few seconds at most.
#[derive(Debug)]
pub struct AuditLog {
    places: Vec<Place>,
}

/// A place with its thread.
#[derive(Debug)]
struct Place {
    target: AuditTarget,
    queue: Option<SyncSender<String>>,
    lost: Arc<AtomicU64>,
    /// Disconnected when the thread ends.
    ended: Mutex<Receiver<()>>,
}

impl AuditLog {
    /// Opens an audit log at all these places.
    ///
    /// # Errors
    /// A place cannot be opened, or a thread cannot be started.
    pub fn open(targets: &[AuditTarget]) -> Result<Self, AuditError> {
        let mut writers = Vec::new();
        for target in targets {
            let failed = |source| AuditError {
                target: target.clone(),
                source,
            };
            let writer: Box<dyn LineWriter> = match target {
                AuditTarget::File(path) => Box::new(LogFile::open(path).map_err(failed)?),
                AuditTarget::Journal(path) => Box::new(Journal::open(path).map_err(failed)?),
            };
            writers.push((target.clone(), writer));
        }
        Self::start(writers)
    }

    fn start(writers: Vec<(AuditTarget, Box<dyn LineWriter>)>) -> Result<Self, AuditError> {
        let places = writers.into_iter().map(|(target, writer)| {
            let started = Place::start(target.clone(), writer);
            started.map_err(|source| AuditError { target, source })
        });
        let places = places.collect::<Result<_, _>>()?;
        Ok(Self { places })
    }
}

impl AuditSink for AuditLog {
    fn record(&self, record: &AuditRecord<'_>) {
        let line = record::line(record);
        for place in &self.places {
            let queue = place.queue.as_ref();
            let sent = queue.map(|queue| queue.try_send(line.clone()));
            // The serving thread waits for no disk: a record that finds no room is lost, and the log tells that.
            if !matches!(sent, Some(Ok(()))) {
                place.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        // All of them are told to end before the first is waited for.
        for place in &mut self.places {
            drop(place.queue.take());
        }
        let end = Instant::now() + LAST_RECORDS;
        for place in &mut self.places {
            let left = end.saturating_duration_since(Instant::now());
            let ended = place.ended.get_mut();
            let ended = ended.unwrap_or_else(PoisonError::into_inner);
            if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(left) {
                let target = &place.target;
                tracing::error!(%target, "the last audit records are lost: they could not be written in time");
            }
        }
    }
}

impl Place {
    fn start(target: AuditTarget, writer: Box<dyn LineWriter>) -> io::Result<Self> {
        let (queue, records) = mpsc::sync_channel(WAITING);
        // `JoinHandle::join` has no time limit.
        let (ends, ended) = mpsc::channel::<()>();
        let lost = Arc::new(AtomicU64::new(0));
        let writing = Writing {
            target: target.clone(),
            writer,
            lost: Arc::clone(&lost),
            told: None,
            unwritten: 0,
        };
        let thread = std::thread::Builder::new().name("audit".to_owned());
        thread.spawn(move || {
            writing.run(&records);
            drop(ends);
        })?;
        Ok(Self {
            target,
            queue: Some(queue),
            lost,
            ended: Mutex::new(ended),
        })
    }
}

/// The thread that writes.
struct Writing {
    target: AuditTarget,
    writer: Box<dyn LineWriter>,
    lost: Arc<AtomicU64>,
    /// Time of the last message in the log about lost records.
    told: Option<Instant>,
    /// Number of lost records that the place does not have yet.
    unwritten: u64,
}

impl Writing {
    fn run(mut self, records: &Receiver<String>) {
        loop {
            // Lost records are reported even if no further one comes.
            match records.recv_timeout(QUIET) {
                Ok(record) => self.write(&record),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.told.is_none_or(|told| told.elapsed() >= QUIET) {
                self.tell();
            }
        }
        self.tell();
    }

    /// Writes a record. One that cannot be written counts as lost.
    fn write(&mut self, record: &str) {
        if let Err(error) = self.writer.write(record) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            if self.told.is_none_or(|told| told.elapsed() >= QUIET) {
                let target = &self.target;
                tracing::error!(%target, %error, "an audit record cannot be written");
            }
        }
    }

    /// Tells the number of records that were lost since the last time.
    fn tell(&mut self) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            self.told = Some(Instant::now());
            let target = &self.target;
            tracing::error!(%target, lost, "audit records were lost");
        }
        self.unwritten += lost;
        let record = record::lost(self.unwritten, DateTime::now());
        // Without room for it, the number is written later.
        if self.unwritten > 0 && self.writer.write(&record).is_ok() {
            self.unwritten = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::sync::mpsc::Sender;

    use takt_services::AuditedAction;
    use takt_space::Caller;
    use takt_ua::StatusCode;

    use super::*;

    fn record(sink: &AuditLog, caller: &Caller) {
        sink.record(&AuditRecord {
            action: AuditedAction::CreateSession,
            time: DateTime::now(),
            status: StatusCode::Good,
            caller,
            claimed_user: None,
            client_audit_entry_id: None,
            server_id: "urn:test",
        });
    }

    #[test]
    fn records_go_to_all_places() {
        let folder = tempfile::tempdir().unwrap();
        let (file, socket) = (folder.path().join("audit"), folder.path().join("journal"));
        let journal = UnixDatagram::bind(&socket).unwrap();
        let targets = [
            AuditTarget::File(file.clone()),
            AuditTarget::Journal(socket),
        ];
        let log = AuditLog::open(&targets).unwrap();
        let caller = Caller::local();
        record(&log, &caller);
        record(&log, &caller);
        drop(log);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        let mut buffer = [0; 8192];
        let length = journal.recv(&mut buffer).unwrap();
        let entry = std::str::from_utf8(&buffer[..length]).unwrap();
        let first = text.lines().next().unwrap();
        assert!(entry.contains(&format!("MESSAGE={first}\n")), "{entry}");
        assert!(entry.contains("SYSLOG_IDENTIFIER=takt\n"), "{entry}");
    }

    #[test]
    fn a_place_that_does_not_exist_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/audit");
        for target in [
            AuditTarget::File(missing.clone()),
            AuditTarget::Journal(missing),
        ] {
            let error = AuditLog::open(&[target]).unwrap_err().to_string();
            assert!(error.contains("missing"), "{error}");
        }
    }

    /// A writer that waits for the test, and then keeps what it writes.
    struct Slow(Receiver<()>, Sender<String>);

    impl LineWriter for Slow {
        fn write(&mut self, record: &str) -> io::Result<()> {
            let _ = self.0.recv();
            let _ = self.1.send(record.to_owned());
            Ok(())
        }
    }

    #[test]
    fn a_full_queue_loses_records_and_counts_them() {
        let (go, waits) = mpsc::channel();
        let (keeps, kept) = mpsc::channel();
        let slow: Box<dyn LineWriter> = Box::new(Slow(waits, keeps));
        let log = AuditLog::start(vec![(AuditTarget::File(PathBuf::new()), slow)]).unwrap();
        let caller = Caller::local();
        let before = Instant::now();
        let all = WAITING + 100;
        for _ in 0..all {
            record(&log, &caller);
        }
        assert!(before.elapsed() < Duration::from_secs(10), "it never waits");
        drop(go);
        drop(log);
        let kept: Vec<String> = kept.iter().collect();
        let counts = kept.iter().filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line.get("LostRecords")?.as_u64()
        });
        let (counted, told) = counts.fold((0, 0), |(sum, count), lost| (sum + lost, count + 1));
        assert!((99..=100).contains(&counted), "{counted}");
        assert_eq!(kept.len() - told + counted as usize, all);
    }

    /// A writer without room, until there is some.
    struct Full(Arc<AtomicU64>, Sender<String>);

    impl LineWriter for Full {
        fn write(&mut self, record: &str) -> io::Result<()> {
            match self.0.load(Ordering::Relaxed) {
                0 => Err(io::ErrorKind::StorageFull.into()),
                _ => {
                    let _ = self.1.send(record.to_owned());
                    Ok(())
                }
            }
        }
    }

    #[test]
    fn the_number_of_lost_records_is_written_when_there_is_room() {
        let room = Arc::new(AtomicU64::new(0));
        let (keeps, kept) = mpsc::channel();
        let mut writing = Writing {
            target: AuditTarget::File("full".into()),
            writer: Box::new(Full(Arc::clone(&room), keeps)),
            lost: Arc::default(),
            told: None,
            unwritten: 0,
        };
        writing.write("first");
        writing.tell();
        writing.write("second");
        writing.tell();
        room.store(1, Ordering::Relaxed);
        writing.tell();
        writing.tell();
        let kept: Vec<String> = kept.try_iter().collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        let line: serde_json::Value = serde_json::from_str(&kept[0]).unwrap();
        assert_eq!(line["LostRecords"], 2);
    }

    #[test]
    fn a_place_that_hangs_delays_neither_the_others_nor_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let (_go, waits) = mpsc::channel();
        let (keeps, _kept) = mpsc::channel();
        let hanging: Box<dyn LineWriter> = Box::new(Slow(waits, keeps));
        let file: Box<dyn LineWriter> = Box::new(LogFile::open(&path).unwrap());
        let log = AuditLog::start(vec![
            (AuditTarget::File("hanging".into()), hanging),
            (AuditTarget::File(path.clone()), file),
        ])
        .unwrap();
        let caller = Caller::local();
        record(&log, &caller);
        record(&log, &caller);
        let before = Instant::now();
        drop(log);
        assert!(before.elapsed() < LAST_RECORDS + Duration::from_secs(5));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}
