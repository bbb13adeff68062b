//! Errors in a configuration file.

use std::ops::Range;

use takt_ua::NodeId;
use takt_ua::binary::{DecodeError, EncodeError};

/// The bytes are no binary configuration file that can be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BinaryFileError {
    /// They cannot be decoded.
    #[error("the file cannot be decoded: {0}")]
    Decode(#[from] DecodeError),
    /// They begin with another structure.
    #[error("the file begins with the structure {0}, not with a UABinaryFileDataType (i=15422)")]
    NoBinaryFile(NodeId),
    /// The file is in the XML DataEncoding, or its body is.
    #[error("the {0} is in the XML DataEncoding; only the binary one can be read")]
    Xml(&'static str),
    /// There is something after the file's end.
    #[error("the file ends after {0} bytes, but there are more")]
    TrailingBytes(usize),
    /// It is a file with something else.
    #[error(
        "the body of the file is {0}, not a PubSubConfiguration2DataType (i=23854) or PubSubConfigurationDataType (i=21154)"
    )]
    NoConfiguration(String),
}

/// A text is no TOML configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}, column {}: ", .column.unwrap_or(1))).unwrap_or_default())]
pub struct TomlError {
    /// Error.
    pub message: String,
    /// Place of the error, as byte offsets into the text.
    pub span: Option<Range<usize>>,
    /// Line of the beginning, from 1.
    pub line: Option<usize>,
    /// Column of the beginning, in characters, from 1.
    pub column: Option<usize>,
}

impl TomlError {
    pub(super) fn new(text: &str, message: &str, span: Option<Range<usize>>) -> Self {
        let before = span.as_ref().and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        let column = before.map(|before| {
            let last = before.rsplit('\n').next().unwrap_or_default();
            last.chars().count() + 1
        });
        Self {
            message: message.trim_end().to_owned(),
            span,
            line,
            column,
        }
    }
}

/// A configuration cannot be written as TOML without losing something.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnrepresentableError {
    /// It is not read back as it was.
    #[error("TOML cannot say all of {0}")]
    Lost(String),
    /// It cannot be written at all.
    #[error("TOML cannot say it: {0}")]
    Text(String),
    /// The written file is not read back with the same values.
    #[error("TOML would not be read back: {0}")]
    Read(#[from] TomlError),
    /// The configuration has no binary encoding to compare with.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
