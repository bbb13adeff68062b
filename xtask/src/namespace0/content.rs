//! Values and DataTypeDefinitions as encoded bytes, without descriptive texts.

use takt_nodeset::{Attributes, UaNode};
use takt_ua::binary::Encode;
use takt_ua::structures::{Argument, EnumValueType, StructureDefinition};
use takt_ua::{Elements, ExtensionObject, LocalizedText, NodeId, Structure, Variant};

use super::error::invalid;
use super::nodes::Nodes;
use crate::error::Error;

/// The type dictionaries, deprecated since OPC 10000-5, 1.04 and larger than everything else together.
const TYPE_DICTIONARIES: [u32; 2] = [7617, 8252];
const STRUCTURE: u32 = 22;

/// Returns the encoded Variant of a Variable or VariableType.
pub(super) fn value(id: u32, node: &UaNode) -> Result<Option<Vec<u8>>, Error> {
    let Some(value) = node.value().filter(|_| !TYPE_DICTIONARIES.contains(&id)) else {
        return Ok(None);
    };
    let mut value = value.clone();
    let without_descriptions = match &mut value {
        Variant::ExtensionObject(object) => strip(object),
        Variant::Array(array) => match &mut array.elements {
            Elements::ExtensionObject(objects) => objects.iter_mut().try_for_each(strip),
            _ => Ok(()),
        },
        _ => Ok(()),
    };
    without_descriptions.map_err(|error| invalid(format!("value of i={id}: {error}")))?;
    Ok(Some(value.encode_to_vec()))
}

/// Removes the descriptive texts of a structure.
fn strip(object: &mut ExtensionObject) -> Result<(), takt_ua::binary::DecodeError> {
    fn with<T: Structure>(
        object: &mut ExtensionObject,
        change: impl FnOnce(&mut T),
    ) -> Result<(), takt_ua::binary::DecodeError> {
        let mut structure = object.decode_as::<T>()?;
        change(&mut structure);
        *object = ExtensionObject::from_structure(&structure);
        Ok(())
    }
    if object.is::<Argument>() {
        with(object, |argument: &mut Argument| {
            argument.description = LocalizedText::default()
        })
    } else if object.is::<EnumValueType>() {
        with(object, |value: &mut EnumValueType| {
            value.description = LocalizedText::default()
        })
    } else {
        Ok(())
    }
}

/// Returns the encoded ExtensionObject with the definition of a DataType. Those of enumerations and option sets are
/// EnumDefinitions, those of structures StructureDefinitions; other DataTypes have none.
pub(super) fn definition(nodes: &Nodes<'_>, position: usize) -> Result<Option<Vec<u8>>, Error> {
    let (_, node) = nodes.at(position);
    let Attributes::DataType { definition, .. } = &node.attributes else {
        return Ok(None);
    };
    let object = match definition {
        Some(definition) if definition.is_enumeration() => {
            let mut definition = definition.to_enumeration();
            for field in &mut definition.fields {
                field.description = LocalizedText::default();
            }
            ExtensionObject::from_structure(&definition)
        }
        _ if is_structure(nodes, position) => {
            ExtensionObject::from_structure(&structure(nodes, position)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(object.encode_to_vec()))
}

fn is_structure(nodes: &Nodes<'_>, position: usize) -> bool {
    let mut ancestors =
        std::iter::successors(Some(position), |position| nodes.supertype(*position));
    ancestors.any(|position| nodes.at(position).0 == STRUCTURE)
}

fn structure(nodes: &Nodes<'_>, position: usize) -> Result<StructureDefinition, Error> {
    let (id, node) = nodes.at(position);
    let Attributes::DataType {
        definition,
        is_abstract,
    } = &node.attributes
    else {
        return Err(invalid(format!(
            "i={id}, supertype of a DataType, is not a DataType"
        )));
    };
    let definition = definition.as_deref().cloned().unwrap_or_default();
    // The supertype of Structure is BaseDataType, which has no fields.
    let (base, inherited) = match nodes.supertype(position) {
        Some(base) if is_structure(nodes, base) => (nodes.at(base).0, structure(nodes, base)?),
        Some(base) => (nodes.at(base).0, StructureDefinition::default()),
        None => (0, StructureDefinition::default()),
    };
    // OPC 10000-3, 8.48: null for abstract DataTypes, otherwise the Default Binary encoding if there is one.
    let encoding = nodes
        .binary_encoding(position)
        .filter(|_| !is_abstract)
        .map_or(0, |position| nodes.at(position).0);
    let mut structure =
        definition.to_structure(NodeId::from(base), NodeId::from(encoding), &inherited);
    for field in &mut structure.fields {
        field.description = LocalizedText::default();
    }
    Ok(structure)
}
