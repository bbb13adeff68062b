//! Arguments of Methods.

use takt_ua::structures::Argument;
use takt_ua::{BuiltInType, LocalizedText, NodeId};

use crate::model::OWN_NAMESPACE;

/// DataType of a Variable or of an argument: a built-in type, or the NodeId of any other.
#[derive(Debug, Clone, PartialEq)]
pub struct DataType(NodeId);

impl DataType {
    /// Returns the NodeId at a server where the Provider's namespace has the index `own`.
    pub(super) fn node_id(&self, own: u16) -> NodeId {
        let mut node = self.0.clone();
        if node.namespace == OWN_NAMESPACE {
            node.namespace = own;
        }
        node
    }
}

impl From<BuiltInType> for DataType {
    fn from(data_type: BuiltInType) -> Self {
        Self(NodeId::numeric(0, data_type as u32))
    }
}

impl From<NodeId> for DataType {
    fn from(node: NodeId) -> Self {
        Self(node)
    }
}

/// A named place for values: an argument of a Method.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    name: String,
    data_type: DataType,
    /// ArrayDimensions of an array of one dimension, `None` for a scalar.
    length: Option<u32>,
    description: LocalizedText,
}

impl Field {
    /// Creates a scalar.
    pub fn new(name: impl Into<String>, data_type: impl Into<DataType>) -> Self {
        Self {
            name: name.into(),
            data_type: data_type.into(),
            length: None,
            description: LocalizedText::NULL,
        }
    }

    /// Makes it a one-dimensional array of at most `length` elements; 0 means any number.
    #[must_use]
    pub fn array(mut self, length: u32) -> Self {
        self.length = Some(length);
        self
    }

    /// Sets its description.
    #[must_use]
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.description = text.into();
        self
    }

    /// Returns the argument (OPC 10000-3, 8.6) at a server where the Provider's namespace has the index `own`.
    pub(super) fn argument(&self, own: u16) -> Argument {
        Argument {
            name: self.name.as_str().into(),
            data_type: self.data_type.node_id(own),
            value_rank: self.length.map_or(-1, |_| 1),
            array_dimensions: self.length.into_iter().collect(),
            description: self.description.clone(),
        }
    }
}
