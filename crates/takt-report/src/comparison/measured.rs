//! Measurement of an application.

use std::path::{Path, PathBuf};

use takt_analysis::{
    AnalysisError, AnalysisOptions, CapturePort, CounterStatistics, DelaySample, ExactStatistics,
    IntervalQuantities, RunAnalysis, SampleObserver, TraceInterval,
};
use takt_control::TracePoint;
use takt_lab::run_directory::{RunApplication, RunCase};
use takt_statistics::Quantile;

use super::bound::ComparedBound;
use super::samples::{ClockedTimes, LongDelay, LongestDelays};
use super::times::{RoundTripKind, TimeSummary};

/// Number of points of a distribution function.
const POINTS: u32 = 200;
/// Number of bins of a histogram.
const BINS: usize = 60;

/// Measured delays of an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTimes {
    /// Interval.
    pub interval: TraceInterval,
    /// Delays.
    pub delay: TimeSummary,
    /// Differences between neighbouring delays; `None` with less than two messages.
    pub jitter: Option<TimeSummary>,
    /// Histogram of the delays up to the 99.9 % quantile, or to the 99 % quantile if that is far below: beginning of each bin and of the next one in nanoseconds, and the number
    /// of messages.
    pub histogram: Vec<(f64, f64, u64)>,
}

/// Measured quantities at a trace point.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredPoint {
    /// Trace point.
    pub point: TracePoint,
    /// Missed, repeated and reordered counters.
    pub counters: CounterStatistics,
    /// Number of times before that of the record before.
    pub clock_steps: u64,
    /// Inter-frame spacing.
    pub spacing: Option<TimeSummary>,
    /// Distribution function of the inter-frame spacing: nanoseconds, and the share of spacings that are not longer.
    pub spacing_shares: Vec<(f64, f64)>,
}

/// Delays of a round trip beside its bound, of all messages: also of those that are left out at the ends.
#[derive(Debug, Default)]
pub(crate) struct AgainstBound {
    pub(crate) longest: Vec<LongDelay>,
    /// Number of delays above the bound.
    pub(crate) above: u64,
    pub(crate) count: u64,
}

/// Number of intervals that have bounds: both kinds of round trip, and both ways on the wire.
pub(crate) const JUDGED: usize = 4;

/// Returns the index of an interval among those that have bounds: wire and application, one way and the way back.
fn judged(interval: TraceInterval) -> Option<usize> {
    match (interval.from, interval.to) {
        (TracePoint::T2, TracePoint::T7) => Some(0),
        (TracePoint::T1, TracePoint::T8) => Some(1),
        (TracePoint::T2, TracePoint::T3) => Some(2),
        (TracePoint::T6, TracePoint::T7) => Some(3),
        _ => None,
    }
}

/// Returns true if the clock of a network card has the beginning of an interval, with these captures of cards: that at the port of
/// the Publisher, and that of the loopback.
const fn begins_at_card(interval: TraceInterval, card_stamps: [bool; 2]) -> bool {
    let [of_publisher, of_loopback] = card_stamps;
    match interval.from {
        TracePoint::T2 | TracePoint::T7 => of_publisher,
        TracePoint::T3 | TracePoint::T6 => of_loopback,
        _ => false,
    }
}

/// Observer of the samples of an application.
struct Watch<'a> {
    /// Bounds and the resolution of their measurements in nanoseconds, in the order of [`judged`].
    bounds: [(&'a ComparedBound, i64); JUDGED],
    longest: [LongestDelays; JUDGED],
    above: [u64; JUDGED],
    count: [u64; JUDGED],
    /// True for the captures whose packets the network card stamped: that at the port of the Publisher, and that of the loopback.
    card_stamps: [bool; 2],
    /// Earliest beginning of a round trip.
    began: ClockedTimes,
    sink: &'a mut dyn FnMut(&DelaySample),
}

impl SampleObserver for Watch<'_> {
    fn delay(&mut self, sample: &DelaySample) {
        (self.sink)(sample);
        let Some(index) = judged(sample.interval) else {
            return;
        };
        let is_of_card = begins_at_card(sample.interval, self.card_stamps);
        if let (Some(longest), Some(above), Some(count), Some((bound, resolution))) = (
            self.longest.get_mut(index),
            self.above.get_mut(index),
            self.count.get_mut(index),
            self.bounds.get(index),
        ) {
            longest.note(LongDelay {
                nanos: sample.nanos,
                began: sample.began,
                counter: sample.counter,
                is_of_card,
            });
            *count += 1;
            *above += u64::from(bound.is_below(sample.nanos, *resolution));
        }
        if RoundTripKind::of(sample.interval).is_some() {
            self.began.note(sample.began, is_of_card);
        }
    }
}

/// Measurement of an application.
pub(crate) struct Measurement {
    pub(crate) run: RunAnalysis,
    pub(crate) against: [AgainstBound; JUDGED],
    pub(crate) began: ClockedTimes,
}

impl Measurement {
    /// Analyzes the files of an application. `sink` gets all delays.
    pub(crate) fn of(
        directory: &Path,
        case: &RunCase,
        application: &RunApplication,
        trim: u64,
        bounds: [(&ComparedBound, i64); JUDGED],
        sink: &mut dyn FnMut(&DelaySample),
    ) -> Result<Self, AnalysisError> {
        let options = AnalysisOptions {
            trim,
            synchronized: case.synchronized,
        };
        let files: Vec<(PathBuf, CapturePort)> = application.files(directory);
        let mut watch = Watch {
            bounds,
            longest: Default::default(),
            above: [0; JUDGED],
            count: [0; JUDGED],
            card_stamps: application.card_stamps,
            began: ClockedTimes::default(),
            sink,
        };
        let run = RunAnalysis::observed(&files, &options, &mut watch)?;
        let mut counts = watch.above.into_iter().zip(watch.count);
        let against = watch.longest.map(|longest| {
            let (above, count) = counts.next().unwrap_or_default();
            AgainstBound {
                longest: longest.finish(),
                above,
                count,
            }
        });
        Ok(Self {
            run,
            against,
            began: watch.began,
        })
    }

    /// Returns the delays of an interval; `None` if it was not measured.
    pub(crate) fn times(&self, from: TracePoint, to: TracePoint) -> Option<MeasuredTimes> {
        let mut intervals = self.run.intervals.iter();
        let found = intervals.find(|it| (it.interval.from, it.interval.to) == (from, to));
        times(found?)
    }

    /// Returns the quantities at all trace points.
    pub(crate) fn points(&self) -> Vec<MeasuredPoint> {
        let points = self.run.points.iter();
        let point = |it: &takt_analysis::PointQuantities| MeasuredPoint {
            point: it.point,
            counters: it.counters,
            clock_steps: it.clock_steps,
            spacing: TimeSummary::of_measured(&it.spacing),
            spacing_shares: shares(&it.spacing),
        };
        points.map(point).collect()
    }
}

fn times(of: &IntervalQuantities) -> Option<MeasuredTimes> {
    let delay = TimeSummary::of_measured(&of.delay)?;
    Some(MeasuredTimes {
        interval: of.interval,
        delay,
        jitter: TimeSummary::of_measured(&of.jitter),
        histogram: histogram(&of.delay),
    })
}

/// Returns the distribution function of samples: its exact steps if there are few, else its value at 200 quantiles and in both
/// tails.
pub(crate) fn shares(of: &ExactStatistics) -> Vec<(f64, f64)> {
    let count = of.count();
    if count == 0 {
        return Vec::new();
    }
    let each = count / u64::from(POINTS) + 1;
    let (mut below, mut last) = (0, 0);
    let mut points = Vec::new();
    of.for_each(|value, samples| {
        below += samples;
        // The first and last samples are points of their own: tails matter.
        // `below` is at most `count`: where the difference is computed, `count` is above 5.
        let is_tail = below <= 5 || below > count - 5;
        if is_tail || below - last >= each {
            points.push((value as f64, below as f64 / count as f64));
            last = below;
        }
    });
    points
}

/// Returns the bins of a histogram from the least sample to the 99.9 % quantile. If that is far above the 99 % quantile, it ends
/// there: otherwise nearly all samples would be in few bins.
fn histogram(of: &ExactStatistics) -> Vec<(f64, f64, u64)> {
    let ends = of.quantiles([Quantile::P99, Quantile::P99_9]);
    let (Some(low), Some([near, far])) = (of.min(), ends) else {
        return Vec::new();
    };
    let range = match (near.abs_diff(low) + 1, far.abs_diff(low) + 1) {
        (near, far) if far > near.saturating_mul(3) => near,
        (_, far) => far,
    };
    let width = range.div_ceil(BINS as u64).max(1);
    let counts = of.histogram(low, width, BINS);
    let bins = counts.into_iter().zip(0_u64..).map(|(count, bin)| {
        let from = low as f64 + (bin * width) as f64;
        (from, from + width as f64, count)
    });
    let used = usize::try_from(range.div_ceil(width)).unwrap_or(BINS);
    bins.take(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(samples: impl IntoIterator<Item = i64>) -> ExactStatistics {
        let mut statistics = ExactStatistics::with_limit(ExactStatistics::MEMORY);
        samples.into_iter().for_each(|it| statistics.add(it));
        statistics
    }

    #[test]
    fn only_captures_of_a_card_have_its_clock() {
        for (from, card_stamps, expected) in [
            (TracePoint::T1, [true, true], false),
            (TracePoint::T2, [true, false], true),
            (TracePoint::T2, [false, true], false),
            (TracePoint::T6, [false, true], true),
            (TracePoint::T6, [true, false], false),
        ] {
            let mut all = TraceInterval::ALL.into_iter();
            let interval = all.find(|it| it.from == from).unwrap();
            assert_eq!(begins_at_card(interval, card_stamps), expected, "{from:?}");
        }
    }

    #[test]
    fn few_samples_have_exact_steps() {
        let steps = shares(&statistics([10, 30, 10, 20]));
        assert_eq!(steps, [(10.0, 0.5), (20.0, 0.75), (30.0, 1.0)]);
        assert_eq!(shares(&statistics([])), []);
    }

    #[test]
    fn many_samples_have_few_points_and_both_tails() {
        let steps = shares(&statistics(0..1_000_000));
        assert!((200..230).contains(&steps.len()), "{}", steps.len());
        assert_eq!(steps.first(), Some(&(0.0, 1e-6)));
        assert_eq!(steps.last(), Some(&(999_999.0, 1.0)));
        for (value, share) in &steps {
            assert!((value + 1.0 - share * 1e6).abs() < 1e-3, "{value} {share}");
        }
        assert!(steps.is_sorted_by(|one, other| one.0 < other.0 && one.1 < other.1));
    }

    #[test]
    fn a_histogram_ends_at_the_quantile() {
        let bins = histogram(&statistics((0..6_000).chain([1_000_000])));
        assert_eq!(bins.len(), 60);
        assert_eq!(bins[0], (0.0, 100.0, 100));
        assert_eq!(bins.iter().map(|it| it.2).sum::<u64>(), 6_000);
        let bins = histogram(&statistics((0..600).chain([50_000; 5])));
        assert_eq!(bins.last(), Some(&(590.0, 600.0, 10)));
        assert_eq!(histogram(&statistics([5, 5])), [(5.0, 6.0, 2)]);
        assert_eq!(histogram(&statistics([])), []);
    }
}
