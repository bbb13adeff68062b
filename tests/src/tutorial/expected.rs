//! The output that a document shows, and its comparison with that of a command.

use std::fmt;

/// Lines that a command should print.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expected {
    lines: Vec<String>,
    /// True if each number stands for any number, because figures are those of a machine.
    any_numbers: bool,
}

/// The expected line that stands for any number of lines.
const ANY_LINES: &str = "…";

impl Expected {
    pub(super) fn exactly(lines: Vec<String>) -> Self {
        Self {
            lines,
            any_numbers: false,
        }
    }

    pub(super) fn with_any_numbers(lines: Vec<String>) -> Self {
        Self {
            lines,
            any_numbers: true,
        }
    }

    /// Returns whether output is the expected one, except for trailing spaces.
    pub(super) fn is(&self, output: &[String]) -> bool {
        self.matches(&self.lines, output)
    }

    /// Returns whether output begins as expected: further lines may follow.
    pub(super) fn begins(&self, output: &[String]) -> bool {
        let mut lines = self.lines.clone();
        lines.push(ANY_LINES.to_owned());
        self.matches(&lines, output)
    }

    fn matches(&self, expected: &[String], output: &[String]) -> bool {
        match expected.split_first() {
            None => output.iter().all(|line| line.trim().is_empty()),
            Some((first, rest)) if first.trim() == ANY_LINES => {
                (0..=output.len()).any(|skipped| self.matches(rest, &output[skipped..]))
            }
            Some((first, rest)) => output.split_first().is_some_and(|(line, others)| {
                self.is_line(first, line) && self.matches(rest, others)
            }),
        }
    }

    fn is_line(&self, expected: &str, line: &str) -> bool {
        line_matches(expected, line)
            || line_matches(expected.trim_end(), line.trim_end())
            || self.any_numbers && same_words(expected, line)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.lines.join("\n"))
    }
}

/// Returns whether a line is the expected one; `…` stands for any text.
fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once('…') {
        None => expected == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

/// Returns whether a line has the expected words; a number may be another one.
fn same_words(expected: &str, line: &str) -> bool {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let same = |(a, b): (&str, &str)| line_matches(a, b) || is_number(a) && is_number(b);
    let (expected, words) = (expected.split_whitespace(), line.split_whitespace());
    expected.clone().count() == words.clone().count() && expected.zip(words).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn is(expected: &str, output: &str) -> bool {
        Expected::exactly(lines(expected)).is(&lines(output))
    }

    #[test]
    fn an_ellipsis_stands_for_text_or_lines() {
        assert!(is("a … c", "a b c"));
        assert!(is("a …", "a "));
        assert!(!is("a … c", "a b d"));
        assert!(is("…\nlast", "1\n2\nlast"));
        assert!(is("first\n…", "first"));
        assert!(!is("first", "first\nsecond"));
        assert!(is("", ""));
        assert!(Expected::exactly(lines("first")).begins(&lines("first\nsecond")));
    }

    #[test]
    fn numbers_may_differ_where_they_are_those_of_a_machine() {
        let expected = Expected::with_any_numbers(lines("opc.tcp   8.3  12 µs\n…"));
        assert!(expected.is(&lines("opc.tcp  10.25  7 µs")));
        assert!(!expected.is(&lines("opc.tcp  10.25  7 ms")));
        assert!(!expected.is(&lines("opc.tcp  10.25 µs")));
        assert!(!expected.is(&lines("opc.udp  8.3  12 µs")));
        assert!(!is("8.3 µs", "8.4 µs"));
    }
}
