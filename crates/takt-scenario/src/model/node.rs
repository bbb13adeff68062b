//! Nodes, links and ports.

use super::{Discipline, LinkId, NodeId};
use crate::quantity::{Drift, Duration, Length, Rate, SignedDuration};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An end: applications run on it, and it forwards nothing.
    Host,
    /// It stores frames and forwards them. Applications may run on it as well.
    Bridge,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name, of which there is one.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// The most that a bridge needs from a frame's last bit until the frame is in the next queue. 0 for hosts.
    pub forwarding_delay: Duration,
    /// The least that it needs; not more than the most.
    pub forwarding_delay_least: Duration,
    /// What its clock shows.
    pub clock: Clock,
    /// How much later than it should a thread on it runs.
    pub wake_up_latency: Distribution,
}

/// A clock that is not perfect. At time t since the beginning it shows `t + offset + drift · t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// What it shows more than the time, in the beginning.
    pub offset: SignedDuration,
    /// What it gains.
    pub drift: Drift,
}

/// A time that varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// It does not.
    Constant(Duration),
    /// All times between two are as likely.
    Uniform {
        /// The least.
        least: Duration,
        /// The most; not less than the least.
        most: Duration,
    },
    /// As it was measured.
    Histogram(Histogram),
}

impl Distribution {
    /// The most that it can be.
    pub fn most(&self) -> Duration {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { most, .. } => *most,
            Self::Histogram(histogram) => histogram.most(),
        }
    }

    /// The least that it can be.
    pub fn least(&self) -> Duration {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { least, .. } => *least,
            Self::Histogram(histogram) => histogram.least(),
        }
    }
}

/// How often a time was measured. A bin holds times from its lower bound up to the next bin's, all as likely; the last one holds its
/// lower bound only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    bins: Vec<(Duration, u64)>,
}

/// Bins that are no histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// Nothing was counted, or more than a `u64` can say.
    #[error("a histogram needs a count, and less than 2^64 in all")]
    Count,
    /// A lower bound is not more than the one before.
    #[error("the bin of {0} does not come behind the one before it")]
    Order(Duration),
    /// A line of a file is none.
    #[error("line {line}: {message}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl Histogram {
    /// From lower bounds and counts, in order. Bins without a count are kept: they end those before them.
    ///
    /// # Errors
    /// Nothing was counted, or the bounds do not rise.
    pub fn new(bins: Vec<(Duration, u64)>) -> Result<Self, HistogramError> {
        if let Some(pair) = bins.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(HistogramError::Order(pair[1].0));
        }
        let total = bins
            .iter()
            .try_fold(0u64, |sum, bin| sum.checked_add(bin.1));
        match total {
            None | Some(0) => Err(HistogramError::Count),
            Some(_) => Ok(Self { bins }),
        }
    }

    /// Reads lines of a lower bound and a count, `12 us, 3401`. Empty lines, and those that begin with `#`, are skipped; so is a heading.
    ///
    /// # Errors
    /// A line is none, or the lines are no histogram.
    pub fn from_csv(text: &str) -> Result<Self, HistogramError> {
        let mut bins = Vec::new();
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .peekable();
        lines.next_if(|(_, line)| !line.starts_with(|c: char| c.is_ascii_digit()));
        for (line, text) in lines {
            let fault = |message: String| HistogramError::Line { line, message };
            let (bound, count) = text
                .split_once(',')
                .ok_or_else(|| fault("expected a lower bound, a comma and a count".to_owned()))?;
            let bound = bound
                .parse()
                .map_err(|error: crate::QuantityError| fault(error.to_string()))?;
            let count = count.trim();
            let count = count
                .parse()
                .map_err(|_| fault(format!("`{count}` is no count")))?;
            bins.push((bound, count));
        }
        Self::new(bins)
    }

    /// The lower bounds and counts, in order.
    pub fn bins(&self) -> &[(Duration, u64)] {
        &self.bins
    }

    /// All counts together.
    pub fn total(&self) -> u64 {
        self.bins.iter().map(|bin| bin.1).sum()
    }

    /// The least time with a count.
    pub fn least(&self) -> Duration {
        let first = self.bins.iter().find(|bin| bin.1 > 0);
        first.map_or(Duration::ZERO, |bin| bin.0)
    }

    /// What no time is above: the end of the last bin with a count.
    pub fn most(&self) -> Duration {
        let last = self.bins.iter().rposition(|bin| bin.1 > 0).unwrap_or(0);
        let end = self.bins.get(last + 1).or(self.bins.get(last));
        end.map_or(Duration::ZERO, |bin| bin.0)
    }
}

/// A full-duplex link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The nodes at its ends.
    pub ends: [NodeId; 2],
    /// How fast bits are sent, each way.
    pub rate: Rate,
    /// How long it is.
    pub length: Length,
}

/// The end of a link at which frames leave a node. The ports of link `l` are `2 l`, from its first end to its second, and `2 l + 1`, back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// The node that frames leave.
    pub node: NodeId,
    /// The node that they reach.
    pub to: NodeId,
    /// The link between both.
    pub link: LinkId,
    /// What decides which frame is sent. Everything in it is resolved for this port: slopes, credits, and the time at which a cycle of gates begins.
    pub discipline: Discipline,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read() {
        let text = "lower bound, count\n# cyclictest\n1 us, 0\n2 us,30\n\n3 us, 12\n10 us, 0\n";
        let histogram = Histogram::from_csv(text).unwrap();
        assert_eq!(histogram.total(), 42);
        assert_eq!(
            [histogram.least(), histogram.most()],
            [Duration(2_000_000), Duration(10_000_000)]
        );
    }

    #[test]
    fn what_is_no_histogram() {
        let message = |text| Histogram::from_csv(text).unwrap_err().to_string();
        assert_eq!(
            message(""),
            "a histogram needs a count, and less than 2^64 in all"
        );
        assert_eq!(
            message("1 us, 1\n1 us, 2"),
            "the bin of 1 us does not come behind the one before it"
        );
        assert_eq!(
            message("1 us 1"),
            "line 1: expected a lower bound, a comma and a count"
        );
        assert_eq!(message("1 us, -1"), "line 1: `-1` is no count");
        assert!(message("# x\n1 parsec, 1").starts_with("line 2: `1 parsec` is no time"));
    }
}
