//! Lock-free part of a channel: the words that each side stores and loads, and their order. [`layout`](crate::channel::layout)
//! and [`attention`](crate::channel::attention) describe the places of the words and their meaning.
//!
//! It is generic over the memory, so that the same code runs on shared memory and under a model checker (`protocol_loom.rs`).

use std::sync::atomic::Ordering;

use crate::channel::layout::{
    ASLEEP, BACKLOG, PROCESSOR, Place, QUEUE, RINGS, SENT, TAKEN, place_word,
};

/// Words that can be loaded; one outside is 0.
pub(crate) trait Load {
    fn load(&self, index: usize, ordering: Ordering) -> u64;

    /// Executes a full fence: of two sides that each store, fence and load the other's word, at least one sees the other's store.
    fn fence(&self);
}

/// Words that only this side stores; a store outside is dropped.
pub(crate) trait Store: Load {
    fn store(&self, index: usize, value: u64, ordering: Ordering);
}

/// Words whose bits several sides set and clear.
pub(crate) trait Bits: Load {
    fn set(&self, index: usize, bits: u64);
    fn clear(&self, index: usize, bits: u64);
}

/// Sending end: the places of the messages that are in transit, and the free slots.
#[derive(Debug)]
pub(crate) struct Sender {
    sent: u64,
    /// Number of messages that the other side has taken, as far as this side knows.
    freed: u64,
    /// Places of the messages in transit, at their number modulo [`QUEUE`].
    places: [Place; QUEUE],
    /// Mask with a bit for each free slot.
    free: u8,
    /// Number of messages that this side has taken.
    taken: u64,
    /// Number of taken messages of which the other side knows.
    told: u64,
}

impl Sender {
    /// Creates a sender with these slots: a bit for each.
    pub(crate) fn new(slots: u8) -> Self {
        Self {
            sent: 0,
            freed: 0,
            places: [Place::Slot(0); QUEUE],
            free: slots,
            taken: 0,
            told: 0,
        }
    }

    /// Returns true if another message may be in transit.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.sent - self.freed < QUEUE as u64
    }

    /// Returns the slot for the next message.
    #[inline]
    pub(crate) fn free_slot(&self) -> Option<usize> {
        (self.free != 0).then(|| self.free.trailing_zeros() as usize)
    }

    /// Sends the message at `place`, and acknowledges the taken messages.
    #[inline]
    pub(crate) fn publish(&mut self, ours: &impl Store, place: Place) {
        if let Place::Slot(number) = place {
            self.free &= !(1 << number);
        }
        if let Some(in_flight) = self.places.get_mut((self.sent % QUEUE as u64) as usize) {
            *in_flight = place;
        }
        let word = place.to_word();
        // Relaxed suffices, because the store of SENT below releases it.
        ours.store(place_word(self.sent), word, Ordering::Relaxed);
        self.acknowledge_now(ours);
        self.sent += 1;
        ours.store(SENT, self.sent, Ordering::Release);
    }

    /// Frees the places of the messages that the other side has taken; a number above that of sent messages counts as that.
    /// Returns true if a large segment is free again.
    #[inline]
    pub(crate) fn free_taken(&mut self, taken: u64) -> bool {
        let taken = taken.min(self.sent);
        let mut large = false;
        while self.freed < taken {
            match self.places.get((self.freed % QUEUE as u64) as usize) {
                Some(Place::Slot(number)) => self.free |= 1 << number,
                _ => large = true,
            }
            self.freed += 1;
        }
        large
    }

    /// Acknowledges the number of taken messages with the next message: the memory for that is the same that the other side looks
    /// at for the message, and touching it twice would cost it twice.
    #[inline]
    pub(crate) fn acknowledge_with_next(&mut self, taken: u64) {
        self.taken = taken;
    }

    /// Returns the number of messages that the other side knows to be taken.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.told
    }

    /// Acknowledges the taken messages now.
    #[inline]
    pub(crate) fn acknowledge_now(&mut self, ours: &impl Store) {
        // Released: the reads of the taken messages are over before the other side uses their places again.
        ours.store(TAKEN, self.taken, Ordering::Release);
        self.told = self.taken;
    }
}

/// Receiving end.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    received: u64,
}

/// Error: the other side's words have an impossible value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nonsense(pub(crate) &'static str);

impl Receiver {
    /// Returns the number of received messages.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Returns true if there is a message.
    #[inline]
    pub(crate) fn is_ready(&self, theirs: &impl Load) -> bool {
        theirs.load(SENT, Ordering::Acquire) != self.received
    }

    /// Returns the place of the next message, if there is one.
    #[inline]
    pub(crate) fn next(&mut self, theirs: &impl Load) -> Result<Option<Place>, Nonsense> {
        let sent = theirs.load(SENT, Ordering::Acquire);
        if sent == self.received {
            return Ok(None);
        }
        if sent.wrapping_sub(self.received) > QUEUE as u64 {
            return Err(Nonsense("its count of messages is inconsistent"));
        }
        let place = Place::from_word(theirs.load(place_word(self.received), Ordering::Acquire))
            .ok_or(Nonsense("the slot of a message does not exist"))?;
        self.received += 1;
        Ok(Some(place))
    }
}

/// Way in which a side that waits for messages is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// The side is awake.
    Awake,
    /// The side is woken by a mail, which stays until it is taken.
    Mail,
    /// The other side counts its rings, and wakes the side that sleeps on the number.
    Rings,
}

/// Sets whether this side is to be rung after each message; before it sleeps, it has to look once more.
#[inline]
pub(crate) fn set_asleep(ours: &impl Store, asleep: Sleep) {
    let asleep = match asleep {
        Sleep::Awake => 0,
        Sleep::Mail => 1,
        Sleep::Rings => 2,
    };
    ours.store(ASLEEP, asleep, Ordering::SeqCst);
    ours.fence();
}

/// Returns how the other side has to be rung; to be called after sending.
#[inline]
pub(crate) fn sleep_of(theirs: &impl Load) -> Sleep {
    // This is after the message, and before looking whether the other side sleeps; a side that falls asleep does the reverse.
    theirs.fence();
    match theirs.load(ASLEEP, Ordering::Acquire) {
        0 => Sleep::Awake,
        2 => Sleep::Rings,
        // An unknown value: a mail does no harm.
        _ => Sleep::Mail,
    }
}

/// Counts a ring; a side that sleeps on the number is to be woken then.
#[inline]
pub(crate) fn count_ring(ours: &impl Store) {
    // Only this side stores it.
    let rings = ours.load(RINGS, Ordering::Relaxed);
    ours.store(RINGS, rings.wrapping_add(1), Ordering::Release);
}

/// Returns the number of rings to sleep on; to be called before looking, and after [`set_asleep`].
#[inline]
pub(crate) fn rings(theirs: &impl Load) -> u32 {
    theirs.load(RINGS, Ordering::Acquire) as u32
}

/// Sets the processor on which this side falls asleep. It is a hint: only the way of waiting depends on it.
#[inline]
pub(crate) fn set_processor(ours: &impl Store, processor: usize) {
    ours.store(PROCESSOR, processor as u64 + 1, Ordering::Relaxed);
}

/// Returns the processor on which the other side last fell asleep, if it ever did.
#[inline]
pub(crate) fn processor(theirs: &impl Load) -> Option<usize> {
    let word = theirs.load(PROCESSOR, Ordering::Relaxed);
    usize::try_from(word).ok()?.checked_sub(1)
}

/// Sets whether this side is to be rung when messages are taken; the caller has to look once more whether some are.
pub(crate) fn set_backlog(ours: &impl Store, backlog: bool) {
    ours.store(BACKLOG, backlog.into(), Ordering::SeqCst);
    ours.fence();
}

/// Returns true if the other side is to be rung when messages are taken.
#[inline]
pub(crate) fn has_backlog(theirs: &impl Load) -> bool {
    theirs.load(BACKLOG, Ordering::Acquire) != 0
}

/// Returns the index of a connection's word in the map of attention, and its bit there.
#[inline]
pub(crate) fn mark_of(connection: usize) -> (usize, u64) {
    (connection / 64, 1 << (connection % 64))
}

/// Marks a connection, so that the server looks at it; to be called after sending. Returns true if the server has to be rung:
/// `asleep` is the word of its `state` for that.
#[inline]
pub(crate) fn call(map: &impl Bits, state: &impl Load, asleep: usize, connection: usize) -> bool {
    // This is after the request, and before looking.
    map.fence();
    let (word, bit) = mark_of(connection);
    if map.load(word, Ordering::Relaxed) & bit == 0 {
        map.set(word, bit);
        // The mark has to be visible before the look: the server may be falling asleep.
        map.fence();
    }
    state.load(asleep, Ordering::Acquire) != 0
}

/// Clears the mark of a connection; the caller looks at it once more after this.
pub(crate) fn unmark(map: &impl Bits, connection: usize) {
    let (word, bit) = mark_of(connection);
    map.clear(word, bit);
    map.fence();
}

/// Sets whether the server sleeps; a server that falls asleep looks at the marked connections once more.
pub(crate) fn set_server_asleep(state: &impl Store, word: usize, asleep: bool) {
    state.store(word, asleep.into(), Ordering::Relaxed);
    state.fence();
}
