//! Reasons for which nothing can be recorded.

use std::io;
use std::path::PathBuf;

use crate::trace::formats::FormatError;

/// Error of a recorder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecorderError {
    /// The file system of the kernel's events is not mounted.
    #[error(
        "the kernel's events are not accessible: tracefs is not mounted. As root, `mount -t tracefs nodev /sys/kernel/tracing`; \
         a container needs the host's /sys/kernel/tracing"
    )]
    NotMounted,
    /// The user may not use the kernel's events.
    #[error(
        "the kernel's events are not accessible: this user may not use {path}. Run the program as root, or mount tracefs for a \
         group of this user: `mount -o remount,gid=GROUP,mode=770 /sys/kernel/tracing`"
    )]
    NotPermitted {
        /// Path that was refused.
        path: PathBuf,
    },
    /// The file system of the kernel's events is mounted read-only.
    #[error(
        "the kernel's events are not accessible: {path} is on a file system that is mounted read-only. Mount it writable: \
         `mount -o remount,rw /sys/kernel/tracing`; a container needs the host's directory writable"
    )]
    ReadOnly {
        /// Path that was refused.
        path: PathBuf,
    },
    /// The process is in a PID namespace of its own, where threads have other ids than in the kernel's events.
    #[error(
        "the kernel's events have other ids of threads than this process, which is in a PID namespace of its own. Run it in that of the \
         host"
    )]
    PidNamespace,
    /// The kernel lacks an event.
    #[error(
        "the kernel has no event {event}: it needs CONFIG_FTRACE_SYSCALLS and CONFIG_ENABLE_DEFAULT_TRACERS or CONFIG_FTRACE"
    )]
    MissingEvent {
        /// Group and name.
        event: String,
    },
    /// The kernel has another version of an event.
    #[error("the kernel has an unknown version of an event")]
    Format(#[from] FormatError),
    /// There is no memory for the buffers.
    #[error("the kernel has no memory for {kilobytes} KiB of events for each processor")]
    Memory {
        /// Size of a buffer.
        kilobytes: u64,
    },
    /// The system refused for another reason.
    #[error("{path} cannot be used")]
    System {
        /// File of tracefs.
        path: PathBuf,
        /// Cause.
        #[source]
        cause: io::Error,
    },
    /// The recorder has ended.
    #[error("the recorder has ended")]
    Ended,
    /// The thread of the recorder cannot be started.
    #[error("the thread of the recorder cannot be started")]
    Thread(#[source] io::Error),
}

impl RecorderError {
    /// Returns the error with the answer of the system, if there is one.
    #[must_use]
    pub fn with_cause(&self) -> String {
        match (self, std::error::Error::source(self)) {
            (Self::System { .. }, Some(cause)) => format!("{self}: {cause}"),
            _ => self.to_string(),
        }
    }

    /// Returns the error of a file of tracefs.
    pub(super) fn of(path: PathBuf, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::System { path, cause },
        }
    }
}

/// Reason why a recording lacks causes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingFailure {
    /// A thread is not watched: its late wake-ups have no causes.
    #[error("thread {thread} is not watched: {reason}")]
    Unwatched {
        /// Id of the thread.
        thread: u32,
        /// Reason.
        reason: String,
    },
    /// The events of a processor cannot be read.
    #[error("the events of processor {processor} cannot be read: {reason}")]
    Unreadable {
        /// Number of the processor.
        processor: u32,
        /// Reason.
        reason: String,
    },
    /// The thread of the recorder panicked: no late wake-up has causes.
    #[error("the thread of the recorder panicked: its message is on the standard error")]
    Panicked,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root was told to become root.
    #[test]
    fn each_refusal_names_its_own_remedy() {
        for (code, remedy) in [
            (libc::EACCES, "as root"),
            (libc::EPERM, "as root"),
            (libc::EROFS, "remount,rw"),
            (libc::EINVAL, "Invalid argument"),
        ] {
            let cause = io::Error::from_raw_os_error(code);
            let text = RecorderError::of("/there".into(), cause).with_cause();
            assert!(text.contains(remedy) && text.contains("/there"), "{text}");
        }
    }
}
