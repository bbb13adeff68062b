//! Times of a WriterGroup within its publishing interval (OPC 10000-14, 6.3.1.1.5 and 6.3.1.1.6).

use std::time::Duration;

use takt_link::LaunchTime;
use takt_rt::clock::Clock;
use takt_rt::cyclic::{Cycle, Cyclic, CyclicError};
use takt_ua::structures::UadpWriterGroupMessageDataType;

/// Times of a WriterGroup within its publishing interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timing {
    interval: Duration,
    /// Offsets within intervals that begin at whole multiples of the interval on CLOCK_TAI; `None` if they begin at any time.
    offsets: Option<Offsets>,
}

/// Offsets within a publishing interval, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offsets {
    /// Time at which the thread wakes up and makes the messages.
    wake_up: i64,
    /// Time from there until the messages leave.
    launch_delay: i64,
}

impl Timing {
    /// Creates the times of a group. Without launch times, the thread wakes up and sends at the PublishingOffset. With launch
    /// times, it makes the messages at the SamplingOffset, and they leave at the next PublishingOffset; without a SamplingOffset,
    /// it makes them one interval before.
    pub(super) fn new(
        settings: Option<&UadpWriterGroupMessageDataType>,
        interval: Duration,
        with_launch_times: bool,
    ) -> Self {
        let publishing = settings
            .and_then(|settings| settings.publishing_offset.first())
            .and_then(|&offset| nanos(offset));
        let sampling = settings.and_then(|settings| nanos(settings.sampling_offset));
        let offsets = match (with_launch_times, publishing) {
            (false, None) => None,
            (false, Some(publishing)) => Some(Offsets {
                wake_up: publishing,
                launch_delay: 0,
            }),
            (true, publishing) => {
                let publishing = publishing.unwrap_or(0);
                let wake_up = sampling.unwrap_or(publishing);
                // At least 1, because the remainder below panics with a divisor of 0.
                let interval = i64::try_from(interval.as_nanos())
                    .unwrap_or(i64::MAX)
                    .max(1);
                // With a SamplingOffset after the PublishingOffset, the messages leave in the next interval.
                let delay = publishing.saturating_sub(wake_up).rem_euclid(interval);
                Some(Offsets {
                    wake_up,
                    // A message cannot leave at the moment at which it is made.
                    launch_delay: if delay == 0 { interval } else { delay },
                })
            }
        };
        Self { interval, offsets }
    }

    /// Returns the time from making messages to their launch time; `None` without launch times.
    pub(super) fn lead(&self) -> Option<Duration> {
        let delay = u64::try_from(self.offsets?.launch_delay).ok()?;
        (delay > 0).then_some(Duration::from_nanos(delay))
    }

    /// Returns the cycles in which the thread wakes up.
    pub(super) fn cycles(&self) -> Result<Cyclic, CyclicError> {
        let cyclic = Cyclic::new(self.interval)?;
        Ok(match self.offsets {
            Some(offsets) => cyclic.with_base_time(Clock::Tai, offsets.wake_up),
            None => cyclic,
        })
    }

    /// Returns the time at which the messages of a cycle shall leave.
    #[inline]
    pub(super) fn launch_time(&self, cycle: &Cycle) -> Option<LaunchTime> {
        let delay = self.offsets?.launch_delay;
        let nanos = cycle.start_nanos.saturating_add(delay);
        Some(LaunchTime::from_tai_nanos(nanos))
    }
}

/// Returns an offset in nanoseconds; `None` if it is not configured, which a negative number means.
fn nanos(milliseconds: f64) -> Option<i64> {
    (milliseconds.is_finite() && milliseconds >= 0.0).then_some((milliseconds * 1e6) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(1);

    fn settings(sampling: f64, publishing: &[f64]) -> UadpWriterGroupMessageDataType {
        UadpWriterGroupMessageDataType {
            sampling_offset: sampling,
            publishing_offset: publishing.to_vec(),
            ..UadpWriterGroupMessageDataType::default()
        }
    }

    /// Returns the offset of the wake-up in the interval, and the launch time of a cycle that starts at 5 ms.
    fn times(
        sampling: f64,
        publishing: &[f64],
        with_launch_times: bool,
    ) -> (Option<i64>, Option<u64>) {
        let settings = settings(sampling, publishing);
        let timing = Timing::new(Some(&settings), INTERVAL, with_launch_times);
        let cycle = Cycle {
            number: 5,
            start_nanos: 5_000_000,
            start_monotonic_nanos: 1_000_000,
            wake_up_latency_nanos: 70_000,
            skipped: 0,
            overruns: 0,
            clock_step_nanos: 0,
            clock_steps: 0,
        };
        let launch_time = timing.launch_time(&cycle).map(LaunchTime::tai_nanos);
        (timing.offsets.map(|offsets| offsets.wake_up), launch_time)
    }

    #[test]
    fn without_launch_times_messages_leave_when_the_thread_wakes_up() {
        assert_eq!(times(-1.0, &[], false), (None, None));
        assert_eq!(times(-1.0, &[-1.0], false), (None, None));
        assert_eq!(times(-1.0, &[f64::NAN], false), (None, None));
        let expected = (Some(250_000), Some(5_000_000));
        assert_eq!(times(-1.0, &[0.25], false), expected);
        assert_eq!(times(0.1, &[0.25], false), expected);
    }

    #[test]
    fn with_launch_times_messages_leave_at_the_next_publishing_offset() {
        assert_eq!(times(0.1, &[0.25], true), (Some(100_000), Some(5_150_000)));
        assert_eq!(times(0.9, &[0.25], true), (Some(900_000), Some(5_350_000)));
        let one_interval_later = (Some(250_000), Some(6_000_000));
        assert_eq!(times(-1.0, &[0.25], true), one_interval_later);
        assert_eq!(times(0.25, &[0.25], true), one_interval_later);
        assert_eq!(times(-1.0, &[], true), (Some(0), Some(6_000_000)));
    }

    #[test]
    fn a_group_without_settings_has_no_offsets() {
        let timing = Timing::new(None, INTERVAL, false);
        assert_eq!(timing.offsets, None);
        assert_eq!(timing.cycles().map(|cycles| cycles.cycle()), Ok(INTERVAL));
    }
}
