//! DataTypes, and the named places for their values: arguments of Methods and fields of structures.

use std::sync::Arc;

use takt_client::model::OWN_NAMESPACE;
use takt_ua::structures::{Argument, StructureField};
use takt_ua::{BuiltInType, Identifier, LocalizedText, NodeId};

/// DataType of a Variable, an argument or a field: a built-in type, an [`Enumeration`](crate::Enumeration) or a
/// [`StructureDataType`](crate::StructureDataType) of the Provider, or the NodeId of any other.
#[derive(Debug, Clone, PartialEq)]
pub struct DataType {
    node_id: NodeId,
    pub(super) kind: Kind,
}

/// Form of the values of a DataType.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    BuiltIn(BuiltInType),
    /// Int32, for an enumeration of the Provider.
    Enumeration,
    /// A structure of the Provider with these fields.
    Structure(Arc<[Field]>),
    /// A DataType of the standard or of another Provider, whose encoding is not known here.
    Other,
}

impl DataType {
    /// Returns a DataType of the Provider itself. No path begins with `#`, so its NodeId is not that of a Variable.
    pub(super) fn own(name: &str, kind: Kind) -> Self {
        let node_id = NodeId::string(OWN_NAMESPACE, &format!("#{name}"));
        Self { node_id, kind }
    }

    /// Returns the NodeId at a server where the Provider's namespace has the index `own`.
    pub(super) fn node_id(&self, own: u16) -> NodeId {
        let mut node = self.node_id.clone();
        if node.namespace == OWN_NAMESPACE {
            node.namespace = own;
        }
        node
    }

    /// Returns the NodeId of the Default Binary encoding of a structure of the Provider.
    pub(super) fn encoding_id(&self, own: u16) -> NodeId {
        NodeId::string(own, &format!("{}#Default Binary", self.path()))
    }

    /// Returns the identifier of a DataType of the Provider; empty for any other.
    pub(super) fn path(&self) -> &str {
        match &self.node_id.identifier {
            Identifier::String(path) if self.node_id.namespace == OWN_NAMESPACE => path,
            _ => "",
        }
    }

    /// Returns the built-in type of the values, if it is known.
    pub(super) fn built_in_type(&self) -> Option<BuiltInType> {
        match self.kind {
            Kind::BuiltIn(built_in_type) => Some(built_in_type),
            Kind::Enumeration => Some(BuiltInType::Int32),
            Kind::Structure(_) => Some(BuiltInType::ExtensionObject),
            Kind::Other => None,
        }
    }
}

impl From<BuiltInType> for DataType {
    fn from(data_type: BuiltInType) -> Self {
        Self {
            node_id: NodeId::numeric(0, data_type as u32),
            kind: Kind::BuiltIn(data_type),
        }
    }
}

impl From<NodeId> for DataType {
    fn from(node_id: NodeId) -> Self {
        Self {
            node_id,
            kind: Kind::Other,
        }
    }
}

/// A named place for values: an argument of a Method, or a field of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// ArrayDimensions of an array of one dimension, `None` for a scalar.
    pub(super) length: Option<u32>,
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

    fn value_rank(&self) -> i32 {
        self.length.map_or(-1, |_| 1)
    }

    /// Returns the argument (OPC 10000-3, 8.6) at a server where the Provider's namespace has the index `own`.
    pub(super) fn argument(&self, own: u16) -> Argument {
        Argument {
            name: self.name.as_str().into(),
            data_type: self.data_type.node_id(own),
            value_rank: self.value_rank(),
            array_dimensions: self.length.into_iter().collect(),
            description: self.description.clone(),
        }
    }

    /// Returns the field of a StructureDefinition (OPC 10000-3, 8.51) at a server where the Provider's namespace has the
    /// index `own`.
    pub(super) fn structure_field(&self, own: u16) -> StructureField {
        StructureField {
            name: self.name.as_str().into(),
            description: self.description.clone(),
            data_type: self.data_type.node_id(own),
            value_rank: self.value_rank(),
            array_dimensions: self.length.into_iter().collect(),
            ..StructureField::default()
        }
    }
}
