//! DataTypeDefinitions that clients send (OPC 10000-3, 8.48 to 8.53): checked before they are decoded, with a limit on their fields.

use std::collections::HashSet;

use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::StructureType;
use takt_ua::structures::{EnumDefinition, StructureDefinition};
use takt_ua::{ExtensionObject, ExtensionObjectBody, NodeIdRef};

use super::{AddressSpaceError, ClassAttributes, NodeDefinition};

/// Maximum number of fields of a DataType. Each field takes about 200 bytes while the definition is checked.
pub(super) const MAX_FIELDS: usize = 10_000;

/// Checks the definition of a DataType that a client adds or changes. One that an earlier version has accepted and stored is not
/// checked again: without it, its node would be missing after a restart.
///
/// # Errors
/// `NodeAttributesInvalid`, with the reason.
pub(super) fn check_node(node: &NodeDefinition) -> Result<(), AddressSpaceError> {
    match &node.attributes {
        ClassAttributes::DataType {
            definition: Some(definition),
            ..
        } => check(definition),
        _ => Ok(()),
    }
}

/// Checks that an object is a StructureDefinition or an EnumDefinition by which values can be decoded.
///
/// # Errors
/// `NodeAttributesInvalid`, with the reason.
fn check(object: &ExtensionObject) -> Result<(), AddressSpaceError> {
    let is_structure = object.is::<StructureDefinition>();
    if !is_structure && !object.is::<EnumDefinition>() {
        return wrong("DataTypeDefinition is neither a StructureDefinition nor an EnumDefinition");
    }
    match fields(object, is_structure) {
        Some(count) if count > MAX_FIELDS => {
            return wrong("DataTypeDefinition has more than 10 000 fields");
        }
        Some(_) => {}
        None => return wrong("DataTypeDefinition is damaged"),
    }
    if !is_structure {
        return match object.decode_as::<EnumDefinition>() {
            Ok(_) => Ok(()),
            Err(_) => wrong("DataTypeDefinition is damaged"),
        };
    }
    let Ok(definition) = object.decode_as::<StructureDefinition>() else {
        return wrong("DataTypeDefinition is damaged");
    };
    if !(StructureType::Structure.0..=StructureType::UnionWithSubtypedValues.0)
        .contains(&definition.structure_type.0)
    {
        return wrong("the StructureType of the DataTypeDefinition does not exist");
    }
    let mut names = HashSet::new();
    for field in &definition.fields {
        let name = field.name.as_str();
        if name.is_empty() {
            return wrong("a field of the DataTypeDefinition has no name");
        }
        if !names.insert(name) {
            return wrong("two fields of the DataTypeDefinition have the same name");
        }
    }
    Ok(())
}

/// Returns the number of fields that a definition claims to have, without decoding them; `None` if it is damaged.
fn fields(object: &ExtensionObject, is_structure: bool) -> Option<usize> {
    let ExtensionObjectBody::Binary(body) = &object.body else {
        return None;
    };
    let mut decoder = Decoder::new(body);
    if is_structure {
        // DefaultEncodingId, BaseDataType, StructureType.
        NodeIdRef::decode(&mut decoder).ok()?;
        NodeIdRef::decode(&mut decoder).ok()?;
        i32::decode(&mut decoder).ok()?;
    }
    // The length of the array; -1 is a null array.
    let length = i32::decode(&mut decoder).ok()?;
    Some(usize::try_from(length).unwrap_or(0))
}

fn wrong(reason: &'static str) -> Result<(), AddressSpaceError> {
    Err(AddressSpaceError::NodeAttributesInvalid(reason))
}
