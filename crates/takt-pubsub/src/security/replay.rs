//! Detection of replayed messages, by token, Publisher and WriterGroup.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::policy::MESSAGE_NONCE_LENGTH;

/// Number of random parts of a Publisher with one token, for each of its WriterGroups, whose sequence numbers are remembered: one
/// for each restart. MessageNonces with further random parts are stored individually: see [`ReplayLimits::nonces`].
pub const MAX_RANDOM_PARTS: usize = 16;

/// Number of random parts, each with one message and with rising numbers, after which a Publisher is one that draws a random part
/// for each message.
const DRAWS_EACH_TIME: usize = 4;

/// Limits of the memory for recognizing replayed messages. Messages beyond it are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Number of combinations of token, Publisher and WriterGroup. While keys change, each Publisher counts once for every token
    /// that is still accepted: up to five times. The memory, 640 bytes for each, is allocated when the verifier is made.
    pub sources: usize,
    /// Greatest number of MessageNonces stored individually, over all Publishers with more than [`MAX_RANDOM_PARTS`] random parts.
    /// The memory, at most 20 bytes for each, is allocated when they are received.
    pub nonces: usize,
}

impl Default for ReplayLimits {
    /// Returns limits for 50 WriterGroups, 150 kB, and for 262 144 MessageNonces, at most 5 MB.
    fn default() -> Self {
        Self {
            sources: 256,
            nonces: 1 << 18,
        }
    }
}

/// Reason why a message with a valid signature was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Replay {
    /// The message was received before, or it is too old to check.
    #[error("a message with this nonce was received before, or it is older than the last 128")]
    Seen,
    /// There are more MessageNonces with new random parts than [`ReplayLimits::nonces`] allow.
    #[error(
        "the Publisher draws new random parts for its MessageNonces, and no more of them are remembered with this token: renew \
         the key, or set MaxMessageNonces in the GroupProperties of the ReaderGroup"
    )]
    TooManyNonces,
    /// There are more Publishers than [`ReplayLimits::sources`] allow.
    #[error("the limit of remembered Publishers is reached")]
    TooManySources,
}

/// Token, and fingerprint of PublisherId and WriterGroupId.
pub(super) type SourceId = (u32, u64);

/// Content of a MessageNonce.
type MessageNonce = [u8; MESSAGE_NONCE_LENGTH];

/// Received nonces of all sources.
#[derive(Debug)]
pub(super) struct ReplayWindows {
    /// Sources in the order of their ids; never more than the capacity.
    sources: Vec<(SourceId, Source)>,
    limits: ReplayLimits,
    /// Number of MessageNonces that may still be stored individually.
    free_nonces: usize,
}

impl ReplayWindows {
    pub(super) fn new(limits: ReplayLimits) -> Self {
        Self {
            sources: Vec::with_capacity(limits.sources),
            limits,
            free_nonces: limits.nonces,
        }
    }

    /// Notes the nonce of an authentic message; returns an error if the message is to be refused. `accepted` returns true for a
    /// token whose messages are still accepted; sources with other tokens are forgotten when there is no room.
    pub(super) fn note(
        &mut self,
        id: SourceId,
        nonce: MessageNonce,
        accepted: impl Fn(u32) -> bool,
    ) -> Result<(), Replay> {
        match self.note_within_limits(id, nonce) {
            // Forgetting looks at all sources, so it waits until there is no room.
            Err(Replay::TooManySources | Replay::TooManyNonces) if self.forget(&accepted) => {
                self.note_within_limits(id, nonce)
            }
            outcome => outcome,
        }
    }

    fn note_within_limits(&mut self, id: SourceId, nonce: MessageNonce) -> Result<(), Replay> {
        let found = self.sources.binary_search_by_key(&id, |(id, _)| *id);
        let (Ok(index) | Err(index)) = found;
        if found.is_err() {
            // The vector never grows: receiving allocates no memory for a source.
            if self.sources.len() >= self.limits.sources {
                return Err(Replay::TooManySources);
            }
            self.sources.insert(index, (id, Source::default()));
        }
        let source = self.sources.get_mut(index);
        let (_, source) = source.ok_or(Replay::TooManySources)?;
        source.note(nonce, &mut self.free_nonces)
    }

    /// Forgets the sources whose tokens are not accepted any more; returns `false` if there are none.
    #[cold]
    fn forget(&mut self, accepted: impl Fn(u32) -> bool) -> bool {
        let before = self.sources.len();
        self.sources.retain(|((token, _), _)| accepted(*token));
        let remembered = self.sources.iter().map(|(_, source)| source.lone.len());
        self.free_nonces = self.limits.nonces.saturating_sub(remembered.sum());
        self.sources.len() < before
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
    /// MessageNonces whose random parts have no window. A Publisher that draws a random part for each message and does not count
    /// gives no other sign of a new message.
    lone: HashSet<MessageNonce, RandomState>,
}

impl Source {
    fn note(&mut self, nonce: MessageNonce, free_nonces: &mut usize) -> Result<(), Replay> {
        let [a, b, c, d, sequence_number @ ..] = nonce;
        let random_part = [a, b, c, d];
        let sequence_number = u32::from_le_bytes(sequence_number);
        let (windows, free) = self.windows.split_at_mut(self.count);
        let known = windows
            .iter_mut()
            // From the last: the newest random part is that of the running Publisher.
            .rfind(|window| window.random_part == random_part);
        if let Some(window) = known.or(self.any_random_part.as_mut()) {
            return window.note(sequence_number);
        }
        match free.first_mut() {
            Some(window) => {
                *window = Window {
                    random_part,
                    highest: sequence_number,
                    seen: 1,
                };
                self.count += 1;
                self.recognize_draws();
                Ok(())
            }
            None => self.note_alone(nonce, free_nonces),
        }
    }

    /// Notes a nonce whose random part has no window.
    #[cold]
    fn note_alone(&mut self, nonce: MessageNonce, free_nonces: &mut usize) -> Result<(), Replay> {
        if self.lone.contains(&nonce) {
            return Err(Replay::Seen);
        }
        *free_nonces = free_nonces.checked_sub(1).ok_or(Replay::TooManyNonces)?;
        self.lone.insert(nonce);
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
        // A random part with several messages belongs to a Publisher that draws once for each run.
        let single = last.iter().all(|window| window.seen == 1);
        // Restarts begin at 1 again: numbers that rise over several random parts are those of one run.
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
                // A jump by the width of the window or more leaves none of the earlier numbers in it.
                self.seen = self.seen.checked_shl(newer).unwrap_or(0) | 1;
                self.highest = sequence_number;
                Ok(())
            }
            _ => {
                // Numbers before the window cannot be told from repetitions, so they are refused as well.
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
            Self(ReplayWindows::new(ReplayLimits {
                sources,
                nonces: 100,
            }))
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
    }

    #[test]
    fn each_nonce_is_accepted_once_if_the_publisher_does_not_count() {
        let mut seen = Seen::new(1);
        let limit = (MAX_RANDOM_PARTS + 100) as u32;
        for message in 0..limit {
            assert_eq!(seen.note(message, 1), Ok(()), "{message}");
        }
        for message in 0..limit {
            assert_eq!(seen.note(message, 1), Err(Replay::Seen), "{message}");
        }
        // Nothing is forgotten to make room: a replay would be accepted.
        let refused = seen.note(limit, 1);
        assert_eq!(refused, Err(Replay::TooManyNonces));
        assert!(
            Replay::TooManyNonces
                .to_string()
                .contains("MaxMessageNonces")
        );
        assert_eq!(seen.note(limit - 1, 1), Err(Replay::Seen));
        // The memory of a token that is not accepted any more is free again.
        let next_token = seen.0.note((2, 1), nonce(limit, 1), |token| token == 2);
        assert_eq!(next_token, Ok(()));
        assert_eq!(seen.0.free_nonces, 100);
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
        let mut windows = ReplayWindows::new(ReplayLimits {
            sources: 4,
            nonces: 0,
        });
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
        assert!(size_of::<(SourceId, Source)>() <= 640);
    }
}
