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
/// The longest message.
const ROOM: usize = 8192 - LINE;
const DIRECTION: usize = LINE + ROOM;
/// Bytes of the whole.
pub(super) const LENGTH: usize = 2 * DIRECTION;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From client to server.
    Request,
    /// From server to client.
    Response,
}

impl Direction {
    const fn offset(self) -> usize {
        match self {
            Self::Request => 0,
            Self::Response => DIRECTION,
        }
    }
}

/// The mapped memory.
#[derive(Debug)]
pub(super) struct Mapping(NonNull<u8>);

// SAFETY: the memory is not tied to a thread; what it is used for is said at `put`.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `file`, which has to have [`LENGTH`] bytes.
    pub(super) fn new(file: impl AsFd) -> Result<Self, Errno> {
        let length = rustix::fs::fstat(&file)?.st_size;
        if usize::try_from(length) != Ok(LENGTH) {
            return Err(Errno::INVAL);
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address that the kernel chooses; nobody else knows of it.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                LENGTH,
                protection,
                MapFlags::SHARED | MapFlags::POPULATE,
                file,
                0,
            )?
        };
        NonNull::new(address.cast()).map(Self).ok_or(Errno::NOMEM)
    }

    /// The word that counts the messages of a direction.
    #[inline]
    pub(super) fn counter(&self, direction: Direction) -> &AtomicU32 {
        // SAFETY: inside the mapping, which lives as long as `self`; aligned, as a mapping begins with a page and the
        // offset is a multiple of 64; always used atomically, by the other process too.
        unsafe { self.0.add(direction.offset()).cast::<AtomicU32>().as_ref() }
    }

    /// Writes a message. Only for the side that sends in this direction, before it counts the message.
    #[inline]
    pub(super) fn put(&self, direction: Direction, message: &[u8]) {
        let length = message.len().min(ROOM);
        // SAFETY: inside the mapping and at most as long as the room; the message is not in it. The other side
        // reads it only after the counter has been advanced, and counts an answer before this side writes again.
        unsafe {
            let room = self.0.add(direction.offset() + LINE);
            room.copy_from_nonoverlapping(NonNull::from(message).cast(), length);
        }
    }

    /// Reads a message of `into`'s length. Only for the side that receives in this direction, after the message was
    /// counted.
    #[inline]
    pub(super) fn get(&self, direction: Direction, into: &mut [u8]) {
        let length = into.len().min(ROOM);
        // SAFETY: as in `put`; the sender does not write before it has got an answer.
        unsafe {
            let room = self.0.add(direction.offset() + LINE);
            room.copy_to_nonoverlapping(NonNull::from(into).cast(), length);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and no reference into it outlives `self`. A failure leaves it mapped.
        let _ = unsafe { rustix::mm::munmap(self.0.as_ptr().cast::<c_void>(), LENGTH) };
    }
}
