//! Results: what one round measured, and what all rounds of one case say.

use serde::{Deserialize, Serialize};
use takt_statistics::{Estimate, Quantile, SortedTimes};

use crate::condition::Condition;
use crate::own::Mode;
use crate::ratio::median_of_rounds;
use crate::usage::PeerUsage;

/// One case of a round: a kind of request with one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseResult {
    pub(crate) mode: Mode,
    pub(crate) bytes: u32,
    /// Nanoseconds of the answered requests, in their order.
    pub(crate) nanos: Vec<u64>,
    /// Numbers of wrong, lost, late and duplicate answers.
    pub(crate) faults: [u64; 4],
}

/// All cases of a peer in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundResult {
    /// Peer with the options of its variant.
    pub(crate) label: String,
    pub(crate) round: u32,
    pub(crate) condition: Condition,
    /// Information that both sides have printed.
    pub(crate) info: Vec<(String, String)>,
    /// Resources of client and server during the measurement.
    pub(crate) usage: [PeerUsage; 2],
    /// Number of requests, with those that are not counted.
    pub(crate) requests: u64,
    /// True if other programs used more than a fifth of a processor.
    pub(crate) is_loaded: bool,
    /// Number of processors that all programs have used on average.
    pub(crate) processors: f64,
    /// Rate of the network load that has arrived, in Mbit/s.
    pub(crate) received_mbits: Option<f64>,
    /// Time of a cache line's way between two processors before the measurement, in ns.
    #[serde(default)]
    pub(crate) transfer_ns: Option<f64>,
    pub(crate) cases: Vec<CaseResult>,
}

/// Leftovers of a server and a client that were killed (SIGKILL). A broker goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    /// Number of new files of its shared memory, and of files in the peer's own folder that it had open, without logs.
    pub(crate) files: usize,
    /// Number of those that are still there when new programs have started and ended.
    pub(crate) kept: usize,
    /// Names of some of them.
    pub(crate) names: Vec<String>,
    /// Number of ports that cannot be bound.
    pub(crate) ports: usize,
    /// Time in ms from the start of a new server until its client has the first right answer.
    pub(crate) answer_ms: Option<f64>,
    /// Reason why there was no answer.
    pub(crate) reason: Option<String>,
}

/// System calls for each request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calls {
    pub(crate) client: f64,
    /// Those of the server and of the broker.
    pub(crate) server: f64,
}

/// Measured case.
#[derive(Debug, Clone, Serialize)]
pub struct MiddlewareRow {
    /// Name of the peer, with the options of its variant.
    pub peer: String,
    /// Title of the peer.
    pub title: String,
    /// Load of the machine, or rest.
    pub condition: Condition,
    /// Kind of request.
    pub mode: Mode,
    /// Bytes of the payload.
    pub bytes: u32,
    /// Median round trip in µs, with the interval of the medians of the rounds.
    pub median_us: Option<Estimate>,
    /// 99th percentile in µs.
    pub p99_us: Option<f64>,
    /// Answered requests in a second, one after the other: the reciprocal of the mean round trip.
    pub per_second: Option<f64>,
    /// Number of answered requests.
    pub answered: usize,
    /// Numbers of wrong, lost, late and duplicate answers.
    pub faults: [u64; 4],
    /// True if the link loses frames or changes their order: lost and late answers are no fault of the peer then.
    pub link_loses: bool,
    /// True if other programs used more than a fifth of a processor.
    pub is_loaded: bool,
    /// Times in µs of each round.
    #[serde(skip)]
    pub rounds: Vec<Vec<f64>>,
}

impl MiddlewareRow {
    fn new(subject: &Subject, condition: Condition, case: &CaseResult) -> Self {
        Self {
            peer: subject.label.clone(),
            title: subject.title.clone(),
            condition,
            mode: case.mode,
            bytes: case.bytes,
            median_us: None,
            p99_us: None,
            per_second: None,
            answered: 0,
            faults: [0; 4],
            link_loses: subject.link_loses,
            is_loaded: false,
            rounds: Vec::new(),
        }
    }

    fn add(&mut self, case: &CaseResult, is_loaded: bool) {
        let micros = case.nanos.iter().map(|nanos| *nanos as f64 / 1000.0);
        self.rounds.push(micros.collect());
        for (sum, fault) in self.faults.iter_mut().zip(case.faults) {
            *sum += fault;
        }
        self.is_loaded |= is_loaded;
    }

    /// Computes the statistics of all rounds.
    fn finish(&mut self) {
        let times = SortedTimes::new(self.rounds.iter().flatten().copied().collect());
        self.median_us = median_of_rounds(&self.rounds);
        self.p99_us = times.quantile(Quantile::P99);
        self.answered = times.values().len();
        let sum: f64 = times.values().iter().sum();
        self.per_second = (sum > 0.0).then(|| self.answered as f64 * 1e6 / sum);
    }

    /// Returns the case: rows of several peers have the same one.
    pub(crate) fn key(&self) -> (Condition, Mode, u32) {
        (self.condition, self.mode, self.bytes)
    }

    /// Returns true if each request had its own right answer, but for those that the link has lost.
    #[must_use]
    pub fn is_right(&self) -> bool {
        let [wrong, lost, late, duplicate] = self.faults;
        let of_link = if self.link_loses { 0 } else { lost + late };
        wrong + duplicate + of_link == 0 && self.answered > 0
    }
}

/// Resources of both sides under one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Resources {
    pub(crate) condition: Condition,
    /// Resources of client and server during the measurement.
    pub(crate) usage: [PeerUsage; 2],
    /// Number of requests, with those that are not counted.
    pub(crate) requests: u64,
    /// Processor time of both sides in µs for each request, one value of each round.
    #[serde(skip)]
    pub(crate) rounds: Vec<Vec<f64>>,
}

/// Peer with one variant of its options, and the state of its measurement.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Subject {
    /// Place in the table.
    #[serde(skip)]
    pub(crate) place: usize,
    pub(crate) label: String,
    pub(crate) title: String,
    pub(crate) options: Vec<String>,
    pub(crate) required: bool,
    /// Documentation of the settings.
    pub(crate) source: String,
    /// Reason why it is not, or not fully, measured.
    pub(crate) missing: Option<String>,
    /// True if it cannot run at the place of this comparison.
    pub(crate) is_elsewhere: bool,
    /// True if the link loses frames or changes their order.
    #[serde(skip)]
    pub(crate) link_loses: bool,
    pub(crate) info: Vec<(String, String)>,
    /// True if its messages pass through a network: not through shared memory.
    pub(crate) is_networked: bool,
    /// True for bare sockets, and for shared memory without a middleware.
    pub(crate) is_floor: bool,
    /// Resources under each condition.
    pub(crate) resources: Vec<Resources>,
    pub(crate) calls: Option<Calls>,
    pub(crate) leftovers: Option<Leftovers>,
}

impl Subject {
    /// Takes what a round has measured.
    fn add(&mut self, result: &RoundResult) {
        self.info.clone_from(&result.info);
        let condition = result.condition;
        let cpu: f64 = result.usage.iter().map(|usage| usage.cpu_ms).sum();
        let round = (result.requests > 0).then(|| vec![cpu * 1000.0 / result.requests as f64]);
        let mut known = self.resources.iter_mut();
        match known.find(|it| it.condition == condition) {
            Some(known) => {
                known.rounds.extend(round);
                known.requests += result.requests;
                for (sum, usage) in known.usage.iter_mut().zip(result.usage) {
                    sum.add(usage);
                }
            }
            None => self.resources.push(Resources {
                condition,
                usage: result.usage,
                requests: result.requests,
                rounds: round.into_iter().collect(),
            }),
        }
    }

    /// Returns the processor time of both sides in µs, and their context switches, for each request.
    pub(crate) fn per_request(&self, condition: Condition) -> Option<(f64, f64)> {
        let mut used = self.resources.iter();
        let used = used.find(|it| it.condition == condition)?;
        let requests = (used.requests > 0).then_some(used.requests as f64)?;
        let cpu: f64 = used.usage.iter().map(|usage| usage.cpu_ms).sum();
        let switches: u64 = used.usage.iter().map(|usage| usage.switches).sum();
        Some((cpu * 1000.0 / requests, switches as f64 / requests))
    }
}

/// Collects the results of all rounds, in rows with the fastest peer first. Peers with faults come last.
pub(crate) fn rows(subjects: &mut [Subject], results: &[RoundResult]) -> Vec<MiddlewareRow> {
    let mut rows: Vec<MiddlewareRow> = Vec::new();
    for result in results {
        let Some(subject) = subjects.iter_mut().find(|it| it.label == result.label) else {
            continue;
        };
        subject.add(result);
        for case in &result.cases {
            let same = |row: &&mut MiddlewareRow| {
                row.peer == result.label && row.key() == (result.condition, case.mode, case.bytes)
            };
            if let Some(row) = rows.iter_mut().find(same) {
                row.add(case, result.is_loaded);
                continue;
            }
            let mut row = MiddlewareRow::new(subject, result.condition, case);
            row.add(case, result.is_loaded);
            rows.push(row);
        }
    }
    rows.iter_mut().for_each(MiddlewareRow::finish);
    rows.sort_by(|one, other| {
        let median = |row: &MiddlewareRow| row.median_us.map_or(f64::MAX, |it| it.value);
        one.key()
            .cmp(&other.key())
            .then(other.is_right().cmp(&one.is_right()))
            .then(median(one).total_cmp(&median(other)))
    });
    rows
}
