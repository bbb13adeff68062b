//! Rows that are done and those that are left, with the rule that ends the repetitions of an item early.

use std::time::Duration;

use takt_scenario::{Share, StopRule};

use crate::statistics::RunningMean;

/// Repetitions of a case by a backend.
#[derive(Debug, Clone)]
pub(crate) struct ItemProgress {
    /// Number of repetitions without a stop rule.
    repetitions: u32,
    /// Number of repetitions that are there, from the first one on without a gap.
    known: u32,
    mean: RunningMean,
    /// True if a row lacks the quantity of the rule.
    lacks_quantity: bool,
    /// Number of rows of the result, once it is known.
    pub(crate) result: Option<u32>,
}

impl ItemProgress {
    pub(crate) fn new(repetitions: u32) -> Self {
        Self {
            repetitions,
            known: 0,
            mean: RunningMean::default(),
            lacks_quantity: false,
            result: None,
        }
    }

    /// Returns the number of the next repetition without a gap.
    pub(crate) fn next(&self) -> u32 {
        self.known + 1
    }

    /// Returns the number of rows of the result, as far as it is known.
    pub(crate) fn rows(&self) -> u32 {
        self.result.unwrap_or(self.repetitions)
    }

    /// Notes the next repetition, with its value of the rule's quantity. Only the repetitions before it decide whether it belongs to
    /// the result, so the result does not depend on the order of computations.
    pub(crate) fn add(&mut self, value: Option<f64>, stop: Option<&StopRule>) {
        self.known += 1;
        match value {
            Some(value) => self.mean.add(value),
            None => self.lacks_quantity = true,
        }
        let ends = stop.is_some_and(|stop| self.ends(stop));
        if self.result.is_none() && (ends || self.known == self.repetitions) {
            self.result = Some(self.known);
        }
    }

    fn ends(&self, stop: &StopRule) -> bool {
        if self.lacks_quantity || self.known < stop.least {
            return false;
        }
        let share = stop.interval.0 as f64 / Share::ONE.0 as f64;
        self.mean
            .estimate()
            .is_some_and(|it| it.high - it.low <= share * it.value.abs())
    }
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CampaignProgress {
    /// Number of rows that are there.
    pub done: usize,
    /// Number of rows of the complete result; a stop rule makes it less while the campaign runs.
    pub of: usize,
    /// Number of rows that this run has computed.
    pub computed: usize,
    /// Time since the beginning of this run.
    pub elapsed: Duration,
}

impl CampaignProgress {
    /// Returns the remaining time, from the rows of this run; `None` before the first one.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let left = self.of.saturating_sub(self.done);
        let each = self.elapsed.as_secs_f64() / self.computed.max(1) as f64;
        (self.computed > 0).then(|| Duration::from_secs_f64(each * left as f64))
    }
}

#[cfg(test)]
mod tests {
    use takt_scenario::CampaignText;

    use super::*;

    fn rule(interval: i64) -> StopRule {
        StopRule {
            quantity: CampaignText {
                text: "x".to_owned(),
                span: 0..0,
            },
            interval: Share(interval),
            least: 3,
        }
    }

    fn result(values: &[Option<f64>], stop: Option<&StopRule>) -> Option<u32> {
        let mut item = ItemProgress::new(5);
        values.iter().for_each(|value| item.add(*value, stop));
        item.result
    }

    #[test]
    fn a_narrow_interval_ends_the_repetitions() {
        let stop = rule(10_000_000);
        let same = [Some(7.0); 5];
        assert_eq!(result(&same[..2], Some(&stop)), None);
        assert_eq!(result(&same, Some(&stop)), Some(3));
        assert_eq!(result(&same, None), Some(5));
        let wide = [1.0, 9.0, 1.0, 9.0, 1.0].map(Some);
        assert_eq!(result(&wide, Some(&stop)), Some(5));
        // A row without the quantity: all repetitions.
        let lacks = [Some(7.0), None, Some(7.0), Some(7.0), Some(7.0)];
        assert_eq!(result(&lacks[..4], Some(&stop)), None);
        assert_eq!(result(&lacks, Some(&stop)), Some(5));
    }

    #[test]
    fn the_remaining_time_follows_from_the_rows_of_this_run() {
        let mut progress = CampaignProgress {
            done: 60,
            of: 100,
            computed: 0,
            elapsed: Duration::from_secs(5),
        };
        assert_eq!(progress.remaining(), None);
        progress.computed = 10;
        assert_eq!(progress.remaining(), Some(Duration::from_secs(20)));
    }
}
