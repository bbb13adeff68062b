//! DataSetMessages that share a NetworkMessage.

use super::fixed_message::FixedNetworkMessage;
use crate::equal_lengths::EqualLengths;

/// Longest pause between two attempts, in messages.
const LONGEST_PAUSE: u32 = 1 << 16;

/// NetworkMessage of a publishing interval.
#[derive(Debug)]
pub(super) struct Plan {
    /// NetworkMessageNumber of the message; `None` if each message has the next number of its interval.
    pub(super) network_message_number: Option<u16>,
    /// Indexes of the writers that share it.
    pub(super) writers: Vec<usize>,
    /// The message, if it has the layout of the ones before.
    pub(super) fixed: Option<FixedNetworkMessage>,
    pub(super) alike: Alike,
}

/// Watch over the messages of the general encoder. To build a layout takes the time of several messages.
#[derive(Debug, Default)]
pub(super) struct Alike {
    lengths: EqualLengths,
    /// Number of messages until the next attempt, and its value after the last attempt.
    left: u32,
    pause: u32,
}

impl Alike {
    /// Notes the length of a message; returns true if a layout is to be built.
    pub(super) fn note(&mut self, length: usize) -> bool {
        self.left = self.left.saturating_sub(1);
        // `note` comes first: it must see every length, also during a pause.
        self.lengths.note(length) && self.left == 0
    }

    /// Notes the outcome of an attempt. After vain ones the pauses grow.
    pub(super) fn attempted(&mut self, is_useful: bool) {
        self.lengths.reset();
        self.pause = match is_useful {
            true => 0,
            false => (2 * self.pause + 1).min(LONGEST_PAUSE),
        };
        self.left = self.pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_follow_messages_of_equal_length_and_become_rare() {
        let mut alike = Alike::default();
        let attempts = |alike: &mut Alike, lengths: &[usize]| {
            let due = lengths.iter().filter(|length| alike.note(**length));
            due.count()
        };
        assert_eq!(attempts(&mut alike, &[1, 1, 2, 2, 3, 3]), 0);
        assert_eq!(attempts(&mut alike, &[3]), 1);
        let mut vain = 0;
        for _ in 0..10_000 {
            if alike.note(3) {
                alike.attempted(false);
                vain += 1;
            }
        }
        assert!((10..20).contains(&vain), "{vain}");
        alike.attempted(true);
        assert_eq!(attempts(&mut alike, &[4, 4, 4]), 1);
    }
}
