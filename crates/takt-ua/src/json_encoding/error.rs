//! Errors in a JSON text, with their place.

use serde_json::Value;

use crate::binary::EncodeError;
use crate::json_nesting::{self, NestingError};
use crate::{NodeId, StatusCode};

/// Cause of the error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonDecodeErrorKind {
    /// The text is not JSON (RFC 8259).
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The text is longer than allowed.
    #[error("the text has {length} bytes; at most {maximum} are read")]
    TooLong {
        /// Length of the text in bytes.
        length: usize,
        /// Largest length that is read, in bytes.
        maximum: usize,
    },
    /// The text has more values than allowed: each takes much more memory than its two bytes of text.
    #[error("the text has more than {maximum} values")]
    TooManyValues {
        /// Largest number of values that are read.
        maximum: usize,
    },
    /// Values are nested too deeply.
    #[error("values are nested too deeply")]
    TooDeep,
    /// A structure would become too large.
    #[error("a structure is too large: {0}")]
    TooLarge(#[from] EncodeError),
    /// A structure consists of too many structures.
    #[error("a structure consists of too many structures")]
    TooManyStructures,
    /// An object contains a field twice (OPC 10000-6, 5.4.2.16).
    #[error("the field '{0}' occurs twice")]
    DuplicateField(String),
    /// A field that must be there is missing.
    #[error("the field '{0}' is missing")]
    MissingField(&'static str),
    /// A value has another type than expected.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// Expected value.
        expected: String,
        /// Beginning of the actual value.
        found: String,
    },
    /// The Dimensions do not match the number of elements.
    #[error("the dimensions {dimensions:?} do not match {elements} elements")]
    Dimensions {
        /// Lengths of the dimensions.
        dimensions: Vec<u32>,
        /// Number of elements.
        elements: usize,
    },
    /// A structure of an unknown type was found where its binary form is needed.
    #[error("the structure {0} is not known")]
    UnknownStructure(NodeId),
    /// The standard allows this, but it is not supported.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
}

/// Error in a JSON text or in a value of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonDecodeError {
    path: String,
    kind: JsonDecodeErrorKind,
}

/// Largest number of characters of a name or a value that an error repeats.
const SHOWN: usize = 60;

impl JsonDecodeError {
    /// Creates an error of a value.
    #[cold]
    pub fn new(kind: JsonDecodeErrorKind) -> Self {
        Self {
            path: String::new(),
            kind,
        }
    }

    /// Creates an error that names the expected value and shows the beginning of the actual one.
    #[cold]
    pub fn expected(expected: impl Into<String>, found: &Value) -> Self {
        let found = match found {
            Value::Array(elements) => format!("an array of {}", elements.len()),
            Value::Object(fields) => {
                let names: Vec<_> = fields.keys().take(4).map(String::as_str).collect();
                format!("an object with {}", shortened(&names.join(", ")))
            }
            Value::String(text) => format!("\"{}\"", shortened(text)),
            scalar => scalar.to_string(),
        };
        Self::new(JsonDecodeErrorKind::Unexpected {
            expected: expected.into(),
            found,
        })
    }

    /// Returns the same error, in a field of an object.
    #[must_use]
    pub fn in_field(self, name: &str) -> Self {
        self.within(&shortened(name))
    }

    /// Returns the same error, in an element of an array.
    #[must_use]
    pub fn in_element(self, index: usize) -> Self {
        NestingError::in_element(self, index)
    }

    fn within(mut self, step: &str) -> Self {
        self.path = json_nesting::place(step, &self.path);
        self
    }

    /// Returns the place of the error, for example `Messages[0].Payload.Speed`; empty for the whole text.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the cause of the error.
    pub fn kind(&self) -> &JsonDecodeErrorKind {
        &self.kind
    }

    /// Returns the StatusCode for the peer: `BadEncodingLimitsExceeded` if a limit was exceeded, else
    /// `BadDecodingError`.
    pub fn status_code(&self) -> StatusCode {
        use JsonDecodeErrorKind as K;
        match self.kind {
            K::TooLong { .. }
            | K::TooManyValues { .. }
            | K::TooDeep
            | K::TooLarge(_)
            | K::TooManyStructures => StatusCode::BadEncodingLimitsExceeded,
            _ => StatusCode::BadDecodingError,
        }
    }
}

impl NestingError for JsonDecodeError {
    #[cold]
    fn too_deep() -> Self {
        Self::new(JsonDecodeErrorKind::TooDeep)
    }

    #[cold]
    fn wrong_length(length: usize, found: &Value) -> Self {
        let expected = format!("an array of {length}, like its neighbours");
        Self::expected(expected, found)
    }

    fn in_element(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }
}

impl From<EncodeError> for JsonDecodeError {
    fn from(error: EncodeError) -> Self {
        Self::new(error.into())
    }
}

impl std::fmt::Display for JsonDecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for JsonDecodeError {}

/// Returns the beginning of a text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
