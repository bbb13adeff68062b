//! Definition of a node: its attributes, apart from its references and its value (OPC 10000-3, 5).

use takt_ua::enumerations::NodeClass;
use takt_ua::{ExtensionObject, LocalizedText, NodeId, QualifiedName, Variant};

use crate::access_level;
use crate::node_access::NodeAccess;

/// Values of the attribute ValueRank (OPC 10000-3, 5.6.2).
pub mod value_rank {
    /// A scalar, or an array of one dimension.
    pub const SCALAR_OR_ONE_DIMENSION: i32 = -3;
    /// Any rank.
    pub const ANY: i32 = -2;
    /// A scalar.
    pub const SCALAR: i32 = -1;
    /// An array of one or more dimensions.
    pub const ONE_OR_MORE_DIMENSIONS: i32 = 0;
    /// An array of one dimension.
    pub const ONE_DIMENSION: i32 = 1;
}

/// A node's own attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeDefinition {
    /// NodeId.
    pub node_id: NodeId,
    /// BrowseName.
    pub browse_name: QualifiedName,
    /// DisplayName; `None`: the text of the BrowseName.
    pub display_name: Option<Box<LocalizedText>>,
    /// Description; `None`: the attribute does not exist.
    pub description: Option<Box<LocalizedText>>,
    /// RolePermissions and AccessRestrictions; `None`: the Roles have their default permissions.
    pub access: Option<Box<NodeAccess>>,
    /// Attributes that depend on the NodeClass.
    pub attributes: ClassAttributes,
}

/// The attributes that depend on the NodeClass.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassAttributes {
    /// Attributes of an Object (OPC 10000-3, 5.5.1).
    Object {
        /// EventNotifier bits.
        event_notifier: u8,
    },
    /// Attributes of a Variable (OPC 10000-3, 5.6.2).
    Variable(VariableDefinition),
    /// Attributes of a Method (OPC 10000-3, 5.7).
    Method {
        /// Executable.
        executable: bool,
    },
    /// Attributes of an ObjectType (OPC 10000-3, 5.5.2).
    ObjectType {
        /// IsAbstract.
        is_abstract: bool,
    },
    /// Attributes of a VariableType (OPC 10000-3, 5.6.5).
    VariableType {
        /// IsAbstract.
        is_abstract: bool,
        /// DataType.
        data_type: NodeId,
        /// ValueRank.
        value_rank: i32,
        /// ArrayDimensions; empty: the attribute does not exist.
        array_dimensions: Vec<u32>,
        /// The default value; `None`: the attribute does not exist.
        value: Option<Box<Variant>>,
    },
    /// Attributes of a ReferenceType (OPC 10000-3, 5.3).
    ReferenceType {
        /// IsAbstract.
        is_abstract: bool,
        /// Symmetric.
        symmetric: bool,
        /// InverseName; `None`: the attribute does not exist.
        inverse_name: Option<Box<LocalizedText>>,
    },
    /// Attributes of a DataType (OPC 10000-3, 5.8.3).
    DataType {
        /// IsAbstract.
        is_abstract: bool,
        /// DataTypeDefinition; `None`: the attribute does not exist.
        definition: Option<Box<ExtensionObject>>,
    },
    /// Attributes of a View (OPC 10000-3, 5.4).
    View {
        /// ContainsNoLoops.
        contains_no_loops: bool,
        /// EventNotifier bits.
        event_notifier: u8,
    },
}

/// The attributes of a Variable, apart from its Value (OPC 10000-3, 5.6.2).
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDefinition {
    /// DataType.
    pub data_type: NodeId,
    /// ValueRank.
    pub value_rank: i32,
    /// ArrayDimensions: maximum number of elements per dimension, 0 for no limit; empty: the attribute does not exist.
    pub array_dimensions: Vec<u32>,
    /// AccessLevelEx; its low byte is AccessLevel.
    pub access_level: u32,
    /// MinimumSamplingInterval in milliseconds; negative: unknown.
    pub minimum_sampling_interval: f64,
    /// Historizing.
    pub historizing: bool,
}

impl Default for VariableDefinition {
    /// Returns a readable scalar of any type.
    fn default() -> Self {
        Self {
            data_type: NodeId::numeric(0, takt_ua::ids::BASE_DATA_TYPE),
            value_rank: value_rank::SCALAR,
            array_dimensions: Vec::new(),
            access_level: access_level::CURRENT_READ,
            minimum_sampling_interval: 0.0,
            historizing: false,
        }
    }
}

impl NodeDefinition {
    /// Creates a node whose DisplayName is its BrowseName.
    pub fn new(
        node_id: impl Into<NodeId>,
        browse_name: QualifiedName,
        attributes: ClassAttributes,
    ) -> Self {
        Self {
            node_id: node_id.into(),
            browse_name,
            display_name: None,
            description: None,
            access: None,
            attributes,
        }
    }

    /// Returns the NodeClass.
    pub fn node_class(&self) -> NodeClass {
        self.attributes.node_class()
    }
}

impl ClassAttributes {
    /// Returns the NodeClass of these attributes.
    pub fn node_class(&self) -> NodeClass {
        match self {
            Self::Object { .. } => NodeClass::Object,
            Self::Variable(_) => NodeClass::Variable,
            Self::Method { .. } => NodeClass::Method,
            Self::ObjectType { .. } => NodeClass::ObjectType,
            Self::VariableType { .. } => NodeClass::VariableType,
            Self::ReferenceType { .. } => NodeClass::ReferenceType,
            Self::DataType { .. } => NodeClass::DataType,
            Self::View { .. } => NodeClass::View,
        }
    }

    /// Returns true if IsAbstract exists and is true.
    pub fn is_abstract(&self) -> bool {
        match self {
            Self::ObjectType { is_abstract }
            | Self::VariableType { is_abstract, .. }
            | Self::ReferenceType { is_abstract, .. }
            | Self::DataType { is_abstract, .. } => *is_abstract,
            _ => false,
        }
    }
}
