//! Errors of JSON messages.

use serde_json::Value;
use takt_ua::StatusCode;
use takt_ua::json_encoding::JsonDecodeError;

/// Error of a message that was refused, or could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonMessageErrorKind {
    /// The value of a field is wrong; the error contains its place.
    #[error(transparent)]
    Value(#[from] JsonDecodeError),
    /// The standard does not define the MessageType.
    #[error("the MessageType \"{0}\" is not known")]
    UnknownMessageType(String),
    /// A required field is missing.
    #[error("the field '{0}' is missing")]
    MissingField(&'static str),
    /// The layout does not allow this.
    #[error("not allowed: {0}")]
    Forbidden(&'static str),
}

/// Error of a message that was refused, or could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct JsonMessageError {
    kind: JsonMessageErrorKind,
}

impl JsonMessageError {
    #[cold]
    pub(super) fn new(kind: JsonMessageErrorKind) -> Self {
        Self { kind }
    }

    #[cold]
    pub(super) fn forbidden(what: &'static str) -> Self {
        Self::new(JsonMessageErrorKind::Forbidden(what))
    }

    #[cold]
    pub(super) fn expected(what: &str, found: &Value) -> Self {
        JsonDecodeError::expected(what, found).into()
    }

    pub(super) fn in_field(self, name: &str) -> Self {
        self.map(|error| error.in_field(name))
    }

    pub(super) fn in_element(self, index: usize) -> Self {
        self.map(|error| error.in_element(index))
    }

    fn map(self, step: impl FnOnce(JsonDecodeError) -> JsonDecodeError) -> Self {
        match self.kind {
            JsonMessageErrorKind::Value(error) => step(error).into(),
            kind => Self { kind },
        }
    }

    /// Returns the cause of the error.
    pub fn kind(&self) -> &JsonMessageErrorKind {
        &self.kind
    }

    /// Returns the place of the error, for example `Messages[0].Payload.Speed`; empty for the message itself.
    pub fn path(&self) -> &str {
        match &self.kind {
            JsonMessageErrorKind::Value(error) => error.path(),
            _ => "",
        }
    }

    /// Returns the corresponding StatusCode: `BadEncodingLimitsExceeded` if a limit was exceeded, else
    /// `BadDecodingError`.
    pub fn status_code(&self) -> StatusCode {
        match &self.kind {
            JsonMessageErrorKind::Value(error) => error.status_code(),
            _ => StatusCode::BadDecodingError,
        }
    }
}

impl From<JsonDecodeError> for JsonMessageError {
    fn from(error: JsonDecodeError) -> Self {
        Self::new(error.into())
    }
}
