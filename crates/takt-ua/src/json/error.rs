//! Errors in a JSON value, with their place.

use serde_json::Value;

use crate::StatusCode;
use crate::json_nesting::{self, NestingError};

/// Error of a JSON value or text that does not fit the requested type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Place in the value, for example `[3].DisplayName`; empty for the value itself.
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

    /// Creates an error that names the expected value and shows the beginning of the actual one.
    pub(super) fn expected(what: &str, found: &Value) -> Self {
        let text = found.to_string();
        let mut shown: String = text.chars().take(60).collect();
        if shown.len() < text.len() {
            shown.push_str("...");
        }
        Self::new(format!("expected {what}, found {shown}"))
    }

    pub(super) fn in_field(mut self, name: &str) -> Self {
        self.path = json_nesting::place(name, &self.path);
        self
    }

    /// Returns the place of the error, for example `[3].DisplayName`; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the StatusCode for the peer.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadTypeMismatch
    }
}

impl NestingError for JsonError {
    fn too_deep() -> Self {
        Self::new("values are nested too deeply")
    }

    fn wrong_length(length: usize, found: &Value) -> Self {
        let expected = format!("an array of length {length} like its neighbours");
        Self::expected(&expected, found)
    }

    fn in_element(self, index: usize) -> Self {
        self.in_field(&format!("[{index}]"))
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
