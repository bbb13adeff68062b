//! Memory that a Subscriber holds for announcements of Publishers.
//!
//! Any host that can send to a link can send metadata. Every Subscriber therefore has a [`MemoryBudget`]: names, metadata and
//! learned layouts are charged to it, and anything beyond it is refused. Sizes are those of the decoded values, which are several
//! times as large as the messages.

use takt_rt::memory_budget::MemoryBudget;
use takt_ua::binary::Encode;
use takt_ua::structures::{
    DataSetMetaDataType, EnumDescription, EnumField, FieldMetaData, KeyValuePair,
    SimpleTypeDescription, StructureDescription, StructureField,
};
use takt_ua::{Identifier, LocalizedText, NodeId, QualifiedName, UaString, Variant};

/// Default limit of the memory that a Subscriber holds for announcements, in bytes.
pub const DEFAULT_MAX_MEMORY: usize = 64 << 20;

/// Overhead of the allocator for each allocation, in bytes.
pub(super) const ALLOCATION: usize = 16;

/// Memory of a field beside its metadata, in bytes: its place in the layout of RawData.
const LAYOUT: usize = 192;

/// Maximum decoded size of an encoded byte of a nested value, in bytes: a DiagnosticInfo without content has one byte.
const NESTED: usize = 192;

/// Returns the default budget of a Subscriber.
pub(super) fn default_budget() -> MemoryBudget {
    MemoryBudget::new(DEFAULT_MAX_MEMORY)
}

/// Returns the size of a text on the heap, in bytes.
pub(crate) fn text_size(text: &str) -> usize {
    match text.len() {
        0 => 0,
        length => length + ALLOCATION,
    }
}

/// Returns the size of metadata and of the layout that is derived from it, in bytes. It is never less than the memory that they
/// take.
pub(crate) fn meta_data_size(meta_data: &DataSetMetaDataType) -> usize {
    size_of::<DataSetMetaDataType>()
        + text(&meta_data.name)
        + localized(&meta_data.description)
        + list(&meta_data.namespaces, text)
        + list(&meta_data.fields, |field: &FieldMetaData| {
            // The layout also has the name.
            LAYOUT
                + 2 * text(&field.name)
                + localized(&field.description)
                + node_id(&field.data_type)
                + 2 * list(&field.array_dimensions, |_| 0)
                + list(&field.properties, property)
        })
        + list(&meta_data.structure_data_types, structure)
        + list(&meta_data.enum_data_types, enumeration)
        + list(&meta_data.simple_data_types, simple_type)
}

fn list<T>(elements: &[T], size: impl Fn(&T) -> usize) -> usize {
    match elements {
        [] => 0,
        some => ALLOCATION + size_of_val(some) + some.iter().map(size).sum::<usize>(),
    }
}

fn text(text: &UaString) -> usize {
    text_size(text.as_str())
}

fn localized(localized: &LocalizedText) -> usize {
    text(&localized.locale) + text(&localized.text)
}

fn name(name: &QualifiedName) -> usize {
    text(&name.name)
}

fn node_id(node_id: &NodeId) -> usize {
    match &node_id.identifier {
        Identifier::String(text) => text.len() + ALLOCATION,
        Identifier::Opaque(bytes) => bytes.len() + ALLOCATION,
        _ => 0,
    }
}

fn property(property: &KeyValuePair) -> usize {
    let value = match &property.value {
        Variant::Empty => 0,
        value
            if value
                .built_in_type()
                .is_some_and(|it| it.encoded_size().is_some()) =>
        {
            ALLOCATION + 2 * value.encode_to_vec().len()
        }
        value => NESTED * value.encode_to_vec().len(),
    };
    name(&property.key) + value
}

fn structure(structure: &StructureDescription) -> usize {
    let definition = &structure.structure_definition;
    LAYOUT
        + node_id(&structure.data_type_id)
        + name(&structure.name)
        + 2 * node_id(&definition.default_encoding_id)
        + node_id(&definition.base_data_type)
        + list(&definition.fields, |field: &StructureField| {
            LAYOUT
                + 2 * text(&field.name)
                + localized(&field.description)
                + node_id(&field.data_type)
                + 2 * list(&field.array_dimensions, |_| 0)
        })
}

fn enumeration(enumeration: &EnumDescription) -> usize {
    node_id(&enumeration.data_type_id)
        + name(&enumeration.name)
        + list(&enumeration.enum_definition.fields, |field: &EnumField| {
            text(&field.name) + localized(&field.display_name) + localized(&field.description)
        })
}

fn simple_type(simple: &SimpleTypeDescription) -> usize {
    node_id(&simple.data_type_id) + name(&simple.name) + node_id(&simple.base_data_type)
}
