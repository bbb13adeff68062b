//! Errors of changes of the address space.

use takt_ua::{NodeId, StatusCode};

/// Reason for refusing a node or a reference. [`status_code`](Self::status_code) returns the StatusCode for clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressSpaceError {
    /// A node with this NodeId exists.
    #[error("a node {0} exists already")]
    NodeIdExists(NodeId),
    /// The NodeId cannot be used: null, remote, or its namespace is not in the NamespaceArray.
    #[error("the NodeId {0} cannot be used: it is null, or its namespace is not registered")]
    NodeIdRejected(NodeId),
    /// The node does not exist.
    #[error("there is no node {0}")]
    NodeIdUnknown(NodeId),
    /// The parent does not exist.
    #[error("the parent node {0} does not exist")]
    ParentNodeIdInvalid(NodeId),
    /// The source of a reference does not exist.
    #[error("the source node {0} of the reference does not exist")]
    SourceNodeIdInvalid(NodeId),
    /// The target of a reference does not exist.
    #[error("the target node {0} of the reference does not exist")]
    TargetNodeIdInvalid(NodeId),
    /// The node is not a ReferenceType, or is an abstract or otherwise unsuitable one.
    #[error("{0} is not a ReferenceType that can be used here")]
    ReferenceTypeIdInvalid(NodeId),
    /// The data model does not allow this reference between these nodes (OPC 10000-3, 7).
    #[error("the data model does not allow a reference of type {0} here")]
    ReferenceNotAllowed(NodeId),
    /// The reference exists.
    #[error("the reference of type {reference_type} to {target} exists already")]
    DuplicateReference {
        /// Its ReferenceType.
        reference_type: NodeId,
        /// Its target.
        target: NodeId,
    },
    /// A reference of this type may not point at its own source.
    #[error("a reference of type {0} may not point back at its own node")]
    InvalidSelfReference(NodeId),
    /// The reference does not exist.
    #[error("there is no reference of type {reference_type} to {target}")]
    NoSuchReference {
        /// Its ReferenceType.
        reference_type: NodeId,
        /// Its target.
        target: NodeId,
    },
    /// The TypeDefinition is missing, of the wrong NodeClass, abstract, or not allowed for this NodeClass.
    #[error("{0} cannot be the TypeDefinition of this node")]
    TypeDefinitionInvalid(NodeId),
    /// The NodeClass is unknown, or does not fit.
    #[error("the NodeClass is not allowed here")]
    NodeClassInvalid,
    /// The BrowseName is empty, or its namespace is not registered.
    #[error("the BrowseName is empty or its namespace is not registered")]
    BrowseNameInvalid,
    /// The parent has a child with this BrowseName.
    #[error("the parent has a child of the same BrowseName {0} already")]
    BrowseNameDuplicated(String),
    /// The attributes are of another NodeClass, or contradict each other.
    #[error("the node's attributes are not valid: {0}")]
    NodeAttributesInvalid(&'static str),
    /// The node or reference is part of namespace 0 and cannot be deleted.
    #[error("{0} belongs to the standard's namespace and cannot be deleted")]
    NoDeleteRights(NodeId),
    /// The node is not a Variable (or Method), so it has no value (or handler).
    #[error("{0} is neither a Variable nor a Method")]
    NoBinding(NodeId),
    /// A namespace URI is empty.
    #[error("a namespace URI is empty")]
    NamespaceUriEmpty,
    /// The NamespaceArray is full.
    #[error("the NamespaceArray is full: it holds {limit} URIs")]
    TooManyNamespaces {
        /// Maximum number of URIs.
        limit: usize,
    },
    /// The address space has too many nodes.
    #[error("the address space is full: it holds {limit} nodes")]
    TooManyNodes {
        /// Maximum number of nodes.
        limit: usize,
    },
    /// A rule of the application refused the change.
    #[error("refused: {0}")]
    Refused(StatusCode),
}

impl AddressSpaceError {
    /// Returns the operation-level result of this error (OPC 10000-4, 5.8).
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::NodeIdExists(_) => StatusCode::BadNodeIdExists,
            Self::NodeIdRejected(_) => StatusCode::BadNodeIdRejected,
            Self::NodeIdUnknown(_) => StatusCode::BadNodeIdUnknown,
            Self::ParentNodeIdInvalid(_) => StatusCode::BadParentNodeIdInvalid,
            Self::SourceNodeIdInvalid(_) => StatusCode::BadSourceNodeIdInvalid,
            Self::TargetNodeIdInvalid(_) => StatusCode::BadTargetNodeIdInvalid,
            Self::ReferenceTypeIdInvalid(_) => StatusCode::BadReferenceTypeIdInvalid,
            Self::ReferenceNotAllowed(_) => StatusCode::BadReferenceNotAllowed,
            Self::DuplicateReference { .. } => StatusCode::BadDuplicateReferenceNotAllowed,
            Self::InvalidSelfReference(_) => StatusCode::BadInvalidSelfReference,
            Self::NoSuchReference { .. } => StatusCode::BadNotFound,
            Self::TypeDefinitionInvalid(_) => StatusCode::BadTypeDefinitionInvalid,
            Self::NodeClassInvalid => StatusCode::BadNodeClassInvalid,
            Self::BrowseNameInvalid => StatusCode::BadBrowseNameInvalid,
            Self::BrowseNameDuplicated(_) => StatusCode::BadBrowseNameDuplicated,
            Self::NodeAttributesInvalid(_) => StatusCode::BadNodeAttributesInvalid,
            Self::NoDeleteRights(_) => StatusCode::BadNoDeleteRights,
            Self::NoBinding(_) => StatusCode::BadNotSupported,
            Self::NamespaceUriEmpty => StatusCode::BadNodeIdRejected,
            Self::TooManyNamespaces { .. } | Self::TooManyNodes { .. } => {
                StatusCode::BadResourceUnavailable
            }
            Self::Refused(status) => *status,
        }
    }
}
