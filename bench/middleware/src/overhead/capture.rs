//! Capture of an interface, as a process in the network namespace of the peers.

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_capture::CaptureWriter;
use takt_link::{FrameListener, HeardFrame};

use crate::own::OwnPeerError;

/// Longest wait for a frame before the process looks whether it shall end.
const STEP: Duration = Duration::from_millis(20);

/// Writes all frames of an interface to a file in pcapng until the standard input ends. Prints `ready` when it hears them. If the
/// kernel had no room for a frame, the file is removed.
///
/// # Errors
/// [`OwnPeerError`]: the interface or the file cannot be used, or frames were lost.
pub fn capture(interface: &str, path: &Path) -> Result<(), OwnPeerError> {
    let mut listener = FrameListener::open_whole(interface).map_err(failed)?;
    let file = File::create(path).map_err(failed)?;
    let mut writer = CaptureWriter::new(BufWriter::new(file)).map_err(failed)?;
    let stop = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&stop);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ends.store(true, Ordering::Release);
    });
    println!("ready");
    loop {
        let is_over = stop.load(Ordering::Acquire);
        let mut outcome = Ok(());
        let heard = listener.listen(if is_over { Duration::ZERO } else { STEP }, &mut |frame| {
            let written = writer.write_beginning(time(&frame), frame.bytes, frame.length);
            if outcome.is_ok() {
                outcome = written;
            }
        });
        let heard = heard.map_err(failed)?;
        outcome.map_err(failed)?;
        if is_over && heard == 0 {
            break;
        }
    }
    writer.finish().map_err(failed)?;
    match listener.lost() {
        0 => Ok(()),
        lost => {
            let _ = std::fs::remove_file(path);
            Err(OwnPeerError::Failed(format!("{lost} frames were lost")))
        }
    }
}

fn failed(error: impl std::fmt::Display) -> OwnPeerError {
    OwnPeerError::Failed(error.to_string())
}

/// Returns the time of a frame: that of the kernel, or now.
fn time(frame: &HeardFrame<'_>) -> SystemTime {
    let nanos = frame.time.and_then(|time| u64::try_from(time.nanos()).ok());
    nanos.map_or_else(SystemTime::now, |nanos| {
        UNIX_EPOCH + Duration::from_nanos(nanos)
    })
}
