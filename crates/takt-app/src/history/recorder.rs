//! Thread that samples values and commits them to the store: its handle, its loop and its commits.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_history::StoreTime;
use takt_space::AddressSpace;
use takt_ua::NodeId;

use super::history_file::HistoryFile;
use super::inbox::Inbox;
use super::limits::{COMMIT_INTERVAL, MAX_RECORDED};
use super::recorded::RecordedVariables;
use super::recording::Recording;
use super::worker::Worker;

/// Time after a failed commit until the next attempt.
const PAUSE: Duration = Duration::from_secs(2);

/// Time between two commits without new records, if there are old ones to remove.
const EXPIRY: Duration = Duration::from_secs(60);

/// The thread. Dropping this commits what was recorded, and ends it.
pub(super) struct Recorder {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
    /// True while the file is checked, which cannot be interrupted.
    is_checking: Arc<AtomicBool>,
}

impl Recorder {
    /// Starts the thread with an open store, or with a file that it opens first.
    pub(super) fn start(
        space: &Arc<AddressSpace>,
        file: HistoryFile,
        recorded: (Arc<RecordedVariables>, Arc<RecordedVariables>),
    ) -> io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let is_checking = Arc::new(AtomicBool::new(!file.is_open()));
        let thread = std::thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn({
            let (space, inbox) = (Arc::downgrade(space), Arc::clone(&inbox));
            let is_checking = Arc::clone(&is_checking);
            move || {
                let store = file.open();
                is_checking.store(false, Ordering::Release);
                match store {
                    Some(store) => Worker::new(space, store, recorded, inbox).run(),
                    None => inbox.close(),
                }
            }
        })?;
        Ok(Self {
            inbox,
            thread: Some(thread),
            is_checking,
        })
    }

    /// Adds a Variable.
    pub(super) fn add(&self, node: NodeId, name: String, recording: Recording) {
        self.inbox.add(node, name, recording);
    }

    /// Adds a notifier.
    pub(super) fn add_notifier(&self, node: NodeId, name: String) {
        self.inbox.add_notifier(node, name);
    }

    /// Returns the place for Events of the server.
    pub(super) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.inbox.end();
        // A check of the file cannot be interrupted, so the end of the program does not wait for it.
        if let Some(thread) = self.thread.take()
            && !self.is_checking.load(Ordering::Acquire)
        {
            // A thread that panicked has nothing left to commit.
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn run(mut self) {
        // Without new samples or Events there is no commit ahead, and the thread sleeps.
        let mut commit: Option<Instant> = None;
        let mut last = Instant::now();
        loop {
            let sample = self.sampled.iter().map(|sampled| sampled.due).min();
            let expiry = self.store.has_ages().then(|| last + EXPIRY);
            let until = [sample, commit, expiry, self.excess.due()];
            let until = until.into_iter().flatten().min();
            let work = self.inbox.wait(until, commit.is_some());
            let has_records = work.has_records();
            for (node, name, recording) in work.added {
                self.begin(node, &name, recording);
            }
            for (node, name) in work.notifiers {
                self.begin_notifier(node, &name);
            }
            for event in work.events {
                self.take_event(event);
            }
            for (index, sample) in work.arrived {
                self.take(index, sample);
            }
            for (index, time) in work.lost {
                if let Some(sampled) = self.sampled.get(index) {
                    self.gaps.note(sampled.key, time);
                }
            }
            self.sample(Instant::now());
            let now = Instant::now();
            if let Some(count) = self.excess.report(now) {
                tracing::warn!(
                    count,
                    limit = MAX_RECORDED,
                    "history: too many Variables, so many are not recorded"
                );
            }
            let is_over = commit.is_some_and(|commit| now >= commit);
            let is_expiry = expiry.is_some_and(|expiry| now >= expiry);
            if is_over && !self.waiting.is_empty() || is_expiry || work.is_ending {
                self.commit();
                last = now;
            }
            if work.is_ending {
                return;
            }
            if is_over {
                commit = None;
            } else if has_records || !self.waiting.is_empty() {
                let pause = if self.failing { PAUSE } else { COMMIT_INTERVAL };
                commit.get_or_insert(now + pause);
            }
        }
    }

    /// Waits until all records are durable, or lost.
    fn commit(&mut self) {
        let mut records = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let count = records.len() as u64;
        let gaps: Vec<_> = self.gaps.records().collect();
        let ends: Vec<_> = gaps.iter().map(|(key, _)| *key).collect();
        // Should this fail, these records are lost. Events have no gaps.
        let mut lost = std::mem::take(&mut self.gaps);
        let variables = records
            .iter()
            .filter(|(key, _)| self.by_key.contains_key(key));
        lost.note_all(variables);
        // Of two records with the same time, the later one in the list counts.
        records.splice(..0, gaps);
        let committed = self.store.append(records, StoreTime::now());
        self.times.committed();
        match committed {
            Ok(appended) => {
                self.inbox.recorded(appended.recorded);
                self.inbox.lose(appended.refused);
                for key in ends {
                    self.sample_again(key);
                }
                if self.failing && count > 0 {
                    self.failing = false;
                    let lost = self.inbox.counts().lost;
                    tracing::warn!(lost, "history: values are recorded again");
                }
            }
            Err(error) => {
                self.inbox.lose(count);
                self.gaps = lost;
                if !self.failing {
                    self.failing = true;
                    tracing::warn!(%error, "history: values are not recorded; serving goes on");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
