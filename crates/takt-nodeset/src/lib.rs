//! NodeSet2 XML documents (OPC 10000-6, Annex F) as plain data.
//!
//! [`NodeSet::parse`] turns a document into nodes with their attributes, references and values;
//! [`NodeSetDocument`] does it in two steps, so that whoever imports the nodes sees the namespaces and required models
//! first and gets NodeIds with the namespace indexes of the server. What this crate is not: an address space. It does
//! not know whether the target of a reference exists, and it keeps what the document says, inherited or not.
//!
//! Documents may come from anywhere. What is wrong with one is a [`NodeSetError`] that names file, line, column,
//! reason and remedy; nothing in a document can make the parser panic, recurse without bound, or take more time and
//! memory than [`ParseLimits`] allows for. DTDs are refused.
//!
//! Values keep the exactness of the document, with two simplifications: an array of one dimension is never a Matrix,
//! and DiagnosticInfo is not accepted. Structures of the standard are ExtensionObjects with a binary body; structures
//! that are not known here keep an XML body, until a [`BodyEncoder`] that knows their definitions encodes it.

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
    Attributes, DataTypeDefinition, Field, Model, Node, NodeSet, Position, Reference,
    RequiredModel, RolePermission, ValueAttributes, VariableAttributes,
};
pub use value::{BodyEncoder, DataTypes};

/// Namespace of OPC UA itself, which has index 0 everywhere.
pub const UA_NAMESPACE: &str = "http://opcfoundation.org/UA/";

/// XML namespace of the elements of a NodeSet2 document.
const NODESET_NAMESPACE: &str = "http://opcfoundation.org/UA/2011/03/UANodeSet.xsd";

/// What a document may cost. Memory stays within some ten times `max_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Bytes of text.
    pub max_bytes: usize,
    /// XML elements.
    pub max_elements: usize,
    /// XML attributes in all.
    pub max_attributes: usize,
    /// Nesting of XML elements.
    pub max_depth: usize,
}

impl ParseLimits {
    /// 64 MiB, 2 million elements with 2 million attributes, nested 64 deep: sixteen times the NodeSet of OPC UA
    /// itself, which is the largest of those that are published.
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
