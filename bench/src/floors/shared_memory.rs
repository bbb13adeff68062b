//! The floor of opc.iox2: two counters in shared memory and a copy of the message in each direction.

use std::hint::black_box;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;

use super::mapping::{Direction, Side, length};
use super::{HEADER, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{Operation, RoundTrip, Wait};

/// Server side of a mapping.
pub(crate) struct Server {
    side: Side,
    file: OwnedFd,
    longest: usize,
}

impl Server {
    /// Creates memory for messages of up to `longest` bytes. It has no name, and vanishes with its processes.
    pub(crate) fn new(longest: usize) -> Result<Self, BenchError> {
        let make = || {
            let file = rustix::fs::memfd_create("takt-bench", MemfdFlags::CLOEXEC)?;
            rustix::fs::ftruncate(&file, length(longest) as u64)?;
            Ok((Side::take(&file, Direction::Response)?, file))
        };
        let (side, file) = make().map_err(BenchError::system::<Errno>("make shared memory"))?;
        Ok(Self {
            side,
            file,
            longest,
        })
    }

    /// Returns the path for other processes of the same user, valid while this process runs.
    pub(crate) fn path(&self) -> PathBuf {
        let (process, file) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{file}"))
    }

    /// Answers requests until `stop`.
    pub(crate) fn serve(mut self, wait: Wait, stop: &AtomicBool) {
        let mut request = vec![0; self.longest.max(HEADER)];
        let answer = vec![2; self.longest];
        while (self.side).await_turn(wait, || stop.load(Ordering::Relaxed)) {
            let mut header = [0; HEADER];
            self.side.get(&mut header);
            let Some(sizes) = sizes_of(&header, self.longest) else {
                return;
            };
            let request = request.get_mut(..sizes.request).unwrap_or_default();
            self.side.get(request);
            black_box(request);
            self.side
                .put(answer.get(..sizes.response).unwrap_or_default());
            self.side.pass(wait);
        }
    }
}

/// Client side.
pub(crate) struct Client {
    side: Side,
    wait: Wait,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// Opens the server's memory.
    pub(crate) fn open(path: &Path, wait: Wait) -> Result<Self, BenchError> {
        let open = || {
            let flags = OFlags::RDWR | OFlags::CLOEXEC;
            Side::take(
                rustix::fs::open(path, flags, Mode::empty())?,
                Direction::Request,
            )
        };
        Ok(Self {
            side: open().map_err(BenchError::system::<Errno>(
                "open the server's shared memory",
            ))?,
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
        let mut patience = Patience::default();
        // The turn is missing if the last request was not answered in time.
        let answered = self.side.put(&self.request) && {
            self.side.pass(self.wait);
            self.side.await_turn(self.wait, || patience.is_over())
        };
        if !answered {
            return Err(BenchError::RoundTrip {
                what: "shared memory".to_owned(),
                reason: "no answer".to_owned(),
            });
        }
        self.side.get(&mut self.answer);
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

    #[test]
    fn a_side_is_taken_once_and_touches_messages_in_its_turn_only() {
        let server = Server::new(100).unwrap();
        let client = Client::open(&server.path(), Wait::Sleep).unwrap();
        assert!(Client::open(&server.path(), Wait::Sleep).is_err());
        let (mut client, mut server) = (client.side, server.side);
        let mut received = [0; 3];
        assert!(!server.put(&[9; 3]) && !server.get(&mut received));
        assert!(client.put(&[1; 3]));
        client.pass(Wait::Sleep);
        assert!(!client.put(&[8; 3]) && !client.get(&mut received));
        assert!(server.await_turn(Wait::Sleep, || true));
        assert!(server.get(&mut received) && server.put(&[2; 3]));
        assert_eq!(received, [1; 3]);
        server.pass(Wait::Sleep);
        assert!(client.await_turn(Wait::Sleep, || true));
        assert!(client.get(&mut received));
        assert_eq!(received, [2; 3]);
    }
}
