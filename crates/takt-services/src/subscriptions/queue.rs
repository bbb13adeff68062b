//! The queue of a MonitoredItem (OPC 10000-4, 5.13.1.5), within the memory of the Session that created it.

use std::collections::VecDeque;

use takt_rt::memory_budget::Charge;
use takt_ua::StatusCode;

use super::sample::Sample;
use super::slice::Slice;

/// Samples that wait to be published, and the memory of their item.
///
/// A queue for which there is no more memory overflows as if it were full. If there is no memory even for one sample, its value
/// is replaced by `BadOutOfMemory`.
#[derive(Debug)]
pub(crate) struct Queue {
    samples: VecDeque<Sample>,
    size: usize,
    discard_oldest: bool,
    charge: Charge,
    /// Bytes of all samples.
    queued: usize,
    /// Bytes of the item without its queue.
    item: usize,
    /// Number of samples for which there was no room.
    overflows: u32,
    /// True if values were not queued since the last one.
    has_gap: bool,
    /// True if a queue of Events has an EventQueueOverflowEvent, at its beginning or its end. It does not count in the size.
    has_overflow_event: bool,
}

/// Step in bytes in which memory is taken from the budget.
const STEP: usize = 256;

/// Unused bytes that are kept before they are given back.
const SPARE: usize = 4096;

/// Maximum number of bytes of samples that are freed at once.
const FEW: usize = 4096;

/// Samples of a queue that are no longer needed, and their memory.
#[derive(Debug)]
pub(crate) struct Discarded {
    samples: VecDeque<Sample>,
    _charge: Charge,
}

impl Discarded {
    /// Frees samples within the slice. Returns true if all of them are freed.
    pub(super) fn give_back(&mut self, slice: &mut Slice) -> bool {
        while let Some(sample) = self.samples.pop_front() {
            slice.spend_bytes_given_back(sample.size());
            if slice.is_over() {
                break;
            }
        }
        self.samples.is_empty()
    }
}

impl Queue {
    /// Creates a queue for `size` samples, at least one, of an item that has this charge for itself.
    pub(crate) fn new(size: u32, discard_oldest: bool, charge: Charge) -> Self {
        Self {
            samples: VecDeque::new(),
            size: usize::try_from(size).unwrap_or(usize::MAX).max(1),
            discard_oldest,
            item: charge.bytes(),
            charge,
            queued: 0,
            overflows: 0,
            has_gap: false,
            has_overflow_event: false,
        }
    }

    /// Notes that values may be missing before the next one, which gets the Overflow bit then.
    pub(crate) fn note_gap(&mut self) {
        self.has_gap = true;
    }

    /// Returns the number of samples for which a queue of several had no room.
    pub(crate) fn overflows(&self) -> u32 {
        self.overflows
    }

    /// Returns true if the queue keeps more than the newest sample.
    pub(crate) fn keeps_several(&self) -> bool {
        self.size > 1
    }

    /// Reserves memory for `more` bytes. Returns true if there is enough.
    fn reserve(&mut self, more: usize) -> bool {
        let needed = self.item + self.queued + more;
        // In steps, so that few samples touch the shared budget; near its end, exactly.
        needed <= self.charge.bytes()
            || self.charge.resize(needed.next_multiple_of(STEP)).is_ok()
            || self.charge.resize(needed).is_ok()
    }

    fn give_back(&mut self) {
        let needed = (self.item + self.queued).next_multiple_of(STEP);
        if needed + SPARE < self.charge.bytes() {
            // A reduction is always granted.
            let _ = self.charge.resize(needed);
        }
    }

    /// Changes the bytes of the item without its queue. Returns `false` if there is no memory for more.
    pub(crate) fn resize_item(&mut self, bytes: usize) -> bool {
        let granted = bytes <= self.item || self.reserve(bytes - self.item);
        if granted {
            self.item = bytes;
            self.give_back();
        }
        granted
    }

    /// Appends a sample. If there is no room, others are discarded, and the sample beside them gets the Overflow bit, except in
    /// a queue for one.
    pub(crate) fn push(&mut self, mut sample: Sample) {
        let mut lost = false;
        while self.samples.len() >= self.size
            || (!self.samples.is_empty() && !self.reserve(sample.size()))
        {
            lost = true;
            if self.discard_oldest {
                self.pop();
            } else {
                self.take(VecDeque::pop_back);
            }
        }
        if !self.reserve(sample.size()) {
            sample.value = Vec::new();
            sample.status = StatusCode::BadOutOfMemory;
            // The StatusCode is kept even beyond the budget: the client has to learn of the loss.
            self.charge.force(self.item + self.queued + sample.size());
        }
        if lost && self.size > 1 {
            self.overflows = self.overflows.wrapping_add(1);
            match self.samples.front_mut() {
                Some(oldest) if self.discard_oldest => oldest.set_overflow(),
                _ => sample.set_overflow(),
            }
        }
        if std::mem::take(&mut self.has_gap) && self.size > 1 {
            self.overflows = self.overflows.wrapping_add(1);
            sample.set_overflow();
        }
        self.queued += sample.size();
        self.samples.push_back(sample);
    }

    /// Appends the fields of an Event. If there is no room, others are discarded, and the fields of `overflow` are added once: at
    /// the beginning if the oldest Events are discarded, otherwise at the end (OPC 10000-4, 5.13.1.5). Without memory for one
    /// Event, the Event is lost.
    pub(crate) fn push_event(&mut self, event: Sample, overflow: impl FnOnce() -> Vec<u8>) {
        let mut lost = std::mem::take(&mut self.has_gap);
        let mut is_lost = false;
        loop {
            let count = self.samples.len() - usize::from(self.has_overflow_event);
            if count < self.size && self.reserve(event.size()) {
                break;
            }
            lost = true;
            if count == 0 || !self.discard_oldest {
                is_lost = true;
                break;
            }
            // The EventQueueOverflowEvent is at the beginning, and is never discarded.
            let oldest = usize::from(self.has_overflow_event);
            self.take(|samples| samples.remove(oldest));
        }
        if lost {
            self.push_overflow(overflow);
        }
        if !is_lost {
            // The EventQueueOverflowEvent may have taken the memory.
            if !self.reserve(event.size()) {
                return;
            }
            self.queued += event.size();
            self.samples.push_back(event);
            // At the end, it is followed by Events now, and the next loss gets one of its own.
            self.has_overflow_event &= self.discard_oldest;
        }
    }

    /// Adds the fields of an EventQueueOverflowEvent, unless there is one.
    pub(crate) fn push_overflow(&mut self, overflow: impl FnOnce() -> Vec<u8>) {
        self.overflows = self.overflows.wrapping_add(1);
        if self.has_overflow_event {
            return;
        }
        let overflow = Sample::event(overflow());
        let is_reserved = self.reserve(overflow.size());
        if !is_reserved && !self.samples.is_empty() {
            return;
        }
        // An empty queue takes it even beyond the budget: the client has to learn of the loss.
        if !is_reserved {
            self.charge.force(self.item + self.queued + overflow.size());
        }
        self.queued += overflow.size();
        match self.discard_oldest {
            true => self.samples.push_front(overflow),
            false => self.samples.push_back(overflow),
        }
        self.has_overflow_event = true;
    }

    /// Returns the samples, the oldest one first, and true if one of them is an EventQueueOverflowEvent.
    pub(super) fn saved(&self) -> (Vec<Sample>, bool) {
        (
            self.samples.iter().cloned().collect(),
            self.has_overflow_event,
        )
    }

    /// Fills an empty queue with [saved](Self::saved) samples. The newest ones are lost if there is no memory for all.
    pub(super) fn restore(&mut self, samples: Vec<Sample>, has_overflow_event: bool) {
        let all = samples.len();
        for sample in samples {
            if !self.reserve(sample.size()) {
                break;
            }
            self.queued += sample.size();
            self.samples.push_back(sample);
        }
        if self.samples.len() < all {
            self.overflows = self.overflows.wrapping_add(1);
        }
        self.has_overflow_event = has_overflow_event && !self.samples.is_empty();
    }

    /// Takes the oldest sample.
    pub(crate) fn pop(&mut self) -> Option<Sample> {
        // An EventQueueOverflowEvent is the first or the last one.
        self.has_overflow_event &= !self.discard_oldest && self.samples.len() > 1;
        self.take(VecDeque::pop_front)
    }

    fn take(
        &mut self,
        which: impl FnOnce(&mut VecDeque<Sample>) -> Option<Sample>,
    ) -> Option<Sample> {
        let sample = which(&mut self.samples)?;
        self.queued -= sample.size();
        self.give_back();
        Some(sample)
    }

    /// Returns the oldest sample.
    pub(crate) fn front(&self) -> Option<&Sample> {
        self.samples.front()
    }

    /// Drops the oldest value, which does not fit into any message: only its timestamps are kept.
    pub(crate) fn give_up_value(&mut self) {
        if let Some(mut sample) = self.pop() {
            sample.value = Vec::new();
            sample.status = StatusCode::BadEncodingLimitsExceeded;
            self.queued += sample.size();
            self.samples.push_front(sample);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Discards all samples.
    pub(crate) fn clear(&mut self) -> Option<Discarded> {
        self.has_overflow_event = false;
        let samples = std::mem::take(&mut self.samples);
        self.discard(samples)
    }

    /// Closes the queue of a deleted item: its memory is given back, for many samples together with them.
    pub(crate) fn close(&mut self) -> Option<Discarded> {
        let discarded = self.clear();
        // A reduction is always granted.
        let _ = self.charge.resize(0);
        discarded
    }

    /// Frees samples that were taken out of the queue: a few at once, many later by means of the returned value.
    fn discard(&mut self, samples: VecDeque<Sample>) -> Option<Discarded> {
        let bytes = samples.iter().map(Sample::size).sum();
        self.queued -= bytes;
        self.give_back();
        (bytes > FEW).then(|| {
            // Their bytes move from the charge of the queue to one of their own.
            let mut charge = self.charge.budget().empty_charge();
            charge.force(bytes);
            Discarded {
                samples,
                _charge: charge,
            }
        })
    }

    /// Changes size and discard policy. Samples beyond the new size are discarded.
    pub(crate) fn resize(&mut self, size: u32, discard_oldest: bool) -> Option<Discarded> {
        self.size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
        self.discard_oldest = discard_oldest;
        // Its place depends on the policy: from now on, an old one is an Event like others.
        self.has_overflow_event = false;
        let excess = self.samples.len().saturating_sub(self.size);
        let lost = excess > 0;
        let discarded = lost.then(|| {
            if discard_oldest {
                let kept = self.samples.split_off(excess);
                std::mem::replace(&mut self.samples, kept)
            } else {
                self.samples.split_off(self.size)
            }
        });
        let discarded = discarded.and_then(|samples| self.discard(samples));
        let neighbour = if discard_oldest {
            self.samples.front_mut()
        } else {
            self.samples.back_mut()
        };
        if let (true, true, Some(neighbour)) = (lost, self.size > 1, neighbour) {
            neighbour.set_overflow();
        }
        discarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_rt::memory_budget::MemoryBudget;
    use takt_ua::{DataValue, DateTime, Variant};

    fn sample(value: u32) -> Sample {
        Sample::of(&DataValue::good(value), DateTime(0))
    }

    /// Returns the values, and for each a flag that is true if it has the Overflow bit.
    fn drain(queue: &mut Queue) -> Vec<(Variant, bool)> {
        std::iter::from_fn(|| queue.pop())
            .map(|sample| (sample.variant(), sample.status.0 == 0x480))
            .collect()
    }

    fn filled(size: u32, discard_oldest: bool) -> Queue {
        let memory = MemoryBudget::new(1 << 20);
        let mut queue = Queue::new(size, discard_oldest, memory.empty_charge());
        for value in 1..=5 {
            queue.push(sample(value));
        }
        queue
    }

    fn values(expected: &[(u32, bool)]) -> Vec<(Variant, bool)> {
        expected
            .iter()
            .map(|(value, overflow)| (Variant::from(*value), *overflow))
            .collect()
    }

    #[test]
    fn a_full_queue_drops_the_oldest_and_marks_the_next() {
        let mut queue = filled(3, true);
        assert_eq!(
            drain(&mut queue),
            values(&[(3, true), (4, false), (5, false)])
        );
    }

    #[test]
    fn a_full_queue_replaces_the_newest_and_marks_it() {
        let mut queue = filled(3, false);
        assert_eq!(
            drain(&mut queue),
            values(&[(1, false), (2, false), (5, true)])
        );
    }

    #[test]
    fn a_queue_of_one_keeps_the_newest_without_overflow_bit() {
        for discard_oldest in [true, false] {
            assert_eq!(drain(&mut filled(1, discard_oldest)), values(&[(5, false)]));
        }
    }

    #[test]
    fn a_smaller_size_discards() {
        let mut queue = filled(5, true);
        assert!(queue.resize(2, true).is_none());
        assert_eq!(drain(&mut queue), values(&[(4, true), (5, false)]));
    }

    #[test]
    fn many_samples_are_freed_in_slices_and_count_until_then() {
        let memory = MemoryBudget::new(1 << 20);
        let fill = |count| {
            let mut queue = Queue::new(1000, true, memory.charge(100).unwrap());
            (0..count).for_each(|value| queue.push(sample(value)));
            queue
        };
        let size = sample(0).size();
        let mut queue = fill(1000);
        let mut resized = queue.resize(10, true).unwrap();
        assert_eq!(drain(&mut queue).len(), 10);
        assert!(memory.used() >= 990 * size);
        let mut slices = 0;
        while !resized.give_back(&mut Slice::new(100)) {
            slices += 1;
        }
        assert!((9..=11).contains(&slices), "{slices}");
        drop((resized, queue));
        assert_eq!(memory.used(), 0);

        let closed = fill(1000).close();
        assert!(memory.used() >= 1000 * size);
        drop(closed);
        assert_eq!(memory.used(), 0);
        let mut few = fill(10);
        assert!(few.clear().is_none() && few.is_empty());
        assert!(few.resize(1, false).is_none());
        assert!(few.close().is_none());
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let memory = MemoryBudget::new(3 * sample(0).size());
        let mut queue = Queue::new(100, true, memory.empty_charge());
        for value in 1..=50 {
            queue.push(sample(value));
        }
        assert_eq!(
            drain(&mut queue),
            values(&[(48, true), (49, false), (50, false)])
        );
        queue.push(sample(1));
        assert!(queue.close().is_none());
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn without_memory_there_is_a_status_instead_of_a_value() {
        let memory = MemoryBudget::new(1000);
        let mut queue = Queue::new(100, true, memory.charge(100).unwrap());
        let large = Sample::of(&DataValue::good("x".repeat(5000).as_str()), DateTime(0));
        queue.push(sample(1));
        queue.push(large);
        let kept = queue.pop().unwrap();
        assert_eq!(kept.status.0 & 0xFFFF_0000, StatusCode::BadOutOfMemory.0);
        assert!(kept.value.is_empty() && queue.is_empty());
        assert!(!queue.resize_item(1001) && queue.resize_item(900));
        drop(queue);
        assert_eq!(memory.used(), 0);
    }
}
