//! Waiting for a response.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use takt_ua::StatusCode;

use super::ShmClient;
use crate::channel::Received;
use crate::error::ShmError;
use crate::header::MessageHeader;
use crate::socket::{self, Ending};

/// Looks at the shared memory between two looks at the clock. One of each takes about 30 ns.
const LOOKS_PER_CLOCK: u32 = 32;
/// Looks at the clock between two looks whether the server is still there, which is a system call; about 1 ms.
const CLOCKS_PER_CALL: u32 = 1024;

impl ShmClient {
    pub(super) fn wait_for(
        &mut self,
        id: Option<u32>,
        start: Instant,
        timeout: Duration,
    ) -> Result<(), ShmError> {
        // A timeout beyond what the clock can say is none.
        let deadline = start.checked_add(timeout);
        let spin_for = self.wait.spin_for();
        if spin_for != Some(Duration::ZERO) && self.spin(id, start, spin_for, deadline)? {
            return Ok(());
        }
        self.sleep(id, deadline)
    }

    /// Looks until the response is there or the time to spin is over; says which.
    fn spin(
        &mut self,
        id: Option<u32>,
        start: Instant,
        spin_for: Option<Duration>,
        deadline: Option<Instant>,
    ) -> Result<bool, ShmError> {
        let mut clocks = 0_u32;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if self.look(id)? {
                    return Ok(true);
                }
                spin_loop();
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(ShmError::Timeout);
            }
            if spin_for.is_some_and(|spin_for| now.duration_since(start) >= spin_for) {
                return Ok(false);
            }
            clocks = clocks.wrapping_add(1);
            if clocks.is_multiple_of(CLOCKS_PER_CALL) && self.last_words(id)? {
                return Ok(true);
            }
        }
    }

    fn sleep(&mut self, id: Option<u32>, deadline: Option<Instant>) -> Result<(), ShmError> {
        loop {
            // Before looking: if it is rung after that, the next poll returns at once.
            self.doorbell.drain();
            if self.look(id)? {
                return Ok(());
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(ShmError::Timeout);
            }
            if self.poll(left)? && self.last_words(id)? {
                return Ok(());
            }
        }
    }

    /// Sleeps until the doorbell is rung, the server is gone, or the time is over. Says whether the server may be gone.
    fn poll(&self, left: Option<Duration>) -> Result<bool, ShmError> {
        let mut descriptors = [
            PollFd::new(&self.doorbell, PollFlags::IN),
            PollFd::new(&self.socket.0, PollFlags::IN),
        ];
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match rustix::event::poll(&mut descriptors, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(ShmError::io("wait for a response", e)),
        }
        let [_, socket] = descriptors;
        Ok(!socket.revents().is_empty())
    }

    /// Fails if the server is gone, unless it answered before it went; says whether it did.
    fn last_words(&mut self, id: Option<u32>) -> Result<bool, ShmError> {
        if socket::ending(&self.socket.0) == Ending::None {
            return Ok(false);
        }
        self.closed = true;
        if self.look(id)? {
            return Ok(true);
        }
        Err(ShmError::ConnectionClosed)
    }

    /// Takes responses until the one to `id`, or any, was among them; says whether it was.
    fn look(&mut self, id: Option<u32>) -> Result<bool, ShmError> {
        while let Some(message) = self.receiver.receive()? {
            if self.take(&message, id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Throws away answers to requests that nobody waits for any more.
    pub(super) fn discard_late(&mut self) -> Result<(), ShmError> {
        while self.receiver.receive()?.is_some() {
            self.outstanding = self.outstanding.saturating_sub(1);
        }
        Ok(())
    }

    fn take(&mut self, message: &Received, id: Option<u32>) -> Result<bool, ShmError> {
        self.outstanding = self.outstanding.saturating_sub(1);
        let payload = message.payload();
        let (header, body) = MessageHeader::parse(payload, self.max_response)?;
        if id.is_some_and(|id| header.request_id != id) {
            return Ok(false);
        }
        self.answered = header.request_id;
        if header.status != 0 {
            return Err(ShmError::Refused(StatusCode(header.status)));
        }
        self.response.clear();
        self.response
            .extend_from_slice(payload.get(body).unwrap_or_default());
        Ok(true)
    }
}
