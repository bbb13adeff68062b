//! What can be wrong with a scenario.

use std::fmt;
use std::ops::Range;

/// A mistake, where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) span: Range<usize>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            message: message.into(),
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

    /// With the name that was probably meant, if one is near.
    pub(crate) fn did_you_mean<'a>(
        self,
        written: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        match near(written, names.iter().copied()) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None if names.is_empty() => self,
            None if names.len() > 24 => self,
            None => self.with_help(format!("there is {}", names.join(", "))),
        }
    }
}

/// The name that was probably meant, if one is near.
pub(crate) fn near<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
    /// What is wrong.
    pub message: String,
    /// What was probably meant, or what to do.
    pub help: Option<String>,
    /// Where, as byte offsets into the text.
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

/// A text is no scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}", self.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ScenarioError {
    /// The name of the file.
    pub file: String,
    /// All that is wrong, as far as it could be found out, in the order of the file. Not empty.
    pub mistakes: Vec<Mistake>,
}

impl ScenarioError {
    pub(crate) fn new(file: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup();
        let mistakes = problems.into_iter().map(|problem| {
            let before = text.get(..problem.span.start).unwrap_or(text);
            let last = before.rsplit('\n').next().unwrap_or_default();
            Mistake {
                line: before.matches('\n').count() + 1,
                column: last.chars().count() + 1,
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
