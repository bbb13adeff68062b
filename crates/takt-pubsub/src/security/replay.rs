//! Detection of replayed messages, by token, Publisher and WriterGroup.

use super::policy::MESSAGE_NONCE_LENGTH;

/// Maximum number of random parts of nonces that a Publisher may use with one token, for each of its WriterGroups: one for each
/// restart. More are refused until the next token.
pub const MAX_RANDOM_PARTS: usize = 16;

/// Number of random parts, each with one message and with rising numbers, after which a Publisher is one that draws a random part
/// for each message.
const DRAWS_EACH_TIME: usize = 4;

/// Limits of the memory for recognizing replayed messages. The memory, 600 bytes for each of `sources`, is allocated when the
/// verifier is made; messages beyond it are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Number of combinations of token, Publisher and WriterGroup. While keys change, each Publisher counts once for every token
    /// that is still accepted: up to five times.
    pub sources: usize,
}

impl Default for ReplayLimits {
    /// Returns limits for 50 WriterGroups: 150 kB.
    fn default() -> Self {
        Self { sources: 256 }
    }
}

/// Reason why a message with a valid signature was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Replay {
    /// The message was received before, or it is too old to check.
    #[error("a message with this nonce was received before, or it is older than the last 128")]
    Seen,
    /// The Publisher has used [`MAX_RANDOM_PARTS`] random parts with this token.
    #[error("the Publisher has restarted too often with this token")]
    TooManyRandomParts,
    /// There are more Publishers than [`ReplayLimits`] allow.
    #[error("the limit of remembered Publishers is reached")]
    TooManySources,
}

/// Token, and fingerprint of PublisherId and WriterGroupId.
pub(super) type SourceId = (u32, u64);

/// Received nonces of all sources.
#[derive(Debug)]
pub(super) struct ReplayWindows {
    /// Sources in the order of their ids; never more than the capacity.
    sources: Vec<(SourceId, Source)>,
    limits: ReplayLimits,
}

impl ReplayWindows {
    pub(super) fn new(limits: ReplayLimits) -> Self {
        Self {
            sources: Vec::with_capacity(limits.sources),
            limits,
        }
    }

    /// Notes the nonce of an authentic message; returns an error if the message is to be refused. `accepted` returns true for a
    /// token whose messages are still accepted; sources with other tokens are forgotten when there is no room.
    pub(super) fn note(
        &mut self,
        id: SourceId,
        nonce: [u8; MESSAGE_NONCE_LENGTH],
        accepted: impl Fn(u32) -> bool,
    ) -> Result<(), Replay> {
        let [a, b, c, d, sequence_number @ ..] = nonce;
        let random_part = [a, b, c, d];
        let sequence_number = u32::from_le_bytes(sequence_number);
        if let Ok(index) = self.find(id)
            && let Some((_, source)) = self.sources.get_mut(index)
        {
            return source.note(random_part, sequence_number);
        }
        if self.sources.len() >= self.limits.sources {
            self.sources.retain(|((token, _), _)| accepted(*token));
        }
        if self.sources.len() >= self.limits.sources {
            return Err(Replay::TooManySources);
        }
        let mut source = Source::default();
        source.note(random_part, sequence_number)?;
        let (Ok(index) | Err(index)) = self.find(id);
        self.sources.insert(index, (id, source));
        Ok(())
    }

    fn find(&self, id: SourceId) -> Result<usize, usize> {
        self.sources.binary_search_by_key(&id, |(id, _)| *id)
    }
}

/// Messages of one WriterGroup with one token.
#[derive(Debug, Default)]
struct Source {
    /// Windows in the order of their first messages.
    windows: [Window; MAX_RANDOM_PARTS],
    count: usize,
    /// Window of all messages, once it is known that each has a random part of its own: then only sequence numbers count.
    any_random_part: Option<Window>,
}

impl Source {
    fn note(&mut self, random_part: [u8; 4], sequence_number: u32) -> Result<(), Replay> {
        let (windows, free) = self.windows.split_at_mut(self.count);
        let known = windows
            .iter_mut()
            .rfind(|window| window.random_part == random_part);
        if let Some(window) = known.or(self.any_random_part.as_mut()) {
            return window.note(sequence_number);
        }
        *free.first_mut().ok_or(Replay::TooManyRandomParts)? = Window {
            random_part,
            highest: sequence_number,
            seen: 1,
        };
        self.count += 1;
        self.recognize_draws();
        Ok(())
    }

    /// Joins the last windows into one if the Publisher draws a random part for each message.
    fn recognize_draws(&mut self) {
        let Some(first) = self.count.checked_sub(DRAWS_EACH_TIME) else {
            return;
        };
        let Some(last) = self.windows.get(first..self.count) else {
            return;
        };
        let single = last.iter().all(|window| window.seen == 1);
        if !single || !last.is_sorted_by(|a, b| a.highest < b.highest) {
            return;
        }
        let mut joined = Window::default();
        for window in last {
            // The numbers rise: none is refused.
            let _ = joined.note(window.highest);
        }
        self.any_random_part = Some(joined);
        self.count = first;
    }
}

/// Received sequence numbers among the last 128 of a random part. They do not wrap: a nonce would be used twice.
#[derive(Debug, Default, Clone, Copy)]
struct Window {
    random_part: [u8; 4],
    highest: u32,
    /// Bit n stands for `highest` - n.
    seen: u128,
}

impl Window {
    fn note(&mut self, sequence_number: u32) -> Result<(), Replay> {
        match sequence_number.checked_sub(self.highest) {
            Some(1..) => {
                let newer = sequence_number - self.highest;
                self.seen = self.seen.checked_shl(newer).unwrap_or(0) | 1;
                self.highest = sequence_number;
                Ok(())
            }
            _ => {
                let bit = 1_u128.checked_shl(self.highest - sequence_number);
                let bit = bit.filter(|bit| self.seen & bit == 0);
                self.seen |= bit.ok_or(Replay::Seen)?;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(random_part: u32, sequence_number: u32) -> [u8; 8] {
        let mut nonce = [0; 8];
        nonce[..4].copy_from_slice(&random_part.to_le_bytes());
        nonce[4..].copy_from_slice(&sequence_number.to_le_bytes());
        nonce
    }

    struct Seen(ReplayWindows);

    impl Seen {
        fn new(sources: usize) -> Self {
            Self(ReplayWindows::new(ReplayLimits { sources }))
        }

        fn note(&mut self, random_part: u32, sequence_number: u32) -> Result<(), Replay> {
            self.0
                .note((1, 1), nonce(random_part, sequence_number), |_| true)
        }
    }

    #[test]
    fn a_window_accepts_each_number_once_in_any_order() {
        let mut seen = Seen::new(1);
        for number in [1, 3, 2, 131, 4, 130] {
            assert_eq!(seen.note(7, number), Ok(()), "{number}");
            assert_eq!(seen.note(7, number), Err(Replay::Seen), "{number}");
        }
        // A number 128 back is too old, received or not.
        assert_eq!(seen.note(7, 3), Err(Replay::Seen));
        assert_eq!(seen.note(7, 5), Ok(()));
        assert_eq!(seen.note(7, u32::MAX), Ok(()));
        assert_eq!(seen.note(7, u32::MAX - 127), Ok(()));
        assert_eq!(seen.note(7, u32::MAX - 128), Err(Replay::Seen));
        assert_eq!(seen.note(7, 0), Err(Replay::Seen));
    }

    #[test]
    fn restarts_are_accepted_and_older_messages_refused() {
        let mut seen = Seen::new(1);
        for restart in 0..MAX_RANDOM_PARTS as u32 {
            for number in 1..10 {
                assert_eq!(seen.note(restart, number), Ok(()));
            }
        }
        for restart in 0..MAX_RANDOM_PARTS as u32 {
            for number in 1..10 {
                assert_eq!(seen.note(restart, number), Err(Replay::Seen));
            }
        }
        assert_eq!(seen.note(99, 1), Err(Replay::TooManyRandomParts));
    }

    #[test]
    fn random_parts_for_each_message_are_checked_by_number_only() {
        let mut seen = Seen::new(1);
        // A Publisher of the other kind had the same PublisherId before.
        seen.note(1, 1).unwrap();
        seen.note(1, 5000).unwrap();
        for number in 1..1000 {
            assert_eq!(seen.note(100 + number, number), Ok(()), "{number}");
        }
        for number in 1..1000 {
            assert_eq!(seen.note(100 + number, number), Err(Replay::Seen));
        }
        assert_eq!(seen.note(1, 4000), Err(Replay::Seen));
        // Out of order, but new.
        seen.note(5, 1005).unwrap();
        seen.note(6, 1003).unwrap();
        assert_eq!(seen.note(6, 1003), Err(Replay::Seen));
    }

    #[test]
    fn one_message_per_restart_is_not_a_random_part_for_each_message() {
        let mut seen = Seen::new(1);
        for restart in 0..MAX_RANDOM_PARTS as u32 {
            assert_eq!(seen.note(restart, 1), Ok(()));
        }
    }

    #[test]
    fn memory_is_bounded_and_given_to_tokens_that_are_accepted() {
        let mut windows = ReplayWindows::new(ReplayLimits { sources: 4 });
        let capacity = windows.sources.capacity();
        for source in 0..4 {
            let token = source as u32 / 2 + 1;
            windows
                .note((token, source), nonce(1, 1), |_| true)
                .unwrap();
        }
        let full = windows.note((2, 9), nonce(1, 1), |_| true);
        assert_eq!(full, Err(Replay::TooManySources));
        windows
            .note((2, 9), nonce(1, 1), |token| token == 2)
            .unwrap();
        assert_eq!(windows.sources.len(), 3);
        for source in [2, 3, 9] {
            let again = windows.note((2, source), nonce(1, 1), |_| true);
            assert_eq!(again, Err(Replay::Seen));
        }
        assert_eq!(windows.sources.capacity(), capacity);
        assert!(size_of::<(SourceId, Source)>() <= 600);
    }
}
