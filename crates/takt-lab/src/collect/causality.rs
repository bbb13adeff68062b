//! Order of the times of a run: no message is at a place before it is at an earlier one.

use std::collections::HashMap;
use std::path::PathBuf;

use takt_analysis::{
    AnalysisOptions, CapturePort, DelaySample, ImpossibleDelays, RunAnalysis, SampleObserver,
    TraceInterval,
};
use takt_control::TracePoint;

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
        let capture = own.publisher.and_then(|it| assigned.captures.get(it));
        let mut trips = RoundTrips {
            tolerance: capture.map_or(1, |it| i64::try_from(it.step_nanos).unwrap_or(i64::MAX)),
            ..RoundTrips::default()
        };
        let run = RunAnalysis::observed(&files, &options, &mut trips)?;
        if let Some(capture) = capture.filter(|it| it.has_card_stamps) {
            let mut intervals = run.intervals.iter();
            let wire = intervals.find(|it| is_wire(it.interval));
            let negative = wire.map_or(0, |it| it.negative);
            let contradictions = trips.contradictions.saturating_add(negative);
            let count = trips.count.saturating_add(negative);
            if contradictions > count / 2 {
                return Err(CollectError::SentNotStamped {
                    path: capture.path.clone(),
                    contradictions,
                    count,
                });
            }
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

fn is_wire(interval: TraceInterval) -> bool {
    (interval.from, interval.to) == (TracePoint::T2, TracePoint::T7)
}

/// Comparison of the wire round trip of each message with that of the application, which has it within.
#[derive(Debug, Default)]
struct RoundTrips {
    /// Nanoseconds by which the wire round trip may be longer.
    tolerance: i64,
    /// Wire round trips of messages without that of the application so far, by counter.
    wire: HashMap<u64, i64>,
    /// The same of the application.
    application: HashMap<u64, i64>,
    /// Number of messages whose wire round trip is longer.
    contradictions: u64,
    count: u64,
}

impl SampleObserver for RoundTrips {
    fn delay(&mut self, sample: &DelaySample) {
        let DelaySample {
            interval, counter, ..
        } = sample;
        let is_wire = is_wire(*interval);
        if !is_wire && (interval.from, interval.to) != (TracePoint::T1, TracePoint::T8) {
            return;
        }
        let (own, others) = match is_wire {
            true => (&mut self.wire, &mut self.application),
            false => (&mut self.application, &mut self.wire),
        };
        let Some(other) = others.remove(counter) else {
            own.insert(*counter, sample.nanos);
            return;
        };
        let (wire, application) = match is_wire {
            true => (sample.nanos, other),
            false => (other, sample.nanos),
        };
        self.count += 1;
        self.contradictions += u64::from(wire > application.saturating_add(self.tolerance));
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
    let TraceInterval { from, to, .. } = delays.interval;
    matches!(from, TracePoint::T2 | TracePoint::T6) && matches!(to, TracePoint::T3 | TracePoint::T7)
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
    let delays = *delays;
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
        let mut trips = RoundTrips {
            tolerance: 10,
            ..RoundTrips::default()
        };
        let [application, wire] = [
            (TracePoint::T1, TracePoint::T8),
            (TracePoint::T2, TracePoint::T7),
        ]
        .map(|points| {
            let mut all = TraceInterval::ALL.into_iter();
            all.find(|it| (it.from, it.to) == points).unwrap()
        });
        let mut note = |interval, counter, nanos| {
            trips.delay(&DelaySample {
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
        assert_eq!((trips.contradictions, trips.count), (2, 4));
    }
}
