//! Errors in a configuration file.

use std::ops::Range;

use takt_ua::NodeId;
use takt_ua::binary::{DecodeError, EncodeError};
use takt_ua::json_encoding::JsonDecodeError;

/// Error in the bytes of a binary configuration file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BinaryFileError {
    /// The bytes cannot be decoded.
    #[error("the file cannot be decoded: {0}")]
    Decode(#[from] DecodeError),
    /// The bytes begin with another structure.
    #[error("the file begins with the structure {0}, not with a UABinaryFileDataType (i=15422)")]
    NoBinaryFile(NodeId),
    /// The file is in the XML DataEncoding, or its body is.
    #[error("the {0} is in the XML DataEncoding; only the binary one can be read")]
    Xml(&'static str),
    /// There are bytes after the end of the file.
    #[error("bytes follow the end of the configuration at byte {0}")]
    TrailingBytes(usize),
    /// The body of the file is another structure.
    #[error(
        "the body of the file is {0}, not a PubSubConfiguration2DataType (i=23854) or PubSubConfigurationDataType (i=21154)"
    )]
    NoConfiguration(String),
}

/// Error in the text of a JSON configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JsonFileError {
    /// The text cannot be decoded.
    #[error("the file cannot be decoded: {0}")]
    Decode(#[from] JsonDecodeError),
    /// The text is the JSON of something else.
    #[error(
        "the file is no object with the fields of a PubSubConfiguration2DataType (Connections, PublishedDataSets) or of a \
         UABinaryFileDataType (Body)"
    )]
    NoConfiguration,
    /// The body of the file is another structure.
    #[error(transparent)]
    Body(#[from] BinaryFileError),
}

/// Error in the text of a TOML configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}, column {}: ", .column.unwrap_or(1))).unwrap_or_default())]
pub struct TomlError {
    /// Description of the error.
    pub message: String,
    /// Place of the error, as byte offsets into the text.
    pub span: Option<Range<usize>>,
    /// Line of the beginning of the place, from 1.
    pub line: Option<usize>,
    /// Column of the beginning of the place, in characters, from 1.
    pub column: Option<usize>,
}

#[cfg(feature = "toml")]
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

/// Reason why a configuration cannot be written as TOML without loss.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnrepresentableError {
    /// A part is read back with another value.
    #[error("TOML cannot represent {0} completely")]
    Lost(String),
    /// A part cannot be written.
    #[error("cannot write as TOML: {0}")]
    Text(String),
    /// The written file is not read back with the same values.
    #[error("the written TOML would not be read back: {0}")]
    Read(#[from] TomlError),
    /// The configuration has no binary encoding to compare with.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
