//! The floor of opc.iox2: two counters in shared memory and a copy of the message each way.
//!
//! A side that sleeps does so on the counter itself (futex), after saying so in the counter's lowest bit: who finds the
//! bit set has to wake it, and only then is there a system call.

use std::hint::{black_box, spin_loop};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;

use super::mapping::{Direction, Mapping, length};
use super::{HEADER, LOOKS_PER_QUESTION, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{Operation, RoundTrip, Wait};

/// The bit of a counter that says that its reader sleeps.
const ASLEEP: u32 = 1;
/// What a counter advances by.
const ONE: u32 = 2;
/// A sleeper looks up this often, in case nobody wakes it.
const NAP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Announces a message: the receiver may read it now.
#[inline]
fn announce(counter: &AtomicU32, count: u32, wait: Wait) {
    if wait == Wait::Spin {
        counter.store(count, Ordering::Release);
    } else if counter.swap(count, Ordering::AcqRel) & ASLEEP != 0 {
        // The address is valid: there is nothing that could fail.
        let _ = futex::wake(counter, futex::Flags::empty(), 1);
    }
}

/// Waits for the message `count`; `give_up` is asked now and then.
#[inline]
fn await_message(
    counter: &AtomicU32,
    count: u32,
    wait: Wait,
    mut give_up: impl FnMut() -> bool,
) -> bool {
    // Who spins for ever needs no clock.
    let spin_until = wait
        .policy()
        .spin_for()
        .map(|spin_for| Instant::now() + spin_for);
    let mut looks = 0_u32;
    loop {
        let now = counter.load(Ordering::Acquire);
        if now & !ASLEEP == count {
            return true;
        }
        looks = looks.wrapping_add(1);
        if spin_until.is_none_or(|until| Instant::now() < until) {
            if looks.is_multiple_of(LOOKS_PER_QUESTION) && give_up() {
                return false;
            }
            spin_loop();
            continue;
        }
        if give_up() {
            return false;
        }
        let asleep = now | ASLEEP;
        let said = counter.compare_exchange(now, asleep, Ordering::AcqRel, Ordering::Acquire);
        if said.is_ok() {
            // Woken, interrupted, too late or timed out: the loop looks what is there.
            let _ = futex::wait(counter, futex::Flags::empty(), asleep, Some(&NAP));
        }
    }
}

/// The server's side of a mapping.
pub(crate) struct Server {
    mapping: Mapping,
    file: OwnedFd,
    longest: usize,
}

impl Server {
    /// Makes memory for messages of up to `longest` bytes. It has no name, and vanishes with its processes.
    pub(crate) fn new(longest: usize) -> Result<Self, BenchError> {
        let make = || {
            let file = rustix::fs::memfd_create("takt-bench", MemfdFlags::CLOEXEC)?;
            rustix::fs::ftruncate(&file, length(longest) as u64)?;
            Ok((Mapping::new(&file)?, file))
        };
        let (mapping, file) = make().map_err(BenchError::system::<Errno>("make shared memory"))?;
        Ok(Self {
            mapping,
            file,
            longest,
        })
    }

    /// Where another process of the same user can open it, as long as this process is there.
    pub(crate) fn path(&self) -> PathBuf {
        let (process, file) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{file}"))
    }

    /// Answers requests until `stop`.
    pub(crate) fn serve(&self, wait: Wait, stop: &AtomicBool) {
        let mut request = vec![0; self.longest.max(HEADER)];
        let answer = vec![2; self.longest];
        let mut count = 0_u32;
        loop {
            count = count.wrapping_add(ONE);
            let requests = self.mapping.counter(Direction::Request);
            if !await_message(requests, count, wait, || stop.load(Ordering::Relaxed)) {
                return;
            }
            let mut header = [0; HEADER];
            self.mapping.get(Direction::Request, &mut header);
            let Some(sizes) = sizes_of(&header, self.longest) else {
                return;
            };
            let request = request.get_mut(..sizes.request).unwrap_or_default();
            self.mapping.get(Direction::Request, request);
            black_box(request);
            let answer = answer.get(..sizes.response).unwrap_or_default();
            self.mapping.put(Direction::Response, answer);
            announce(self.mapping.counter(Direction::Response), count, wait);
        }
    }
}

/// The client's side.
pub(crate) struct Client {
    mapping: Mapping,
    count: u32,
    wait: Wait,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// Opens the server's memory.
    pub(crate) fn open(path: &Path, wait: Wait) -> Result<Self, BenchError> {
        let open = || {
            let flags = OFlags::RDWR | OFlags::CLOEXEC;
            Mapping::new(rustix::fs::open(path, flags, Mode::empty())?)
        };
        Ok(Self {
            mapping: open().map_err(BenchError::system::<Errno>(
                "open the server's shared memory",
            ))?,
            count: 0,
            wait,
            request: Vec::new(),
            answer: Vec::new(),
        })
    }
}

impl RoundTrip for Client {
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError> {
        let sizes = operation.sizes.with_header(takt_shm::header::HEADER_LENGTH);
        self.request = request_bytes(sizes);
        self.answer = vec![0; sizes.response];
        self.round_trip()
    }

    #[inline]
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.count = self.count.wrapping_add(ONE);
        self.mapping.put(Direction::Request, &self.request);
        announce(
            self.mapping.counter(Direction::Request),
            self.count,
            self.wait,
        );
        let mut patience = Patience::default();
        let responses = self.mapping.counter(Direction::Response);
        if !await_message(responses, self.count, self.wait, || patience.is_over()) {
            return Err(BenchError::RoundTrip {
                what: "shared memory".to_owned(),
                reason: "no answer".to_owned(),
            });
        }
        self.mapping.get(Direction::Response, &mut self.answer);
        black_box(&self.answer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floors::tests::OPERATIONS;

    #[test]
    fn messages_go_both_ways_however_the_sides_wait() {
        for wait in [Wait::Spin, Wait::Adaptive, Wait::Sleep] {
            let server = Server::new(5000).unwrap();
            let path = server.path();
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let stop = &stop;
                scope.spawn(move || server.serve(wait, stop));
                let mut client = Client::open(&path, wait).unwrap();
                for operation in OPERATIONS {
                    client.prepare(&operation).unwrap();
                    client.answer.fill(0);
                    client.round_trip().unwrap();
                    assert!(client.answer.iter().all(|&byte| byte == 2));
                    assert!(client.answer.len() > operation.sizes.response);
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
    }

    #[test]
    fn a_server_that_is_gone_is_noticed() {
        let server = Server::new(100).unwrap();
        let mut client = Client::open(&server.path(), Wait::Sleep).unwrap();
        assert!(client.round_trip().is_err());
    }
}
