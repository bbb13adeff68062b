//! Standard input and output of a process of a benchmark: its exchange with the process that started it.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::error::BenchError;

/// Runs `work` on a thread of its own. At the end of the standard input, the thread is told to stop, and awaited: for at most
/// `patience`, or without a limit.
pub(crate) fn until_input_ends(
    patience: Option<Duration>,
    work: impl FnOnce(fn(&str), &AtomicBool) -> Result<(), BenchError> + Send + 'static,
) -> Result<(), BenchError> {
    let stop = Arc::new(AtomicBool::new(false));
    let (ended, has_ended) = mpsc::channel();
    let thread = {
        let stop = Arc::clone(&stop);
        // This thread stays where the system puts it. It sees the end of the input even if the other one spins.
        std::thread::spawn(move || {
            let result = work(announce, &stop);
            if let Err(error) = &result {
                print(&json!({"ready": false, "error": error.to_string()}));
            }
            let _ = ended.send(());
            result
        })
    };
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    stop.store(true, Ordering::Release);
    thread.thread().unpark();
    if patience.is_some_and(|patience| has_ended.recv_timeout(patience).is_err()) {
        return Ok(());
    }
    thread.join().unwrap_or(Ok(()))
}

/// Announces that clients can connect.
fn announce(endpoint: &str) {
    print(&json!({"ready": true, "endpoint": endpoint, "namespace": 1}));
}

/// Prints a line for the process that started this one.
pub(crate) fn print(line: &impl Serialize) {
    let line = serde_json::to_string(line).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    // A failure is ignored, because it means that the reader is gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
