//! What is wrong with a value, and where in it.

use serde_json::Value;

use crate::StatusCode;

/// A JSON value, or a text, does not fit the type that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Where in the value, for example `[3].DisplayName`; empty for the value itself.
    path: String,
    message: String,
}

impl JsonError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }

    /// Says what was expected, and shows the beginning of what was found.
    pub(super) fn expected(what: &str, found: &Value) -> Self {
        let text = found.to_string();
        let mut shown: String = text.chars().take(60).collect();
        if shown.len() < text.len() {
            shown.push_str("...");
        }
        Self::new(format!("expected {what}, found {shown}"))
    }

    pub(super) fn in_field(mut self, name: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    pub(super) fn in_element(mut self, index: usize) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("[{index}]{dot}{}", self.path);
        self
    }

    /// Where in the value the problem is, for example `[3].DisplayName`; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What a peer is told.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadTypeMismatch
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}
