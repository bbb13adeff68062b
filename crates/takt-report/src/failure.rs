//! Reasons why the runs of a report have failed.

use std::fmt;
use std::path::PathBuf;

use crate::comparison::{ComparedRun, Violation};

/// Largest number of violations in the text; the page has all.
const MOST_SHOWN: usize = 5;

/// Reason why the runs of a report have failed.
#[derive(Debug, thiserror::Error)]
pub enum ReportFailure {
    /// Measurements or simulations are above their sound bounds.
    #[error("{}", Shown(violations))]
    AboveBound {
        /// One for each of them, in the order of the page.
        violations: Vec<Violation>,
    },
    /// Files of a run are missing or damaged.
    #[error("files of {} are missing or damaged", directory.display())]
    Damaged {
        /// Directory of the run.
        directory: PathBuf,
    },
}

impl ReportFailure {
    /// Returns the worst failure of these runs; `None` without one. A violation is worse than a file that is missing, so it is reported
    /// alone.
    #[must_use]
    pub fn of(runs: &[ComparedRun]) -> Option<Self> {
        let violations: Vec<Violation> = runs.iter().flat_map(ComparedRun::violations).collect();
        if !violations.is_empty() {
            return Some(Self::AboveBound { violations });
        }
        let damaged = runs.iter().find(|run| run.is_damaged())?;
        let directory = damaged.directory.clone();
        Some(Self::Damaged { directory })
    }
}

/// The first violations, and the number of the others.
struct Shown<'a>(&'a [Violation]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().take(MOST_SHOWN);
        let lines: Vec<&str> = shown
            .flat_map(|it| std::iter::once(&it.title).chain(&it.lines))
            .map(String::as_str)
            .collect();
        f.write_str(&lines.join("\n"))?;
        match self.0.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_first_violations_and_the_number_of_the_others() {
        let violation = |number| Violation {
            title: format!("violation {number}"),
            lines: vec![format!("cause {number}")],
        };
        let text = |count| {
            let violations = (1..=count).map(violation).collect();
            ReportFailure::AboveBound { violations }.to_string()
        };
        assert_eq!(text(1), "violation 1\ncause 1");
        assert!(text(5).ends_with("violation 5\ncause 5"));
        assert!(text(7).ends_with("violation 5\ncause 5\nand 2 more"));
        assert!(ReportFailure::of(&[]).is_none());
    }
}
