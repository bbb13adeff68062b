//! Memory that this side has made and only it can write, borrowed exclusively for one message at a time.

use std::io;
use std::mem::MaybeUninit;
use std::ops::{Deref, Range};

use takt_rt::segment::Segment;

/// Segment of this side. Messages are encoded into exclusive borrows of its bytes.
#[derive(Debug)]
pub(super) struct OwnMemory(Segment);

impl OwnMemory {
    pub(super) fn create(name: &str, length: usize) -> io::Result<Self> {
        Segment::create(name, length).map(Self)
    }

    /// Returns the bytes of one message; `None` if the range is not inside. The other side must not have been told of a message
    /// there that it has not taken, or it reads garbage.
    #[inline]
    pub(super) fn exclusive(&mut self, range: Range<usize>) -> Option<&mut [MaybeUninit<u8>]> {
        // SAFETY: this is the only handle of the mapping, it was made by `create`, and it is borrowed mutably for as long as the
        // slice lives. Nobody else can write the segment, and other mappings of it are read as memory that changes at any time.
        unsafe { self.0.exclusive(range) }
    }
}

impl Deref for OwnMemory {
    type Target = Segment;

    #[inline]
    fn deref(&self) -> &Segment {
        &self.0
    }
}
