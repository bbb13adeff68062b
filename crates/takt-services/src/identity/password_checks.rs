//! The thread that checks passwords.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

/// Largest number of passwords that wait for their check.
const MAX_WAITING: usize = 64;

/// The check of one password, which passes on its result.
pub(crate) type PasswordCheck = Box<dyn FnOnce() + Send>;

/// A thread that checks passwords one after another: each needs 19 MiB for 20 ms. It is started with the first one, and ends with
/// the server.
#[derive(Default)]
pub(crate) struct PasswordChecks(Mutex<Option<SyncSender<PasswordCheck>>>);

impl PasswordChecks {
    /// Queues a check. Returns false if too many wait, or no thread can be started.
    pub(crate) fn submit(&self, check: PasswordCheck) -> bool {
        let mut thread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let (sender, checks) = mpsc::sync_channel(MAX_WAITING);
            let builder = std::thread::Builder::new().name("passwords".to_owned());
            match builder.spawn(move || run(&checks)) {
                Ok(_) => *thread = Some(sender),
                Err(error) => {
                    tracing::error!(%error, "no thread for the checks of passwords");
                    return false;
                }
            }
        }
        thread
            .as_ref()
            .is_some_and(|thread| thread.try_send(check).is_ok())
    }
}

fn run(checks: &Receiver<PasswordCheck>) {
    while let Ok(check) = checks.recv() {
        check();
    }
}
