//! The lock-free part of a channel: which words are stored and loaded, by whom, and in which order. [`layout`](crate::channel::layout) and
//! [`attention`](crate::channel::attention) say where the words are and what they mean.
//!
//! It is written for any memory, so that the same code runs on shared memory and under a model checker (`protocol_loom.rs`).

use std::sync::atomic::Ordering;

use crate::channel::layout::{
    ASLEEP, BACKLOG, PROCESSOR, Place, QUEUE, RINGS, SENT, TAKEN, place_word,
};

/// Words that can be loaded; one outside is 0.
pub(crate) trait Load {
    fn load(&self, index: usize, ordering: Ordering) -> u64;

    /// A full fence: who stores, fences and loads, and another who does so in the other direction, cannot both miss what the
    /// other has stored.
    fn fence(&self);
}

/// Words that we alone store; one outside is dropped.
pub(crate) trait Store: Load {
    fn store(&self, index: usize, value: u64, ordering: Ordering);
}

/// Words whose bits several set and clear.
pub(crate) trait Bits: Load {
    fn set(&self, index: usize, bits: u64);
    fn clear(&self, index: usize, bits: u64);
}

/// The sending end: where the messages are that are under way, and which slots are free.
#[derive(Debug)]
pub(crate) struct Sender {
    sent: u64,
    /// Messages that the other side has taken, as far as we know.
    freed: u64,
    /// Where those in between are, at their number modulo [`QUEUE`].
    places: [Place; QUEUE],
    /// A bit for each free slot.
    free: u8,
    /// Messages that we have taken.
    taken: u64,
    /// As many as the other side knows of.
    told: u64,
}

impl Sender {
    /// With these slots: a bit for each.
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

    /// Whether another message may be under way.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.sent - self.freed < QUEUE as u64
    }

    /// The slot for the next message.
    #[inline]
    pub(crate) fn free_slot(&self) -> Option<usize> {
        (self.free != 0).then(|| self.free.trailing_zeros() as usize)
    }

    /// Sends the message that is at `place`, and says what we have taken.
    #[inline]
    pub(crate) fn publish(&mut self, ours: &impl Store, place: Place) {
        if let Place::Slot(number) = place {
            self.free &= !(1 << number);
        }
        if let Some(in_flight) = self.places.get_mut((self.sent % QUEUE as u64) as usize) {
            *in_flight = place;
        }
        let word = place.to_word();
        ours.store(place_word(self.sent), word, Ordering::Relaxed);
        self.acknowledge_now(ours);
        self.sent += 1;
        ours.store(SENT, self.sent, Ordering::Release);
    }

    /// The other side has taken so many messages; more than were sent count as those. Says whether a large segment is free again.
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

    /// The other side learns with our next message that so many of its messages are taken: the memory that says so is
    /// the same that it looks at for the message, and touching it twice would cost it twice.
    #[inline]
    pub(crate) fn acknowledge_with_next(&mut self, taken: u64) {
        self.taken = taken;
    }

    /// How many of its messages it knows to be taken.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.told
    }

    /// It learns it now.
    #[inline]
    pub(crate) fn acknowledge_now(&mut self, ours: &impl Store) {
        ours.store(TAKEN, self.taken, Ordering::Release);
        self.told = self.taken;
    }
}

/// The receiving end.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    received: u64,
}

/// What the other side's words say cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nonsense(pub(crate) &'static str);

impl Receiver {
    /// How many messages were received.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Whether there is a message.
    #[inline]
    pub(crate) fn is_ready(&self, theirs: &impl Load) -> bool {
        theirs.load(SENT, Ordering::Acquire) != self.received
    }

    /// Where the next message is, if there is one.
    #[inline]
    pub(crate) fn next(&mut self, theirs: &impl Load) -> Result<Option<Place>, Nonsense> {
        let sent = theirs.load(SENT, Ordering::Acquire);
        if sent == self.received {
            return Ok(None);
        }
        if sent.wrapping_sub(self.received) > QUEUE as u64 {
            return Err(Nonsense("it counts its messages wrongly"));
        }
        let place = Place::from_word(theirs.load(place_word(self.received), Ordering::Acquire))
            .ok_or(Nonsense("a message is nowhere"))?;
        self.received += 1;
        Ok(Some(place))
    }
}

/// How a side that waits for messages is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// It is awake.
    Awake,
    /// By a mail, which stays until it is taken.
    Mail,
    /// The other side counts its rings, and wakes whoever sleeps on the number.
    Rings,
}

/// Asks to be rung after each message, or not; whoever asks has to look once more before he sleeps.
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

/// How the other side has to be rung; to be asked after sending.
#[inline]
pub(crate) fn sleep_of(theirs: &impl Load) -> Sleep {
    // After the message, before looking whether somebody sleeps; who falls asleep does the reverse.
    theirs.fence();
    match theirs.load(ASLEEP, Ordering::Acquire) {
        0 => Sleep::Awake,
        2 => Sleep::Rings,
        // What no version of ours says: a mail does no harm.
        _ => Sleep::Mail,
    }
}

/// Counts a ring; who sleeps on the number is to be woken then.
#[inline]
pub(crate) fn count_ring(ours: &impl Store) {
    // We alone store it.
    let rings = ours.load(RINGS, Ordering::Relaxed);
    ours.store(RINGS, rings.wrapping_add(1), Ordering::Release);
}

/// The number of rings to sleep on; to be asked before looking, and after [`set_asleep`].
#[inline]
pub(crate) fn rings(theirs: &impl Load) -> u32 {
    theirs.load(RINGS, Ordering::Acquire) as u32
}

/// Tells on which processor this side falls asleep. A hint: nothing but the way of waiting depends on it.
#[inline]
pub(crate) fn set_processor(ours: &impl Store, processor: usize) {
    ours.store(PROCESSOR, processor as u64 + 1, Ordering::Relaxed);
}

/// The processor on which the other side last fell asleep, if it ever did.
#[inline]
pub(crate) fn processor(theirs: &impl Load) -> Option<usize> {
    let word = theirs.load(PROCESSOR, Ordering::Relaxed);
    usize::try_from(word).ok()?.checked_sub(1)
}

/// Asks to be told when messages are taken, or not; whoever asks has to look once more whether some are.
pub(crate) fn set_backlog(ours: &impl Store, backlog: bool) {
    ours.store(BACKLOG, backlog.into(), Ordering::SeqCst);
    ours.fence();
}

/// Whether the other side asks that.
#[inline]
pub(crate) fn has_backlog(theirs: &impl Load) -> bool {
    theirs.load(BACKLOG, Ordering::Acquire) != 0
}

/// A connection's word in the map of attention, and its bit there.
#[inline]
pub(crate) fn mark_of(connection: usize) -> (usize, u64) {
    (connection / 64, 1 << (connection % 64))
}

/// Makes the server look at a connection; to be called after sending. Says whether it has to be rung: `asleep` is the word of its
/// `state` that says so.
#[inline]
pub(crate) fn call(map: &impl Bits, state: &impl Load, asleep: usize, connection: usize) -> bool {
    // After the request, before looking.
    map.fence();
    let (word, bit) = mark_of(connection);
    if map.load(word, Ordering::Relaxed) & bit == 0 {
        map.set(word, bit);
        map.fence();
    }
    state.load(asleep, Ordering::Acquire) != 0
}

/// Does not look at a connection any more; the caller looks once more after this.
pub(crate) fn unmark(map: &impl Bits, connection: usize) {
    let (word, bit) = mark_of(connection);
    map.clear(word, bit);
    map.fence();
}

/// The server sleeps, or does not any more; who falls asleep looks at the marked connections once more.
pub(crate) fn set_server_asleep(state: &impl Store, word: usize, asleep: bool) {
    state.store(word, asleep.into(), Ordering::Relaxed);
    state.fence();
}
