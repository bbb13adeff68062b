//! Nodes, links and ports.

use super::{LinkIndex, NodeIndex};
use crate::discipline::Discipline;
use crate::quantity::{Drift, Duration, Length, Rate, SignedDuration};

/// Kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An end node: applications run on it, and it forwards nothing.
    Host,
    /// A node that stores and forwards frames. Applications may run on it as well.
    Bridge,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Kind of the node.
    pub kind: NodeKind,
    /// Greatest time that a bridge needs from a frame's last bit until the frame is in the next queue. 0 for hosts.
    pub forwarding_delay: Duration,
    /// Least time of this kind; not more than the greatest.
    pub forwarding_delay_least: Duration,
    /// Clock of the node.
    pub clock: ClockModel,
    /// Lateness of a thread's wake-up on the node.
    pub wake_up_latency: Distribution,
}

/// A clock that is not perfect. At time t since the beginning it shows `t + offset + drift · t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockModel {
    /// Difference between the clock and the time at the beginning.
    pub offset: SignedDuration,
    /// Growth of this difference.
    pub drift: Drift,
}

/// Distribution of a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// Always the same time.
    Constant(Duration),
    /// All times between two are equally likely.
    Uniform {
        /// Least time.
        least: Duration,
        /// Greatest time; not less than the least.
        most: Duration,
    },
    /// Measured frequencies.
    Histogram(Histogram),
}

impl Distribution {
    /// Returns the greatest time.
    pub fn most(&self) -> Duration {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { most, .. } => *most,
            Self::Histogram(histogram) => histogram.most(),
        }
    }

    /// Returns the least time.
    pub fn least(&self) -> Duration {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { least, .. } => *least,
            Self::Histogram(histogram) => histogram.least(),
        }
    }
}

/// Measured frequencies of a time. A bin holds times from its lower bound up to the next bin's, all equally likely; the last one
/// holds its lower bound only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    bins: Vec<(Duration, u64)>,
}

/// Reasons why bins are no histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// No counts, or a sum that exceeds a `u64`.
    #[error("the counts of a histogram must add up to at least 1 and less than 2^64")]
    Count,
    /// A lower bound that is not more than the one before.
    #[error("the lower bound {0} is not above that of the bin before")]
    Order(Duration),
    /// An invalid line of a file.
    #[error("line {line}: {message}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Description of the mistake.
        message: String,
    },
}

impl Histogram {
    /// Makes a histogram from lower bounds and counts, in order. Bins without a count are kept: they end those before them.
    ///
    /// # Errors
    /// No counts, or bounds that do not rise.
    pub fn new(bins: Vec<(Duration, u64)>) -> Result<Self, HistogramError> {
        if let Some(pair) = bins.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(HistogramError::Order(pair[1].0));
        }
        // `total` and random choices add the counts up without a check.
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
    /// An invalid line, or lines that are no histogram.
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
                .map_err(|_| fault(format!("`{count}` is not a count")))?;
            bins.push((bound, count));
        }
        Self::new(bins)
    }

    /// Returns the lower bounds and counts, in order.
    pub fn bins(&self) -> &[(Duration, u64)] {
        &self.bins
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.bins.iter().map(|bin| bin.1).sum()
    }

    /// Returns the least time with a count.
    pub fn least(&self) -> Duration {
        let first = self.bins.iter().find(|bin| bin.1 > 0);
        first.map_or(Duration::ZERO, |bin| bin.0)
    }

    /// Returns the greatest possible time: the end of the last bin with a count.
    pub fn most(&self) -> Duration {
        let last = self.bins.iter().rposition(|bin| bin.1 > 0).unwrap_or(0);
        let end = self.bins.get(last + 1).or(self.bins.get(last));
        end.map_or(Duration::ZERO, |bin| bin.0)
    }
}

/// A full-duplex link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Nodes at its ends.
    pub ends: [NodeIndex; 2],
    /// Rate of each direction.
    pub rate: Rate,
    /// Length of the cable.
    pub length: Length,
}

/// The end of a link at which frames leave a node. The ports of link `l` are `2 l`, from its first end to its second, and `2 l + 1`, back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Node that frames leave.
    pub node: NodeIndex,
    /// Node that frames reach.
    pub to: NodeIndex,
    /// Link between both.
    pub link: LinkIndex,
    /// Discipline of the port, resolved for this port: slopes, credits, and the beginning of a cycle of gates.
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
    fn invalid_histograms_are_refused() {
        let message = |text| Histogram::from_csv(text).unwrap_err().to_string();
        assert_eq!(
            message(""),
            "the counts of a histogram must add up to at least 1 and less than 2^64"
        );
        assert_eq!(
            message("1 us, 1\n1 us, 2"),
            "the lower bound 1 us is not above that of the bin before"
        );
        assert_eq!(
            message("1 us 1"),
            "line 1: expected a lower bound, a comma and a count"
        );
        assert_eq!(message("1 us, -1"), "line 1: `-1` is not a count");
        assert!(message("# x\n1 parsec, 1").starts_with("line 2: `1 parsec` is not a time"));
    }
}
