//! Room in /dev/shm for the files of iceoryx2. Its files have no memory until they are touched; if there is none by then, the
//! kernel ends the process with SIGBUS.

use crate::directory::location::SHARED_MEMORY_DIRECTORY;
use crate::error::ShmError;

/// Memory of all public services of an application when they are offered, and a reserve for their first responses, in bytes.
pub(crate) const PUBLIC_SERVICES: u64 = 4 << 20;
/// Memory of a message beside its bytes, in bytes: pages that are touched for the first time.
const AROUND_A_MESSAGE: u64 = 64 << 10;

/// Checks that /dev/shm has room for `needed` more bytes.
///
/// # Errors
/// [`ShmError::SharedMemoryFull`] if it has not.
pub(crate) fn check(needed: u64) -> Result<(), ShmError> {
    // A check is not possible if the file system has no status.
    let Ok(status) = rustix::fs::statvfs(SHARED_MEMORY_DIRECTORY) else {
        return Ok(());
    };
    // A tmpfs without a limit has 0 blocks.
    if status.f_blocks == 0 {
        return Ok(());
    }
    let free = status.f_bavail.saturating_mul(status.f_frsize);
    match free < needed {
        true => Err(ShmError::SharedMemoryFull { needed, free }),
        false => Ok(()),
    }
}

/// Checks that there is room for a message of that length.
pub(crate) fn check_message(length: usize) -> Result<(), ShmError> {
    check(AROUND_A_MESSAGE + length as u64)
}
