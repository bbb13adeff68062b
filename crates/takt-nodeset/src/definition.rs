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

    /// Returns the definition of a structure or union. `inherited` is that of the supertype, whose fields come first; without a
    /// supertype that has fields, the default.
    pub fn to_structure(
        &self,
        base_data_type: NodeId,
        default_encoding_id: NodeId,
        inherited: &StructureDefinition,
    ) -> StructureDefinition {
        let structure_type = self.structure_type(inherited.structure_type);
        let own = self.fields.iter();
        let fields = inherited
            .fields
            .iter()
            .cloned()
            .chain(own.map(|field| structure_field(field, structure_type)))
            .collect();
        StructureDefinition {
            default_encoding_id,
            base_data_type,
            structure_type,
            fields,
        }
    }

    /// Returns the StructureType. IsOptional of an inherited field has the meaning of the StructureType of the supertype.
    fn structure_type(&self, inherited: StructureType) -> StructureType {
        let has_sub_types = matches!(
            inherited,
            StructureType::StructureWithSubtypedValues | StructureType::UnionWithSubtypedValues
        ) || self.fields.iter().any(|field| field.allow_sub_types);
        let has_optional = inherited == StructureType::StructureWithOptionalFields
            || self.fields.iter().any(|field| field.is_optional);
        match (self.is_union, has_sub_types) {
            (true, true) => StructureType::UnionWithSubtypedValues,
            (true, false) => StructureType::Union,
            (false, true) => StructureType::StructureWithSubtypedValues,
            (false, false) if has_optional => StructureType::StructureWithOptionalFields,
            (false, false) => StructureType::Structure,
        }
    }
}

fn structure_field(field: &DataTypeField, structure_type: StructureType) -> StructureField {
    StructureField {
        name: field.name.as_str().into(),
        description: first_or(&field.description, LocalizedText::default),
        data_type: field.data_type.clone(),
        value_rank: field.value_rank,
        array_dimensions: field.array_dimensions.clone(),
        max_string_length: field.max_string_length,
        // The StructureType decides what IsOptional says (OPC 10000-3, 8.51).
        is_optional: match structure_type {
            StructureType::StructureWithOptionalFields => field.is_optional,
            StructureType::StructureWithSubtypedValues | StructureType::UnionWithSubtypedValues => {
                field.allow_sub_types
            }
            _ => false,
        },
    }
}

fn first_or(texts: &[LocalizedText], default: impl FnOnce() -> LocalizedText) -> LocalizedText {
    texts.first().cloned().unwrap_or_else(default)
}
