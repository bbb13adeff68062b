//! Waiting for a response.

use std::hint::spin_loop;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use takt_rt::affinity;
use takt_ua::StatusCode;

use super::ShmClient;
use crate::channel::inbox::Message;
use crate::channel::protocol::Sleep;
use crate::channel::socket::Post;
use crate::error::ShmError;

/// Number of looks at the shared memory between two readings of the clock. One of each takes about 30 ns.
const LOOKS_PER_CLOCK: u32 = 32;
/// Longest sleep where the server's death is not noticed.
const NAP: Duration = Duration::from_millis(50);
/// Number of readings of the clock between two checks that the server is still there, which is a system call; about 1 ms.
const CLOCKS_PER_CALL: u32 = 1024;

impl ShmClient {
    pub(super) fn wait_for(
        &mut self,
        id: Option<u32>,
        start: Instant,
        timeout: Duration,
    ) -> Result<Message, ShmError> {
        // A timeout beyond the range of the clock is no timeout.
        let deadline = start.checked_add(timeout);
        let spin_for = match &mut self.budget {
            Some(budget) => {
                if budget.is_check_due() {
                    let server = self.state.processor();
                    budget.share_processor(server == Some(affinity::current()));
                }
                Some(budget.next_wait(start))
            }
            None => self.wait.spin_for(),
        };
        if spin_for != Some(Duration::ZERO) {
            let message = self.spin(id, start, spin_for, deadline)?;
            if let Some(budget) = &mut self.budget {
                match message {
                    Some(_) => budget.hit(),
                    None => budget.miss(),
                }
            }
            if let Some(message) = message {
                return Ok(message);
            }
        }
        self.sleep(id, start, deadline)
    }

    /// Looks until the response is there or the time to spin is over.
    fn spin(
        &mut self,
        id: Option<u32>,
        start: Instant,
        spin_for: Option<Duration>,
        deadline: Option<Instant>,
    ) -> Result<Option<Message>, ShmError> {
        let mut clocks = 0_u32;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if let Some(message) = self.look(id)? {
                    return Ok(Some(message));
                }
                spin_loop();
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(ShmError::Timeout);
            }
            if spin_for.is_some_and(|spin_for| now.duration_since(start) >= spin_for) {
                return Ok(None);
            }
            clocks = clocks.wrapping_add(1);
            if clocks.is_multiple_of(CLOCKS_PER_CALL)
                && let Some(message) = self.last_words(id)?
            {
                return Ok(Some(message));
            }
        }
    }

    /// Sleeps on the server's rings for a while, which is the fastest way to be woken, and then where its death is noticed too.
    fn sleep(
        &mut self,
        id: Option<u32>,
        start: Instant,
        deadline: Option<Instant>,
    ) -> Result<Message, ShmError> {
        // A server on the same processor does not spin then.
        self.outbox.set_processor(affinity::current());
        // This is before looking: the server rings for all later messages.
        self.outbox.set_asleep(Sleep::Rings);
        let mut result = self.nap(id, deadline);
        if let Ok(None) = result {
            // `sleep_until` looks first: for a message before this, there was a ring but no mail.
            self.outbox.set_asleep(Sleep::Mail);
            result = self.sleep_until(id, start, deadline).map(Some);
        }
        self.outbox.set_asleep(Sleep::Awake);
        match result? {
            Some(message) => Ok(message),
            None => Err(ShmError::Timeout),
        }
    }

    /// Sleeps until a response comes; returns `None` if there was none in that time.
    fn nap(
        &mut self,
        id: Option<u32>,
        deadline: Option<Instant>,
    ) -> Result<Option<Message>, ShmError> {
        let start = Instant::now();
        let mut left = NAP;
        if let Some(deadline) = deadline {
            left = left.min(deadline.saturating_duration_since(start));
        }
        let end = start + left;
        loop {
            // Before the look: a ring after that changes the number, and the sleep ends at once.
            let rings = self.inbox.rings();
            if let Some(message) = self.look(id)? {
                return Ok(Some(message));
            }
            if left.is_zero() {
                return Ok(None);
            }
            self.inbox.sleep_on(rings, left);
            left = end.saturating_duration_since(Instant::now());
        }
    }

    fn sleep_until(
        &mut self,
        id: Option<u32>,
        start: Instant,
        deadline: Option<Instant>,
    ) -> Result<Message, ShmError> {
        loop {
            if let Some(message) = self.look(id)? {
                return Ok(message);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                // The nap may have taken all of the time, and does not notice the server's death. A wait without time is only a look,
                // and makes no system call.
                let last = match deadline == Some(start) {
                    true => None,
                    false => self.last_words(id)?,
                };
                return last.ok_or(ShmError::Timeout);
            }
            self.readiness
                .wait(&mut self.events, left)
                .map_err(|e| ShmError::io("wait for a response", e))?;
            if !self.events.is_empty()
                && let Some(message) = self.last_words(id)?
            {
                return Ok(message);
            }
        }
    }

    /// Sleeps until there may be a response or `interrupt` is readable, for at most `timeout`.
    ///
    /// # Errors
    /// [`ShmError::ConnectionClosed`] when the server has ended, unless a response came before.
    pub fn wait_or(
        &mut self,
        interrupt: BorrowedFd<'_>,
        timeout: Duration,
    ) -> Result<(), ShmError> {
        self.outbox.set_processor(affinity::current());
        // This is before looking: the server sends a mail for all later messages.
        self.outbox.set_asleep(Sleep::Mail);
        if !self.inbox.is_ready() {
            let mut descriptors = [
                PollFd::new(self.socket.socket(), PollFlags::IN | PollFlags::RDHUP),
                PollFd::from_borrowed_fd(interrupt, PollFlags::IN),
            ];
            let timeout = Timespec::try_from(timeout).ok();
            // A signal may end the wait early, which is harmless.
            let _ = poll(&mut descriptors, timeout.as_ref());
        }
        self.outbox.set_asleep(Sleep::Awake);
        // The server may have answered and then ended, between the first look and the question to the kernel.
        if !self.inbox.is_ready() && !self.is_connected() && !self.inbox.is_ready() {
            self.closed = true;
            return Err(ShmError::ConnectionClosed);
        }
        Ok(())
    }

    /// Returns an error if the server is gone, unless it answered before it ended.
    fn last_words(&mut self, id: Option<u32>) -> Result<Option<Message>, ShmError> {
        match self.socket.0.receive() {
            Post::Nothing => return Ok(None),
            Post::Garbage(reason) => return Err(ShmError::Protocol(reason)),
            Post::Mail(_) | Post::Kept => {
                return Err(ShmError::Protocol("an unexpected mail"));
            }
            Post::Closed => {}
        }
        self.closed = true;
        match self.look(id)? {
            Some(message) => Ok(Some(message)),
            None => Err(ShmError::ConnectionClosed),
        }
    }

    /// Takes the available responses, until the one to `id`, or any, is among them. Other responses are late and discarded.
    #[inline]
    fn look(&mut self, id: Option<u32>) -> Result<Option<Message>, ShmError> {
        while self.inbox.is_ready() {
            if let Some(message) = self.take(id)? {
                return Ok(Some(message));
            }
        }
        if self.inbox.has_backlog() {
            self.make_room();
        }
        Ok(None)
    }

    fn take(&mut self, id: Option<u32>) -> Result<Option<Message>, ShmError> {
        let post = &mut self.socket.0;
        let received = self
            .inbox
            .receive(&mut |generation| post.fetch(generation))?;
        match received {
            None => Ok(None),
            Some(Err(invalid)) => Err(invalid.error),
            Some(Ok(message)) if id.is_some_and(|id| message.header.request_id != id) => Ok(None),
            Some(Ok(message)) if message.header.status != 0 => {
                self.refused = message.header.request_id;
                Err(ShmError::Refused(StatusCode(message.header.status)))
            }
            Some(Ok(message)) => Ok(Some(message)),
        }
    }

    /// Acknowledges the taken messages at once: the server may have more responses than there is room.
    #[cold]
    pub(super) fn make_room(&mut self) {
        if self.outbox.acknowledged() != self.inbox.received() {
            self.outbox.acknowledge_with_next(self.inbox.received());
            self.outbox.acknowledge_now();
            self.call();
        }
    }
}
