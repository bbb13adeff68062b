//! Waiting for many file descriptors at once: a thin `epoll`, level-triggered by default.
//!
//! Level-triggered means that a descriptor is reported by every [`Readiness::wait`] for as long as
//! it is readable (or writable), so a transport may handle one message and come back later without
//! losing the rest.
//!
//! Several transports share one [`Readiness`]. Each registers its descriptors under keys whose upper eight bits are a
//! tag that the owner of the loop assigned ([`tagged_key`]), so that the owner can pass every event to the right
//! transport by its [`key_tag`].
//!
//! ```
//! use std::time::Duration;
//! use takt_rt::readiness::{Events, Interest, Readiness, Waker, key_id, key_tag, tagged_key};
//!
//! # fn main() -> std::io::Result<()> {
//! const WAKE_UPS: u8 = 7;
//! let readiness = Readiness::new()?;
//! let waker = Waker::new()?;
//! readiness.add(waker.as_fd(), tagged_key(WAKE_UPS, 1), Interest::READ)?;
//!
//! let remote = waker.clone();
//! std::thread::spawn(move || remote.wake());
//!
//! let mut events = Events::with_capacity(64);
//! readiness.wait(&mut events, Some(Duration::from_secs(5)))?;
//! for event in events.iter() {
//!     assert_eq!((key_tag(event.key), key_id(event.key)), (WAKE_UPS, 1));
//!     waker.drain();
//! }
//! # Ok(())
//! # }
//! ```

mod alarm;
#[allow(unsafe_code, reason = "events of the kernel can hold pointers")]
mod event_list;
mod waker;

use std::fmt;
use std::io;
use std::ops::BitOr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::time::Timespec;

use event_list::EventList;

pub use alarm::Alarm;
pub use waker::Waker;

/// Number of bits of a key that are left to a transport; the bits above are its tag.
pub const KEY_ID_BITS: u32 = 56;

/// Returns the key for descriptor `id` of the transport with this `tag`.
///
/// Only the lower 56 bits of `id` are kept.
#[must_use]
pub const fn tagged_key(tag: u8, id: u64) -> u64 {
    ((tag as u64) << KEY_ID_BITS) | key_id(id)
}

/// Returns the tag of the transport that a key belongs to.
#[must_use]
pub const fn key_tag(key: u64) -> u8 {
    (key >> KEY_ID_BITS) as u8
}

/// Returns the transport's own part of a key.
#[must_use]
pub const fn key_id(key: u64) -> u64 {
    key & ((1 << KEY_ID_BITS) - 1)
}

/// Events of a file descriptor to be reported; combine with `|`.
///
/// Errors and hang-ups are always reported, even with [`Interest::NONE`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interest(u8);

impl Interest {
    /// Only errors and hang-ups: back-pressure, without leaving the set.
    pub const NONE: Self = Self(0);
    /// Data (or a connection, or an end of file) can be read.
    pub const READ: Self = Self(1);
    /// Data can be written.
    pub const WRITE: Self = Self(2);
    /// Each change is reported once: a [`Waker`] that was added with this needs no [`drain`](Waker::drain), which
    /// saves a system call for each wake-up.
    pub const EDGE: Self = Self(4);

    /// Returns whether everything in `other` is part of this interest.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn flags(self) -> epoll::EventFlags {
        let mut flags = epoll::EventFlags::empty();
        if self.contains(Self::READ) {
            flags |= epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
        }
        if self.contains(Self::WRITE) {
            flags |= epoll::EventFlags::OUT;
        }
        if self.contains(Self::EDGE) {
            flags |= epoll::EventFlags::ET;
        }
        flags
    }
}

impl BitOr for Interest {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::READ, "READ"),
            (Self::WRITE, "WRITE"),
            (Self::EDGE, "EDGE"),
        ];
        let names = names
            .iter()
            .filter(|(interest, _)| self.contains(*interest));
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "NONE" } else { "" })?;
        f.write_str(&names.join(" | "))
    }
}

/// A set of file descriptors to wait for. `Send` and `Sync`: descriptors may be added from any thread while one
/// waits.
#[derive(Debug)]
pub struct Readiness {
    epoll: OwnedFd,
}

impl Readiness {
    /// Creates an empty set. Its descriptor is closed in programs started by this one.
    ///
    /// # Errors
    /// The system's error if no descriptors are left (`EMFILE`, `ENFILE`).
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        })
    }

    /// Adds `fd`: events on it carry `key`.
    ///
    /// A descriptor that is closed (with all its duplicates) leaves the set automatically; one that has duplicates,
    /// in another process for instance, has to be [removed](Self::remove) first.
    ///
    /// # Errors
    /// `AlreadyExists` when `fd` is in the set; `PermissionDenied` when it cannot be polled (a regular file).
    pub fn add(&self, fd: BorrowedFd<'_>, key: u64, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key);
        Ok(epoll::add(&self.epoll, fd, data, interest.flags())?)
    }

    /// Changes the key and the interest of a descriptor in the set.
    ///
    /// # Errors
    /// `NotFound` when `fd` is not in the set.
    pub fn modify(&self, fd: BorrowedFd<'_>, key: u64, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key);
        Ok(epoll::modify(&self.epoll, fd, data, interest.flags())?)
    }

    /// Removes a descriptor from the set.
    ///
    /// Events for it that an earlier [`wait`](Self::wait) has already delivered stay in that `Events`.
    ///
    /// # Errors
    /// `NotFound` when `fd` is not in the set.
    pub fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits until a descriptor is ready or `timeout` is over; `None` waits without limit, zero does not wait.
    ///
    /// It replaces the contents of `events`. No events mean that the time is over or that a signal arrived: check the
    /// flags of the signal handler, and the clock. The timeout is rounded up to whole milliseconds, so a deadline has
    /// passed when the wait for it returns; the wait allocates nothing.
    ///
    /// # Errors
    /// Only those of a broken descriptor; signals are not errors.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        events.list.clear();
        // A timeout longer than any uptime is equivalent to none, and always converts.
        let timeout = timeout.map(|t| Timespec {
            tv_sec: i64::try_from(t.as_secs())
                .unwrap_or(i64::MAX)
                .min(i64::from(i32::MAX / 1000) - 1),
            tv_nsec: i64::from(t.subsec_nanos()),
        });
        match epoll::wait(
            &self.epoll,
            spare_capacity(&mut *events.list),
            timeout.as_ref(),
        ) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Readiness {
    /// Returns the set's own descriptor, readable while one of its members is ready: sets nest.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Buffer for the events of a [`Readiness::wait`], which is created once and reused.
pub struct Events {
    list: EventList,
}

impl Events {
    /// Creates a buffer for up to `capacity` events at a time (at least one). More ready descriptors than that are
    /// reported by the next waits, in turn.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            list: EventList::with_capacity(capacity.max(1)),
        }
    }

    /// Returns the events of the last wait.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ReadyEvent> + '_ {
        self.list.iter().map(|event| ReadyEvent {
            key: event.data.u64(),
            flags: event.flags,
        })
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the last wait reported no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Event of a ready descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyEvent {
    /// The key that the descriptor was added with.
    pub key: u64,
    flags: epoll::EventFlags,
}

impl ReadyEvent {
    /// Returns whether a read will not block: there is data, an end of file or an error to collect.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        use epoll::EventFlags as F;
        self.flags.intersects(F::IN | F::RDHUP | F::HUP | F::ERR)
    }

    /// Returns whether a write will not block: there is space, or an error to collect.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        use epoll::EventFlags as F;
        self.flags.intersects(F::OUT | F::HUP | F::ERR)
    }

    /// Returns whether the connection is broken or closed in both directions. Data received before may still be
    /// readable.
    #[must_use]
    pub fn is_hangup(&self) -> bool {
        use epoll::EventFlags as F;
        self.flags.intersects(F::HUP | F::ERR)
    }

    /// Returns whether the peer sends no more (it may still receive).
    #[must_use]
    pub fn is_read_closed(&self) -> bool {
        use epoll::EventFlags as F;
        self.flags.intersects(F::RDHUP | F::HUP | F::ERR)
    }
}

#[cfg(test)]
mod tests;
