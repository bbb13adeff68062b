//! What a NodeSet says, as plain data.

use std::fmt;

use takt_ua::enumerations::NodeClass;
use takt_ua::{DateTime, LocalizedText, NodeId, QualifiedName, Variant};

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u32,
    /// Character of the line, counted from 1; 0 if only the line is known.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}", self.line),
            column => write!(f, "{}:{column}", self.line),
        }
    }
}

/// A parsed NodeSet document (OPC 10000-6, Annex F.2, `UANodeSet`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeSet {
    /// The name that the caller gave the document; errors about it start with this.
    pub name: String,
    /// The namespaces of the document. The index is the document's own namespace index, so the first entry is
    /// always that of OPC UA itself.
    pub namespace_uris: Vec<String>,
    /// The models that the document defines; older documents do not say.
    pub models: Vec<Model>,
    /// All nodes, in document order. NodeIds and QualifiedNames have the namespace indexes that the parser was
    /// asked to give them: the document's own from [`NodeSet::parse`].
    pub nodes: Vec<Node>,
}

/// A model that a document defines (Annex F.5, `ModelTableEntry`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// Namespace of the model.
    pub uri: String,
    /// Version for people; compare publication dates instead.
    pub version: Option<String>,
    /// When this version was published.
    pub publication_date: Option<DateTime>,
    /// Models that must be there first.
    pub required_models: Vec<RequiredModel>,
    /// The line of the document that says so.
    pub line: u32,
}

/// A model that another one depends on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequiredModel {
    /// Namespace of the model.
    pub uri: String,
    /// Version for people.
    pub version: Option<String>,
    /// The oldest publication date that will do.
    pub publication_date: Option<DateTime>,
    /// The line of the document that says so.
    pub line: u32,
}

/// A node with what the document says of it (Annex F.6, `UANode`).
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// NodeId.
    pub node_id: NodeId,
    /// BrowseName.
    pub browse_name: QualifiedName,
    /// DisplayName in each language given; never empty, falls back to the BrowseName.
    pub display_name: Vec<LocalizedText>,
    /// Description in each language given.
    pub description: Vec<LocalizedText>,
    /// The node that this one is a part of; a hint for tools, the references say the same.
    pub parent: Option<NodeId>,
    /// References in the order of the document.
    pub references: Vec<Reference>,
    /// What only nodes of this NodeClass have.
    pub attributes: Attributes,
    /// Who may do what; empty if the server's defaults apply.
    pub role_permissions: Vec<RolePermission>,
    /// AccessRestrictions (OPC 10000-3, 8.56), if the document restricts access.
    pub access_restrictions: Option<u16>,
    /// The line of the document where the node begins.
    pub line: u32,
}

/// A reference as one of its two nodes tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The ReferenceType.
    pub reference_type: NodeId,
    /// The other node.
    pub target: NodeId,
    /// True if the node that tells it is the source.
    pub is_forward: bool,
    /// The line of the document that says so.
    pub line: u32,
}

/// Permissions of a role on a node (OPC 10000-3, 8.55).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolePermission {
    /// The role.
    pub role: NodeId,
    /// PermissionType bits.
    pub permissions: u32,
}

/// The attributes that depend on the NodeClass.
#[derive(Debug, Clone, PartialEq)]
pub enum Attributes {
    /// Of an Object.
    Object {
        /// EventNotifier bits.
        event_notifier: u8,
    },
    /// Of a Variable.
    Variable(Box<VariableAttributes>),
    /// Of a Method.
    Method {
        /// Executable.
        executable: bool,
        /// The method of the type that this one stands for.
        declaration: Option<NodeId>,
    },
    /// Of an ObjectType.
    ObjectType {
        /// IsAbstract.
        is_abstract: bool,
    },
    /// Of a VariableType.
    VariableType {
        /// IsAbstract.
        is_abstract: bool,
        /// What instances hold.
        value: Box<ValueAttributes>,
    },
    /// Of a ReferenceType.
    ReferenceType {
        /// IsAbstract.
        is_abstract: bool,
        /// Symmetric.
        symmetric: bool,
        /// InverseName in each language given.
        inverse_name: Vec<LocalizedText>,
    },
    /// Of a DataType.
    DataType {
        /// IsAbstract.
        is_abstract: bool,
        /// The fields, for structures, enumerations and option sets.
        definition: Option<Box<DataTypeDefinition>>,
    },
    /// Of a View.
    View {
        /// ContainsNoLoops.
        contains_no_loops: bool,
        /// EventNotifier bits.
        event_notifier: u8,
    },
}

/// What Variables and VariableTypes have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueAttributes {
    /// DataType.
    pub data_type: NodeId,
    /// ValueRank (OPC 10000-3, 5.6.2): -1 scalar, 1 one dimension, ...
    pub value_rank: i32,
    /// ArrayDimensions; empty if not given, 0 for a dimension of any length.
    pub array_dimensions: Vec<u32>,
    /// Value.
    pub value: Option<Variant>,
}

/// What only Variables have.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableAttributes {
    /// DataType, ValueRank, ArrayDimensions and Value.
    pub value: ValueAttributes,
    /// AccessLevelEx bits (OPC 10000-3, 8.58); the lower eight are AccessLevel.
    pub access_level: u32,
    /// UserAccessLevel bits.
    pub user_access_level: u32,
    /// MinimumSamplingInterval in milliseconds; 0 for continuous.
    pub minimum_sampling_interval: f64,
    /// Historizing.
    pub historizing: bool,
}

/// The definition of a DataType (Annex F.12, `DataTypeDefinition`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataTypeDefinition {
    /// Name of the DataType, qualified by its namespace.
    pub name: String,
    /// True if exactly one field is present at a time.
    pub is_union: bool,
    /// True if the fields are bits of an unsigned integer.
    pub is_option_set: bool,
    /// The fields in order, without inherited ones.
    pub fields: Vec<Field>,
}

/// A field of a structure, or a value of an enumeration (Annex F.13, `DataTypeField`).
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// DisplayName in each language given.
    pub display_name: Vec<LocalizedText>,
    /// Description in each language given.
    pub description: Vec<LocalizedText>,
    /// DataType; BaseDataType if not given.
    pub data_type: NodeId,
    /// ValueRank.
    pub value_rank: i32,
    /// ArrayDimensions; empty if not given.
    pub array_dimensions: Vec<u32>,
    /// Most bytes of a String or ByteString, 0 for any number.
    pub max_string_length: u32,
    /// The value in an enumeration, the bit in an option set.
    pub value: Option<i64>,
    /// True if the field may be absent.
    pub is_optional: bool,
    /// True if subtypes of the DataType may stand for it.
    pub allow_sub_types: bool,
}

impl Node {
    /// NodeClass.
    pub fn class(&self) -> NodeClass {
        match self.attributes {
            Attributes::Object { .. } => NodeClass::Object,
            Attributes::Variable(_) => NodeClass::Variable,
            Attributes::Method { .. } => NodeClass::Method,
            Attributes::ObjectType { .. } => NodeClass::ObjectType,
            Attributes::VariableType { .. } => NodeClass::VariableType,
            Attributes::ReferenceType { .. } => NodeClass::ReferenceType,
            Attributes::DataType { .. } => NodeClass::DataType,
            Attributes::View { .. } => NodeClass::View,
        }
    }

    /// DataType, ValueRank, ArrayDimensions and Value of a Variable or VariableType.
    pub fn value_attributes(&self) -> Option<&ValueAttributes> {
        match &self.attributes {
            Attributes::Variable(variable) => Some(&variable.value),
            Attributes::VariableType { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Value of a Variable or VariableType.
    pub fn value(&self) -> Option<&Variant> {
        self.value_attributes()?.value.as_ref()
    }

    /// Definition of a DataType.
    pub fn definition(&self) -> Option<&DataTypeDefinition> {
        match &self.attributes {
            Attributes::DataType { definition, .. } => definition.as_deref(),
            _ => None,
        }
    }
}
