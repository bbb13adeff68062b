//! Descriptions of structures and enumerations, as they were received.

use crate::{BuiltInType, NodeId, QualifiedName};

/// Encoding of the fields of a structure (OPC 10000-6, 5.2.6 to 5.2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StructureKind {
    /// All fields, one after the other.
    Sequence,
    /// A mask of the optional fields, and the fields that are present.
    OptionalFields,
    /// The number of a field, and that field.
    Union,
}

#[derive(Debug, Clone)]
pub(crate) struct DescribedStructure {
    pub(crate) name: QualifiedName,
    pub(crate) type_id: NodeId,
    /// NodeId of the `Default Binary` encoding; null if there is none.
    pub(crate) encoding_id: NodeId,
    pub(crate) kind: StructureKind,
    pub(crate) fields: Vec<DescribedField>,
}

#[derive(Debug, Clone)]
pub(crate) struct DescribedField {
    pub(crate) name: String,
    pub(crate) data_type: NodeId,
    pub(crate) value_rank: i32,
    pub(crate) is_optional: bool,
    pub(crate) allows_subtypes: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct DescribedEnumeration {
    pub(crate) name: QualifiedName,
    pub(crate) built_in_type: BuiltInType,
    /// True for an OptionSet, whose values are numbers of bits.
    pub(crate) is_option_set: bool,
    /// Values and their names, ascending by value.
    pub(crate) values: Vec<(i64, String)>,
}
