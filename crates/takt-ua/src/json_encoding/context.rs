//! Context of readers and writers: namespaces, and DataTypes that the standard does not define.

use crate::enumerations::StructureType;
use crate::generated_support::{
    EnumerationDescription, FieldType, StructureDescription as StandardStructure,
};
use crate::structures::{
    DataSetMetaDataType, EnumDescription, SimpleTypeDescription, StructureDescription,
    StructureField,
};
use crate::{BuiltInType, NodeId, UaString};

/// Namespaces and DataTypes, as metadata describes them. The standard's own DataTypes are always known.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonContext<'a> {
    /// NamespaceUris; the first one has index 1. With these, NodeIds and QualifiedNames are written with
    /// NamespaceUris, and received NamespaceUris become indexes.
    pub namespaces: &'a [UaString],
    /// Structures.
    pub structures: &'a [StructureDescription],
    /// Enumerations.
    pub enumerations: &'a [EnumDescription],
    /// Other names for built-in types.
    pub simple_types: &'a [SimpleTypeDescription],
}

/// Largest number of descriptions of each kind that are used of metadata. Each lookup searches them from the first
/// one on.
const MAX_DESCRIBED: usize = 1024;

impl<'a> From<&'a DataSetMetaDataType> for JsonContext<'a> {
    /// Creates the context of what metadata describes, at most 1024 descriptions of each kind.
    fn from(meta_data: &'a DataSetMetaDataType) -> Self {
        Self {
            namespaces: beginning(&meta_data.namespaces),
            structures: beginning(&meta_data.structure_data_types),
            enumerations: beginning(&meta_data.enum_data_types),
            simple_types: beginning(&meta_data.simple_data_types),
        }
    }
}

fn beginning<T>(all: &[T]) -> &[T] {
    all.get(..MAX_DESCRIBED).unwrap_or(all)
}

/// Description of a structure, from any source.
pub(super) struct Layout<'a> {
    /// NodeId of the DataType.
    pub(super) type_id: NodeId,
    /// NodeId of the `Default Binary` encoding.
    pub(super) encoding_id: NodeId,
    pub(super) kind: LayoutKind,
    pub(super) fields: Vec<LayoutField<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayoutKind {
    Structure,
    OptionalFields,
    Union,
}

pub(super) struct LayoutField<'a> {
    pub(super) name: &'a str,
    pub(super) data_type: DataType,
    pub(super) is_array: bool,
    pub(super) is_optional: bool,
}

/// Encoding of values of a DataType.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DataType {
    BuiltIn(BuiltInType),
    /// A structure, encoded in place, without an ExtensionObject around it.
    Structure(NodeId),
    /// An enumeration, encoded as Int32.
    Enumeration(NodeId),
}

impl<'a> JsonContext<'a> {
    /// Returns the index of a namespace.
    pub(super) fn namespace_index(&self, uri: &str) -> Option<u16> {
        // Namespace 0 is not in the list: all OPC UA applications know it.
        if uri == "http://opcfoundation.org/UA/" {
            return Some(0);
        }
        let position = self.namespaces.iter().position(|known| *known == uri)?;
        u16::try_from(position + 1).ok()
    }

    /// Returns the NamespaceUri of an index other than 0.
    pub(super) fn namespace_uri(&self, index: u16) -> Option<&'a str> {
        let position = usize::from(index).checked_sub(1)?;
        self.namespaces.get(position)?.as_option()
    }

    /// Returns the structure whose DataType has this NodeId.
    pub(super) fn structure(&self, type_id: &NodeId) -> Option<Layout<'a>> {
        let described = self
            .structures
            .iter()
            .find(|known| known.data_type_id == *type_id);
        match described {
            // Metadata comes first: it describes the structure as its sender has it.
            Some(described) => self.described(described),
            None => standard(StandardStructure::of_type(type_id.standard_id()?)?),
        }
    }

    /// Returns the structure whose DataType, or `Default Binary` encoding, has this NodeId, as in an ExtensionObject.
    pub(super) fn structure_of_object(&self, id: &NodeId) -> Option<Layout<'a>> {
        if let Some(layout) = self.structure_of_encoding(id) {
            return Some(layout);
        }
        self.structure(id)
    }

    /// Returns the structure whose `Default Binary` encoding has this NodeId.
    pub(super) fn structure_of_encoding(&self, encoding_id: &NodeId) -> Option<Layout<'a>> {
        if encoding_id.is_null() {
            return None;
        }
        let described = self
            .structures
            .iter()
            .find(|known| known.structure_definition.default_encoding_id == *encoding_id);
        if let Some(described) = described {
            return self.described(described);
        }
        let id = encoding_id.standard_id()?;
        StandardStructure::of_encoding(id)
            .filter(|known| known.binary_encoding_id == id)
            .and_then(standard)
    }

    fn described(&self, described: &'a StructureDescription) -> Option<Layout<'a>> {
        let definition = &described.structure_definition;
        let kind = match definition.structure_type {
            StructureType::Structure => LayoutKind::Structure,
            StructureType::StructureWithOptionalFields => LayoutKind::OptionalFields,
            StructureType::Union => LayoutKind::Union,
            _ => return None,
        };
        let fields = definition.fields.iter().map(|field| {
            Some(LayoutField {
                name: field.name.as_str(),
                data_type: self.data_type(&field.data_type)?,
                is_array: is_array(field)?,
                is_optional: kind == LayoutKind::OptionalFields && field.is_optional,
            })
        });
        Some(Layout {
            type_id: described.data_type_id.clone(),
            // Metadata may leave the encoding out if the structure is only used within others.
            encoding_id: if definition.default_encoding_id.is_null() {
                described.data_type_id.clone()
            } else {
                definition.default_encoding_id.clone()
            },
            kind,
            fields: fields.collect::<Option<_>>()?,
        })
    }

    /// Returns the kind of a DataType; `None` if there is no description of it.
    pub(super) fn data_type(&self, id: &NodeId) -> Option<DataType> {
        if self
            .structures
            .iter()
            .any(|known| known.data_type_id == *id)
        {
            return Some(DataType::Structure(id.clone()));
        }
        let enumeration = self
            .enumerations
            .iter()
            .find(|known| known.data_type_id == *id);
        if let Some(enumeration) = enumeration {
            // An OptionSet is described like an enumeration, but is an unsigned integer of some size.
            return match BuiltInType::from_u8(enumeration.built_in_type)? {
                BuiltInType::Int32 => Some(DataType::Enumeration(id.clone())),
                other => Some(DataType::BuiltIn(other)),
            };
        }
        let simple = self
            .simple_types
            .iter()
            .find(|known| known.data_type_id == *id);
        if let Some(simple) = simple {
            return BuiltInType::from_u8(simple.built_in_type).map(DataType::BuiltIn);
        }
        let standard = id.standard_id()?;
        if let Some(built_in_type) = BuiltInType::of_simple_type(standard) {
            return Some(DataType::BuiltIn(built_in_type));
        }
        if EnumerationDescription::of_type(standard).is_some() {
            return Some(DataType::Enumeration(id.clone()));
        }
        StandardStructure::of_type(standard).map(|_| DataType::Structure(id.clone()))
    }

    /// Returns the name of a value of an enumeration.
    pub(super) fn enumeration_name(&self, type_id: &NodeId, value: i32) -> Option<&'a str> {
        let described = self
            .enumerations
            .iter()
            .find(|known| known.data_type_id == *type_id);
        match described {
            Some(described) => described
                .enum_definition
                .fields
                .iter()
                .find(|field| field.value == i64::from(value))
                .and_then(|field| field.name.as_option()),
            None => EnumerationDescription::of_type(type_id.standard_id()?)?.name_of(value),
        }
    }
}

/// Returns whether the field is an array; `None` for matrices, which are not supported in structures.
fn is_array(field: &StructureField) -> Option<bool> {
    match field.value_rank {
        -1 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn standard(description: &'static StandardStructure) -> Option<Layout<'static>> {
    let fields = description.fields.iter().map(|field| LayoutField {
        name: field.name,
        data_type: match field.field_type {
            FieldType::BuiltIn(built_in_type) => DataType::BuiltIn(built_in_type),
            FieldType::Structure(id) => DataType::Structure(NodeId::numeric(0, id)),
            FieldType::Enumeration(id) => DataType::Enumeration(NodeId::numeric(0, id)),
        },
        is_array: field.is_array,
        is_optional: field.is_optional,
    });
    Some(Layout {
        type_id: NodeId::numeric(0, description.type_id),
        encoding_id: NodeId::numeric(0, description.binary_encoding_id),
        kind: if description.has_optional_fields() {
            LayoutKind::OptionalFields
        } else {
            LayoutKind::Structure
        },
        fields: fields.collect(),
    })
}
