//! Steps of the comparison, shown on a terminal with the remaining time.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::condition::Condition;

/// Kind of a step. Steps of one kind take about the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StepKind {
    Round(Condition),
    Leftovers,
    Calls,
}

/// Steps of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    left: usize,
    measured: u32,
    took: Duration,
    /// Time of a step before one was measured.
    expected: Duration,
}

impl Group {
    fn remaining(self) -> Duration {
        let each = self
            .took
            .checked_div(self.measured)
            .unwrap_or(self.expected);
        each * u32::try_from(self.left).unwrap_or(u32::MAX)
    }
}

/// Steps that are done, and those that are left.
#[derive(Debug)]
pub(crate) struct Steps {
    groups: BTreeMap<StepKind, Group>,
    number: usize,
    begin: Instant,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self {
            groups: BTreeMap::new(),
            number: 0,
            begin: Instant::now(),
        }
    }

    /// Adds steps, each of which probably takes the time `expected`.
    pub(crate) fn plan(&mut self, kind: StepKind, count: usize, expected: Duration) {
        let group = self.groups.entry(kind).or_default();
        group.left += count;
        group.expected = expected;
    }

    /// Leaves out a step that needs no time.
    pub(crate) fn skip(&mut self, kind: StepKind) {
        self.number += 1;
        let group = self.groups.entry(kind).or_default();
        group.left = group.left.saturating_sub(1);
    }

    /// Shows a step that begins.
    pub(crate) fn begin(&mut self, kind: StepKind, label: &str) {
        self.begin = Instant::now();
        let what = match kind {
            StepKind::Round(Condition::Idle) => label.to_owned(),
            StepKind::Round(condition) => format!("{label}: {}", condition.name()),
            StepKind::Leftovers => format!("{label}: leftovers"),
            StepKind::Calls => format!("{label}: system calls"),
        };
        let left: usize = self.groups.values().map(|group| group.left).sum();
        let time = in_words(self.remaining());
        print(&format!(
            "step {} of {}, {time} left: {what}",
            self.number + 1,
            self.number + left
        ));
    }

    /// Ends the step that was begun.
    pub(crate) fn end(&mut self, kind: StepKind) {
        let group = self.groups.entry(kind).or_default();
        group.measured += 1;
        group.took += self.begin.elapsed();
        self.skip(kind);
    }

    /// Returns the time that the steps which are left probably take.
    fn remaining(&self) -> Duration {
        self.groups.values().map(|group| group.remaining()).sum()
    }

    /// Removes the line of the progress.
    pub(crate) fn clear(&self) {
        print("");
    }

    /// Ends the line of the progress after an interrupt, and tells how the comparison goes on.
    pub(crate) fn interrupt(&self) {
        let mut out = std::io::stderr().lock();
        let end = if out.is_terminal() { "\n" } else { "" };
        // A terminal that is gone is no reason to end otherwise.
        let _ = writeln!(
            out,
            "{end}Interrupted. `--resume` with the same options goes on after the finished rounds."
        );
    }
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// Replaces the line of the progress, if the error output is a terminal.
fn print(text: &str) {
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        // A terminal that is gone is no reason to end.
        let _ = write!(out, "\r\x1b[K{text}");
        let _ = out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_is_that_of_each_kind() {
        let (idle, resting) = (
            StepKind::Round(Condition::Idle),
            StepKind::Round(Condition::Resting),
        );
        let mut steps = Steps::new();
        steps.plan(idle, 4, Duration::from_secs(2));
        steps.plan(resting, 2, Duration::from_secs(150));
        assert_eq!(steps.remaining(), Duration::from_secs(308));
        steps.skip(resting);
        assert_eq!(steps.remaining(), Duration::from_secs(158));
        steps.begin(idle, "tcp");
        steps.end(idle);
        // This step took less than the plan says.
        assert!(steps.remaining() < Duration::from_secs(158));
        assert!(steps.remaining() >= Duration::from_secs(150));
        assert_eq!(
            [89, 90, 121].map(|it| in_words(Duration::from_secs(it))),
            ["89 s", "2 min", "3 min"]
        );
    }
}
