//! Errors of configurations and messages.

use takt_rt::memory_budget::BudgetExhausted;
use takt_ua::StatusCode;
use takt_wire::json::JsonMessageError;
use takt_wire::{FixedMessageError, RawDataError, ReassemblyError, WireEncodeError, WireError};

use crate::security::{ProtectError, VerifyError};

/// Error of a part of a configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{component}: {problem}")]
pub struct ConfigurationError {
    /// Component, named from the outside in: connection, group, writer or reader, field.
    pub component: String,
    /// Error of the component.
    pub problem: ConfigurationProblem,
}

/// Error in the configuration of a component.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigurationProblem {
    /// A parameter has a forbidden value.
    #[error("{parameter}: {what}")]
    Parameter {
        /// Name of the parameter in the standard.
        parameter: &'static str,
        /// Description of the error.
        what: String,
    },
    /// A DataSetWriter names a PublishedDataSet that does not exist.
    #[error("there is no PublishedDataSet '{0}'")]
    UnknownDataSet(String),
    /// A field has no source or no target.
    #[error("the field has no {0}")]
    Unbound(&'static str),
    /// The metadata does not allow RawData.
    #[error(transparent)]
    RawData(#[from] RawDataError),
    /// The message is configured with a fixed layout, but cannot have one.
    #[error(transparent)]
    Fixed(#[from] FixedMessageError),
}

impl ConfigurationProblem {
    pub(crate) fn parameter(parameter: &'static str, what: impl Into<String>) -> Self {
        Self::Parameter {
            parameter,
            what: what.into(),
        }
    }

    pub(crate) fn at(self, component: &str) -> ConfigurationError {
        ConfigurationError {
            component: component.to_owned(),
            problem: self,
        }
    }
}

impl ConfigurationError {
    /// Returns the same error for a part of `component`.
    pub(crate) fn within(self, component: &str) -> Self {
        Self {
            component: format!("{component}/{}", self.component),
            ..self
        }
    }
}

/// Reason why a message was not made, or not sent.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The message cannot be encoded.
    #[error(transparent)]
    Encode(#[from] WireEncodeError),
    /// Fields cannot be RawData: a value has another type, or is longer than the metadata allows.
    #[error(transparent)]
    RawData(#[from] RawDataError),
    /// The message cannot be protected, and so is not sent.
    #[error(transparent)]
    Security(#[from] ProtectError),
    /// The message cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] JsonMessageError),
    /// The message is longer than is allowed, and cannot be divided.
    #[error(
        "the message has {length} bytes; {limit} are allowed, and JSON messages have no chunks"
    )]
    TooLong {
        /// Length of the message, in bytes.
        length: usize,
        /// Length of the longest message that can be sent, or that MaxNetworkMessageSize allows, in bytes.
        limit: usize,
    },
    /// The message is longer than those of its flow, for which its delay is proven: see
    /// [`WriterGroup::set_longest_message`](crate::publisher::WriterGroup::set_longest_message). It was not sent.
    #[error("a message has {found} bytes, and those of its flow have at most {longest}")]
    Length {
        /// Length of the longest message of the flow, in bytes.
        longest: usize,
        /// Length of the message, in bytes.
        found: usize,
    },
    /// The output has less room than was reserved.
    #[error("the output buffer is smaller than was reserved")]
    NoRoom,
    /// The message cannot be sent.
    #[error("the output does not accept the message")]
    Output(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Reason why a message was not accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReceiveError {
    /// The bytes are not a message of OPC 10000-14.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The text is JSON, but not a message of OPC 10000-14.
    #[error(transparent)]
    Json(#[from] JsonMessageError),
    /// None of the message's fields is in the metadata.
    #[error(
        "DataSetReader '{reader}': the metadata has neither the field '{name}' nor any other field of the message"
    )]
    FieldName {
        /// Name of the DataSetReader.
        reader: String,
        /// Name of the first field.
        name: String,
    },
    /// The message is not protected as configured, or not with the expected keys.
    #[error(transparent)]
    Security(#[from] VerifyError),
    /// The message is protected, but no reader expects protection.
    #[error("the message is signed or encrypted, and no DataSetReader has keys for its Publisher")]
    NotExpected,
    /// The chunks of the message do not fit together.
    #[error(transparent)]
    Reassembly(#[from] ReassemblyError),
    /// The RawData fields of the message do not match the metadata.
    #[error(transparent)]
    RawData(#[from] RawDataError),
    /// The fields are RawData, which only the metadata describes, and the reader has none yet.
    #[error(
        "DataSetReader '{reader}': the fields are RawData, and their names and types are unknown"
    )]
    MetaDataMissing {
        /// Name of the DataSetReader.
        reader: String,
    },
    /// The fields are RawData, which only the metadata describes, and no Publisher can be asked for it.
    #[error(
        "DataSetReader '{reader}': the fields are RawData, and the message does not say the DataSetWriter that knows their names and types"
    )]
    MetaDataUnknown {
        /// Name of the DataSetReader.
        reader: String,
    },
    /// The message has another version of the metadata than the reader.
    #[error(
        "DataSetReader '{reader}': the message has major version {found} of the metadata, the reader has {expected}"
    )]
    MetaDataVersion {
        /// Name of the DataSetReader.
        reader: String,
        /// Version that the reader has.
        expected: u32,
        /// Version in the message.
        found: u32,
    },
    /// The message has more fields than the metadata, or one with an index beyond it.
    #[error(
        "DataSetReader '{reader}': field {index} does not exist: the metadata has {count} fields"
    )]
    Field {
        /// Name of the DataSetReader.
        reader: String,
        /// Index of the field.
        index: usize,
        /// Number of fields in the metadata.
        count: usize,
    },
    /// Fields cannot be decoded, and are Bad. The other fields of the message are accepted.
    #[error("DataSetReader '{reader}': {fields} cannot be decoded: the value is {status}")]
    Unreadable {
        /// Name of the DataSetReader.
        reader: String,
        /// Names of the fields.
        fields: String,
        /// StatusCode of the first one.
        status: StatusCode,
    },
    /// Fields have other types or dimensions than in the metadata, and are Bad. The other fields of the message are accepted.
    #[error(
        "DataSetReader '{reader}': {fields} does not have the type of the metadata ({found}, not {expected}): the value is {status}",
        status = StatusCode::BadTypeMismatch
    )]
    Mismatch {
        /// Name of the DataSetReader.
        reader: String,
        /// Names of the fields.
        fields: String,
        /// Type of the value of the first one.
        found: String,
        /// Its type in the metadata.
        expected: String,
    },
    /// Fields are not encoded according to OPC 10000-6, but can be read. The message is accepted.
    #[error(
        "DataSetReader '{reader}': {fields} is not encoded according to OPC 10000-6, but can be read (U+FFFD stands for bytes of a \
         text that are not UTF-8)"
    )]
    Mended {
        /// Name of the DataSetReader.
        reader: String,
        /// Names of the fields.
        fields: String,
    },
    /// A DataSetMessage cannot be decoded, and the end of what cannot be decoded is not known: nothing of it is accepted.
    #[error(
        "DataSetReader '{reader}': a message is lost, because {part} cannot be decoded: {reason}"
    )]
    Lost {
        /// Name of the DataSetReader.
        reader: String,
        /// Name of the field, or the message.
        part: String,
        /// Error of the field or of the message.
        reason: String,
    },
    /// A NetworkMessage, or one of its chunks, is longer than those of the reader's flow: see
    /// [`Subscriber::set_longest_message`](crate::subscriber::Subscriber::set_longest_message).
    #[error(
        "DataSetReader '{reader}': a message has {found} bytes, and those of its flow have at most {longest}"
    )]
    Length {
        /// Name of the DataSetReader.
        reader: String,
        /// Length of the longest message of the flow, in bytes.
        longest: usize,
        /// Length of the message, in bytes.
        found: usize,
    },
    /// An announcement is not kept, because the memory budget of the Subscriber is spent.
    #[error("{what} cannot be stored: {source}")]
    Memory {
        /// Content that is not kept, with the name of the reader.
        what: String,
        /// Error of the memory budget.
        source: BudgetExhausted,
    },
    /// A value could not be written to its target.
    #[error("DataSetReader '{reader}', field {index}: {status}")]
    Target {
        /// Name of the DataSetReader.
        reader: String,
        /// Index of the field.
        index: usize,
        /// StatusCode of the target.
        status: StatusCode,
    },
}

impl ReceiveError {
    /// Returns true if the whole NetworkMessage cannot be decoded.
    pub(crate) fn is_of_encoding(&self) -> bool {
        matches!(self, Self::Wire(_) | Self::Json(_))
    }
}
