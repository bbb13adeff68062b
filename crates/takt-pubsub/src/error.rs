//! Errors of configurations and messages.

use takt_rt::memory_budget::BudgetExhausted;
use takt_ua::StatusCode;
use takt_wire::json::JsonMessageError;
use takt_wire::{FixedMessageError, RawDataError, ReassemblyError, WireEncodeError, WireError};

use crate::security::{ProtectError, VerifyError};

/// A part of a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{component}: {problem}")]
pub struct ConfigurationError {
    /// The component, named from the outside in: connection, group, writer or reader, field.
    pub component: String,
    /// Error of the component.
    pub problem: ConfigurationProblem,
}

/// Error in the configuration of a component.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigurationProblem {
    /// A parameter has a value that it may not have.
    #[error("{parameter}: {what}")]
    Parameter {
        /// Name in the standard.
        parameter: &'static str,
        /// Expected value.
        what: String,
    },
    /// A DataSetWriter names a PublishedDataSet that is not there.
    #[error("there is no PublishedDataSet '{0}'")]
    UnknownDataSet(String),
    /// Nobody has the values of a field, or wants them.
    #[error("the field has no {0}")]
    Unbound(&'static str),
    /// Its metadata cannot be RawData.
    #[error(transparent)]
    RawData(#[from] RawDataError),
    /// It should have a fixed layout, and cannot.
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

impl ReceiveError {
    /// Whether a limit of the Subscriber is the reason, and not the message.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Memory { .. } | Self::TooManyReaders { .. })
    }
}

impl ConfigurationError {
    /// The same, said of a part of `component`.
    pub(crate) fn within(self, component: &str) -> Self {
        Self {
            component: format!("{component}/{}", self.component),
            ..self
        }
    }
}

/// A message was not made, or not sent.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// It cannot be encoded.
    #[error(transparent)]
    Encode(#[from] WireEncodeError),
    /// Fields cannot be RawData: a value has another type, or is longer than the metadata says.
    #[error(transparent)]
    RawData(#[from] RawDataError),
    /// It cannot be protected, and so is not sent.
    #[error(transparent)]
    Security(#[from] ProtectError),
    /// It cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] JsonMessageError),
    /// It is longer than is allowed, and cannot be divided.
    #[error(
        "the message has {length} bytes; {limit} are allowed, and JSON messages have no chunks"
    )]
    TooLong {
        /// Its length, in bytes.
        length: usize,
        /// The longest message that can be sent, or that MaxNetworkMessageSize allows.
        limit: usize,
    },
    /// There is less room than was asked for.
    #[error("the way to the wire has given too little room")]
    NoRoom,
    /// It cannot be sent.
    #[error("the way to the wire does not take the message")]
    Output(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A message was not accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReceiveError {
    /// It is no message of OPC 10000-14.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It is JSON, but no message of OPC 10000-14.
    #[error(transparent)]
    Json(#[from] JsonMessageError),
    /// None of its fields is in the metadata.
    #[error(
        "DataSetReader '{reader}': the metadata knows no field '{name}', nor any other of the message"
    )]
    FieldName {
        /// Name of the DataSetReader.
        reader: String,
        /// Name of the first field.
        name: String,
    },
    /// It is not protected as it should be, or by somebody else.
    #[error(transparent)]
    Security(#[from] VerifyError),
    /// It is protected, and no reader expects that of it.
    #[error("the message is signed, and no DataSetReader has keys for its Publisher")]
    NotExpected,
    /// Its chunks do not fit together.
    #[error(transparent)]
    Reassembly(#[from] ReassemblyError),
    /// Its RawData fields are not what the metadata says.
    #[error(transparent)]
    RawData(#[from] RawDataError),
    /// It has other metadata than the reader knows.
    #[error(
        "DataSetReader '{reader}': the message has major version {found} of the metadata, the reader {expected}"
    )]
    MetaDataVersion {
        /// Name of the DataSetReader.
        reader: String,
        /// Version that the reader has.
        expected: u32,
        /// Version in the message.
        found: u32,
    },
    /// It has more fields than the metadata, or one with an index beyond it.
    #[error("DataSetReader '{reader}': field {index}, of {count} that the metadata has")]
    Field {
        /// Name of the DataSetReader.
        reader: String,
        /// Index of the field.
        index: usize,
        /// Number of fields in the metadata.
        count: usize,
    },
    /// An announcement is not kept, because the memory budget of the Subscriber is spent.
    #[error("{what} is not kept: {source}")]
    Memory {
        /// Content of the announcement.
        what: String,
        /// The budget.
        source: BudgetExhausted,
    },
    /// There are as many readers as there may be, none of which was silent for long.
    #[error("{name} is not read: {count} other DataSetWriters are")]
    TooManyReaders {
        /// Name of the DataSetWriter.
        name: String,
        /// Number of readers.
        count: usize,
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
