//! Runs of a server, from one start to the next.
//!
//! A server may count its Sessions and Subscriptions from the same numbers in each run. After a restart the AuthenticationToken of one
//! client is then that of another client, whose Subscription has the same id and the same ClientHandles, and other nodes.

use std::time::{Duration, Instant};

use takt_ua::DateTime;

/// CurrentTime of a server may be this old.
const MARGIN: Duration = Duration::from_secs(2);

/// The run of a server in which a Session was created.
#[derive(Debug)]
pub(super) struct ServerRun {
    /// StartTime of the server, if it has one.
    start: Option<DateTime>,
    /// Creation of the Session.
    since: Instant,
}

/// Times of the ServerStatus (OPC 10000-5, 12.10).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServerTimes {
    pub(super) start: Option<DateTime>,
    pub(super) now: Option<DateTime>,
}

impl ServerRun {
    /// Returns the run of a Session that is created now. Its StartTime is not known.
    pub(super) fn begun() -> Self {
        Self {
            start: None,
            since: Instant::now(),
        }
    }

    pub(super) fn know(&mut self, times: ServerTimes) {
        self.start = times.start;
    }

    /// Returns true if the server with these times has certainly not started since the creation of the Session.
    pub(super) fn goes_on(&self, times: ServerTimes) -> bool {
        self.goes_on_after(self.since.elapsed(), times)
    }

    fn goes_on_after(&self, age: Duration, times: ServerTimes) -> bool {
        match (self.start, times.start, times.now) {
            (Some(before), Some(start), _) => before == start,
            (None, Some(start), Some(now)) => {
                let ticks = u64::try_from(now.0.saturating_sub(start.0)).unwrap_or(0);
                // A tick is 100 ns (OPC 10000-6, 5.2.2.5).
                let uptime = Duration::from_micros(ticks / 10);
                uptime.saturating_add(MARGIN) >= age
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_known_begin_is_judged_by_its_length() {
        let run = ServerRun::begun();
        let times = |start: i64, now: i64| ServerTimes {
            start: Some(DateTime(start * 10_000_000)),
            now: Some(DateTime(now * 10_000_000)),
        };
        let age = Duration::from_secs(60);
        assert!(run.goes_on_after(age, times(100, 160)));
        assert!(!run.goes_on_after(age, times(130, 160)));
        assert!(!run.goes_on_after(age, times(160, 100)));
        assert!(!run.goes_on_after(age, ServerTimes::default()));
    }
}
