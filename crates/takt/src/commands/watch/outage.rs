//! Time without a connection.

use std::collections::BTreeSet;
use std::time::Duration;

use takt_app::ClientError;
use takt_rt::pauses::Pauses;

/// First and longest pause between attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Outages of a connection. Each reason is reported once in an outage, and so is its end.
pub(super) struct Outage {
    reported: BTreeSet<String>,
    pauses: Pauses,
}

impl Outage {
    pub(super) const fn new() -> Self {
        Self {
            reported: BTreeSet::new(),
            pauses: Pauses::new(FIRST_PAUSE, LONGEST_PAUSE),
        }
    }

    /// Notes an attempt that failed. Returns the pause before the next one.
    pub(super) fn failed(&mut self, error: &ClientError) -> Duration {
        let reason = error.to_string();
        if !self.reported.contains(&reason) {
            tracing::warn!("{reason}");
            self.reported.insert(reason);
        }
        self.pauses.grow()
    }

    /// Notes that there is a connection. Returns true if an outage has ended.
    pub(super) fn ended(&mut self) -> bool {
        let was_out = !self.reported.is_empty();
        if was_out {
            tracing::warn!("connected again");
            self.reported.clear();
            self.pauses.reset();
        }
        was_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(endpoint: &str) -> ClientError {
        ClientError::Timeout {
            endpoint: endpoint.to_owned(),
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn an_outage_has_few_lines_and_growing_pauses() {
        let mut outage = Outage::new();
        assert!(!outage.ended());
        let mut last = Duration::ZERO;
        for _ in 0..10 {
            let pause = outage.failed(&timeout("opc.tcp://plc:4840"));
            assert!(pause >= FIRST_PAUSE && pause >= last);
            last = pause;
        }
        assert_eq!(last, LONGEST_PAUSE);
        assert_eq!(outage.reported.len(), 1);
        let _ = outage.failed(&timeout("opc.tcp://plc:4841"));
        assert_eq!(outage.reported.len(), 2);
        assert!(outage.ended() && !outage.ended());
        assert_eq!(outage.failed(&timeout("opc.tcp://plc:4840")), FIRST_PAUSE);
    }
}
