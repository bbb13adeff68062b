//! Errors of a Provider that cannot be started.

use std::io;

use takt_client::{EndpointError, StateDirectoryError};
use takt_services::BuildError;
use takt_space::{AddressSpaceError, PublishValueError};
use takt_ua::BuiltInType;

use super::instance_error::InstanceError;
use crate::history::HistoryStartError;
use crate::serve::ServeError;

/// Error of a Provider that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The registry's endpoint, or one of the Provider's own, is not valid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A path is empty, or contains reserved characters.
    #[error(
        "`{0}` is not a path: segments are divided by `/`, none is empty, and `#` and `:` are reserved"
    )]
    Path(String),
    /// Each Provider has a node of this name.
    #[error(
        "`{0}` begins with a name that each Provider has: Available, Revision, SemanticRegistry or ServerEndpoint"
    )]
    Reserved(String),
    /// Two Variables or Methods have the same path, or one is a folder of the other.
    #[error("`{0}` exists twice, or is also a folder of another path")]
    Duplicate(String),
    /// A Variable, Method or DataType contradicts itself.
    #[error("`{path}` cannot be served: {mistake}")]
    Declaration {
        /// The path, or the name of a DataType.
        path: String,
        /// Contradiction in its declaration.
        mistake: DeclarationMistake,
    },
    /// An instance does not fit its type.
    #[error("the instance `{path}` cannot be served: {mistake}")]
    Instance {
        /// The path of the instance.
        path: String,
        /// Contradiction between instance and type.
        #[source]
        mistake: Box<InstanceError>,
    },
    /// A reduced Provider has no types of NodeSets.
    #[error("`{0}` cannot be served: a reduced Provider has no instances of NodeSets' types")]
    ReducedInstance(String),
    /// The address space refused a node.
    #[error("`{path}` cannot be served: {cause}")]
    Node {
        /// The path.
        path: String,
        /// Cause.
        #[source]
        cause: NodeError,
    },
    /// An endpoint could not be opened.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The folder for the secret of a registration over `opc.tcp` is not safe to use.
    #[error(transparent)]
    StateDirectory(#[from] StateDirectoryError),
    /// The history of its Variables cannot be recorded.
    #[error(transparent)]
    History(#[from] HistoryStartError),
    /// A thread could not be started.
    #[error("no thread could be started: {0}")]
    Thread(#[source] io::Error),
}

/// Cause of a node that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The server with the address space could not be built.
    #[error("{0}")]
    Server(#[from] BuildError),
    /// The address space refused the node.
    #[error("{0}")]
    AddressSpace(#[from] AddressSpaceError),
    /// The value cannot be served in the way that was requested.
    #[error("{0}")]
    Value(#[from] PublishValueError),
}

/// Contradiction in a declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationMistake {
    /// The callback returns another type.
    #[error("its callback returns {returned}, but {declared} is declared")]
    Type {
        /// Declared type.
        declared: BuiltInType,
        /// Type of the first value.
        returned: BuiltInType,
    },
    /// An array is declared, and the value is a scalar.
    #[error("an array is declared, but its value is a scalar")]
    Scalar,
    /// A scalar is declared, and the value is an array.
    #[error("its value is an array: declare its length with `array`")]
    Array,
    /// A unit or a range needs a number.
    #[error("it has a unit or a range, but its type {0} is not a number")]
    NotANumber(BuiltInType),
    /// An alarm needs a Variable.
    #[error("it is an alarm of `{0}`, but no Variable with this path is declared")]
    NoVariable(String),
    /// An alarm needs limits in their order.
    #[error("its limits are missing, or not in the order low-low, low, high, high-high")]
    Limits,
    /// MaxTimeShelved is a time.
    #[error("it can be shelved for a time above zero, and for one year at most")]
    ShelvingTime,
    /// Names of states need an unsigned integer.
    #[error("it has names of states, but its type {0} is not an unsigned integer")]
    NotUnsigned(BuiltInType),
    /// The DataType has values of another built-in type.
    #[error("its values are {declared}, but those of its DataType are {expected}")]
    DataType {
        /// Built-in type of the DataType.
        expected: BuiltInType,
        /// Type of the values.
        declared: BuiltInType,
    },
    /// Published values are in memory that all clients on this host read.
    #[error(
        "its value is published to all clients, so it cannot have permissions or need encryption"
    )]
    PublishedWithPermissions,
    /// A DataType of the Provider is used but not declared, or declared after the structure that uses it.
    #[error("its DataType {0} is not declared, or too late: see `ProviderBuilder::data_type`")]
    UnknownDataType(String),
    /// An enumeration or structure needs a field.
    #[error("it has no fields")]
    NoFields,
    /// Two fields have the same name or value.
    #[error("two of its fields are {0}")]
    DuplicateField(String),
}
