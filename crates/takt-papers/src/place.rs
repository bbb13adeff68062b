//! Places of mistakes in files.

use std::ops::Range;

use takt_scenario::{Mistake, ScenarioError};

use crate::error::PaperError;
use crate::expression::ExpressionMistake;

/// Text of a file, for mistakes in it.
#[derive(Debug, Clone)]
pub(crate) struct FileText {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl FileText {
    /// Returns a mistake at a position in bytes.
    pub(crate) fn mistake(&self, span: &Range<usize>, message: impl Into<String>) -> PaperError {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let mistake = Mistake {
            message: message.into(),
            help: None,
            span: span.clone(),
            line: before.matches('\n').count() + 1,
            column: before[begin..].chars().count() + 1,
        };
        PaperError::File {
            error: ScenarioError {
                file: self.name.clone(),
                mistakes: vec![mistake],
            },
            text: self.text.clone(),
        }
    }

    /// Returns a mistake in an expression, which is a text at this position of the file.
    pub(crate) fn in_expression(
        &self,
        written: &Range<usize>,
        expression: &str,
        mistake: &ExpressionMistake,
    ) -> PaperError {
        let span = match self.content(written, expression) {
            Some(begin) => begin + mistake.span.start..begin + mistake.span.end,
            // A text with escapes has other positions than the file.
            None => written.clone(),
        };
        self.mistake(&span, &mistake.message)
    }

    /// Returns the position of a text's content behind its quotes.
    fn content(&self, written: &Range<usize>, content: &str) -> Option<usize> {
        let raw = self.text.get(written.clone())?;
        [
            "'''\r\n",
            "'''\n",
            "\"\"\"\r\n",
            "\"\"\"\n",
            "'''",
            "\"\"\"",
            "'",
            "\"",
        ]
        .into_iter()
        .find(|quote| {
            let inner = raw.strip_prefix(quote);
            inner.is_some_and(|inner| inner.starts_with(content))
        })
        .map(|quote| written.start + quote.len())
    }
}
