//! Order of the times of a run: no message is at a place before it is at an earlier one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use takt_analysis::{
    AnalysisOptions, CapturePort, DelaySample, ImpossibleDelays, IntervalQuantities, RunAnalysis,
    SampleObserver, TraceInterval,
};
use takt_control::TracePoint::{self, T1, T2, T3, T4, T5, T6, T7, T8};

use super::captures::{AssignedCaptures, PairCaptures};
use super::error::CollectError;
use super::traces::TracePair;
use crate::clock_agreement::ClockAgreement;

/// Analyzes the files of each application as the report does. Files whose times contradict each other are refused; a few impossible times
/// are doubts, which are returned for people. Clocks that differ by more than their hosts have told are taken as unknown.
pub(super) fn check(
    pairs: &mut [TracePair],
    assigned: &AssignedCaptures,
) -> Result<Vec<String>, CollectError> {
    let mut doubts = Vec::new();
    for (pair, own) in pairs.iter_mut().zip(&assigned.of_pairs) {
        let files = files(pair, assigned, *own);
        let options = AnalysisOptions {
            trim: 0,
            synchronized: pair.is_synchronized,
        };
        let mut nestings = Nestings(card_nestings(assigned, *own));
        let run = RunAnalysis::observed(&files, &options, &mut nestings)?;
        for (path, nesting) in nestings.0 {
            nesting.check(path, &run)?;
        }
        let cards = of_cards(pair, assigned, *own);
        let margin = pair.clocks.margin_nanos().unwrap_or(0);
        for delays in run.impossible_delays(margin) {
            let crosses = delays.interval.crosses_hosts();
            // Two cards, of which nothing is known, may have any times.
            if crosses && cards == Some(ClockAgreement::Unknown) && is_captured(&delays) {
                continue;
            }
            if delays.are_most() {
                return Err(refusal(&run, &delays));
            }
            if crosses && pair.clocks != ClockAgreement::One {
                pair.clocks = ClockAgreement::Unknown;
            }
        }
        // Times of one way on the wire are those of both cards.
        if let Some(cards) = cards {
            pair.clocks = pair.clocks.weaker(cards);
        }
        let application = &pair.publisher.notes.end.application;
        let lines = run.doubts().into_iter();
        doubts.extend(lines.map(|line| format!("{application}: {line}")));
    }
    Ok(doubts)
}

/// Trace points of an interval.
type Ends = (TracePoint, TracePoint);

fn ends(interval: TraceInterval) -> Ends {
    (interval.from, interval.to)
}

/// Returns the intervals of one clock that are within those of another one, if a network card stamped the capture with this path: then
/// it did not stamp the sent frames, or not by the same clock, unless they are.
fn card_nestings(assigned: &AssignedCaptures, own: PairCaptures) -> Vec<(&Path, Nesting)> {
    let (application, wire) = ((T1, T8), (T2, T7));
    let (kernel, thread) = ((T3, T6), (T4, T5));
    let captures = [
        (own.publisher, &[(wire, application)][..]),
        (own.loopback, &[(thread, kernel), (kernel, application)]),
    ];
    let captures = captures.into_iter().filter_map(|(index, nestings)| {
        let capture = assigned.captures.get(index?)?;
        capture.has_card_stamps.then_some((capture, nestings))
    });
    let nestings = captures.flat_map(|(capture, nestings)| {
        let step = i64::try_from(capture.step_nanos).unwrap_or(i64::MAX);
        let nestings = nestings.iter();
        nestings
            .map(move |(inner, outer)| (capture.path.as_path(), Nesting::new(*inner, *outer, step)))
    });
    nestings.collect()
}

/// Comparison of an interval of each message with another one, which has it within.
#[derive(Debug)]
struct Nesting {
    inner: Ends,
    outer: Ends,
    /// Nanoseconds by which the inner interval may be longer.
    tolerance: i64,
    /// Inner intervals of messages without the outer one so far, by counter.
    inner_nanos: HashMap<u64, i64>,
    /// Outer intervals of messages without the inner one so far.
    outer_nanos: HashMap<u64, i64>,
    /// Number of messages whose inner interval is longer.
    contradictions: u64,
    count: u64,
}

impl Nesting {
    fn new(inner: Ends, outer: Ends, tolerance: i64) -> Self {
        Self {
            inner,
            outer,
            tolerance,
            inner_nanos: HashMap::new(),
            outer_nanos: HashMap::new(),
            contradictions: 0,
            count: 0,
        }
    }

    fn note(&mut self, sample: &DelaySample) {
        let found = ends(sample.interval);
        let is_inner = found == self.inner;
        if !is_inner && found != self.outer {
            return;
        }
        let (own, others) = match is_inner {
            true => (&mut self.inner_nanos, &mut self.outer_nanos),
            false => (&mut self.outer_nanos, &mut self.inner_nanos),
        };
        let Some(other) = others.remove(&sample.counter) else {
            own.insert(sample.counter, sample.nanos);
            return;
        };
        let (inner, outer) = match is_inner {
            true => (sample.nanos, other),
            false => (other, sample.nanos),
        };
        self.count += 1;
        self.contradictions += u64::from(inner > outer.saturating_add(self.tolerance));
    }

    /// Refuses a capture if most of its messages contradict the times of the threads. Negative times of the card do so, too.
    fn check(&self, path: &Path, run: &RunAnalysis) -> Result<(), CollectError> {
        let is_captured = |it: &&IntervalQuantities| {
            let found = ends(it.interval);
            matches!(found, (T2, T7) | (T3, T6)) && [self.inner, self.outer].contains(&found)
        };
        let captured = run.intervals.iter().find(is_captured);
        let negative = captured.map_or(0, |it| it.negative);
        let contradictions = self.contradictions.saturating_add(negative);
        let count = self.count.saturating_add(negative);
        if contradictions <= count / 2 {
            return Ok(());
        }
        Err(CollectError::SentNotStamped {
            path: path.to_owned(),
            inner: self.inner,
            outer: self.outer,
            contradictions,
            count,
        })
    }
}

/// All comparisons of an application, with the captures that they are for.
struct Nestings<'a>(Vec<(&'a Path, Nesting)>);

impl SampleObserver for Nestings<'_> {
    fn delay(&mut self, sample: &DelaySample) {
        for (_, nesting) in &mut self.0 {
            nesting.note(sample);
        }
    }
}

/// Returns the agreement of the clocks of both network cards; `None` if not both captures have their stamps.
fn of_cards(
    pair: &TracePair,
    assigned: &AssignedCaptures,
    own: PairCaptures,
) -> Option<ClockAgreement> {
    let is_of_card = |index: Option<usize>| {
        let capture = index.and_then(|index| assigned.captures.get(index));
        capture.is_some_and(|it| it.has_card_stamps)
    };
    let (publisher, loopback) = (&pair.publisher.notes.host, &pair.loopback.notes.host);
    let is_one_host = pair.clocks == ClockAgreement::One;
    let are_of_cards = is_of_card(own.publisher) && is_of_card(own.loopback);
    are_of_cards.then(|| ClockAgreement::of_cards(publisher, loopback, is_one_host))
}

/// Returns true for delays between two captures.
fn is_captured(delays: &ImpossibleDelays) -> bool {
    matches!(ends(delays.interval), (T2, T3) | (T6, T7))
}

/// Returns the files of an application, with the ports of its captures.
fn files(
    pair: &TracePair,
    assigned: &AssignedCaptures,
    own: PairCaptures,
) -> Vec<(PathBuf, CapturePort)> {
    let (publisher_id, loopback_id) = pair.publisher.notes.publisher_ids;
    let port = |is_loopback, has_card_stamps| CapturePort {
        is_loopback,
        publisher_id: Some(publisher_id.to_string()),
        loopback_id: Some(loopback_id.to_string()),
        has_card_stamps,
        ..CapturePort::default()
    };
    let traces = [&pair.publisher.path, &pair.loopback.path];
    let traces = traces.map(|path| (path.clone(), CapturePort::default()));
    let captures = [(own.publisher, false), (own.loopback, true)];
    let captures = captures.into_iter().filter_map(|(index, is_loopback)| {
        let capture = assigned.captures.get(index?)?;
        let port = port(is_loopback, capture.has_card_stamps);
        Some((capture.path.clone(), port))
    });
    traces.into_iter().chain(captures).collect()
}

fn refusal(run: &RunAnalysis, delays: &ImpossibleDelays) -> CollectError {
    let TraceInterval { from, to, .. } = delays.interval;
    let (first, second) = (file_of(run, from), file_of(run, to));
    let delays = Box::new(*delays);
    match delays.interval.crosses_hosts() {
        true => CollectError::NotSynchronized {
            first,
            second,
            delays,
        },
        false => CollectError::OtherClock {
            first,
            second,
            delays,
        },
    }
}

/// Returns the path of the file that has a trace point.
fn file_of(run: &RunAnalysis, point: TracePoint) -> PathBuf {
    let mut files = run.files.iter();
    let has = |(found, _): &(TracePoint, u64)| *found == point;
    let file = files.find(|file| file.points.iter().any(has));
    file.map_or_else(PathBuf::new, |file| file.path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_round_trip_is_within_that_of_the_application() {
        let mut nesting = Nesting::new((T2, T7), (T1, T8), 10);
        let [application, wire] = [(T1, T8), (T2, T7)].map(|points| {
            let mut all = TraceInterval::ALL.into_iter();
            all.find(|it| ends(*it) == points).unwrap()
        });
        let mut note = |interval, counter, nanos| {
            nesting.note(&DelaySample {
                interval,
                counter,
                began: 0,
                nanos,
                is_counted: true,
            });
        };
        // Within it; longer by the tolerance; 37 s, because T2 is UTC and T7 is TAI, in both orders of the samples.
        for (counter, nanos) in [(1, 500), (2, 710), (3, 37_000_000_500)] {
            note(wire, counter, nanos);
            note(application, counter, 700);
        }
        note(application, 4, 700);
        note(wire, 4, 711);
        note(wire, 5, 800);
        assert_eq!((nesting.contradictions, nesting.count), (2, 4));
    }
}
