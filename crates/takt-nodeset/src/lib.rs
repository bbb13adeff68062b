//! NodeSet2 XML documents (OPC 10000-6, Annex F) as plain data.
//!
//! [`NodeSet::parse`] turns a document into nodes with their attributes, references and values; [`NodeSetDocument`]
//! does it in two steps, so that an import can check the namespaces and required models first, and gets NodeIds with
//! the namespace indexes of the server. This crate is not an address space. It does not check whether targets of
//! references exist, and it keeps the contents of the document, inherited or not.
//!
//! Documents are untrusted. A [`NodeSetError`] describes an invalid one with file, line, column, reason and fix. No
//! document can make the parser panic, recurse without bound, or take more time and memory than [`ParseLimits`]
//! allows. DTDs are refused.
//!
//! Values keep the exactness of the document, with two simplifications: an array of one dimension is never a Matrix,
//! and DiagnosticInfo is not accepted. Structures of the standard are ExtensionObjects with a binary body; unknown
//! structures keep an XML body, until a [`BodyEncoder`] that knows their definitions encodes it.

#![forbid(unsafe_code)]

mod definition;
mod document;
mod error;
mod guard;
mod lines;
mod model;
mod node;
mod reader;
mod value;

pub use document::NodeSetDocument;
pub use error::{Excerpt, NodeSetError, Reason};
pub use model::{
    Attributes, DataTypeDefinition, DataTypeField, ModelTableEntry, NodeSet, Position, Reference,
    RequiredModel, RolePermission, UaNode, UaVariable, ValueAttributes,
};
pub use value::{BodyEncoder, DataTypes};

/// Namespace of OPC UA itself, which has index 0 everywhere.
pub const UA_NAMESPACE: &str = "http://opcfoundation.org/UA/";

/// XML namespace of the elements of a NodeSet2 document.
const NODESET_NAMESPACE: &str = "http://opcfoundation.org/UA/2011/03/UANodeSet.xsd";

/// Limits of a document. Its memory stays within about ten times `max_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Largest size of the text in bytes.
    pub max_bytes: usize,
    /// Largest number of XML elements.
    pub max_elements: usize,
    /// Largest number of XML attributes in total.
    pub max_attributes: usize,
    /// Largest depth of nested XML elements.
    pub max_depth: usize,
}

impl ParseLimits {
    /// 64 MiB, 2 million elements with 2 million attributes, nested 64 deep: sixteen times the NodeSet of OPC UA
    /// itself, the largest published one.
    pub const DEFAULT: Self = Self {
        max_bytes: 64 << 20,
        max_elements: 2_000_000,
        max_attributes: 2_000_000,
        max_depth: 64,
    };
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
