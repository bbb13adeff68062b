//! Sent NotificationMessages that are not acknowledged (OPC 10000-4, 5.14.1.1): Republish sends them again.

use std::collections::VecDeque;
use std::sync::Arc;

use takt_rt::memory_budget::{Charge, MemoryBudget};

/// The retransmission queue of a Subscription. The oldest message is discarded if there are too many, or no memory for a new
/// one.
pub(crate) struct RetransmissionQueue {
    messages: VecDeque<Kept>,
    max: usize,
    memory: MemoryBudget,
    discarded: u32,
}

struct Kept {
    sequence_number: u32,
    message: Arc<[u8]>,
    _charge: Charge,
}

impl RetransmissionQueue {
    pub(crate) fn new(max: usize, memory: MemoryBudget) -> Self {
        Self {
            messages: VecDeque::new(),
            max: max.max(1),
            memory,
            discarded: 0,
        }
    }

    /// Counts later messages in another budget.
    pub(crate) fn set_memory(&mut self, memory: MemoryBudget) {
        self.memory = memory;
    }

    /// Keeps an encoded NotificationMessage, if there is memory for it.
    pub(crate) fn push(&mut self, sequence_number: u32, message: Arc<[u8]>) {
        while self.messages.len() >= self.max {
            self.discard();
        }
        let bytes = size_of::<Kept>() + message.len();
        let charge = loop {
            match self.memory.charge_message(bytes) {
                Ok(charge) => break charge,
                Err(_) if self.discard() => {}
                Err(_) => {
                    self.discarded = self.discarded.wrapping_add(1);
                    return;
                }
            }
        };
        self.messages.push_back(Kept {
            sequence_number,
            message,
            _charge: charge,
        });
    }

    /// Discards the oldest message, which was not acknowledged. Returns true if there was one.
    fn discard(&mut self) -> bool {
        let discarded = self.messages.pop_front().is_some();
        self.discarded = self.discarded.wrapping_add(u32::from(discarded));
        discarded
    }

    /// Returns the number of messages that were discarded before they were acknowledged.
    pub(crate) fn discarded(&self) -> u32 {
        self.discarded
    }

    /// Removes the oldest message. Returns its size in bytes.
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let kept = self.messages.pop_front()?;
        Some(kept.message.len())
    }

    fn position(&self, sequence_number: u32) -> Option<usize> {
        let mut messages = self.messages.iter();
        messages.position(|kept| kept.sequence_number == sequence_number)
    }

    /// Removes a message. Returns true if it was in the queue.
    pub(crate) fn acknowledge(&mut self, sequence_number: u32) -> bool {
        let at = self.position(sequence_number);
        at.and_then(|at| self.messages.remove(at)).is_some()
    }

    /// Returns a message that was sent before.
    pub(crate) fn get(&self, sequence_number: u32) -> Option<Arc<[u8]>> {
        let kept = self.messages.get(self.position(sequence_number)?)?;
        Some(Arc::clone(&kept.message))
    }

    /// Returns the messages with their sequence numbers.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (u32, Arc<[u8]>)> + '_ {
        let messages = self.messages.iter();
        messages.map(|kept| (kept.sequence_number, Arc::clone(&kept.message)))
    }

    /// Returns the AvailableSequenceNumbers.
    pub(crate) fn sequence_numbers(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.messages.iter().map(|kept| kept.sequence_number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_and_acknowledged_messages_are_removed() {
        let memory = MemoryBudget::new(1000);
        let mut queue = RetransmissionQueue::new(3, memory.clone());
        for number in 1..=5 {
            queue.push(number, Arc::from([0; 10]));
        }
        assert_eq!(queue.sequence_numbers().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(queue.discarded(), 2);
        assert!(queue.acknowledge(4));
        assert!(!queue.acknowledge(4));
        assert!(queue.get(4).is_none() && queue.get(5).is_some());
        queue.push(6, Arc::from([0; 940]));
        assert_eq!(queue.sequence_numbers().collect::<Vec<_>>(), [6]);
        // The message is larger than the whole budget.
        queue.push(7, Arc::from([0; 2000]));
        assert_eq!(queue.sequence_numbers().count(), 0);
        queue.push(8, Arc::from([0; 10]));
        assert_eq!(queue.sequence_numbers().collect::<Vec<_>>(), [8]);
        drop(queue);
        assert_eq!(memory.used(), 0);
    }
}
