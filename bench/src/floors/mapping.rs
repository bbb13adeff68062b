//! Shared memory of two processes, with one place for a request and one for its response.
//!
//! Each [`Side`] is taken once, and touches messages only in its turn. So a message is never read while it is written.
//!
//! A side sleeps on the counter itself (futex), after it has set the counter's lowest bit. The other side wakes it if the bit is
//! set; only then is there a system call.

use std::ffi::c_void;
use std::hint::spin_loop;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use rustix::time::Timespec;

use super::LOOKS_PER_QUESTION;
use crate::round_trip::Wait;

/// Bytes of the line at the start of a direction: one word counts messages, another one marks the sender as taken. The message
/// follows.
const LINE: usize = 64;
/// Position of the second word.
const TAKEN: usize = 4;

/// Bit of a counter that is set while its reader sleeps.
const ASLEEP: u32 = 1;
/// Step of a counter.
const ONE: u32 = 2;
/// Longest sleep between two checks, in case a wake-up is missing.
const NAP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Returns the bytes of the whole mapping, if no message is longer than `longest`.
pub(super) fn length(longest: usize) -> usize {
    2 * (LINE + longest.next_multiple_of(LINE))
}

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Direction from client to server.
    Request,
    /// Direction from server to client.
    Response,
}

impl Direction {
    const fn opposite(self) -> Self {
        match self {
            Self::Request => Self::Response,
            Self::Response => Self::Request,
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::Request => 0,
            Self::Response => 1,
        }
    }
}

/// The mapped memory.
#[derive(Debug)]
struct Mapping {
    address: NonNull<u8>,
    /// Bytes of the longest message: a multiple of [`LINE`].
    room: usize,
}

// SAFETY: the memory is not tied to a thread. Words are atomic; messages belong to the side that has the turn.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `file`, which must have a [`length`] that fits some message, and keep it.
    fn new(file: impl AsFd) -> Result<Self, Errno> {
        let bytes = rustix::fs::fstat(&file)?.st_size;
        let bytes = usize::try_from(bytes).map_err(|_| Errno::INVAL)?;
        let room = (bytes / 2).saturating_sub(LINE);
        if room == 0 || length(room) != bytes {
            return Err(Errno::INVAL);
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address that the kernel chooses; nobody else knows of it.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                protection,
                MapFlags::SHARED | MapFlags::POPULATE,
                file,
                0,
            )?
        };
        let address = NonNull::new(address.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { address, room })
    }

    fn offset(&self, direction: Direction) -> usize {
        direction.index() * (LINE + self.room)
    }

    /// Returns a word of the line of a direction.
    #[inline]
    fn word<const OFFSET: usize>(&self, direction: Direction) -> &AtomicU32 {
        const {
            assert!(OFFSET.is_multiple_of(4) && OFFSET + 4 <= LINE);
        }
        // SAFETY: inside the mapping, which lives as long as `self`; aligned, as a mapping begins with a page and the
        // line's offset is a multiple of 64, as the room is; always used atomically, by the other process too.
        unsafe {
            let word = self.address.add(self.offset(direction) + OFFSET);
            word.cast::<AtomicU32>().as_ref()
        }
    }

    /// Returns the address of the message of a direction.
    #[inline]
    fn message(&self, direction: Direction) -> NonNull<u8> {
        // SAFETY: inside the mapping: after the line there is the room.
        unsafe { self.address.add(self.offset(direction) + LINE) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and no reference into it outlives `self`. A failure leaves it mapped.
        let _ = unsafe {
            rustix::mm::munmap(self.address.as_ptr().cast::<c_void>(), length(self.room))
        };
    }
}

/// Announces a message, so that the receiver may read it.
#[inline]
fn announce(counter: &AtomicU32, count: u32, wait: Wait) {
    if wait == Wait::Spin {
        counter.store(count, Ordering::Release);
    } else if counter.swap(count, Ordering::AcqRel) & ASLEEP != 0 {
        // The address is valid, so that the call cannot fail.
        let _ = futex::wake(counter, futex::Flags::empty(), 1);
    }
}

/// Waits for the message `count`. Calls `give_up` now and then.
#[inline]
fn await_message(
    counter: &AtomicU32,
    count: u32,
    wait: Wait,
    mut give_up: impl FnMut() -> bool,
) -> bool {
    // Endless spinning needs no clock.
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
            // After a wake-up, an interrupt, a changed counter or a timeout, the loop checks the counter.
            let _ = futex::wait(counter, futex::Flags::empty(), asleep, Some(&NAP));
        }
    }
}

/// One of the two sides of the memory. The client's side has the turn first.
#[derive(Debug)]
pub(super) struct Side {
    mapping: Mapping,
    sends: Direction,
    /// True if the other side does not touch the messages until [`pass`](Self::pass).
    has_turn: bool,
    /// Counter of this side's messages.
    sent: u32,
    /// Counter of the other side's messages.
    received: u32,
}

impl Side {
    /// Maps `file`, which must have a [`length`] that fits some message, and keep it. Takes the side that sends in this
    /// direction. A side can be taken once in the life of a file; later the error is [`Errno::BUSY`].
    pub(super) fn take(file: impl AsFd, sends: Direction) -> Result<Self, Errno> {
        let mapping = Mapping::new(file)?;
        if mapping.word::<TAKEN>(sends).swap(1, Ordering::Relaxed) != 0 {
            return Err(Errno::BUSY);
        }
        Ok(Self {
            mapping,
            sends,
            has_turn: sends == Direction::Request,
            sent: 0,
            received: 0,
        })
    }

    /// Announces the written message, and gives the turn to the other side. Without the turn it does nothing.
    #[inline]
    pub(super) fn pass(&mut self, wait: Wait) {
        if std::mem::take(&mut self.has_turn) {
            self.sent = self.sent.wrapping_add(ONE);
            announce(self.mapping.word::<0>(self.sends), self.sent, wait);
        }
    }

    /// Waits for the turn, which comes with the next message. Calls `give_up` now and then.
    #[inline]
    pub(super) fn await_turn(&mut self, wait: Wait, give_up: impl FnMut() -> bool) -> bool {
        if !self.has_turn {
            let counter = self.mapping.word::<0>(self.sends.opposite());
            let next = self.received.wrapping_add(ONE);
            if !await_message(counter, next, wait, give_up) {
                return false;
            }
            self.received = next;
            self.has_turn = true;
        }
        true
    }

    /// Writes the next message, as far as there is room. Without the turn it does nothing and returns false.
    #[inline]
    pub(super) fn put(&mut self, message: &[u8]) -> bool {
        let length = message.len().min(self.mapping.room);
        if self.has_turn {
            // SAFETY: at most as long as the room; the message is not in the mapping, of which no reference to bytes exists.
            // The other side touches no message until this one passes the turn, and no third one is there: see `take`.
            unsafe {
                let room = self.mapping.message(self.sends);
                room.copy_from_nonoverlapping(NonNull::from(message).cast(), length);
            }
        }
        self.has_turn
    }

    /// Reads the start of the message that was received last. Without the turn it does nothing and returns false.
    #[inline]
    pub(super) fn get(&self, into: &mut [u8]) -> bool {
        let length = into.len().min(self.mapping.room);
        if self.has_turn {
            // SAFETY: as in `put`.
            unsafe {
                let room = self.mapping.message(self.sends.opposite());
                room.copy_to_nonoverlapping(NonNull::from(into).cast(), length);
            }
        }
        self.has_turn
    }
}
