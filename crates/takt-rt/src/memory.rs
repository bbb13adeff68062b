//! Locking of memory, because a page fault on the hot path takes longer than a cycle.

use std::hint::black_box;
use std::io;

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

/// Error of memory that could not be locked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The user may not lock as much as this process uses.
    #[error(
        "the memory of this process cannot be locked: the limit of this user is {limit} bytes (RLIMIT_MEMLOCK) and CAP_IPC_LOCK is missing. \
         Either `sudo setcap cap_ipc_lock+ep PROGRAM`, or a line `USER - memlock unlimited` in /etc/security/limits.conf \
         and a new login, or for a service of systemd `LimitMEMLOCK=infinity`, for a container `--ulimit memlock=-1`"
    )]
    NotPermitted {
        /// Limit of this user, in bytes.
        limit: u64,
    },
    /// The system refused for another reason.
    #[error("the memory of this process cannot be locked")]
    System(#[from] io::Error),
}

/// Loads all memory of this process, present and future, and keeps it from being paged out (`mlockall`).
///
/// From then on memory is allocated when it is mapped, not when it is touched, including the stacks of new threads (2
/// MiB each). If that matters, start the threads and reserve the buffers first.
///
/// # Errors
/// [`MemoryError`], which names the missing privilege and the way to get it.
pub fn lock_all() -> Result<(), MemoryError> {
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|error| match error {
        // EPERM for a limit of zero, ENOMEM for one that is too low, EAGAIN from some older kernels.
        Errno::PERM | Errno::NOMEM | Errno::AGAIN => {
            let capable = capabilities(None)
                .is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
            match getrlimit(Resource::Memlock).current {
                Some(limit) if !capable => MemoryError::NotPermitted { limit },
                _ => MemoryError::System(error.into()),
            }
        }
        error => MemoryError::System(error.into()),
    })
}

/// Ends the effect of [`lock_all`].
///
/// # Errors
/// [`MemoryError::System`], in a sandbox that forbids the call.
pub fn unlock_all() -> Result<(), MemoryError> {
    munlockall().map_err(|error| MemoryError::System(error.into()))
}

/// Size in bytes of the stack that [`prefault_stack`] touches.
pub const PREFAULTED_STACK_BYTES: usize = 128 * 1024;

/// Touches the next 128 KiB of the calling thread's stack, so that the hot path finds them mapped.
///
/// Only the main thread needs this: its stack grows as it is used, even after [`lock_all`].
#[inline(never)]
pub fn prefault_stack() {
    let mut stack = [0_u8; PREFAULTED_STACK_BYTES];
    black_box(&mut stack);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_or_says_what_is_missing() {
        match lock_all() {
            Ok(()) => unlock_all().unwrap(),
            Err(error @ MemoryError::NotPermitted { .. }) => {
                let text = error.to_string();
                assert!(
                    text.contains("cap_ipc_lock") && text.contains("memlock"),
                    "{text}"
                );
            }
            Err(error) => panic!("{error:?}"),
        }
        prefault_stack();
    }
}
