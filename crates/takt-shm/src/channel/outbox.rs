//! Sending end of one direction of a channel; [`layout`](crate::channel::layout) describes the memory.
//!
//! A message is encoded directly into the memory that the other side reads. It goes into a slot if it fits, otherwise into a
//! separate segment, as large as it needs (a power of two), whose descriptor is passed on before. A sender whose last message was
//! large begins with that segment; after [`SMALL_IN_A_ROW`] small ones its memory is given back.

use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_rt::prefetch;
use takt_ua::binary::{EncodeError, Encoder};

use crate::channel::layout::{self, OUTBOX, Place, QUEUE, SLOT, SLOT_BODY};
use crate::channel::places::OwnMemory;
use crate::channel::protocol::{self, Sender, Sleep};
use crate::error::ShmError;
use crate::header::{HEADER_LENGTH, MessageHeader};

/// Number of successive messages that fit a slot after which a large segment is given back.
pub(crate) const SMALL_IN_A_ROW: u32 = 1024;

/// Number of spilled bytes for which the buffer is kept.
const KEPT_SPILL: usize = 64 << 10;

/// Number of bytes of a slot that are [prepared](Outbox::prepare) at most: no more lines than a processor transfers at once.
const PREPARED: usize = 1024;

/// Mask with all slots free.
const ALL_FREE: u8 = (1 << QUEUE) - 1;

/// Function that passes the descriptor of a large segment to the other side, with its generation.
pub(crate) type PassOn<'a> = &'a mut dyn FnMut(u32, BorrowedFd<'_>) -> Result<(), ShmError>;

/// Error: no place is free, because the other side has not taken the last messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// Result of sending a message that could be encoded only once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Once {
    /// No message was written or sent.
    Nothing,
    /// The message is sent.
    Sent,
    /// No place was free for the message, which is here.
    Kept(Vec<u8>),
}

/// Sending end; see the [module](self).
#[derive(Debug)]
pub(crate) struct Outbox {
    segment: OwnMemory,
    large: Option<Large>,
    generation: u32,
    sender: Sender,
    begin_large: bool,
    small_in_a_row: u32,
    /// Length of the last message with its header.
    last_length: usize,
    limit: u32,
    spill: Vec<u8>,
    /// Charge for the segments, and for the spilled bytes.
    charge: Charge,
}

#[derive(Debug)]
struct Large {
    segment: OwnMemory,
    generation: u32,
    in_use: bool,
}

impl Outbox {
    /// Creates an outbox for bodies of up to `limit` bytes. Its memory is charged to `memory`.
    pub(crate) fn new(limit: u32, memory: &MemoryBudget) -> Result<Self, ShmError> {
        let charge = memory.charge(OUTBOX)?;
        let segment = OwnMemory::create("takt-channel", OUTBOX)
            .map_err(|e| ShmError::io("make the memory of a channel", e))?;
        layout::describe(segment.words());
        Ok(Self {
            segment,
            large: None,
            generation: 0,
            sender: Sender::new(ALL_FREE),
            begin_large: false,
            small_in_a_row: 0,
            last_length: 0,
            limit,
            spill: Vec::new(),
            charge,
        })
    }

    /// Returns the descriptor, which is to be passed to the other side.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.segment.fd()
    }

    /// Returns the length of the longest body.
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Acknowledges the number of taken messages together with the next message of this side.
    #[inline]
    pub(crate) fn acknowledge_with_next(&mut self, taken: u64) {
        self.sender.acknowledge_with_next(taken);
    }

    /// Returns the number of messages that the other side knows to be taken.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.sender.acknowledged()
    }

    /// Acknowledges the taken messages now.
    #[inline]
    pub(crate) fn acknowledge_now(&mut self) {
        self.sender.acknowledge_now(&*self.segment);
    }

    /// Sets whether this side is to be rung after each message; the caller has to look for messages afterwards.
    #[inline]
    pub(crate) fn set_asleep(&self, asleep: Sleep) {
        protocol::set_asleep(&*self.segment, asleep);
    }

    /// Sets the processor on which this side falls asleep.
    #[inline]
    pub(crate) fn set_processor(&self, processor: usize) {
        protocol::set_processor(&*self.segment, processor);
    }

    /// Rings the other side where it [sleeps on the rings](Sleep::Rings).
    #[inline]
    pub(crate) fn ring(&self) {
        protocol::count_ring(&*self.segment);
        self.segment.wake(layout::RINGS);
    }

    /// Sets whether this side is to be rung when a message is taken; the caller has to look afterwards.
    pub(crate) fn set_backlog(&self, backlog: bool) {
        protocol::set_backlog(&*self.segment, backlog);
    }

    /// Frees the places of the messages that the other side has taken; a number above that of sent messages counts as that.
    #[inline]
    pub(crate) fn free_taken(&mut self, taken: u64) {
        if self.sender.free_taken(taken)
            && let Some(large) = &mut self.large
        {
            large.in_use = false;
        }
    }

    /// Requests the cache lines of the slot that the next message is written to, as far as the last one needed them. The other side
    /// has read them, so the transfer would hold up the encoding. To be called when the slot is free, before it is needed.
    #[inline]
    pub(crate) fn prepare(&mut self) {
        let length = self.last_length.min(PREPARED);
        if let Some(number) = self.sender.free_slot()
            && let Some(bytes) = self.segment.exclusive(layout::slot(number))
        {
            prefetch::for_writing(bytes.get_mut(..length).unwrap_or_default());
        }
    }

    /// Sends a message whose body `encode` writes. It runs again if the memory turns out to be too small.
    #[inline]
    pub(crate) fn send(
        &mut self,
        header: MessageHeader,
        pass_on: PassOn<'_>,
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<Result<(), Full>, ShmError> {
        let mut large = self.begin_large && self.large_is_free();
        let limit = self.limit;
        loop {
            let Some((place, mut memory)) = self.place(large) else {
                return Ok(Err(Full));
            };
            let mut encoder = Encoder::fixed_uninit(memory.body(limit));
            match encode(&mut encoder) {
                Ok(()) => {
                    let length = encoder.position();
                    memory.finish(header, length);
                    self.publish(place, length);
                    return Ok(Ok(()));
                }
                // Only the next piece is known to need this room, so it may happen again.
                Err(EncodeError::BufferFull { needed, .. }) => {
                    let needed = encoder.position() + needed as usize;
                    if self.grow(needed, pass_on)?.is_err() {
                        return Ok(Err(Full));
                    }
                    large = true;
                }
                Err(error) => return Err(ShmError::Encoding(error)),
            }
        }
    }

    /// Sends a message that `write` encodes and that cannot be encoded twice; `write` returns `false` if there is no message. A
    /// message that does not fit is copied once more; for one above the limit, `write` gets an error.
    #[inline]
    pub(crate) fn send_once(
        &mut self,
        header: MessageHeader,
        pass_on: PassOn<'_>,
        write: impl FnOnce(&mut Encoder<'_>) -> bool,
    ) -> Result<Once, ShmError> {
        let mut spill = std::mem::take(&mut self.spill);
        spill.clear();
        let body_limit = self.limit;
        // The message cannot be encoded again, so it may only take memory that there is.
        let limit = (body_limit as usize).min(self.charge.budget().available());
        let large = self.begin_large && self.large_is_free();
        if let Some((place, mut memory)) = self.place(large) {
            let mut encoder = Encoder::spilling(memory.body(body_limit), &mut spill, limit);
            let wanted = write(&mut encoder);
            let (spilled, length) = (encoder.spilled(), encoder.position());
            if !wanted || !spilled {
                if wanted {
                    memory.finish(header, length);
                    self.publish(place, length);
                }
                self.spill = spill;
                return Ok(if wanted { Once::Sent } else { Once::Nothing });
            }
        } else if !write(&mut Encoder::growing(&mut spill, limit)) {
            self.spill = spill;
            return Ok(Once::Nothing);
        }
        match self.send_bytes(header, pass_on, &spill)? {
            Ok(()) => {
                // A longer message is encoded directly into its segment the next time.
                if spill.capacity() <= KEPT_SPILL {
                    self.spill = spill;
                }
                Ok(Once::Sent)
            }
            Err(Full) => Ok(Once::Kept(spill)),
        }
    }

    /// Sends a message whose body is encoded already.
    pub(crate) fn send_bytes(
        &mut self,
        header: MessageHeader,
        pass_on: PassOn<'_>,
        body: &[u8],
    ) -> Result<Result<(), Full>, ShmError> {
        self.send(header, pass_on, |encoder| encoder.bytes(body))
    }

    /// Writes a slice of a body that is encoded already and of which `copied` bytes are written; the last slice sends the message.
    /// Returns the number of bytes that are written now. Until the last one no other message can be sent.
    #[cold]
    pub(crate) fn send_slice(
        &mut self,
        header: MessageHeader,
        pass_on: PassOn<'_>,
        body: &[u8],
        copied: usize,
        most: usize,
    ) -> Result<Result<usize, Full>, ShmError> {
        // Before the memory grows: without a place for the message it would grow in vain.
        if copied == 0 && (!self.sender.has_room() || self.grow(body.len(), pass_on)?.is_err()) {
            return Ok(Err(Full));
        }
        let limit = self.limit;
        let Some((place, mut memory)) = self.place(true) else {
            return Ok(Err(Full));
        };
        let rest = body.get(copied..).unwrap_or_default();
        let slice = rest.get(..most).unwrap_or(rest);
        let written = copied + slice.len();
        if let Some(memory) = memory.body(limit).get_mut(copied..written) {
            for (target, byte) in memory.iter_mut().zip(slice) {
                *target = MaybeUninit::new(*byte);
            }
        }
        if written == body.len() {
            memory.finish(header, written);
            self.publish(place, written);
        } else if let Some(large) = &mut self.large {
            // Until the last slice, no other message may use the segment, and `trim` may not free it.
            large.in_use = true;
        }
        Ok(Ok(written))
    }

    /// Sends bytes as a whole message with its header; the rest of the slot is zero.
    #[cfg(test)]
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let (place, memory) = self.place(false).expect("a free slot");
        memory.bytes.fill(MaybeUninit::new(0));
        for (target, byte) in memory.bytes.iter_mut().zip(bytes) {
            *target = MaybeUninit::new(*byte);
        }
        self.publish(place, 0);
    }

    /// Overwrites a word, as a broken program might.
    #[cfg(test)]
    pub(crate) fn scribble(&self, word: usize, value: u64) {
        protocol::Store::store(
            &*self.segment,
            word,
            value,
            std::sync::atomic::Ordering::SeqCst,
        );
    }

    fn large_is_free(&self) -> bool {
        self.large.as_ref().is_some_and(|large| !large.in_use)
    }

    /// Returns memory for the next message.
    #[inline]
    fn place(&mut self, large: bool) -> Option<(Place, Memory<'_>)> {
        if !self.sender.has_room() {
            return None;
        }
        let (place, bytes) = if large {
            let large = self.large.as_mut()?;
            let length = large.segment.len();
            let place = Place::Large(large.generation);
            (place, large.segment.exclusive(0..length)?)
        } else {
            let number = self.sender.free_slot()?;
            let bytes = self.segment.exclusive(layout::slot(number))?;
            (Place::Slot(number), bytes)
        };
        Some((place, Memory { bytes }))
    }

    #[inline]
    fn publish(&mut self, place: Place, length: usize) {
        if let (Place::Large(_), Some(large)) = (place, &mut self.large) {
            large.in_use = true;
        }
        self.sender.publish(&*self.segment, place);
        self.last_length = HEADER_LENGTH + length;
        self.begin_large = length > SLOT_BODY;
        if self.large.is_some() {
            self.settle(length);
        }
    }

    /// Gives a large segment back that was not needed for a long time.
    #[cold]
    fn settle(&mut self, length: usize) {
        self.small_in_a_row = if length > SLOT_BODY {
            0
        } else {
            self.small_in_a_row + 1
        };
        if self.small_in_a_row >= SMALL_IN_A_ROW {
            self.trim();
        }
    }

    /// Returns true if there is memory for large messages.
    #[inline]
    pub(crate) fn has_large(&self) -> bool {
        self.large.is_some()
    }

    /// Gives back the memory for large messages until the next one, if the other side has taken the last.
    #[cold]
    pub(crate) fn trim(&mut self) {
        if self.large_is_free() {
            self.large = None;
            self.begin_large = false;
            self.charge.force(OUTBOX);
        }
    }

    /// Makes a large segment for a body of `needed` bytes.
    #[cold]
    fn grow(&mut self, needed: usize, pass_on: PassOn<'_>) -> Result<Result<(), Full>, ShmError> {
        let limit = self.limit as usize;
        if needed > limit {
            return Err(ShmError::RequestTooLarge { limit: self.limit });
        }
        match &self.large {
            Some(large) if large.in_use => return Ok(Err(Full)),
            Some(large) if large.segment.len() >= HEADER_LENGTH + needed => return Ok(Ok(())),
            _ => {}
        }
        let length = (HEADER_LENGTH + needed)
            .max(2 * SLOT)
            .checked_next_power_of_two()
            .unwrap_or(usize::MAX)
            .min(HEADER_LENGTH + limit);
        // The old segment is given back first: the budget need not have room for both.
        self.trim();
        self.charge.resize(OUTBOX + length)?;
        let segment = OwnMemory::create("takt-large", length)
            .map_err(|e| ShmError::io("make memory for a large message", e))?;
        self.generation = self.generation.wrapping_add(1);
        // Before the message that names it: the receiver takes the descriptor when it finds the message.
        pass_on(self.generation, segment.fd())?;
        self.small_in_a_row = 0;
        self.large = Some(Large {
            segment,
            generation: self.generation,
            in_use: false,
        });
        Ok(Ok(()))
    }
}

/// Memory of one message.
struct Memory<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
}

impl Memory<'_> {
    #[inline]
    fn body(&mut self, limit: u32) -> &mut [MaybeUninit<u8>] {
        let end = self.bytes.len().min(HEADER_LENGTH + limit as usize);
        self.bytes.get_mut(HEADER_LENGTH..end).unwrap_or_default()
    }

    #[inline]
    fn finish(self, mut header: MessageHeader, length: usize) {
        header.body_length = u32::try_from(length).unwrap_or(u32::MAX);
        for (target, byte) in self.bytes.iter_mut().zip(header.to_bytes()) {
            *target = MaybeUninit::new(byte);
        }
    }
}
