//! Result of one case: a peer, a kind of request, a size.

use serde::Serialize;

use crate::own::Mode;
use crate::statistics::{Estimate, SortedTimes};
use crate::usage::PeerUsage;

/// Measured case.
#[derive(Debug, Clone, Serialize)]
pub struct MiddlewareRow {
    /// Name of the peer, with the options of its variant.
    pub peer: String,
    /// Title of the peer.
    pub title: String,
    /// Kind of request.
    pub mode: Mode,
    /// Bytes of the payload.
    pub bytes: u32,
    /// Median round trip in µs, with its interval.
    pub median_us: Option<Estimate>,
    /// 99th percentile in µs.
    pub p99_us: Option<f64>,
    /// Number of answered requests.
    pub answered: usize,
    /// Numbers of wrong, lost, late and duplicate answers.
    pub faults: [u64; 4],
    /// True if other programs used more than a fifth of a processor.
    pub is_loaded: bool,
    /// Times in µs of each round.
    #[serde(skip)]
    pub rounds: Vec<Vec<f64>>,
}

impl MiddlewareRow {
    /// Computes the statistics of all rounds.
    pub(crate) fn finish(&mut self) {
        let times = SortedTimes::new(self.rounds.iter().flatten().copied().collect());
        self.median_us = times.median();
        self.p99_us = times.quantile(0.99);
        self.answered = times.values().len();
    }

    /// Returns true if each request had its own right answer.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.faults == [0; 4] && self.answered > 0
    }
}

/// Peer with one variant of its options, and the state of its measurement.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Subject {
    /// Place in the table.
    #[serde(skip)]
    pub(crate) place: usize,
    pub(crate) label: String,
    pub(crate) options: Vec<String>,
    pub(crate) required: bool,
    /// Reason why it is not, or not fully, measured.
    pub(crate) missing: Option<String>,
    pub(crate) info: Vec<(String, String)>,
    /// Resources of client and server during the measurement.
    pub(crate) usage: [PeerUsage; 2],
    pub(crate) requests: u64,
}
