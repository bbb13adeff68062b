//! Encodings of the values of DataTypes, found through their supertypes.

use crate::read::nodeset::Nodeset;

pub(super) const EXTENSION_OBJECT: u32 = 22;
pub(super) const BASE_DATA_TYPE: u32 = 24;
pub(super) const ENUMERATION: u32 = 29;

/// Names of the built-in types (OPC 10000-6, 5.1.2), numbered from 1. They are not those of `takt_ua::BuiltInType`: the steps that write
/// parts of `takt-ua` must run when it does not compile.
pub(crate) const BUILT_IN: [&str; 25] = [
    "Boolean",
    "SByte",
    "Byte",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Float",
    "Double",
    "String",
    "DateTime",
    "Guid",
    "ByteString",
    "XmlElement",
    "NodeId",
    "ExpandedNodeId",
    "StatusCode",
    "QualifiedName",
    "LocalizedText",
    "ExtensionObject",
    "DataValue",
    "Variant",
    "DiagnosticInfo",
];

/// Returns the number of the built-in type with this name.
pub(super) fn built_in(name: &str) -> Option<u32> {
    (1..)
        .zip(BUILT_IN)
        .find(|(_, built_in)| *built_in == name)
        .map(|(number, _)| number)
}

/// Encoding of the values of a DataType.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    BuiltIn(u32),
    Structure,
    Enumeration,
}

pub(super) fn kind(nodeset: &Nodeset, id: u32) -> Kind {
    match id {
        // Number, Integer, UInteger are abstract: only a Variant contains the type of a value.
        BASE_DATA_TYPE | 26..=28 => Kind::BuiltIn(BASE_DATA_TYPE),
        1..=25 => Kind::BuiltIn(id),
        ENUMERATION => Kind::BuiltIn(6),
        _ => match nodeset
            .data_types
            .get(&id)
            .and_then(|data_type| data_type.base)
        {
            Some(EXTENSION_OBJECT) => Kind::Structure,
            Some(ENUMERATION) => Kind::Enumeration,
            Some(base) => kind(nodeset, base),
            None => Kind::BuiltIn(BASE_DATA_TYPE),
        },
    }
}
