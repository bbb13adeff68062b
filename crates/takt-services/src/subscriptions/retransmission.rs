//! NotificationMessages that were sent and not acknowledged (OPC 10000-4, 5.14.1.1): Republish sends them again.

use std::collections::VecDeque;
use std::sync::Arc;

use super::queue::Budget;

/// The retransmission queue of a Subscription. The oldest message goes when there are too many.
pub(crate) struct RetransmissionQueue {
    messages: VecDeque<(u32, Arc<[u8]>)>,
    max: usize,
    budget: Arc<Budget>,
}

impl RetransmissionQueue {
    pub(crate) fn new(max: usize, budget: Arc<Budget>) -> Self {
        Self {
            messages: VecDeque::new(),
            max: max.max(1),
            budget,
        }
    }

    /// Keeps an encoded NotificationMessage.
    pub(crate) fn push(&mut self, sequence_number: u32, message: Arc<[u8]>) {
        while self.messages.len() >= self.max
            || (!self.messages.is_empty() && self.budget.is_spent())
        {
            self.pop();
        }
        self.budget.take(message.len());
        self.messages.push_back((sequence_number, message));
    }

    fn pop(&mut self) {
        if let Some((_, message)) = self.messages.pop_front() {
            self.budget.give_back(message.len());
        }
    }

    /// Forgets a message; whether it was there.
    pub(crate) fn acknowledge(&mut self, sequence_number: u32) -> bool {
        let at = self
            .messages
            .iter()
            .position(|(number, _)| *number == sequence_number);
        let message = at.and_then(|at| self.messages.remove(at));
        if let Some((_, message)) = &message {
            self.budget.give_back(message.len());
        }
        message.is_some()
    }

    /// A message that was sent before.
    pub(crate) fn get(&self, sequence_number: u32) -> Option<Arc<[u8]>> {
        self.messages
            .iter()
            .find(|(number, _)| *number == sequence_number)
            .map(|(_, message)| Arc::clone(message))
    }

    /// AvailableSequenceNumbers.
    pub(crate) fn sequence_numbers(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.messages.iter().map(|(number, _)| *number)
    }
}

impl Drop for RetransmissionQueue {
    fn drop(&mut self) {
        while !self.messages.is_empty() {
            self.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_and_what_is_acknowledged_is_forgotten() {
        let budget = Arc::new(Budget::new(1000));
        let mut queue = RetransmissionQueue::new(3, Arc::clone(&budget));
        for number in 1..=5 {
            queue.push(number, Arc::from([0; 10]));
        }
        assert_eq!(queue.sequence_numbers().collect::<Vec<_>>(), [3, 4, 5]);
        assert!(queue.acknowledge(4));
        assert!(!queue.acknowledge(4));
        assert!(queue.get(4).is_none() && queue.get(5).is_some());
        queue.push(6, Arc::from([0; 2000]));
        queue.push(7, Arc::from([0; 10]));
        assert_eq!(queue.sequence_numbers().collect::<Vec<_>>(), [7]);
        drop(queue);
        assert_eq!(budget.used(), 0);
    }
}
