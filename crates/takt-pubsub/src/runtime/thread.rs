//! Start of a thread.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::options::StartError;

/// Starts a thread and waits until it reports its start.
pub(super) fn spawn(
    name: &str,
    work: impl FnOnce(&SyncSender<Result<(), StartError>>) + Send + 'static,
) -> Result<JoinHandle<()>, StartError> {
    let (started, has_started) = sync_channel(1);
    let thread = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || work(&started))
        .map_err(StartError::Thread)?;
    match has_started.recv() {
        Ok(Ok(())) => Ok(thread),
        Ok(Err(error)) => {
            // After an error of the start, no thread is left that still holds links or memory.
            let _ = thread.join();
            Err(error)
        }
        Err(_) => Err(StartError::Thread(std::io::Error::other(
            "the thread ended at once",
        ))),
    }
}
