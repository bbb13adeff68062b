//! Memory that two processes share, with a place for a request and a place for its response.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// One direction: a word that counts messages, in a cache line of its own, then room for a message.
const LINE: usize = 64;

/// Bytes of the whole, if no message is longer than `longest`.
pub(super) fn length(longest: usize) -> usize {
    2 * (LINE + longest.next_multiple_of(LINE))
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From client to server.
    Request,
    /// From server to client.
    Response,
}

impl Direction {
    const fn index(self) -> usize {
        match self {
            Self::Request => 0,
            Self::Response => 1,
        }
    }
}

/// The mapped memory.
#[derive(Debug)]
pub(super) struct Mapping {
    address: NonNull<u8>,
    /// Bytes of the longest message: a multiple of [`LINE`].
    room: usize,
}

// SAFETY: the memory is not tied to a thread; what it is used for is said at `put`.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `file`, which has to have a [`length`] that fits some message, and keep it.
    pub(super) fn new(file: impl AsFd) -> Result<Self, Errno> {
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

    /// The word that counts the messages of a direction.
    #[inline]
    pub(super) fn counter(&self, direction: Direction) -> &AtomicU32 {
        // SAFETY: inside the mapping, which lives as long as `self`; aligned, as a mapping begins with a page and the
        // offset is a multiple of 64, as the room is; always used atomically, by the other process too.
        unsafe {
            let word = self.address.add(self.offset(direction));
            word.cast::<AtomicU32>().as_ref()
        }
    }

    /// Writes a message. Only for the side that sends in this direction, before it counts the message.
    #[inline]
    pub(super) fn put(&self, direction: Direction, message: &[u8]) {
        let length = message.len().min(self.room);
        // SAFETY: inside the mapping and at most as long as the room; the message is not in it. The other side
        // reads it only after the counter has been advanced, and counts an answer before this side writes again.
        unsafe {
            let room = self.address.add(self.offset(direction) + LINE);
            room.copy_from_nonoverlapping(NonNull::from(message).cast(), length);
        }
    }

    /// Reads a message of `into`'s length. Only for the side that receives in this direction, after the message was
    /// counted.
    #[inline]
    pub(super) fn get(&self, direction: Direction, into: &mut [u8]) {
        let length = into.len().min(self.room);
        // SAFETY: as in `put`; the sender does not write before it has got an answer.
        unsafe {
            let room = self.address.add(self.offset(direction) + LINE);
            room.copy_to_nonoverlapping(NonNull::from(into).cast(), length);
        }
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
