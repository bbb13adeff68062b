//! The queue of a MonitoredItem (OPC 10000-4, 5.13.1.5), and the memory that all of a server's together may take.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use takt_ua::StatusCode;

use super::sample::Sample;

/// The memory that values and messages in the queues of one server may take. A queue that holds something gets no more
/// beyond it: it overflows as if it were full.
#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    max: usize,
}

impl Budget {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            used: AtomicUsize::new(0),
            max,
        }
    }

    /// Bytes that are taken.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.used() >= self.max
    }

    pub(crate) fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Samples that wait to be published.
#[derive(Debug)]
pub(crate) struct Queue {
    samples: VecDeque<Sample>,
    size: usize,
    discard_oldest: bool,
    budget: Arc<Budget>,
}

impl Queue {
    /// A queue for `size` samples, at least one.
    pub(crate) fn new(size: u32, discard_oldest: bool, budget: Arc<Budget>) -> Self {
        Self {
            samples: VecDeque::new(),
            size: usize::try_from(size).unwrap_or(usize::MAX).max(1),
            discard_oldest,
            budget,
        }
    }

    /// Appends a sample. If there is no room, one is discarded, and its neighbour says so, except in a queue for one.
    pub(crate) fn push(&mut self, mut sample: Sample) {
        let is_full =
            self.samples.len() >= self.size || (!self.samples.is_empty() && self.budget.is_spent());
        if is_full {
            if self.discard_oldest {
                self.pop();
            } else {
                self.take(|samples| samples.pop_back());
            }
            if self.size > 1 {
                match self.samples.front_mut() {
                    Some(oldest) if self.discard_oldest => oldest.set_overflow(),
                    _ => sample.set_overflow(),
                }
            }
        }
        self.budget.take(sample.size());
        self.samples.push_back(sample);
    }

    /// Takes the oldest sample.
    pub(crate) fn pop(&mut self) -> Option<Sample> {
        self.take(VecDeque::pop_front)
    }

    fn take(
        &mut self,
        which: impl FnOnce(&mut VecDeque<Sample>) -> Option<Sample>,
    ) -> Option<Sample> {
        let sample = which(&mut self.samples)?;
        self.budget.give_back(sample.size());
        Some(sample)
    }

    /// The oldest sample.
    pub(crate) fn front(&self) -> Option<&Sample> {
        self.samples.front()
    }

    /// The oldest value is too long for any message: only its timestamps are kept.
    pub(crate) fn give_up_value(&mut self) {
        if let Some(mut sample) = self.pop() {
            sample.value = Vec::new();
            sample.status = StatusCode::BadEncodingLimitsExceeded;
            self.budget.take(sample.size());
            self.samples.push_front(sample);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// Changes size and discard policy; what is too much for the new size is discarded.
    pub(crate) fn resize(&mut self, size: u32, discard_oldest: bool) {
        self.size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
        self.discard_oldest = discard_oldest;
        let mut lost = false;
        while self.samples.len() > self.size {
            lost = true;
            if discard_oldest {
                self.pop();
            } else {
                self.take(VecDeque::pop_back);
            }
        }
        let neighbour = if discard_oldest {
            self.samples.front_mut()
        } else {
            self.samples.back_mut()
        };
        if let (true, true, Some(neighbour)) = (lost, self.size > 1, neighbour) {
            neighbour.set_overflow();
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::{DataValue, DateTime, Variant};

    fn sample(value: u32) -> Sample {
        Sample::of(&DataValue::good(value), DateTime(0))
    }

    /// Values, and whether each has the overflow bit.
    fn drain(queue: &mut Queue) -> Vec<(Variant, bool)> {
        std::iter::from_fn(|| queue.pop())
            .map(|sample| (sample.variant(), sample.status.0 == 0x480))
            .collect()
    }

    fn filled(size: u32, discard_oldest: bool) -> Queue {
        let mut queue = Queue::new(size, discard_oldest, Arc::new(Budget::new(1 << 20)));
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
    fn the_oldest_goes_and_the_next_says_so() {
        let mut queue = filled(3, true);
        assert_eq!(
            drain(&mut queue),
            values(&[(3, true), (4, false), (5, false)])
        );
    }

    #[test]
    fn the_newest_is_replaced_and_the_new_one_says_so() {
        let mut queue = filled(3, false);
        assert_eq!(
            drain(&mut queue),
            values(&[(1, false), (2, false), (5, true)])
        );
    }

    #[test]
    fn a_queue_for_one_has_the_newest_without_a_word() {
        for discard_oldest in [true, false] {
            assert_eq!(drain(&mut filled(1, discard_oldest)), values(&[(5, false)]));
        }
    }

    #[test]
    fn a_smaller_size_discards() {
        let mut queue = filled(5, true);
        queue.resize(2, true);
        assert_eq!(drain(&mut queue), values(&[(4, true), (5, false)]));
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let budget = Arc::new(Budget::new(3 * sample(0).size()));
        let mut queue = Queue::new(100, true, Arc::clone(&budget));
        for value in 1..=50 {
            queue.push(sample(value));
        }
        assert_eq!(
            drain(&mut queue),
            values(&[(48, true), (49, false), (50, false)])
        );
        queue.push(sample(1));
        drop(queue);
        assert_eq!(budget.used(), 0);
    }
}
