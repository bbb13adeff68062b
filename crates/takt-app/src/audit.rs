//! Audit log: one JSON object for each action of a client, in a file or in the journal of systemd.
//!
//! Records wait in a bounded queue for a thread that writes them, so a slow disk delays no client. Records for which there is no
//! room, or that cannot be written, are lost: their number is logged, and written when there is room again. The fields have the
//! names of the Properties of AuditEventType and its subtypes (OPC 10000-5, 6.4). Values, arguments and passwords are not in them.

mod journal;
mod log_file;
mod record;
mod writer;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_services::{AuditRecord, AuditSink};
use takt_ua::DateTime;

use journal::Journal;
use log_file::LogFile;
use writer::LineWriter;

/// Largest number of records that wait to be written, of 4 KiB at most.
const WAITING: usize = 4096;

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

/// An audit log with its thread. Dropping it writes what waits.
#[derive(Debug)]
pub struct AuditLog {
    queue: Option<SyncSender<String>>,
    lost: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl AuditLog {
    /// Opens an audit log at all these places.
    ///
    /// # Errors
    /// A place cannot be opened, or the thread cannot be started.
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
        let (queue, records) = mpsc::sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let writing = Writing {
            writers,
            lost: Arc::clone(&lost),
            told: None,
        };
        let thread = std::thread::Builder::new().name("audit".to_owned());
        let thread = thread.spawn(move || writing.run(&records));
        let thread = thread.map_err(|source| AuditError {
            target: targets
                .first()
                .cloned()
                .unwrap_or_else(|| AuditTarget::File(PathBuf::new())),
            source,
        })?;
        Ok(Self {
            queue: Some(queue),
            lost,
            thread: Some(thread),
        })
    }
}

impl AuditSink for AuditLog {
    fn record(&self, record: &AuditRecord<'_>) {
        let line = record::line(record);
        let sent = self.queue.as_ref().map(|queue| queue.try_send(line));
        if !matches!(sent, Some(Ok(()))) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to write.
            let _ = thread.join();
        }
    }
}

/// The thread that writes.
struct Writing {
    writers: Vec<(AuditTarget, Box<dyn LineWriter>)>,
    lost: Arc<AtomicU64>,
    /// Time of the last message in the log about lost records.
    told: Option<Instant>,
}

impl Writing {
    fn run(mut self, records: &Receiver<String>) {
        loop {
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

    /// Writes a record. One that cannot be written everywhere counts as lost.
    fn write(&mut self, record: &str) {
        let mut is_lost = false;
        for (target, writer) in &mut self.writers {
            if let Err(error) = writer.write(record) {
                is_lost = true;
                if self.told.is_none_or(|told| told.elapsed() >= QUIET) {
                    tracing::error!(%target, %error, "an audit record cannot be written");
                }
            }
        }
        if is_lost {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Tells the number of records that were lost since the last time.
    fn tell(&mut self) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost == 0 {
            return;
        }
        self.told = Some(Instant::now());
        tracing::error!(lost, "audit records were lost");
        let record = record::lost(lost, DateTime::now());
        for (_, writer) in &mut self.writers {
            // If this fails, the log has the number.
            let _ = writer.write(&record);
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
        let (queue, records) = mpsc::sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let writing = Writing {
            writers: vec![(
                AuditTarget::File(PathBuf::new()),
                Box::new(Slow(waits, keeps)),
            )],
            lost: Arc::clone(&lost),
            told: None,
        };
        let log = AuditLog {
            queue: Some(queue),
            lost,
            thread: Some(std::thread::spawn(move || writing.run(&records))),
        };
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
}
