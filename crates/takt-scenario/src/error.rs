//! Mistakes in scenarios.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

/// A mistake and its position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) span: Range<usize>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            message: shortened(message.into()),
            help: None,
            span,
        }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// Adds the name that was probably meant, if there is a similar one.
    pub(crate) fn did_you_mean<'a>(
        self,
        written: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        match near(written, names.iter().copied()) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None if names.is_empty() => self,
            // So many names would hide the message.
            None if names.len() > 24 => self,
            None => self.with_help(format!("known: {}", names.join(", "))),
        }
    }
}

/// Length in bytes of the longest name that is compared with others: the time to compare grows with the square of the length.
const LONGEST_NAME: usize = 100;
/// Length in characters of the longest message. A longer one, which shows a value of the file, is cut off.
const LONGEST_MESSAGE: usize = 400;

fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
        message.truncate(end);
        message.push('\u{2026}');
    }
    message
}

/// Returns the name that was probably meant, if there is a similar one.
pub(crate) fn near<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > LONGEST_NAME {
        return None;
    }
    let likeness = |name: &str| {
        let likeness = strsim::jaro_winkler(&written.to_lowercase(), &name.to_lowercase());
        (likeness > 0.75).then_some(likeness)
    };
    let likely = names
        .filter_map(|name| Some((likeness(name)?, name)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    likely.map(|(_, name)| name)
}

/// A mistake in a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Description of the mistake.
    pub message: String,
    /// Probably meant text, or an instruction.
    pub help: Option<String>,
    /// Position as byte offsets into the text.
    pub span: Range<usize>,
    /// Line of the beginning, from 1.
    pub line: usize,
    /// Column of the beginning, in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// The mistakes in a text that is no valid scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}", self.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ScenarioError {
    /// Name of the file.
    pub file: String,
    /// All mistakes that were found, in the order of the file. Not empty.
    pub mistakes: Vec<Mistake>,
}

impl ScenarioError {
    pub(crate) fn new(file: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        // A swept value is read once for each of its tables, perhaps with other mistakes at the same place in between. The same text
        // at another place is another mistake.
        let mut seen_problems = HashSet::new();
        problems.retain(|problem| seen_problems.insert(problem.clone()));
        // Each part of the text is counted once, for any number of mistakes.
        let (mut seen, mut line, mut column) = (0, 1, 1);
        let mistakes = problems.into_iter().map(|problem| {
            for character in text
                .get(seen..problem.span.start)
                .unwrap_or_default()
                .chars()
            {
                match character {
                    '\n' => (line, column) = (line + 1, 1),
                    _ => column += 1,
                }
                seen += character.len_utf8();
            }
            Mistake {
                line,
                column,
                message: problem.message,
                help: problem.help,
                span: problem.span,
            }
        });
        Self {
            file: file.to_owned(),
            mistakes: mistakes.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_reported_once_for_each_place() {
        let text = "a = 1\nb = 1\n";
        let problem = |message: &str, start: usize| Problem::new(message, start..start + 1);
        let problems = vec![
            problem("second", 4),
            problem("first", 4),
            // The same text at another place, with and without an advice.
            problem("first", 10),
            problem("first", 10).with_help("help"),
            // Not next to the equal ones.
            problem("second", 4),
            problem("first", 4),
        ];
        let error = ScenarioError::new("file", text, problems);
        let found: Vec<_> = error
            .mistakes
            .iter()
            .map(|it| (it.message.as_str(), it.line, it.help.as_deref()))
            .collect();
        let expected = [
            ("second", 1, None),
            ("first", 1, None),
            ("first", 2, None),
            ("first", 2, Some("help")),
        ];
        assert_eq!(found, expected);
    }
}
