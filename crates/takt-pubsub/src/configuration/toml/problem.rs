//! Problems of a TOML file with their places.

use std::ops::Range;

/// Error, and its place in the text.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) span: Range<usize>,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            message: message.into(),
            span,
        }
    }
}
