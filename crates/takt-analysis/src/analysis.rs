//! Second reading of a run: all files in the order of the counters.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::path::Path;

use takt_control::{TracePoint, TraceRecord};

use crate::counters::CounterStatistics;
use crate::error::AnalysisError;
use crate::interval::TraceInterval;
use crate::observer::{DelaySample, SampleObserver};
use crate::quantities::{IntervalQuantities, PointLoss, PointQuantities, RunAnalysis, RunFile};
use crate::source::{CapturePort, Records, RunSource};
use crate::statistics::ExactStatistics;
use crate::survey::{PointSurvey, is_after};
use crate::window::{MessageTimes, Window};

/// Number of records that are read of each file before they are counted. The window has room for more counters, so that
/// a message that is counted at one trace point still has its times at the others.
const AHEAD: usize = 1 << 14;

/// Options of an analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisOptions {
    /// Number of counters to leave out at each end.
    pub trim: u64,
    /// True if the clocks of the hosts are synchronized: one-way intervals between hosts are wanted.
    pub synchronized: bool,
}

impl AnalysisOptions {
    /// Number of messages that are left out at each end by default (*Assessment of OPC UA PubSub at Scale*, IV-B).
    pub const TRIM: u64 = 20_000;
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            trim: Self::TRIM,
            synchronized: false,
        }
    }
}

impl RunAnalysis {
    /// Analyzes the files of a run. `files` have the port of a capture; it has no meaning for trace files.
    ///
    /// # Errors
    /// [`AnalysisError`]. Damage behind the beginning of a file is no error: [`RunFile::damage`] has it.
    pub fn of<P: AsRef<Path>>(
        files: &[(P, CapturePort)],
        options: &AnalysisOptions,
    ) -> Result<Self, AnalysisError> {
        Self::observed(files, options, &mut ())
    }

    /// Does the same, and passes each delay on.
    ///
    /// # Errors
    /// Those of [`Self::of`].
    pub fn observed<P: AsRef<Path>, O: SampleObserver>(
        files: &[(P, CapturePort)],
        options: &AnalysisOptions,
        observer: &mut O,
    ) -> Result<Self, AnalysisError> {
        let sources = files.iter();
        let sources = sources.map(|(path, port)| RunSource::open(path.as_ref(), port));
        let sources: Vec<RunSource> = sources.collect::<Result<_, _>>()?;
        let mut counting = Counting::new(&sources, options)?;
        let mut files = sources
            .iter()
            .map(|source| Ok(Ahead::new(source.records()?)))
            .collect::<Result<Vec<_>, AnalysisError>>()?;
        for file in &mut files {
            file.fill(&mut counting);
        }
        while let Some(record) = next(&mut files) {
            counting.count(record, observer);
            for file in &mut files {
                file.fill(&mut counting);
            }
        }
        Ok(counting.finish(sources))
    }
}

/// Takes the record with the smallest counter.
fn next(files: &mut [Ahead]) -> Option<TraceRecord> {
    let mut smallest: Option<&mut Ahead> = None;
    for file in files {
        let Some(counter) = file.counter() else {
            continue;
        };
        let is_smaller = smallest
            .as_ref()
            .and_then(|it| it.counter())
            .is_none_or(|it| is_after(it, counter));
        if is_smaller {
            smallest = Some(file);
        }
    }
    smallest?.records.pop_front()
}

/// Records that were read ahead of those that are counted.
struct Ahead {
    input: Records,
    records: VecDeque<TraceRecord>,
}

impl Ahead {
    fn new(input: Records) -> Self {
        Self {
            input,
            records: VecDeque::with_capacity(AHEAD),
        }
    }

    fn counter(&self) -> Option<u64> {
        self.records.front().map(|record| record.counter)
    }

    fn fill(&mut self, counting: &mut Counting) {
        while self.records.len() < AHEAD
            && let Some(record) = self.input.next()
        {
            counting.read(record);
            self.records.push_back(record);
        }
    }
}

/// Counts and statistics while the files are read.
struct Counting {
    trim: u64,
    counters: RangeInclusive<u64>,
    window: Window,
    points: BTreeMap<TracePoint, PointCounting>,
    intervals: Vec<IntervalCounting>,
    messages: u64,
}

struct PointCounting {
    quantities: PointQuantities,
    before: Option<i64>,
    /// Number of messages for which this is the last point.
    ended: u64,
    missing: u64,
}

struct IntervalCounting {
    quantities: IntervalQuantities,
    before: Option<i64>,
}

impl Counting {
    fn new(sources: &[RunSource], options: &AnalysisOptions) -> Result<Self, AnalysisError> {
        let mut surveys = BTreeMap::new();
        for source in sources {
            for (point, survey) in &source.points {
                if let Some((first, _)) = surveys.insert(*point, (source, survey)) {
                    return Err(AnalysisError::SamePoint {
                        point: *point,
                        first: first.path.clone(),
                        second: source.path.clone(),
                    });
                }
            }
        }
        // The first point of the way has all messages. Later ones lack those that were lost.
        let (_, reference) = surveys.values().next().ok_or(AnalysisError::NoMessages)?;
        let trim = options.trim;
        let span = reference
            .last
            .wrapping_sub(reference.first)
            .saturating_add(1);
        if span <= trim.saturating_mul(2) {
            let messages = span;
            return Err(AnalysisError::TooShort { messages, trim });
        }
        let is_of_card = |point: &TracePoint| {
            let mut sources = sources.iter();
            sources.any(|it| it.has_card_stamps && it.points.contains_key(point))
        };
        let is_wanted = |interval: &TraceInterval| {
            surveys.contains_key(&interval.from)
                && surveys.contains_key(&interval.to)
                // Without synchronized clocks, the difference of two hosts' times is no delay.
                && (options.synchronized || !interval.crosses_hosts())
                // Nor is that of a network card's clock and the system's.
                && is_of_card(&interval.from) == is_of_card(&interval.to)
        };
        let intervals: Vec<_> = TraceInterval::ALL.into_iter().filter(is_wanted).collect();
        // Each interval has delays and jitter, each point has spacings: together they stay within the limit.
        let series = intervals.len() * 2 + surveys.len();
        let statistics = || ExactStatistics::with_limit(ExactStatistics::MEMORY / series);
        let point = |(point, (source, survey)): (&TracePoint, &(&RunSource, &PointSurvey))| {
            let quantities = PointQuantities {
                point: *point,
                sent_stamp: source.sent_stamp(*point),
                counters: CounterStatistics::default(),
                spacing: statistics(),
                clock_steps: survey.backward,
            };
            let counting = PointCounting {
                quantities,
                before: None,
                ended: 0,
                missing: 0,
            };
            (*point, counting)
        };
        let interval = |interval| IntervalCounting {
            quantities: IntervalQuantities {
                interval,
                delay: statistics(),
                jitter: statistics(),
                negative: 0,
                with_round_trip: 0,
                beyond_round_trip: 0,
            },
            before: None,
        };
        Ok(Self {
            trim,
            counters: reference.first.wrapping_add(trim)..=reference.last.wrapping_sub(trim),
            window: Window::new(),
            points: surveys.iter().map(point).collect(),
            intervals: intervals.into_iter().map(interval).collect(),
            messages: 0,
        })
    }

    /// Returns true if a counter, which may wrap around, is not left out.
    fn is_counted(&self, counter: u64) -> bool {
        !is_after(*self.counters.start(), counter) && !is_after(counter, *self.counters.end())
    }

    /// Takes note of a record that was read, but not yet counted.
    fn read(&mut self, record: TraceRecord) {
        if let Some(complete) = self.window.note(record) {
            self.leave(&complete);
        }
    }

    /// Counts a record.
    fn count(&mut self, record: TraceRecord, observer: &mut impl SampleObserver) {
        let is_counted = self.is_counted(record.counter);
        let Some(point) = self.points.get_mut(&record.point) else {
            return;
        };
        if is_counted {
            point.count(record);
        } else {
            // A spacing needs two messages that both count.
            point.before = None;
        }
        let Some(message) = self.window.message(record.counter) else {
            return;
        };
        // A repeated record must not add a second delay of the same message.
        if !message.count(record.point) {
            return;
        }
        let to_here = |it: &&mut IntervalCounting| it.quantities.interval.to == record.point;
        for interval in self.intervals.iter_mut().filter(to_here) {
            let Some(began) = message.at(interval.quantities.interval.from) else {
                continue;
            };
            let sample = DelaySample {
                interval: interval.quantities.interval,
                counter: record.counter,
                began,
                nanos: record.nanos.saturating_sub(began),
                is_counted,
            };
            if sample.is_possible() {
                observer.delay(&sample);
            }
            if is_counted {
                interval.add(&sample);
            }
        }
    }

    /// Counts the losses of a message all of whose records were read.
    fn leave(&mut self, message: &MessageTimes) {
        if !self.is_counted(message.counter) {
            return;
        }
        self.messages += 1;
        let trip = message.nanos(TracePoint::T1, TracePoint::T8);
        if let Some(trip) = trip.filter(|trip| *trip >= 0) {
            for interval in &mut self.intervals {
                interval.compare(message, trip);
            }
        }
        let mut is_seen_later = false;
        // The loop begins at the last point: a message that is seen at a later one was not lost before it.
        for (point, counting) in self.points.iter_mut().rev() {
            let is_seen = message.at(*point).is_some();
            counting.missing += u64::from(is_seen_later && !is_seen);
            counting.ended += u64::from(is_seen && !is_seen_later);
            is_seen_later |= is_seen;
        }
    }

    fn finish(mut self, sources: Vec<RunSource>) -> RunAnalysis {
        for message in self.window.finish() {
            self.leave(&message);
        }
        // A record that is missing in a file looks like a lost message.
        let is_complete = |source: &RunSource| source.lost == 0 && source.damage.is_none();
        let next = self.points.keys().skip(1).copied();
        let losses = self
            .points
            .values()
            .zip(next)
            .map(|(point, before)| PointLoss {
                after: point.quantities.point,
                before,
                count: point.ended,
            });
        let losses = sources.iter().all(is_complete).then(|| losses.collect());
        let missing = self.points.iter().map(|(point, it)| (*point, it.missing));
        RunAnalysis {
            trim: self.trim,
            first_counter: *self.counters.start(),
            last_counter: *self.counters.end(),
            messages: self.messages,
            losses,
            missing_records: missing.filter(|(_, count)| *count > 0).collect(),
            late_records: self.window.late,
            points: self.points.into_values().map(|it| it.quantities).collect(),
            intervals: self.intervals.into_iter().map(|it| it.quantities).collect(),
            files: sources.into_iter().map(file).collect(),
        }
    }
}

impl PointCounting {
    fn count(&mut self, record: TraceRecord) {
        self.quantities.counters.note(record.counter);
        // A negative spacing is a step of the clock, which `clock_steps` has.
        if let Some(spacing) = self.before.and_then(|it| record.nanos.checked_sub(it))
            && spacing >= 0
        {
            self.quantities.spacing.add(spacing);
        }
        self.before = Some(record.nanos);
    }
}

impl IntervalCounting {
    /// Compares the delay of a message with its application round trip, in nanoseconds. Clocks of two hosts tell nothing.
    fn compare(&mut self, message: &MessageTimes, trip: i64) {
        let quantities = &mut self.quantities;
        let TraceInterval { from, to, .. } = quantities.interval;
        let nanos = message.nanos(from, to).filter(|nanos| *nanos >= 0);
        if let (Some(nanos), false) = (nanos, quantities.interval.crosses_hosts()) {
            quantities.with_round_trip += 1;
            quantities.beyond_round_trip += u64::from(nanos > trip);
        }
    }

    fn add(&mut self, sample: &DelaySample) {
        let quantities = &mut self.quantities;
        quantities.negative += u64::from(sample.nanos < 0);
        if !sample.is_possible() {
            // The clock was set between two neighbours: their difference is no jitter.
            self.before = None;
            return;
        }
        quantities.delay.add(sample.nanos);
        if let Some(before) = self.before.replace(sample.nanos) {
            let jitter = i64::try_from(sample.nanos.abs_diff(before)).unwrap_or(i64::MAX);
            quantities.jitter.add(jitter);
        }
    }
}

impl DelaySample {
    /// Returns false for a negative delay of one clock, which is a step of it.
    const fn is_possible(&self) -> bool {
        self.nanos >= 0 || self.interval.crosses_hosts()
    }
}

fn file(source: RunSource) -> RunFile {
    let points = source.points.into_iter();
    RunFile {
        points: points
            .map(|(point, survey)| (point, survey.count))
            .collect(),
        path: source.path,
        format: source.format,
        lost: source.lost,
        skipped: source.skipped,
        step_nanos: source.step_nanos,
        has_card_stamps: source.has_card_stamps,
        damage: source.damage,
        description: source.description,
    }
}
