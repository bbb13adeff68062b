//! Watches of the threads that send and receive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_ua::DateTime;

use super::watched_flow::WatchedFlow;
use crate::time::Now;

/// Watch of a flow that is sent here, in the thread that sends it.
#[derive(Debug)]
pub struct SendingWatch {
    flow: Arc<WatchedFlow>,
}

impl SendingWatch {
    /// Creates the watch of a flow. Another watch of the same flow would count wrong.
    #[must_use]
    pub fn new(flow: Arc<WatchedFlow>) -> Self {
        Self { flow }
    }

    /// Counts messages that the link has now, so many nanoseconds after the planned begin of their publishing interval.
    #[inline]
    pub fn sent(&mut self, messages: u64, lateness_nanos: u64) {
        self.flow.count(messages, 0);
        if let Some(sending) = &self.flow.sending {
            sending.note(lateness_nanos);
        }
    }

    /// Counts a message that was refused because it is too long.
    #[cold]
    pub fn refused(&mut self) {
        self.flow.count_refused();
    }
}

/// Watch of a flow that is received here, in the thread that receives it.
#[derive(Debug)]
pub struct ReceivingWatch {
    flow: Arc<WatchedFlow>,
    /// Time of the message before.
    last: Option<Instant>,
    /// True if the message before was above its bound: the next one then seems to be early.
    was_late: bool,
}

impl ReceivingWatch {
    /// Creates the watch of a flow. Another watch of the same flow would count wrong.
    #[must_use]
    pub fn new(flow: Arc<WatchedFlow>) -> Self {
        Self {
            flow,
            last: None,
            was_late: false,
        }
    }

    /// Counts a message that was received now: with the number of messages missing before it, and the Timestamp that it has.
    ///
    /// A message that comes again, or late after newer ones, is not to be counted.
    #[inline]
    pub fn received(&mut self, now: Now, missing: u32, timestamp: Option<DateTime>) {
        let flow = &*self.flow;
        flow.count(1, missing.into());
        if let (Some(interval), Some(last)) = (&flow.interval, self.last) {
            let elapsed = nanos(now.instant.saturating_duration_since(last));
            // A message that is missing took its cycle, too.
            let cycles = flow.cycle.saturating_mul(u64::from(missing) + 1);
            let is_early = interval.is_above(cycles.saturating_sub(elapsed));
            let was_late = std::mem::replace(
                &mut self.was_late,
                interval.note(elapsed.saturating_sub(cycles)),
            );
            if is_early && !was_late {
                flow.count_early();
            }
        }
        self.last = Some(now.instant);
        if let (Some(delay), Some(timestamp)) = (&flow.delay, timestamp) {
            let sent = timestamp.to_unix_nanos();
            let since = now.date_time.to_unix_nanos().saturating_sub(sent);
            match since.checked_add(flow.clock_error) {
                Some(sum) if sum < 0 => flow.count_from_the_future(),
                _ => {
                    delay.note(u64::try_from(since).unwrap_or(0));
                }
            }
        }
    }

    /// Counts a message that was refused because it is too long.
    #[cold]
    pub fn refused(&mut self) {
        self.flow.count_refused();
    }
}

#[inline]
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
