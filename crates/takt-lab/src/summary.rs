//! Summary of a case from its files: messages, losses by place, and both kinds of round trip.

use std::path::{Path, PathBuf};

use takt_analysis::{
    AnalysisError, AnalysisOptions, CapturePort, PointLoss, RunAnalysis, SentStamp,
};
use takt_control::TracePoint;
use takt_statistics::Quantile;

use crate::case_record::CaseRecord;
use crate::run_directory::{RunApplication, RunCase};

/// Summary of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationSummary {
    /// Name in the scenario.
    pub name: String,
    /// Number of messages that the Publisher handed to the kernel.
    pub sent: u64,
    /// True for messages to a Subscriber: the times are one way, from T1 to T4 and from T2 to T3.
    pub one_way: bool,
    /// Number of messages whose answer the Publisher's thread took, or that the Subscriber's thread took.
    pub returned: u64,
    /// Losses by place; `None` if they are unknown, because a trace or capture is incomplete.
    pub losses: Option<Vec<PointLoss>>,
    /// Application round trip, or the time from one application to the other.
    pub application: Option<RoundTripQuantiles>,
    /// Wire round trip, or the time of one way on the wire, from captures.
    pub wire: Option<RoundTripQuantiles>,
}

/// Quantiles of a round trip, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTripQuantiles {
    /// Time that half of all do not exceed.
    pub median: i64,
    /// Time that 99 % of all do not exceed.
    pub p99: i64,
    /// Longest.
    pub max: i64,
}

impl ApplicationSummary {
    /// Returns the number of lost messages.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        let losses = self.losses.as_ref()?;
        Some(losses.iter().map(|loss| loss.count).sum())
    }
}

impl RunApplication {
    /// Returns the files of the application for an analysis, and the ports of the captures.
    #[must_use]
    pub fn files(&self, case: &Path) -> Vec<(PathBuf, CapturePort)> {
        // The record of the case tells how its captures were made.
        let sent_stamp = CaseRecord::read(case).map_or(SentStamp::Unknown, |it| it.sent_stamp);
        let [of_publisher, of_loopback] = self.card_stamps;
        let port = |is_loopback| CapturePort {
            sent_stamp,
            is_loopback,
            publisher_id: Some(self.publisher_id.to_string()),
            loopback_id: Some(self.loopback_id.to_string()),
            has_card_stamps: match is_loopback {
                true => of_loopback,
                false => of_publisher,
            },
        };
        let traces = [&self.publisher_trace, &self.loopback_trace];
        let captures = [
            (&self.publisher_capture, false),
            (&self.loopback_capture, true),
        ];
        let captures = captures
            .into_iter()
            .filter_map(|(file, is_loopback)| Some((file.as_ref()?, is_loopback)));
        traces
            .into_iter()
            .map(|file| (file, false))
            .chain(captures)
            .map(|(file, is_loopback)| (case.join(file), port(is_loopback)))
            .collect()
    }
}

/// Summarizes the applications of a case, in the order of the scenario. `directory` is that of the case. All messages count.
///
/// # Errors
/// [`AnalysisError`]: a file is missing or damaged.
pub fn summarize(
    directory: &Path,
    case: &RunCase,
) -> Result<Vec<ApplicationSummary>, AnalysisError> {
    let summary = |application: &RunApplication| {
        let options = AnalysisOptions {
            trim: 0,
            synchronized: case.synchronized,
        };
        let run = RunAnalysis::of(&application.files(directory), &options)?;
        let trip = |from, to| {
            let mut intervals = run.intervals.iter();
            let found = intervals.find(|it| it.interval.from == from && it.interval.to == to);
            found.map(|it| &it.delay).filter(|it| it.count() > 0)
        };
        let quantiles = |from, to| {
            let delay = trip(from, to)?;
            let [median, p99] = delay.quantiles([Quantile::MEDIAN, Quantile::P99])?;
            let max = delay.max()?;
            Some(RoundTripQuantiles { median, p99, max })
        };
        let (taken, arrived) = match application.one_way {
            true => (TracePoint::T4, TracePoint::T3),
            false => (TracePoint::T8, TracePoint::T7),
        };
        let points = run.points.iter();
        let mut sent = points.filter(|it| it.point == TracePoint::T1);
        Ok(ApplicationSummary {
            name: application.name.clone(),
            sent: sent.next().map_or(0, |it| it.counters.messages),
            one_way: application.one_way,
            returned: trip(TracePoint::T1, taken).map_or(0, |it| it.count()),
            losses: run.losses.clone(),
            application: quantiles(TracePoint::T1, taken),
            wire: quantiles(TracePoint::T2, arrived),
        })
    };
    case.applications.iter().map(summary).collect()
}
