//! Late wake-ups of the traces of an application, beside its long delays.

use takt_analysis::{LateWakeUp, RunAnalysis};
use takt_control::TracePoint;

use super::samples::LongDelay;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// Late wake-up at an end of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateAtEnd {
    /// End: `publisher` or `loopback`.
    pub end: &'static str,
    /// Beginning in nanoseconds since 1970, UTC, by the clock with which delays are measured; `None` if that is not known.
    pub began: Option<i64>,
    /// Lateness with its causes.
    pub wake_up: LateWakeUp,
}

impl LateAtEnd {
    /// Returns true if the thread was late during a delay. The times of threads are those of the system clock: delays that a network
    /// card measured are not comparable with them.
    #[must_use]
    pub fn is_during(&self, delay: &LongDelay) -> bool {
        let Some(began) = self.began.filter(|_| !delay.is_of_card) else {
            return false;
        };
        let late = i64::try_from(self.wake_up.nanos).unwrap_or(i64::MAX);
        let (end, end_of_delay) = (
            began.saturating_add(late),
            delay.began.saturating_add(delay.nanos),
        );
        began < end_of_delay && delay.began < end
    }

    /// Returns the kind of the longest cause, in words.
    #[must_use]
    pub fn main_cause(&self) -> &str {
        self.wake_up.causes.first().map_or("unknown", |it| &it.kind)
    }
}

/// Returns the worst of these late wake-ups that was during a delay.
pub(crate) fn worst_during<'a>(all: &'a [LateAtEnd], delay: &LongDelay) -> Option<&'a LateAtEnd> {
    let during = all.iter().filter(|it| it.is_during(delay));
    during.max_by_key(|it| it.wake_up.nanos)
}

/// Returns the late wake-ups of the traces of a run. Without synchronized clocks, those of the loopback have no time in delays.
pub(super) fn of(run: &RunAnalysis, synchronized: bool) -> Vec<LateAtEnd> {
    let files = run.files.iter();
    let late = files.flat_map(|file| of_file(&file.points, &file.description, synchronized));
    late.collect()
}

/// Returns those of a file with these trace points, and this description.
fn of_file(
    points: &[(TracePoint, u64)],
    description: &[(String, String)],
    synchronized: bool,
) -> Vec<LateAtEnd> {
    let is_of = |wanted: [TracePoint; 2]| points.iter().any(|(it, _)| wanted.contains(it));
    let end = match is_of([TracePoint::T4, TracePoint::T5]) {
        true => "loopback",
        false => "publisher",
    };
    let mut lines = description.iter();
    let offset = lines.find(|(name, _)| name == "tai_offset_s");
    // As for the times of the records.
    let offset = offset.and_then(|(_, text)| text.parse::<i64>().ok());
    let offset = offset.unwrap_or(0).saturating_mul(SECOND);
    let all = LateWakeUp::of_description(description).into_iter();
    let late = all.map(|wake_up| LateAtEnd {
        end,
        began: wake_up
            .begin_tai_nanos
            .filter(|_| synchronized || end == "publisher")
            .map(|begin| begin.saturating_sub(offset)),
        wake_up,
    });
    late.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use takt_analysis::LateCause;

    use super::*;

    /// Returns a late wake-up with one cause.
    pub(crate) fn late(end: &'static str, began: i64, nanos: u64, kind: &str) -> LateAtEnd {
        LateAtEnd {
            end,
            began: Some(began),
            wake_up: LateWakeUp {
                is_overrun: false,
                core: Some(1),
                cycle: 7,
                begin_tai_nanos: Some(began),
                nanos,
                causes: vec![LateCause {
                    text: format!("{kind} x"),
                    kind: kind.to_owned(),
                    nanos,
                }],
            },
        }
    }

    #[test]
    fn a_delay_has_the_worst_late_wake_up_during_it() {
        let delay = |began, nanos| LongDelay {
            nanos,
            began,
            counter: 1,
            is_of_card: false,
        };
        let all = [
            late("publisher", 1000, 100, "thread"),
            late("loopback", 1050, 300, "softirq"),
        ];
        let cause = |began, nanos| {
            let worst = worst_during(&all, &delay(began, nanos));
            worst.map(LateAtEnd::main_cause)
        };
        assert_eq!(cause(900, 100), None, "it ends as the thread is late");
        assert_eq!(cause(900, 101), Some("thread"));
        assert_eq!(cause(900, 200), Some("softirq"));
        assert_eq!(cause(1099, 10), Some("softirq"));
        assert_eq!(cause(1350, 10), None, "it begins after both");
        assert_eq!(cause(i64::MAX, i64::MAX), None);
        let of_card = LongDelay {
            is_of_card: true,
            ..delay(900, 200)
        };
        assert_eq!(worst_during(&all, &of_card), None, "another clock");
    }

    /// Times of another host's clock are in no delay of this one.
    #[test]
    fn late_wake_ups_have_the_time_of_the_delays() {
        let description = [
            ("tai_offset_s", "37"),
            (
                takt_analysis::LATE_WAKE_UPS,
                r#"[{"beginTaiNs":37000000005,"lateNs":9,"causes":[]},{"lateNs":3}]"#,
            ),
        ];
        let description = description.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let times = |points: [TracePoint; 2], synchronized| {
            let points = points.map(|it| (it, 1));
            let late = of_file(&points, &description, synchronized);
            let times = late.iter().map(|it| (it.end, it.began));
            times.collect::<Vec<_>>()
        };
        let publisher = [TracePoint::T1, TracePoint::T8];
        let expected = [("publisher", Some(5)), ("publisher", None)];
        assert_eq!(times(publisher, false), expected);
        let loopback = [TracePoint::T4, TracePoint::T5];
        assert_eq!(times(loopback, false)[0], ("loopback", None));
        assert_eq!(times(loopback, true)[0], ("loopback", Some(5)));
    }
}
