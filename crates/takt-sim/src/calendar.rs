//! Future events, in order.
//!
//! The calendar is a hierarchical timing wheel: eight wheels of 256 slots, one for each byte of the time. Each event is moved at
//! most seven times and compared with no other. The last wheel has one slot for each picosecond, and slots are first in, first
//! out: events at the same time always happen in the order in which they were planned.

use crate::Time;

const BITS: u32 = 8;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = 64 / BITS as usize;
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy)]
struct Planned<E> {
    time: u64,
    next: u32,
    event: E,
}

/// Events of type `E`, each with its time. Memory is only allocated when there are more events than ever before.
#[derive(Debug)]
pub struct Calendar<E> {
    now: u64,
    slots: Vec<Slot>,
    /// Bits for all slots that are not empty. The other two fields have a bit for each word of these that is not 0, and for each
    /// level that is not empty.
    occupied: [[u64; SLOTS / 64]; LEVELS],
    words: [u8; LEVELS],
    levels: u8,
    planned: Vec<Planned<E>>,
    free: u32,
    count: usize,
}

impl<E: Copy> Default for Calendar<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> Calendar<E> {
    /// Makes a calendar without events.
    pub fn new() -> Self {
        let empty = Slot {
            first: NONE,
            last: NONE,
        };
        Self {
            now: 0,
            slots: vec![empty; SLOTS * LEVELS],
            occupied: [[0; SLOTS / 64]; LEVELS],
            words: [0; LEVELS],
            levels: 0,
            planned: Vec::new(),
            free: NONE,
            count: 0,
        }
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no events.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Plans an event. An event before the last one that was taken happens next.
    pub fn push(&mut self, time: Time, event: E) {
        let time = u64::try_from(time.as_picoseconds())
            .unwrap_or(0)
            .max(self.now);
        let planned = Planned {
            time,
            next: NONE,
            event,
        };
        let index = if self.free == NONE {
            self.planned.push(planned);
            u32::try_from(self.planned.len() - 1).unwrap_or(NONE)
        } else {
            let index = self.free;
            self.free = self.planned[index as usize].next;
            self.planned[index as usize] = planned;
            index
        };
        self.count += 1;
        self.append(index, time);
    }

    /// Returns the next event and its time, and removes it.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        while self.levels != 0 {
            // The lowest level has the next events: their times share the most leading bytes with the present.
            let level = self.levels.trailing_zeros() as usize;
            let digit = self.first_occupied(level);
            let slot = self.slots[level * SLOTS + digit];
            let shift = level as u32 * BITS;
            // On the last level, no byte is above, and a shift by 64 bits would overflow.
            let above = u64::MAX.checked_shl(shift + BITS).unwrap_or(0);
            // At the begin of the slot, all of its events are on lower levels, so they do not return to this slot.
            self.now = (self.now & above) | ((digit as u64) << shift);
            let Planned { time, next, event } = self.planned[slot.first as usize];
            // An event that is alone in its slot is the next on any level.
            if level == 0 || next == NONE {
                self.now = time;
                if next == NONE {
                    self.clear(level, digit);
                } else {
                    self.slots[digit].first = next;
                }
                self.planned[slot.first as usize].next = self.free;
                self.free = slot.first;
                self.count -= 1;
                let time = i64::try_from(time).unwrap_or(i64::MAX);
                return Some((Time::picoseconds(time), event));
            }
            self.clear(level, digit);
            let mut index = slot.first;
            // The slot is emptied from the first to the last, so that events of the same time keep their order.
            while index != NONE {
                let Planned { time, next, .. } = self.planned[index as usize];
                self.append(index, time);
                index = next;
            }
        }
        None
    }

    fn append(&mut self, index: u32, time: u64) {
        let differing = time ^ self.now;
        // Without the bit, an event of the present would have no highest bit. With it, it is on level 0.
        let level = (63 - (differing | 1).leading_zeros()) / BITS;
        let digit = (time >> (level * BITS)) as usize % SLOTS;
        let level = level as usize;
        self.planned[index as usize].next = NONE;
        let slot = &mut self.slots[level * SLOTS + digit];
        if slot.first == NONE {
            slot.first = index;
            self.occupied[level][digit / 64] |= 1 << (digit % 64);
            self.words[level] |= 1 << (digit / 64);
            self.levels |= 1 << level;
        } else {
            self.planned[slot.last as usize].next = index;
        }
        slot.last = index;
    }

    /// Returns the first occupied slot. All occupied slots are at or after the current one.
    fn first_occupied(&self, level: usize) -> usize {
        // An occupied level has such bits, so the remainders change nothing. They spare the checks of the indices.
        let word = self.words[level].trailing_zeros() as usize % (SLOTS / 64);
        word * 64 + self.occupied[level][word].trailing_zeros() as usize % 64
    }

    fn clear(&mut self, level: usize, digit: usize) {
        self.slots[level * SLOTS + digit].first = NONE;
        let word = &mut self.occupied[level][digit / 64];
        *word &= !(1 << (digit % 64));
        if *word == 0 {
            self.words[level] &= !(1 << (digit / 64));
            if self.words[level] == 0 {
                self.levels &= !(1 << level);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_time_keeps_its_order() {
        let mut calendar = Calendar::new();
        let time = Time::microseconds(250);
        for event in 0..1000 {
            calendar.push(time, event);
            calendar.push(Time::picoseconds(event), event);
        }
        let mut early = Vec::new();
        for event in 0..1000 {
            assert_eq!(calendar.pop(), Some((Time::picoseconds(event), event)));
            if event == 500 {
                calendar.push(time, 1000);
            }
            early.push(event);
        }
        for event in 0..=1000 {
            assert_eq!(calendar.pop(), Some((time, event)));
        }
        assert!(calendar.is_empty() && calendar.pop().is_none());
    }

    #[test]
    fn late_events_happen_next() {
        let mut calendar = Calendar::new();
        calendar.push(Time::nanoseconds(5), 'a');
        assert_eq!(calendar.pop(), Some((Time::nanoseconds(5), 'a')));
        calendar.push(Time::nanoseconds(1), 'b');
        assert_eq!(calendar.pop(), Some((Time::nanoseconds(5), 'b')));
    }

    proptest! {
        #[test]
        fn the_calendar_pops_in_the_order_of_a_heap(steps in prop::collection::vec((0u32..40, 0i64..i64::from(u16::MAX), any::<bool>()), 1..400)) {
            let mut calendar = Calendar::new();
            let mut heap = BinaryHeap::new();
            let mut now = Time::ZERO;
            for (number, (shift, delay, take)) in steps.into_iter().enumerate() {
                let time = now + Time::picoseconds(delay << shift);
                calendar.push(time, number);
                heap.push(Reverse((time, number)));
                if take {
                    let expected = heap.pop().unwrap().0;
                    prop_assert_eq!(calendar.pop(), Some(expected));
                    now = expected.0;
                }
                prop_assert_eq!(calendar.len(), heap.len());
            }
            while let Some(Reverse(expected)) = heap.pop() {
                prop_assert_eq!(calendar.pop(), Some(expected));
            }
        }
    }
}
