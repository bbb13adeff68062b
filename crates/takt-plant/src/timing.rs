//! Times of WriterGroups.

use takt_scenario::{Duration, Share};
use takt_ua::structures::{UadpWriterGroupMessageDataType, WriterGroupDataType};

/// Property of a WriterGroup whose frames the kernel sends at their launch times (`docs/pubsub.md`).
const LAUNCH_TIMES: &str = "LaunchTimes";

/// Returns a time of a configuration; `None` if it is negative, not finite, or longer than seven months.
pub(crate) fn picoseconds(milliseconds: f64) -> Option<Duration> {
    let time = std::time::Duration::try_from_secs_f64(milliseconds / 1000.0).ok()?;
    let picoseconds = u64::try_from(time.as_nanos().checked_mul(1000)?).ok()?;
    Some(Duration(picoseconds))
}

/// Launch times of a WriterGroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launch {
    /// Time from the wake-up of the thread until the kernel sends the frame.
    pub(crate) ahead: Duration,
}

impl Launch {
    /// Returns the launch times of a group: its messages are made at the SamplingOffset and leave at the next PublishingOffset;
    /// without a SamplingOffset they are made one interval before.
    pub(crate) fn of(
        group: &WriterGroupDataType,
        settings: &UadpWriterGroupMessageDataType,
        cycle: Duration,
    ) -> Option<Self> {
        let mut properties = group.group_properties.iter();
        properties.find(|property| property.key.name.as_str() == LAUNCH_TIMES)?;
        let first = settings.publishing_offset.first();
        let publishing = first.and_then(|offset| picoseconds(*offset));
        let publishing = publishing.unwrap_or_default().0;
        let sampling = picoseconds(settings.sampling_offset).map_or(publishing, |it| it.0);
        let cycle = cycle.0.max(1);
        let ahead = (i128::from(publishing) - i128::from(sampling)).rem_euclid(i128::from(cycle));
        Some(Self {
            ahead: match u64::try_from(ahead) {
                Ok(0) | Err(_) => Duration(cycle),
                Ok(ahead) => Duration(ahead),
            },
        })
    }

    /// Returns the phase at which a scenario's publisher thread makes the message, so that it is `ahead` of the end of the cycle
    /// plus the offset. The latest phase is that just before the end of the cycle.
    pub(crate) fn phase(self, cycle: Duration, offset: Duration) -> Share {
        let before_end = self.ahead.0.saturating_sub(offset.0);
        let whole = i128::from(Share::ONE.0);
        // Rounded up: the frame is not given to the kernel earlier than in reality.
        let phase = whole - i128::from(before_end) * whole / i128::from(cycle.0.max(1));
        Share(i64::try_from(phase.clamp(0, whole - 1)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Duration {
        Duration(micros * 1_000_000)
    }

    #[test]
    fn times_are_exact_and_wrong_ones_are_refused() {
        assert_eq!(picoseconds(0.25), Some(us(250)));
        assert_eq!(picoseconds(0.0), Some(Duration::ZERO));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(picoseconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn phases_give_the_time_ahead() {
        for (ahead, offset, phase) in [
            (us(1000), us(200), Share(200_000_000)),
            (us(600), us(200), Share(600_000_000)),
            // The scenario has no later phase.
            (us(100), us(200), Share(999_999_999)),
        ] {
            assert_eq!(Launch { ahead }.phase(us(1000), offset), phase);
        }
    }
}
