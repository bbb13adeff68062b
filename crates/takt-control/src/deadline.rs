//! Deadline of received messages: cycles without a message, and the reaction to them.

/// Deadline of received messages: the user's function misses a message if none has come since it ran last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Number of consecutive cycles without a message from which on the reaction applies: 1 or more.
    pub cycles: u64,
    /// Reaction.
    pub reaction: Reaction,
}

impl Default for Deadline {
    /// The first missed cycle is counted.
    fn default() -> Self {
        Self {
            cycles: 1,
            reaction: Reaction::Count,
        }
    }
}

/// Reaction to missed messages. All reactions count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing else.
    Count,
    /// Inputs keep their values, with the status UncertainLastUsableValue.
    HoldLast,
    /// Inputs get the OverrideValue of their target in the configuration, with the status GoodLocalOverride
    /// (OPC 10000-14, Table 80).
    Substitute,
    /// The loop ends, after the user's function has run once more with this knowledge and its message was sent.
    Stop,
}

/// Counter of cycles without a message.
#[derive(Debug, Default)]
pub(crate) struct Misses {
    /// Consecutive cycles without a message until now.
    pub(crate) now: u64,
    /// Sum of all cycles without a message.
    pub(crate) sum: u64,
    /// Largest number of consecutive cycles without a message.
    pub(crate) longest: u64,
    /// False until the first message: the peer may start later.
    pub(crate) has_begun: bool,
}

impl Misses {
    /// Notes a cycle; returns true if the reaction applies in it.
    pub(crate) fn note(&mut self, has_message: bool, deadline: &Deadline) -> bool {
        if has_message {
            self.has_begun = true;
            self.now = 0;
            return false;
        }
        if !self.has_begun {
            return false;
        }
        self.now += 1;
        self.sum += 1;
        self.longest = self.longest.max(self.now);
        self.now >= deadline.cycles.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reaction_applies_after_consecutive_misses() {
        let deadline = Deadline {
            cycles: 3,
            reaction: Reaction::Stop,
        };
        let mut misses = Misses::default();
        let mut note = |has_message| misses.note(has_message, &deadline);
        assert!(!note(false), "the peer has not started yet");
        assert!(
            ![true, false, false, true, false, false]
                .map(&mut note)
                .contains(&true)
        );
        assert!(note(false));
        assert!(note(false));
        assert!(!note(true));
        assert_eq!((misses.now, misses.sum, misses.longest), (0, 6, 4));
    }
}
