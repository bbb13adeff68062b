//! Time without a connection.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Shortest and longest pause between attempts to connect.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// A pause is this part of the outage so far: a server that is back is found soon after a short outage, and a long one costs little.
const PART: u32 = 20;

/// An outage that begins this soon after the last one continues it: a connection that ends again and again is not tried all the time.
const STABLE: Duration = Duration::from_secs(10);

/// Largest number of reasons that are reported in an outage.
const MOST_REASONS: usize = 16;

/// Outages of the connection to one server, for the log of a program that follows its values. Each reason is reported once in an
/// outage, and so is its end.
#[derive(Debug, Default)]
pub struct Outage {
    reported: BTreeSet<String>,
    /// Begin of the current outage, or of the last one.
    begin: Option<Instant>,
    /// End of the last outage.
    end: Option<Instant>,
}

impl Outage {
    /// Notes an attempt that failed. Returns the pause before the next one.
    #[must_use]
    pub fn failed(&mut self, reason: &impl Display) -> Duration {
        self.failed_at(&reason.to_string(), Instant::now())
    }

    /// Notes that there is a connection.
    pub fn ended(&mut self) {
        self.ended_at(Instant::now());
    }

    fn failed_at(&mut self, reason: &str, now: Instant) -> Duration {
        if self.reported.len() < MOST_REASONS && self.reported.insert(reason.to_owned()) {
            tracing::warn!("{reason}");
        }
        let is_stable = |end: Instant| now.saturating_duration_since(end) > STABLE;
        if self.end.take().is_some_and(is_stable) {
            self.begin = None;
        }
        let begin = *self.begin.get_or_insert(now);
        let part = now.saturating_duration_since(begin) / PART;
        part.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }

    /// Returns true if an outage has ended.
    fn ended_at(&mut self, now: Instant) -> bool {
        let was_out = !self.reported.is_empty();
        if was_out {
            tracing::warn!("connected again");
            self.reported.clear();
            self.end = Some(now);
        }
        was_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_has_few_lines_and_growing_pauses() {
        let mut outage = Outage::default();
        let begin = Instant::now();
        let at = |seconds: f64| begin + Duration::from_secs_f64(seconds);
        assert!(!outage.ended_at(begin));
        let mut now = begin;
        let mut attempts = 0;
        while now < at(600.0) {
            let pause = outage.failed_at("no connection", now);
            assert!(pause >= SHORTEST_PAUSE && pause <= LONGEST_PAUSE);
            // A server that returns after 15 s is found within one second.
            assert!(now > at(15.0) || pause < Duration::from_secs(1));
            now += pause;
            attempts += 1;
        }
        assert!(attempts < 400, "{attempts}");
        assert_eq!(outage.reported.len(), 1);
        assert_eq!(outage.failed_at("no answer", now), LONGEST_PAUSE);
        assert_eq!(outage.reported.len(), 2);
        assert!(outage.ended_at(now) && !outage.ended_at(now));
        let later = now + 2 * STABLE;
        assert_eq!(outage.failed_at("no connection", later), SHORTEST_PAUSE);
        assert_eq!(outage.reported.len(), 1);
    }

    #[test]
    fn a_connection_that_ends_at_once_is_tried_less_and_less() {
        let mut outage = Outage::default();
        let begin = Instant::now();
        let mut now = begin;
        let mut attempts = 0;
        while now < begin + Duration::from_secs(120) {
            now += outage.failed_at("closed", now);
            assert!(outage.ended_at(now));
            attempts += 1;
        }
        assert!(attempts < 150, "{attempts}");
    }

    #[test]
    fn reasons_without_end_are_not_reported_without_end() {
        let mut outage = Outage::default();
        for number in 0..1000 {
            let _ = outage.failed(&format!("reason {number}"));
        }
        assert_eq!(outage.reported.len(), MOST_REASONS);
    }
}
