//! Watches of the threads that send and receive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_ua::DateTime;

use super::watched_flow::WatchedFlow;
use super::watched_time::WatchedTime;
use crate::subscriber::DataSetKind;
use crate::time::Now;

/// Least step of a clock that counts as one, in nanoseconds. Between the readings of two clocks, a thread may be interrupted.
const LEAST_CLOCK_STEP: u64 = 1_000_000;

/// Part of the time that a clock may run faster or slower without having been set: `chronyd` slews by up to 8 %.
const GREATEST_SLEW: u64 = 8;

/// Begin before which no message was made.
const NO_BEGIN: (i64, u64) = (i64::MIN, 0);

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

    /// Counts messages that the link has now, so many nanoseconds after the planned begin of their publishing interval. The thread has
    /// skipped this number of intervals right before, because their begin had passed: the first message that was not sent in
    /// time is the one that counts.
    #[inline]
    pub fn sent(&mut self, messages: u64, lateness_nanos: u64, skipped: u64) {
        self.flow.count(messages, 0);
        if let Some(sending) = &self.flow.sending {
            let skipped = skipped.saturating_mul(self.flow.cycle);
            sending.note(lateness_nanos.saturating_add(skipped));
        }
    }

    /// Counts a message that was refused because it is too long.
    #[cold]
    pub fn refused(&mut self) {
        self.flow.count_refused();
    }
}

/// Message of a flow that has arrived.
#[derive(Debug, Clone, Copy)]
pub struct ArrivedMessage {
    /// Kind. The time between two messages is compared with the cycle only if both are key frames: a Publisher sends the others when
    /// values change or events occur.
    pub kind: DataSetKind,
    /// Sequence number.
    pub sequence_number: Option<u32>,
    /// Number of messages that are missing before it, according to its sequence number.
    pub missing: u32,
    /// Time at which it was made, by the clock of its Publisher.
    pub timestamp: Option<DateTime>,
}

/// Watch of a flow that is received here, in the thread that receives it.
#[derive(Debug)]
pub struct ReceivingWatch {
    flow: Arc<WatchedFlow>,
    /// The message before.
    last: Option<Last>,
    /// Nanoseconds by which messages may still come early, because they have waited: for one that was late, or for this receiver.
    behind: u64,
    /// Time of the begin in nanoseconds of Unix, and the nanoseconds for which messages that were made before may have waited for it.
    begin: (i64, u64),
    /// Time until which no delay is measured, because the clock was set.
    measured_after: Option<Instant>,
    /// Last reading of both clocks.
    clocks: Option<Now>,
}

/// Message with which the next one is compared.
#[derive(Debug, Clone, Copy)]
struct Last {
    instant: Instant,
    sequence_number: Option<u32>,
}

impl ReceivingWatch {
    /// Creates the watch of a flow. Another watch of the same flow would count wrong.
    #[must_use]
    pub fn new(flow: Arc<WatchedFlow>) -> Self {
        Self {
            flow,
            last: None,
            behind: 0,
            begin: NO_BEGIN,
            measured_after: None,
            clocks: None,
        }
    }

    /// Begins to receive now. Messages that came since the link was opened have waited for the receiver, at most so long: that is no
    /// part of their delay, and they come all at once.
    pub fn begin(&mut self, opened: Instant, now: Now) {
        self.restart();
        self.behind = nanos(now.instant.saturating_duration_since(opened));
        let begin = now.date_time.to_unix_nanos();
        self.begin = (begin.saturating_add(self.flow.clock_error), self.behind);
        self.clocks = Some(now);
    }

    /// Forgets the message before, because messages were not received for some time.
    pub fn restart(&mut self) {
        self.last = None;
        self.behind = 0;
    }

    /// Counts a message that was received now.
    ///
    /// A message that comes again, or late after newer ones, is not to be counted.
    #[inline]
    pub fn received(&mut self, now: Now, message: ArrivedMessage) {
        let flow = &*self.flow;
        flow.count(1, message.missing.into());
        let is_cyclic = message.kind == DataSetKind::KeyFrame;
        let arrived = is_cyclic.then_some(Last {
            instant: now.instant,
            sequence_number: message.sequence_number,
        });
        if let Some(last) = std::mem::replace(&mut self.last, arrived)
            && is_cyclic
            && let Some(interval) = &flow.interval
            && follows(last.sequence_number, &message)
        {
            let elapsed = nanos(now.instant.saturating_duration_since(last.instant));
            // A message that is missing took its cycle, too.
            let cycles = flow
                .cycle
                .saturating_mul(u64::from(message.missing).saturating_add(1));
            if compare(interval, elapsed, cycles, &mut self.behind) {
                flow.count_early();
            }
        }
        if let (Some(delay), Some(timestamp)) = (&flow.delay, message.timestamp) {
            let before = self.clocks.replace(now);
            if before.is_some_and(|before| was_set(before, now)) {
                flow.count_clock_step();
                // The clock may have been set back behind the begin.
                self.begin = NO_BEGIN;
                // Until then, messages arrive that were made before.
                let on_the_way = Duration::from_nanos(delay.longest().unwrap_or(flow.cycle));
                self.measured_after = Some(after(now.instant, on_the_way));
            }
            if self.measured_after.is_some_and(|end| now.instant <= end) {
                return;
            }
            let sent = timestamp.to_unix_nanos();
            let since = now.date_time.to_unix_nanos().saturating_sub(sent);
            match since.checked_add(flow.clock_error) {
                Some(sum) if sum < 0 => flow.count_from_the_future(),
                _ => {
                    let (begin, waited) = self.begin;
                    let waited = if sent < begin { waited } else { 0 };
                    delay.note(u64::try_from(since).unwrap_or(0).saturating_sub(waited));
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

/// Compares the time between two messages with that of their cycles, in nanoseconds; returns true if the second one is early. `behind` is
/// the time by which messages that have waited may come early.
#[inline]
fn compare(interval: &WatchedTime, elapsed: u64, cycles: u64, behind: &mut u64) -> bool {
    let lateness = elapsed.saturating_sub(cycles);
    if interval.note(lateness) {
        // Those behind it have waited, too: for a network, or for a thread that did not run.
        *behind = behind.saturating_add(lateness);
        return false;
    }
    let ahead = cycles.saturating_sub(elapsed);
    if !interval.is_above(ahead) {
        *behind = 0;
        return false;
    }
    let excess = ahead.saturating_sub(*behind);
    *behind = behind.saturating_sub(ahead);
    interval.is_above(excess)
}

/// Returns true if the sequence number of a message is that of the missing ones and one more behind the last one. Otherwise the
/// Publisher counts anew, and its pause says nothing about its messages. Numbers of UADP have 16 bits.
#[inline]
fn follows(last: Option<u32>, message: &ArrivedMessage) -> bool {
    match (last, message.sequence_number) {
        (Some(last), Some(number)) => {
            let steps = number.wrapping_sub(last) as u16;
            steps == (message.missing as u16).wrapping_add(1)
        }
        _ => true,
    }
}

/// Returns true if the clock of timestamps was set between two moments.
#[inline]
fn was_set(before: Now, now: Now) -> bool {
    let elapsed = nanos(now.instant.saturating_duration_since(before.instant));
    let shown = now.date_time.to_unix_nanos();
    let shown = shown.saturating_sub(before.date_time.to_unix_nanos());
    let step = shown.abs_diff(i64::try_from(elapsed).unwrap_or(i64::MAX));
    step > LEAST_CLOCK_STEP.saturating_add(elapsed / GREATEST_SLEW)
}

#[inline]
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
