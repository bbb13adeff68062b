//! Lookup of the descriptions of structures and enumerations by NodeId.

use crate::generated::descriptions::{ENCODINGS, ENUMERATIONS, STRUCTURES};
use crate::generated_support::{EnumerationDescription, StructureDescription};

impl StructureDescription {
    /// Returns the structure whose DataType has this NodeId.
    pub fn of_type(type_id: u32) -> Option<&'static Self> {
        // The generated tables are sorted by these keys; a test checks that.
        let index = STRUCTURES
            .binary_search_by_key(&type_id, |structure| structure.type_id)
            .ok()?;
        STRUCTURES.get(index)
    }

    /// Returns the structure whose `Default Binary` or `Default XML` encoding has this NodeId: the TypeId of an
    /// ExtensionObject.
    pub fn of_encoding(encoding_id: u32) -> Option<&'static Self> {
        let index = ENCODINGS
            .binary_search_by_key(&encoding_id, |(encoding, _)| *encoding)
            .ok()?;
        Self::of_type(ENCODINGS.get(index)?.1)
    }
}

impl EnumerationDescription {
    /// Returns the enumeration whose DataType has this NodeId.
    pub fn of_type(type_id: u32) -> Option<&'static Self> {
        let index = ENUMERATIONS
            .binary_search_by_key(&type_id, |enumeration| enumeration.type_id)
            .ok()?;
        ENUMERATIONS.get(index)
    }
}
