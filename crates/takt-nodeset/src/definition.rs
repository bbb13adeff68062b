//! DataTypeDefinitions in the form of the attribute DataTypeDefinition (OPC 10000-3, 8.48 to 8.52).

use takt_ua::enumerations::StructureType;
use takt_ua::structures::{EnumDefinition, EnumField, StructureDefinition, StructureField};
use takt_ua::{LocalizedText, NodeId};

use crate::model::{DataTypeDefinition, DataTypeField};

impl DataTypeDefinition {
    /// Returns whether the fields are values or bits, as in an enumeration or option set. For a definition without
    /// fields the supertypes decide.
    pub fn is_enumeration(&self) -> bool {
        self.is_option_set || self.fields.iter().any(|field| field.value.is_some())
    }

    /// Returns the definition of an enumeration or option set.
    pub fn to_enumeration(&self) -> EnumDefinition {
        let fields = self.fields.iter().map(|field| EnumField {
            // The default of Value is -1 (OPC 10000-6, F.13).
            value: field.value.unwrap_or(-1),
            display_name: first_or(&field.display_name, || {
                LocalizedText::from(field.name.as_str())
            }),
            description: first_or(&field.description, LocalizedText::default),
            name: field.name.as_str().into(),
        });
        EnumDefinition {
            fields: fields.collect(),
        }
    }

    /// Returns the definition of a structure or union. `inherited` are the fields of the supertype, which come first.
    pub fn to_structure(
        &self,
        base_data_type: NodeId,
        default_encoding_id: NodeId,
        inherited: &[StructureField],
    ) -> StructureDefinition {
        let fields = inherited
            .iter()
            .cloned()
            .chain(self.fields.iter().map(structure_field))
            .collect();
        StructureDefinition {
            default_encoding_id,
            base_data_type,
            structure_type: self.structure_type(inherited),
            fields,
        }
    }

    fn structure_type(&self, inherited: &[StructureField]) -> StructureType {
        let has_sub_types = self.fields.iter().any(|field| field.allow_sub_types);
        let has_optional = self.fields.iter().any(|field| field.is_optional)
            || inherited.iter().any(|field| field.is_optional);
        match (self.is_union, has_sub_types) {
            (true, true) => StructureType::UnionWithSubtypedValues,
            (true, false) => StructureType::Union,
            (false, true) => StructureType::StructureWithSubtypedValues,
            (false, false) if has_optional => StructureType::StructureWithOptionalFields,
            (false, false) => StructureType::Structure,
        }
    }
}

fn structure_field(field: &DataTypeField) -> StructureField {
    StructureField {
        name: field.name.as_str().into(),
        description: first_or(&field.description, LocalizedText::default),
        data_type: field.data_type.clone(),
        value_rank: field.value_rank,
        array_dimensions: field.array_dimensions.clone(),
        max_string_length: field.max_string_length,
        // In structure types with subtyped values this flag marks a field that allows subtypes.
        is_optional: field.is_optional || field.allow_sub_types,
    }
}

fn first_or(texts: &[LocalizedText], default: impl FnOnce() -> LocalizedText) -> LocalizedText {
    texts.first().cloned().unwrap_or_else(default)
}
