//! Contents of a NodeSet as plain data.

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
    /// Name of the document given by the caller; errors begin with it.
    pub name: String,
    /// The namespaces of the document. The index is the document's own namespace index, so the first entry is
    /// always that of OPC UA itself.
    pub namespace_uris: Vec<String>,
    /// Models that the document defines; older documents do not name them.
    pub models: Vec<ModelTableEntry>,
    /// All nodes, in document order. NodeIds and QualifiedNames have the namespace indexes that the caller of the
    /// parser has chosen: the document's own from [`NodeSet::parse`].
    pub nodes: Vec<UaNode>,
}

/// A model that a document defines (Annex F.5, `ModelTableEntry`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelTableEntry {
    /// Namespace of the model.
    pub uri: String,
    /// Version for people; compare publication dates instead.
    pub version: Option<String>,
    /// Publication date of this version.
    pub publication_date: Option<DateTime>,
    /// Models that this model requires.
    pub required_models: Vec<RequiredModel>,
    /// Line of the entry in the document.
    pub line: u32,
}

/// A model that another one depends on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequiredModel {
    /// Namespace of the model.
    pub uri: String,
    /// Version for people.
    pub version: Option<String>,
    /// Oldest publication date that is sufficient.
    pub publication_date: Option<DateTime>,
    /// Line of the entry in the document.
    pub line: u32,
}

/// A node with its attributes and references in the document (Annex F.6, `UANode`).
#[derive(Debug, Clone, PartialEq)]
pub struct UaNode {
    /// NodeId.
    pub node_id: NodeId,
    /// BrowseName.
    pub browse_name: QualifiedName,
    /// DisplayName in each language given; never empty, falls back to the BrowseName.
    pub display_name: Vec<LocalizedText>,
    /// Description in each language given.
    pub description: Vec<LocalizedText>,
    /// Parent of the node; a hint for tools that repeats the references.
    pub parent: Option<NodeId>,
    /// References in the order of the document.
    pub references: Vec<Reference>,
    /// Attributes of the NodeClass.
    pub attributes: Attributes,
    /// RolePermissions; empty if the server's defaults apply.
    pub role_permissions: Vec<RolePermission>,
    /// AccessRestrictions (OPC 10000-3, 8.56), if the document restricts access.
    pub access_restrictions: Option<u16>,
    /// The line of the document where the node begins.
    pub line: u32,
}

/// A reference, listed by one of its two nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The ReferenceType.
    pub reference_type: NodeId,
    /// The other node.
    pub target: NodeId,
    /// True if the node that lists it is the source.
    pub is_forward: bool,
    /// Line of the entry in the document.
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
    /// Attributes of an Object.
    Object {
        /// EventNotifier bits.
        event_notifier: u8,
    },
    /// Attributes of a Variable.
    Variable(Box<UaVariable>),
    /// Attributes of a Method.
    Method {
        /// Executable.
        executable: bool,
        /// Method of the type that declares this one.
        declaration: Option<NodeId>,
    },
    /// Attributes of an ObjectType.
    ObjectType {
        /// IsAbstract.
        is_abstract: bool,
    },
    /// Attributes of a VariableType.
    VariableType {
        /// IsAbstract.
        is_abstract: bool,
        /// DataType and value of instances.
        value: Box<ValueAttributes>,
    },
    /// Attributes of a ReferenceType.
    ReferenceType {
        /// IsAbstract.
        is_abstract: bool,
        /// Symmetric.
        symmetric: bool,
        /// InverseName in each language given.
        inverse_name: Vec<LocalizedText>,
    },
    /// Attributes of a DataType.
    DataType {
        /// IsAbstract.
        is_abstract: bool,
        /// The fields, for structures, enumerations and option sets.
        definition: Option<Box<DataTypeDefinition>>,
    },
    /// Attributes of a View.
    View {
        /// ContainsNoLoops.
        contains_no_loops: bool,
        /// EventNotifier bits.
        event_notifier: u8,
    },
}

/// Attributes that Variables and VariableTypes share.
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

/// Attributes of Variables.
#[derive(Debug, Clone, PartialEq)]
pub struct UaVariable {
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
    pub fields: Vec<DataTypeField>,
}

/// A field of a structure, or a value of an enumeration (Annex F.13, `DataTypeField`).
#[derive(Debug, Clone, PartialEq)]
pub struct DataTypeField {
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
    /// Largest length of a String or ByteString in bytes; 0 for any length.
    pub max_string_length: u32,
    /// The value in an enumeration, the bit in an option set.
    pub value: Option<i64>,
    /// True if the field may be absent.
    pub is_optional: bool,
    /// True if values of subtypes of the DataType are allowed.
    pub allow_sub_types: bool,
}

impl UaNode {
    /// Returns the NodeClass.
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

    /// Returns DataType, ValueRank, ArrayDimensions and Value of a Variable or VariableType.
    pub fn value_attributes(&self) -> Option<&ValueAttributes> {
        match &self.attributes {
            Attributes::Variable(variable) => Some(&variable.value),
            Attributes::VariableType { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns the Value of a Variable or VariableType.
    pub fn value(&self) -> Option<&Variant> {
        self.value_attributes()?.value.as_ref()
    }

    /// Returns the definition of a DataType.
    pub fn definition(&self) -> Option<&DataTypeDefinition> {
        match &self.attributes {
            Attributes::DataType { definition, .. } => definition.as_deref(),
            _ => None,
        }
    }
}
