//! Numbers of lost messages, by cause.

#[cfg(feature = "runtime")]
use takt_link::LinkCounters;

/// Cause of lost messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LossCause {
    /// Messages came faster than they were handled, or were made faster than they were sent: the oldest, or the newest, ones were
    /// discarded.
    #[error("the queue of the link was full")]
    Overflow,
    /// The link was down, it broke or was closed before they were delivered, or they were longer than the longest message.
    #[error("the link was down or broke, or they were too long")]
    Discard,
    /// The broker has refused them.
    #[error("the broker has refused them")]
    Refusal,
    /// Their launch time passed while a queueing discipline held them.
    #[error("their launch time had passed")]
    LaunchTime,
    /// Received sequence numbers have gaps.
    #[error("they were not received, according to the sequence numbers")]
    Gap,
    /// They were received twice, or after newer ones.
    #[error(
        "they came twice or after newer ones, or from a second Publisher with the same PublisherId, or after its restart"
    )]
    Repetition,
    /// They have changes of values that are not known yet.
    #[error("they were delta frames before the first key frame")]
    KeyFrame,
    /// Some of their chunks were not received in time.
    #[error("some of their chunks were not received")]
    Chunks,
    /// They are marked as invalid, or are of a kind that DataSetReaders do not take.
    #[error("they are invalid, or of an unknown kind")]
    Kind,
    /// No DataSetReader takes them.
    #[error("they are for no DataSetReader")]
    Unclaimed,
    /// They cannot be decoded, or some of their fields cannot, which then are Bad.
    #[error("they, or some of their fields, cannot be decoded")]
    Encoding,
}

impl LossCause {
    /// All causes.
    pub const ALL: [Self; 11] = [
        Self::Overflow,
        Self::Discard,
        Self::Refusal,
        Self::LaunchTime,
        Self::Gap,
        Self::Repetition,
        Self::KeyFrame,
        Self::Chunks,
        Self::Kind,
        Self::Unclaimed,
        Self::Encoding,
    ];

    /// Returns the name of the number of messages with this cause.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflowed",
            Self::Discard => "discarded",
            Self::Refusal => "refused",
            Self::LaunchTime => "late",
            Self::Gap => "missing",
            Self::Repetition => "repeated",
            Self::KeyFrame => "withoutKeyFrame",
            Self::Chunks => "incomplete",
            Self::Kind => "unknownKind",
            Self::Unclaimed => "unclaimed",
            Self::Encoding => "undecodable",
        }
    }
}

/// Numbers of lost messages, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses([u64; LossCause::ALL.len()]);

impl Losses {
    /// Returns the number of messages that were lost for a cause.
    pub const fn of(&self, cause: LossCause) -> u64 {
        self.0[cause as usize]
    }

    /// Returns the causes for which messages were lost, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (LossCause, u64)> + '_ {
        let all = LossCause::ALL
            .into_iter()
            .map(|cause| (cause, self.of(cause)));
        all.filter(|(_, count)| *count > 0)
    }

    /// Returns the number of all lost messages; one that was lost for two causes counts twice.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds the messages that a link has lost.
    #[cfg(feature = "runtime")]
    pub fn add_link(&mut self, counters: &LinkCounters) {
        self.add(LossCause::Overflow, counters.overflowed);
        self.add(LossCause::Discard, counters.discarded);
        self.add(LossCause::Refusal, counters.refused);
    }

    /// Adds messages that were lost for a cause.
    pub fn add(&mut self, cause: LossCause, count: u64) {
        self.0[cause as usize] += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_in_the_order_of_their_numbers() {
        let mut losses = Losses::default();
        for (index, cause) in LossCause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
            losses.add(cause, index as u64);
        }
        assert_eq!(losses.iter().count(), LossCause::ALL.len() - 1);
        assert_eq!(losses.of(LossCause::Unclaimed), 9);
    }
}
