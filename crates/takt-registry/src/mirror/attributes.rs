//! Attributes of the copy of a node, with the NamespaceIndexes of the registry.

use std::hash::{DefaultHasher, Hash, Hasher};

use takt_app::{Attribute, NamespaceMap};
use takt_space::{ClassAttributes, VariableDefinition};
use takt_ua::binary::Encode;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{EnumDefinition, StructureDefinition};
use takt_ua::{Elements, ExtensionObject, Variant, ids};

use super::scan::{Found, Scan};

/// AccessLevel bits that a copy can have: reading and writing of the current value, not of its history.
const ACCESS: u32 = 0x63;

/// Bit of an EventNotifier that a copy can have: Events, not their history.
pub(super) const SUBSCRIBE_TO_EVENTS: u8 = 1;

/// Returns the attributes of a copy; `None` for a node that is not mirrored.
pub(super) fn attributes(found: &Found, map: &NamespaceMap) -> Option<ClassAttributes> {
    let is_abstract = found
        .attribute(Attribute::IsAbstract)
        .and_then(Variant::as_bool);
    let is_abstract = is_abstract.unwrap_or(false);
    let data_type = match found.attribute(Attribute::DataType) {
        Some(Variant::NodeId(data_type)) => map.type_id(data_type),
        _ => ids::BASE_DATA_TYPE.into(),
    };
    let value_rank = match found.attribute(Attribute::ValueRank) {
        Some(Variant::Int32(rank)) => *rank,
        // Any rank, if the server does not say it.
        _ => -2,
    };
    Some(match found.class {
        NodeClass::Object => ClassAttributes::Object {
            event_notifier: match found.attribute(Attribute::EventNotifier) {
                Some(Variant::Byte(bits)) => bits & SUBSCRIBE_TO_EVENTS,
                _ => 0,
            },
        },
        NodeClass::Variable => ClassAttributes::Variable(VariableDefinition {
            data_type,
            value_rank,
            array_dimensions: match found.attribute(Attribute::ArrayDimensions) {
                Some(Variant::Array(array)) => match &array.elements {
                    Elements::UInt32(dimensions) => dimensions.clone(),
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            },
            // What the user of the mirror may not do there, nobody can do here.
            access_level: level(found, Attribute::AccessLevel)
                & level(found, Attribute::UserAccessLevel)
                & ACCESS,
            ..VariableDefinition::default()
        }),
        NodeClass::Method => ClassAttributes::Method { executable: true },
        NodeClass::ObjectType => ClassAttributes::ObjectType { is_abstract },
        NodeClass::VariableType => ClassAttributes::VariableType {
            is_abstract,
            data_type,
            value_rank,
            array_dimensions: Vec::new(),
            value: None,
        },
        NodeClass::ReferenceType => ClassAttributes::ReferenceType {
            is_abstract,
            symmetric: found
                .attribute(Attribute::Symmetric)
                .and_then(Variant::as_bool)
                .unwrap_or(false),
            inverse_name: match found.attribute(Attribute::InverseName) {
                Some(Variant::LocalizedText(name)) => Some(name.clone()),
                _ => None,
            },
        },
        NodeClass::DataType => ClassAttributes::DataType {
            is_abstract,
            definition: definition(found, map).map(Box::new),
        },
        _ => return None,
    })
}

fn level(found: &Found, attribute: Attribute) -> u32 {
    match found.attribute(attribute) {
        Some(Variant::Byte(level)) => u32::from(*level),
        // A server that does not say it lets the Read decide.
        _ => 1,
    }
}

/// Returns the DataTypeDefinition with the NamespaceIndexes of the registry.
fn definition(found: &Found, map: &NamespaceMap) -> Option<ExtensionObject> {
    let Variant::ExtensionObject(object) = found.attribute(Attribute::DataTypeDefinition)? else {
        return None;
    };
    // An EnumDefinition has no NodeIds.
    if object.is::<EnumDefinition>() {
        return Some(ExtensionObject::clone(object));
    }
    let mut structure: StructureDefinition = object.decode_as().ok()?;
    structure.default_encoding_id = map.type_id(&structure.default_encoding_id);
    structure.base_data_type = map.type_id(&structure.base_data_type);
    for field in &mut structure.fields {
        field.data_type = map.type_id(&field.data_type);
    }
    Some(ExtensionObject::from_structure(&structure))
}

/// Returns the map for [`digest`]: each namespace has the index of its instances at the registry, which never changes while the
/// registry runs. Those of the server may change with each of its starts.
pub(super) fn map_for_digests(scan: &Scan, map: &NamespaceMap) -> NamespaceMap {
    let indexes = (0_u16..).zip(&scan.namespaces);
    let instances: Vec<Option<u16>> = indexes.map(|(index, _)| map.index(index)).collect();
    NamespaceMap::from_indexes(instances.clone(), instances)
}

/// Returns a digest of everything in a node that the copy has.
pub(super) fn digest(found: &Found, map: &NamespaceMap) -> u64 {
    let mut hasher = DefaultHasher::new();
    (found.class.encode_to_vec(), found.is_type).hash(&mut hasher);
    map.type_name(&found.browse_name).hash(&mut hasher);
    found.display_name.text.as_str().hash(&mut hasher);
    map.node_id(&found.type_definition).hash(&mut hasher);
    for (attribute, value) in &found.attributes {
        (*attribute as u32).hash(&mut hasher);
        match value {
            Variant::NodeId(node) => map.node_id(node).hash(&mut hasher),
            Variant::ExtensionObject(_) => {
                let definition = definition(found, map).map(Variant::from);
                definition
                    .unwrap_or_default()
                    .encode_to_vec()
                    .hash(&mut hasher);
            }
            other => other.encode_to_vec().hash(&mut hasher),
        }
    }
    for (reference_type, target) in &found.references {
        (map.node_id(reference_type), map.node_id(target)).hash(&mut hasher);
    }
    hasher.finish()
}
