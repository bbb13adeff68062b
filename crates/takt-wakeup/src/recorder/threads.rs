//! Threads that a recorder watches.

use std::collections::{BTreeSet, HashSet};
use std::sync::mpsc::Sender;

use super::error::{RecorderError, RecordingFailure};
use super::filter::RecordedThreads;
use takt_rt::late::LateReceiver;

/// Watched threads, and the way of their queues to the thread of the recorder.
#[derive(Debug)]
pub(super) struct WatchedThreads {
    recorded: RecordedThreads,
    receivers: Sender<LateReceiver>,
    failures: Vec<RecordingFailure>,
}

impl WatchedThreads {
    /// Creates the set without threads. The thread of the recorder has the other side of the channel.
    pub(super) fn new(receivers: Sender<LateReceiver>) -> Self {
        Self {
            recorded: RecordedThreads::default(),
            receivers,
            failures: Vec::new(),
        }
    }

    /// Adds threads. `restrict` restricts the recorded events to all of them. A failure is kept for each thread, until a later attempt
    /// succeeds.
    ///
    /// # Errors
    /// That of `restrict`, after which none of the threads is added; or [`RecorderError::Ended`].
    pub(super) fn add(
        &mut self,
        receivers: Vec<LateReceiver>,
        restrict: impl FnOnce(&RecordedThreads) -> Result<(), RecorderError>,
    ) -> Result<(), RecorderError> {
        let ids: BTreeSet<u32> = receivers.iter().map(LateReceiver::thread).collect();
        self.failures.retain(|it| match it {
            RecordingFailure::Unwatched { thread, .. } => !ids.contains(thread),
            _ => true,
        });
        let added = self.add_all(receivers, &ids, restrict);
        if let Err(error) = &added {
            let reason = error.with_cause();
            let failures = ids.into_iter().map(|thread| RecordingFailure::Unwatched {
                thread,
                reason: reason.clone(),
            });
            self.failures.extend(failures);
        }
        added
    }

    fn add_all(
        &mut self,
        receivers: Vec<LateReceiver>,
        ids: &BTreeSet<u32>,
        restrict: impl FnOnce(&RecordedThreads) -> Result<(), RecorderError>,
    ) -> Result<(), RecorderError> {
        let mut recorded = self.recorded.clone();
        if recorded.add(ids.iter().copied()) {
            restrict(&recorded)?;
            self.recorded = recorded;
        }
        for receiver in receivers {
            let sent = self.receivers.send(receiver);
            sent.map_err(|_| RecorderError::Ended)?;
        }
        Ok(())
    }

    /// Returns the failures so far.
    pub(super) fn failures(&self) -> &[RecordingFailure] {
        &self.failures
    }

    /// Returns the failures, and forgets them.
    pub(super) fn take_failures(&mut self) -> Vec<RecordingFailure> {
        std::mem::take(&mut self.failures)
    }
}

/// Threads that have been late. Such a thread has been pinned, if it will be: its settings come before its first cycle.
#[derive(Debug, Default)]
pub(super) struct LateThreads(HashSet<u32>);

impl LateThreads {
    /// Notes threads that were late. Returns true if one of them was late for the first time.
    pub(super) fn note(&mut self, late: impl IntoIterator<Item = u32>) -> bool {
        let before = self.0.len();
        self.0.extend(late);
        self.0.len() > before
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc::channel;

    use super::*;
    use takt_rt::late::late_queue;

    fn refused(_: &RecordedThreads) -> Result<(), RecorderError> {
        Err(RecorderError::Memory { kilobytes: 1 })
    }

    /// A second attempt had taken the thread for one whose events are recorded, and its causes were unknown.
    #[test]
    fn a_refused_thread_is_not_recorded() {
        let (receivers, watched) = channel();
        let mut threads = WatchedThreads::new(receivers);
        let receiver = || vec![late_queue(7, 0).1];
        for _ in 0..2 {
            let error = threads.add(receiver(), refused).unwrap_err();
            assert!(matches!(error, RecorderError::Memory { .. }), "{error}");
            assert_eq!(threads.failures().len(), 1);
        }
        let mut filter = None;
        let restrict = |recorded: &RecordedThreads| {
            filter = recorded.filter("sched", "sched_waking");
            Ok(())
        };
        threads.add(receiver(), restrict).unwrap();
        assert_eq!(filter.as_deref(), Some("pid == 7"));
        assert_eq!(threads.take_failures(), []);
        assert_eq!(watched.try_iter().count(), 1);
    }

    #[test]
    fn a_recorder_that_has_ended_watches_no_thread() {
        let (receivers, watched) = channel();
        let mut threads = WatchedThreads::new(receivers);
        drop(watched);
        let added = threads.add(vec![late_queue(7, 0).1], |_| Ok(()));
        assert!(matches!(added, Err(RecorderError::Ended)), "{added:?}");
        let failures = threads.take_failures();
        let [failure] = failures.as_slice() else {
            panic!("{failures:?}");
        };
        assert!(
            failure.to_string().contains("thread 7 is not watched"),
            "{failure}"
        );
    }

    /// The first late thread had counted for all, also for those that were not pinned yet.
    #[test]
    fn each_thread_is_new_once() {
        let mut late = LateThreads::default();
        assert!(late.note([1]));
        assert!(!late.note([1, 1]));
        assert!(late.note([1, 2]));
        assert!(!late.note([]));
    }
}
