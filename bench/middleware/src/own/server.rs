//! Server side of the line protocol: serves until the standard input ends.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::error::OwnPeerError;

/// Longest time that the serving thread may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts `serve` on a thread, and prints that the server is ready as soon as `serve` says so. At the end of the standard input, or of
/// `serve`, it sets the flag, calls `wake`, and waits for the thread.
pub(super) fn until_input_ends(
    serve: impl FnOnce(&dyn Fn(), &AtomicBool) -> Result<(), OwnPeerError> + Send + 'static,
    wake: impl FnOnce(),
) -> Result<(), OwnPeerError> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        let result = serve(&|| println!("ready"), &flag);
        if let Err(error) = &result
            && !flag.load(Ordering::Acquire)
        {
            // The thread that reads the input cannot be woken.
            eprintln!("{error}");
            std::process::exit(error.exit_status());
        }
        result
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    stop.store(true, Ordering::Release);
    wake();
    let deadline = Instant::now() + PATIENCE;
    while !thread.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
