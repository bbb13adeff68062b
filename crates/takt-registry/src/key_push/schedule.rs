//! Times of the pushes to a target, and reports of failures.

use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Shortest and longest pause after a failure; between them it is a sixteenth of the KeyLifetime.
const SHORTEST_RETRY: Duration = Duration::from_secs(1);
pub(super) const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Longest time between two pushes: a target that was started again has no keys before the next one.
const LONGEST_PERIOD: Duration = Duration::from_secs(10);

/// Schedule of one SecurityGroup at one target.
#[derive(Debug)]
pub(super) struct PushSchedule {
    pub(super) security_group: String,
    next: Instant,
    /// Reasons that were reported since the last success.
    reported: HashSet<String>,
}

/// Consequence of a push.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PushReport {
    /// Result without news, of which nothing is reported.
    Nothing,
    /// The first success after failures.
    Again,
    /// A new reason of failures; the time until the next try.
    Failed(Duration),
}

impl PushSchedule {
    /// Creates a schedule that begins now.
    pub(super) fn new(security_group: String, now: Instant) -> Self {
        Self {
            security_group,
            next: now,
            reported: HashSet::new(),
        }
    }

    /// Returns the time of the next push.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Makes a push due at `now`.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.next = now;
    }

    /// Notes a push of keys with this KeyLifetime, if that is known; `failure` is the kind of its failure, and
    /// `own_retry` the time until the next try if the target has one of its own.
    pub(super) fn note(
        &mut self,
        lifetime: Option<Duration>,
        failure: Option<String>,
        own_retry: Option<Duration>,
        now: Instant,
    ) -> PushReport {
        let Some(failure) = failure else {
            // OPC 10000-14, 8.6.2: in a period of half the KeyLifetime at most.
            self.next = now + (lifetime.unwrap_or_default() / 2).min(LONGEST_PERIOD);
            return match std::mem::take(&mut self.reported).is_empty() {
                true => PushReport::Nothing,
                false => PushReport::Again,
            };
        };
        let retry = lifetime.unwrap_or_default() / 16;
        let retry = own_retry.unwrap_or(retry.clamp(SHORTEST_RETRY, LONGEST_RETRY));
        self.next = now + retry;
        match self.reported.insert(failure) {
            true => PushReport::Failed(retry),
            false => PushReport::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_pushed_in_time_and_failures_reported_once() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        let mut schedule = PushSchedule::new("Plant".to_owned(), now);
        assert_eq!(schedule.next(), now);
        let failed = |reason: &str| Some(reason.to_owned());
        let report = schedule.note(Some(hour), failed("refused"), None, now);
        assert_eq!(report, PushReport::Failed(LONGEST_RETRY));
        assert_eq!(schedule.next(), now + LONGEST_RETRY);
        let second = Some(Duration::from_secs(1));
        assert_eq!(
            schedule.note(second, failed("refused"), None, now),
            PushReport::Nothing
        );
        assert_eq!(schedule.next(), now + SHORTEST_RETRY);
        let report = schedule.note(None, failed("unknown"), None, now);
        assert_eq!(report, PushReport::Failed(SHORTEST_RETRY));
        assert_eq!(
            schedule.note(Some(hour), None, None, now),
            PushReport::Again
        );
        assert_eq!(schedule.next(), now + LONGEST_PERIOD);
        assert_eq!(schedule.note(second, None, None, now), PushReport::Nothing);
        assert_eq!(schedule.next(), now + Duration::from_millis(500));
        assert_eq!(
            schedule.note(Some(hour), None, None, now),
            PushReport::Nothing
        );
        assert!(matches!(
            schedule.note(Some(hour), failed("refused"), None, now),
            PushReport::Failed(_)
        ));
        schedule.hurry(now);
        assert_eq!(schedule.next(), now);
    }
}
