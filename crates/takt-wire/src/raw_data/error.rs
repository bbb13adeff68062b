//! Errors of RawData.

use takt_ua::binary::{DecodeError, EncodeError};
use takt_ua::{BuiltInType, NodeId};

/// Reason for which fields cannot be RawData, or are invalid. A field is named by its index in the metadata.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RawDataError {
    /// The standard forbids the named type.
    #[error("field {field}: {what} cannot be RawData (OPC 10000-14, 7.2.4.5.11)")]
    Forbidden {
        /// Index of the field.
        field: usize,
        /// Type of the field, or of a part of it.
        what: &'static str,
    },
    /// The metadata does not describe a DataType.
    #[error("field {field}: the metadata does not describe the DataType {data_type}")]
    UnknownDataType {
        /// Index of the field.
        field: usize,
        /// The DataType.
        data_type: NodeId,
    },
    /// The number of values differs from the number of fields.
    #[error("{found} values were given for {expected} fields")]
    FieldCount {
        /// Number of fields.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// A value has another type than in the metadata.
    #[error("field {field}: the value is not of type {expected}")]
    TypeMismatch {
        /// Index of the field.
        field: usize,
        /// Type in the metadata.
        expected: BuiltInType,
    },
    /// A value breaks the named rule.
    #[error("field {field}: {what}")]
    Invalid {
        /// Index of the field.
        field: usize,
        /// Description of the error.
        what: &'static str,
    },
    /// The bytes are cut off, or do not match the metadata.
    #[error("field {field}: {error}")]
    Decoding {
        /// Index of the field.
        field: usize,
        /// Decoding error; its offset counts from the start of the fields.
        error: DecodeError,
    },
    /// The buffer is too small.
    #[error(transparent)]
    Encoding(#[from] EncodeError),
    /// Bytes follow the last field.
    #[error("bytes that are not padding follow the last field, at byte {offset}")]
    TrailingBytes {
        /// End of the last field.
        offset: usize,
    },
}

/// The same errors, of a field that is not known yet.
#[derive(Debug, PartialEq)]
pub(crate) enum Problem {
    Forbidden(&'static str),
    UnknownDataType(NodeId),
    TypeMismatch(BuiltInType),
    Invalid(&'static str),
    Decoding(DecodeError),
    Encoding(EncodeError),
}

impl Problem {
    #[cold]
    pub(super) fn at(self, field: usize) -> RawDataError {
        match self {
            Self::Forbidden(what) => RawDataError::Forbidden { field, what },
            Self::UnknownDataType(data_type) => RawDataError::UnknownDataType { field, data_type },
            Self::TypeMismatch(expected) => RawDataError::TypeMismatch { field, expected },
            Self::Invalid(what) => RawDataError::Invalid { field, what },
            Self::Decoding(error) => RawDataError::Decoding { field, error },
            Self::Encoding(error) => RawDataError::Encoding(error),
        }
    }
}

impl From<DecodeError> for Problem {
    fn from(error: DecodeError) -> Self {
        Self::Decoding(error)
    }
}

impl From<EncodeError> for Problem {
    fn from(error: EncodeError) -> Self {
        Self::Encoding(error)
    }
}
