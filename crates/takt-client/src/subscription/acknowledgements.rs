//! Acknowledgements of NotificationMessages (OPC 10000-4, 5.14.5): each is sent until the server has got it.
//!
//! A Publish request that fails, or that is lost with its connection, may have acknowledged nothing. The server tells with each
//! response which messages it still keeps. To acknowledge a message twice does no harm.

use std::collections::BTreeSet;

/// Largest number of acknowledgements without a sign that the server got them. A server has its own limit on messages.
const MOST: usize = 1024;

/// SequenceNumbers to acknowledge.
#[derive(Debug, Default)]
pub(super) struct Acknowledgements {
    /// Numbers for the next Publish request.
    due: Vec<u32>,
    /// Numbers that were sent, and whose messages the server may still keep.
    sent: BTreeSet<u32>,
}

impl Acknowledgements {
    /// Adds the number of a received message.
    pub(super) fn add(&mut self, number: u32) {
        self.due.push(number);
    }

    /// Returns the numbers for a Publish request.
    pub(super) fn send(&mut self) -> Vec<u32> {
        let due = std::mem::take(&mut self.due);
        self.sent.extend(&due);
        while self.sent.len() > MOST {
            self.sent.pop_first();
        }
        due
    }

    /// Has all numbers sent again that the server may not have got: a Publish request was lost or refused.
    pub(super) fn repeat(&mut self) {
        self.due.extend(std::mem::take(&mut self.sent));
    }

    /// Forgets the numbers that the server has got: it keeps only these messages.
    pub(super) fn confirm(&mut self, available: &[u32]) {
        // Each number of the server is looked at once: it may send very many.
        let kept = available.iter().filter(|number| self.sent.contains(number));
        self.sent = kept.copied().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sent_until_the_server_does_not_keep_their_messages() {
        let mut numbers = Acknowledgements::default();
        numbers.add(1);
        numbers.add(2);
        assert_eq!(numbers.send(), [1, 2]);
        assert!(numbers.send().is_empty());
        // The response was made before the request arrived.
        numbers.confirm(&[1, 2, 3]);
        numbers.add(3);
        numbers.repeat();
        assert_eq!(numbers.send(), [3, 1, 2]);
        numbers.confirm(&[2]);
        numbers.repeat();
        assert_eq!(numbers.send(), [2]);
        numbers.confirm(&[]);
        numbers.repeat();
        assert!(numbers.send().is_empty());
    }

    #[test]
    fn a_server_that_keeps_all_messages_takes_no_memory_here() {
        let mut numbers = Acknowledgements::default();
        for number in 1..5000 {
            numbers.add(number);
            numbers.send();
        }
        numbers.repeat();
        let sent = numbers.send();
        assert_eq!((sent.len(), sent[0]), (MOST, 5000 - 1024));
    }
}
