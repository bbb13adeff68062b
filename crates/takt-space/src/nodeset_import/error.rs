//! Errors of the import of a document.

use takt_nodeset::NodeSetError;
use takt_ua::{DateTime, NodeId};

use crate::address_space::AddressSpaceError;

/// Reason for the failure of an import. Prints as `file:line: reason; advice`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// The document itself is not valid.
    #[error(transparent)]
    Document(#[from] NodeSetError),
    /// The document is valid but does not fit the address space.
    #[error("{file}:{line}: {reason}; {advice}", advice = reason.advice())]
    Import {
        /// Name of the document.
        file: String,
        /// Line of the document.
        line: u32,
        /// The reason.
        reason: Box<ImportReason>,
    },
}

impl ImportError {
    pub(super) fn new(file: &str, line: u32, reason: ImportReason) -> Self {
        Self::Import {
            file: file.to_owned(),
            line,
            reason: Box::new(reason),
        }
    }
}

/// Reason for a conflict between a document and the address space.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportReason {
    /// A required model has not been imported.
    #[error("the model {uri}{} is required but missing", wanted(version.as_deref(), *publication_date))]
    ModelMissing {
        /// URI of the model.
        uri: String,
        /// The required version.
        version: Option<String>,
        /// Its publication date.
        publication_date: Option<DateTime>,
    },
    /// A required model exists in an older version.
    #[error(
        "the model {uri} published {required} or later is required, but the loaded one was published {found}"
    )]
    ModelTooOld {
        /// URI of the model.
        uri: String,
        /// The required publication date.
        required: DateTime,
        /// The publication date of the existing model.
        found: DateTime,
    },
    /// The model has been imported before, or is that of namespace 0.
    #[error("the model {0} is loaded already")]
    ModelExists(String),
    /// A node with that NodeId exists.
    #[error("a node {0} exists already")]
    NodeExists(NodeId),
    /// The node belongs to namespace 0.
    #[error("{0} belongs to namespace 0, which is complete")]
    StandardNode(NodeId),
    /// The ReferenceType of a reference does not exist.
    #[error("{0} is not a ReferenceType")]
    ReferenceTypeUnknown(NodeId),
    /// A DataType, TypeDefinition or supertype does not exist.
    #[error("{node_id} is used as {role} but does not exist")]
    TypeUnknown {
        /// UserRole in which the type is used.
        role: &'static str,
        /// The NodeId.
        node_id: NodeId,
    },
    /// A type is its own supertype.
    #[error("the supertypes of {0} form a cycle")]
    SupertypeCircle(NodeId),
    /// The address space refuses the node or reference.
    #[error(transparent)]
    AddressSpace(AddressSpaceError),
}

impl ImportReason {
    /// Returns the advice for the user.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::ModelMissing { .. } => "import the NodeSet of that model as well",
            Self::ModelTooOld { .. } => "import a newer NodeSet of that model",
            Self::ModelExists(_) => "import each model once",
            Self::NodeExists(_) => "give one of them another NodeId",
            Self::StandardNode(_) => "put the node into a namespace of its own",
            Self::ReferenceTypeUnknown(_) | Self::TypeUnknown { .. } => {
                "define it, or name the model that has it as RequiredModel"
            }
            Self::SupertypeCircle(_) => "correct the HasSubtype references",
            Self::AddressSpace(_) => "see the limits of the server",
        }
    }
}

fn wanted(version: Option<&str>, publication_date: Option<DateTime>) -> String {
    match (version, publication_date) {
        (Some(version), Some(date)) => format!(" (version {version}, published {date})"),
        (Some(version), None) => format!(" (version {version})"),
        (None, Some(date)) => format!(" (published {date})"),
        (None, None) => String::new(),
    }
}
