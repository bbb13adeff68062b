//! The thread that checks passwords.

mod check;
mod queue;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

pub(crate) use check::PasswordCheck;
use queue::Queue;

/// Largest number of passwords that have arrived and are in no queue yet.
const MAX_ARRIVED: usize = 256;

/// A thread that checks passwords one after another: a check needs 19 MiB for 20 ms. It is started with the first one, and ends
/// with the server.
#[derive(Default)]
pub(crate) struct PasswordChecks(Mutex<Option<SyncSender<(PasswordCheck, Instant)>>>);

impl PasswordChecks {
    /// Queues a check. Returns false if too many wait, or no thread can be started.
    pub(crate) fn submit(&self, check: PasswordCheck) -> bool {
        let mut thread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let (sender, checks) = mpsc::sync_channel(MAX_ARRIVED);
            let builder = std::thread::Builder::new().name("passwords".to_owned());
            match builder.spawn(move || run(&checks)) {
                Ok(_) => *thread = Some(sender),
                Err(error) => {
                    tracing::error!(%error, "no thread for the checks of passwords");
                    return false;
                }
            }
        }
        let check = (check, Instant::now());
        thread
            .as_ref()
            .is_some_and(|thread| thread.try_send(check).is_ok())
    }
}

fn run(arriving: &Receiver<(PasswordCheck, Instant)>) {
    let mut queue = Queue::new(Instant::now());
    loop {
        // All arrivals come first: the lanes decide which one is checked next, not the order of arrival.
        for (check, arrived) in arriving.try_iter() {
            queue.add(check, arrived);
        }
        let begin = Instant::now();
        for end in queue.take_due(begin) {
            end();
        }
        if let Some(next) = queue.next(begin) {
            let outcome = next.run();
            queue.done(outcome, begin.elapsed(), Instant::now());
            continue;
        }
        let arrived = match queue.wake() {
            Some(at) => arriving.recv_timeout(at.saturating_duration_since(begin)),
            None => arriving.recv().map_err(RecvTimeoutError::from),
        };
        match arrived {
            Ok((check, arrived)) => queue.add(check, arrived),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
