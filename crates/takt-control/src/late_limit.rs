//! Limit of the messages that a late thread takes, so that a flood does not keep it from its work.

use std::time::Duration;

/// Number of messages that a late thread takes at least: those of a pause of as many cycles.
const LEAST: usize = 32;

/// Share of a cycle, as its divisor, for which a late thread takes messages at most, if there are more than `LEAST`.
const SHARE: u64 = 8;

/// Limit of one part of a cycle, from the moment at which its time is over.
#[derive(Debug)]
pub(crate) struct LateLimit {
    /// Time in nanoseconds for which messages are taken.
    nanos: u64,
    taken: usize,
    /// Time of the first attempt in nanoseconds.
    since: Option<u64>,
}

impl LateLimit {
    pub(crate) fn new(cycle: Duration) -> Self {
        Self {
            nanos: u64::try_from(cycle.as_nanos()).unwrap_or(u64::MAX) / SHARE,
            taken: 0,
            since: None,
        }
    }

    /// Notes an attempt that took this number of messages, and returns true if there may be no other one. `now` is the
    /// time in nanoseconds behind it.
    pub(crate) fn is_reached(&mut self, taken: usize, now: u64) -> bool {
        let since = *self.since.get_or_insert(now);
        self.taken += taken;
        self.taken >= LEAST && now.saturating_sub(since) >= self.nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_micros(250);

    #[test]
    fn a_flood_takes_an_eighth_of_a_cycle() {
        let mut limit = LateLimit::new(CYCLE);
        // A message each 500 ns.
        let reached = (0..10_000).find(|number| limit.is_reached(1, 7_000_000 + number * 500));
        assert_eq!(reached, Some(63));
    }

    #[test]
    fn a_backlog_is_taken_even_if_it_takes_long() {
        let mut limit = LateLimit::new(CYCLE);
        let reached = (0..100).find(|number| limit.is_reached(1, number * 1_000_000));
        assert_eq!(reached, Some(31));
    }
}
