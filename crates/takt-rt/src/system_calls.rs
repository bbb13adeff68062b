//! Number of system calls of other processes, counted by the kernel (perf_event_open(2)).
//!
//! A counter makes each system call of the machine slower by some 100 ns, so that no time is measured meanwhile.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{FromRawFd, RawFd};

/// Places of the number of the tracepoint: tracefs, and where it was before Linux 4.1.
const TRACEPOINTS: [&str; 2] = [
    "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
    "/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id",
];
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// Bit `inherit` of the attributes: threads and processes that are started later count, too.
const INHERIT: u64 = 1 << 1;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// Reason why system calls cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemCallError {
    /// tracefs is not mounted, or the kernel has no tracepoints.
    #[error(
        "there is no tracepoint raw_syscalls:sys_enter: perhaps `sudo mount -t tracefs tracefs /sys/kernel/tracing` is missing, \
         or the kernel has none"
    )]
    NoTracepoint,
    /// The tracepoint is hidden.
    #[error(
        "the tracepoint raw_syscalls:sys_enter cannot be read ({0}): only root may, by default. Either start the program as \
         root, or `sudo mount -o remount,mode=755 /sys/kernel/tracing`"
    )]
    Tracepoint(#[source] io::Error),
    /// The user may not count events of other processes.
    #[error(
        "perf events are not permitted: CAP_PERFMON is missing. Either start the program as root, or `sudo setcap \
         cap_perfmon+ep PROGRAM`, for a container `--cap-add PERFMON`"
    )]
    NotPermitted,
    /// The system refused for another reason.
    #[error("perf events cannot be used")]
    System(#[source] io::Error),
}

/// Attributes of an event: `struct perf_event_attr` in its first version (`PERF_ATTR_SIZE_VER0`, 64 bytes).
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// Counter of the system calls of processes, with the threads and processes that they start.
#[derive(Debug)]
pub struct SystemCallCounter {
    /// Event of each thread.
    events: Vec<File>,
}

impl SystemCallCounter {
    /// Begins to count the system calls of all threads of these processes.
    ///
    /// # Errors
    /// [`SystemCallError`], which names the missing privilege and the way to get it.
    pub fn start(processes: &[u32]) -> Result<Self, SystemCallError> {
        let tracepoint = tracepoint().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SystemCallError::NoTracepoint,
            _ => SystemCallError::Tracepoint(error),
        })?;
        let tasks = processes.iter().flat_map(|process| {
            let tasks = fs::read_dir(format!("/proc/{process}/task"));
            tasks.into_iter().flatten().flatten()
        });
        let threads = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
        let mut events = Vec::new();
        for thread in threads {
            match open(tracepoint, thread) {
                Ok(event) => events.push(event),
                // The thread has ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(SystemCallError::NotPermitted);
                }
                Err(error) => return Err(SystemCallError::System(error)),
            }
        }
        Ok(Self { events })
    }

    /// Returns the number of system calls until now.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn count(&self) -> Result<u64, SystemCallError> {
        let mut sum = 0;
        for mut event in &self.events {
            let mut number = [0; 8];
            let read = event.read_exact(&mut number);
            read.map_err(SystemCallError::System)?;
            sum += u64::from_ne_bytes(number);
        }
        Ok(sum)
    }
}

/// Returns the number of the tracepoint.
fn tracepoint() -> io::Result<u64> {
    let [first, second] = TRACEPOINTS;
    let text =
        fs::read_to_string(first).or_else(|error| fs::read_to_string(second).map_err(|_| error))?;
    let number = text.trim().parse();
    number.map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Opens the event of a thread, on all processors.
fn open(tracepoint: u64, thread: i32) -> io::Result<File> {
    let attributes = Attributes {
        kind: TRACEPOINT,
        size: size_of::<Attributes>() as u32,
        config: tracepoint,
        flags: INHERIT,
        ..Attributes::default()
    };
    let (any_processor, no_group): (libc::c_int, libc::c_int) = (-1, -1);
    // SAFETY: the pointer is to a live local that has the size which it states, and the call only reads it.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            any_processor,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    match RawFd::try_from(returned) {
        // SAFETY: the call has returned a new descriptor, which nothing else owns.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { File::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn system_calls_of_a_process_and_of_its_children_are_counted() {
        // Each line of the input starts a process, which makes more than ten system calls.
        let script = "while read line; do env true; echo done; done";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut input, mut output) = (
            child.stdin.take().unwrap(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        let mut exchange = || {
            input.write_all(b"go\n").unwrap();
            output.read_line(&mut String::new()).unwrap();
        };
        exchange();
        let counter = match SystemCallCounter::start(&[child.id()]) {
            Ok(counter) => counter,
            Err(error) => {
                // The advice for this machine; a refusal for another reason has none.
                let text = error.to_string();
                let advice = match error {
                    SystemCallError::NoTracepoint => "mount -t tracefs",
                    SystemCallError::System(_) => "",
                    _ => "as root",
                };
                assert!(text.contains(advice), "{text}");
                drop(input);
                child.wait().unwrap();
                return;
            }
        };
        let before = counter.count().unwrap();
        exchange();
        let after = counter.count().unwrap();
        assert!(after >= before + 10, "{before} {after}");
        // A process that waits makes none.
        assert!(counter.count().unwrap() <= after + 10);
        drop(input);
        child.wait().unwrap();
    }

    #[test]
    fn the_attributes_have_the_size_of_their_version() {
        assert_eq!(size_of::<Attributes>(), 64);
    }
}
