//! Copies of requests, to which their clients cannot write. Long responses are copied in slices of the same length.
//!
//! Fresh memory for 64 MiB, and copying as much, takes up to 50 ms. A large request is therefore copied in slices, between which
//! the server looks at all other channels. One is copied at a time: as many copies as there are clients would take the memory
//! that their handling needs.
//!
//! The memory of a large copy is kept for the next large request. When none has come for a while it is given back, in slices too:
//! freeing 64 MiB at once takes up to 10 ms.

use takt_rt::memory_budget::MemoryBudget;

use crate::channel::inbox::{Inbox, Message};
use crate::channel::scratch::Scratch;
use crate::error::ShmError;
use crate::server::slot::Slot;

/// Length of the longest request or response that is copied in one go, in bytes.
pub(super) const WHOLE: usize = 2 << 20;

/// Number of bytes of a longer message that are copied in one go. The first use of 1 MiB of memory takes more than 10 ms in some
/// virtual machines, whose host has to find it.
pub(super) const SLICE: usize = 256 << 10;

/// Copies of requests; see the [module](self).
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) small: Scratch,
    large: Scratch,
    /// Connection whose large request is being copied.
    owner: Option<Slot>,
    /// True while the memory of large copies is given back, slice by slice.
    gives_back: bool,
}

impl Copies {
    pub(super) fn new(memory: &MemoryBudget) -> Self {
        Self {
            small: Scratch::new(memory),
            large: Scratch::new(memory),
            owner: None,
            gives_back: false,
        }
    }

    /// Copies a request of connection `slot`, or continues with it for one slice; returns true if it is complete. After that, and
    /// after an error, it [ends](Self::end).
    #[inline]
    pub(super) fn copy(
        &mut self,
        slot: Slot,
        inbox: &Inbox,
        message: &Message,
    ) -> Result<bool, ShmError> {
        match message.length() {
            0..=WHOLE => {
                self.small.copy(inbox.body(message))?;
                Ok(true)
            }
            length => self.copy_slice(slot, inbox, message, length),
        }
    }

    #[cold]
    fn copy_slice(
        &mut self,
        slot: Slot,
        inbox: &Inbox,
        message: &Message,
        length: usize,
    ) -> Result<bool, ShmError> {
        match self.owner {
            Some(owner) if owner != slot => return Ok(false),
            Some(_) => {}
            None => {
                // The memory is needed again, so giving it back ends.
                self.gives_back = false;
                self.large.begin(length)?;
                self.owner = Some(slot);
            }
        }
        let done = self.large.bytes().len();
        let slice = SLICE.min(length - done);
        inbox.read_body(message, done, slice, self.large.vec())?;
        Ok(done + slice == length)
    }

    /// Returns the copy of a complete request.
    #[inline]
    pub(super) fn bytes(&self, message: &Message) -> &[u8] {
        match message.length() {
            0..=WHOLE => self.small.bytes(),
            _ => self.large.bytes(),
        }
    }

    /// Returns the copy of a complete request that was made in slices. Its memory may be taken.
    #[inline]
    pub(super) fn owned(&mut self, message: &Message) -> Option<&mut Vec<u8>> {
        (message.length() > WHOLE).then(|| self.large.vec())
    }

    /// Ends the copy, because the request of a connection has been handled, or the connection is closed.
    #[inline]
    pub(super) fn end(&mut self, slot: Slot) {
        if self.owner == Some(slot) {
            self.owner = None;
            self.large.recount();
        }
    }

    /// Returns true if a large request took more memory than is kept.
    pub(super) fn are_large(&self) -> bool {
        self.small.is_large() || self.large.is_large()
    }

    /// Returns the number of bytes of memory for the copy of this or the next large request.
    pub(super) fn kept(&self) -> usize {
        self.large.capacity()
    }

    /// Gives back the memory of large requests now.
    pub(super) fn trim(&mut self) {
        self.small.trim();
        // A copy in progress keeps its memory.
        if self.owner.is_none() {
            self.large.trim();
        }
    }

    /// Begins to [give back](Self::give_back) the memory of large requests.
    pub(super) fn begin_trim(&mut self) {
        self.small.trim();
        self.gives_back = self.owner.is_none() && self.large.is_large();
    }

    /// Gives back a slice of the memory of large requests, if that has begun. Returns true if there is more.
    pub(super) fn give_back(&mut self) -> bool {
        self.gives_back = self.gives_back && self.large.trim_slice(SLICE);
        self.gives_back
    }
}
