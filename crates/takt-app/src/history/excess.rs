//! Variables that are not recorded because there are too many.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use takt_ua::NodeId;

/// Time without a further Variable until their number is reported: a Provider has many of them.
const QUIET: Duration = Duration::from_secs(1);

/// Variables beyond the limit. Their number is reported once, not each of them.
#[derive(Default)]
pub(super) struct Excess {
    nodes: HashSet<NodeId>,
    /// Time of the next report.
    due: Option<Instant>,
}

impl Excess {
    /// Adds a Variable. One that is known already causes no further report.
    pub(super) fn add(&mut self, node: NodeId, now: Instant) {
        if self.nodes.insert(node) {
            self.due = Some(now + QUIET);
        }
    }

    /// Returns the time of the next report, if there is one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the number of Variables if it is time to report it.
    pub(super) fn report(&mut self, now: Instant) -> Option<usize> {
        self.due.take_if(|due| *due <= now)?;
        Some(self.nodes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_variables_are_reported_once() {
        let mut excess = Excess::default();
        let begin = Instant::now();
        assert_eq!(excess.report(begin), None);
        for number in 0..1000 {
            excess.add(NodeId::numeric(1, number), begin);
        }
        assert_eq!(excess.report(begin), None);
        let later = begin + QUIET;
        assert_eq!(excess.due(), Some(later));
        assert_eq!(excess.report(later), Some(1000));
        assert_eq!(excess.report(later + QUIET), None);
        excess.add(NodeId::numeric(1, 7), later);
        assert_eq!(excess.due(), None);
        excess.add(NodeId::numeric(1, 1000), later);
        assert_eq!(excess.report(later + QUIET), Some(1001));
    }
}
