//! Results of a run in the line protocol, and failures of the processes.

use std::path::Path;
use std::time::Duration;

use takt_rt::child::ChildError;

/// Longest time that a process may take until it is ready.
pub(crate) const START: Duration = Duration::from_secs(20);
/// Longest time that a process may take to end.
pub(crate) const END: Duration = Duration::from_secs(3);
/// Number of lines of the error output that an error shows.
const LAST_LINES: usize = 3;

/// Reason why a peer was not measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Failed(String),
}

impl SessionError {
    /// Returns the failure of a process, with the last lines of its error output.
    pub(crate) fn of(what: &str, error: ChildError, errors: &Path) -> Self {
        if matches!(error, ChildError::Interrupted) {
            return Self::Interrupted;
        }
        let said = std::fs::read_to_string(errors).unwrap_or_default();
        let said = without_colours(&said);
        let said: Vec<&str> = said
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let last = said
            .get(said.len().saturating_sub(LAST_LINES)..)
            .unwrap_or_default();
        let last: String = last.join(" / ").chars().take(200).collect();
        let last = if last.is_empty() {
            last
        } else {
            format!(": {last}")
        };
        Self::Failed(format!("the {what} {error}{last}"))
    }

    pub(crate) fn failed(reason: impl std::fmt::Display) -> Self {
        Self::Failed(reason.to_string())
    }
}

/// Removes the escape sequences of a terminal's colours (ECMA-48, SGR).
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find('m').map_or(0, |end| end + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

/// One request.
pub(crate) type Sample = Option<u64>;

/// Result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunResult {
    /// Nanoseconds of each request; `None` for a lost one.
    pub(crate) samples: Vec<Sample>,
    pub(crate) wrong: u64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) duplicate: u64,
}

impl RunResult {
    /// Returns the numbers of wrong, lost, late and duplicate answers. An answer after 0 ns is wrong: no answer takes no time.
    pub(crate) fn faults(&self) -> [u64; 4] {
        let timeless = self.samples.iter().filter(|it| **it == Some(0)).count();
        let wrong = self.wrong.saturating_add(timeless as u64);
        [wrong, self.lost, self.late, self.duplicate]
    }

    /// Takes a line of the client. Returns false after the last one.
    pub(crate) fn take(&mut self, line: &str, count: usize) -> Result<bool, SessionError> {
        let strange = || SessionError::Failed(format!("the client printed `{line:.100}`"));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "sample" if rest == "lost" => self.samples.push(None),
            "sample" => self
                .samples
                .push(Some(rest.trim().parse().map_err(|_| strange())?)),
            "errors" => {
                for part in rest.split_ascii_whitespace() {
                    let (name, value) = part.split_once('=').ok_or_else(strange)?;
                    let value = value.parse().map_err(|_| strange())?;
                    match name {
                        "wrong" => self.wrong = value,
                        "lost" => self.lost = value,
                        "late" => self.late = value,
                        "duplicate" => self.duplicate = value,
                        _ => return Err(strange()),
                    }
                }
            }
            "info" => {}
            "done" if self.samples.len() == count => return Ok(false),
            _ => return Err(strange()),
        }
        if self.samples.len() > count {
            return Err(strange());
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn lines_of_a_client_are_read_strictly() {
        let mut result = RunResult::default();
        for line in [
            "sample 10",
            "sample lost",
            "errors wrong=1 lost=1 late=0 duplicate=2",
        ] {
            assert!(result.take(line, 2).unwrap(), "{line}");
        }
        assert!(!result.take("done", 2).unwrap());
        assert_eq!(result.samples, [Some(10), None]);
        assert_eq!((result.wrong, result.lost, result.duplicate), (1, 1, 2));
        for line in [
            "sample x",
            "errors bad=1",
            "errors wrong",
            "hello",
            "sample 1",
        ] {
            assert!(result.clone().take(line, 2).is_err(), "{line}");
        }
        assert!(RunResult::default().take("done", 2).is_err());
    }

    #[test]
    fn an_answer_after_no_time_is_wrong() {
        let mut result = RunResult::default();
        for line in ["sample 0", "sample 7", "sample 0"] {
            result.take(line, 3).unwrap();
        }
        let errors = "errors wrong=1 lost=0 late=0 duplicate=0";
        result.take(errors, 3).unwrap();
        assert_eq!(result.faults(), [3, 0, 0, 0]);
    }

    #[test]
    fn colours_are_removed() {
        assert_eq!(
            without_colours("\u{1b}[31m[FATAL] no\u{1b}[0m\n"),
            "[FATAL] no\n"
        );
        assert_eq!(without_colours("plain"), "plain");
    }
}
