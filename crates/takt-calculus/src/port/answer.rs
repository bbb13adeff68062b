//! Answers of the analyses.

use takt_scenario::Analysis;

use super::network::QueueId;
use crate::curve::Extended;

/// Reasons why an analysis has no bound for a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotApplicable {
    /// More than one queue, for an analysis that needs a strict server.
    #[error(
        "the analysis applies to a single queue only: a queue that assembles frames is not a strict server for the next one"
    )]
    NotStrict,
    /// A queue that is not FIFO.
    #[error("{0} may send frames of different flows in any order")]
    NotFifo(QueueId),
    /// A queue that the stream meets more than once.
    #[error("the stream passes {0} more than once")]
    Again(QueueId),
    /// No proven bound: Total Flow Analysis has none for a queue that matters, or the programme is too large.
    #[error("no bound was found")]
    NotFound,
}

/// Answer of an analysis for a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The analysis.
    pub analysis: Analysis,
    /// The longest time from the beginning of the first step to the end of the last one, in seconds.
    pub delay: Result<Extended, NotApplicable>,
}
