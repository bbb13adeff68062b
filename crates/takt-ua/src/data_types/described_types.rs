//! Descriptions of DataTypes by their NodeIds.

use std::collections::HashMap;

use super::description::{DescribedEnumeration, DescribedField, DescribedStructure, StructureKind};
use super::shape::{
    EnumerationShape, FieldShape, StructureShape, ValueShape, standard_field, subtyped,
};
use crate::enumerations::StructureType;
use crate::generated::descriptions::STRUCTURES;
use crate::generated_support::{EnumerationDescription, StructureDescription as StandardStructure};
use crate::structures::{DataSetMetaDataType, EnumDescription, StructureDescription};
use crate::{BuiltInType, NodeId};

#[derive(Debug, Clone)]
enum Described {
    Structure(DescribedStructure),
    Enumeration(DescribedEnumeration),
    /// Another name of a built-in type. Abstract structures are ExtensionObjects, other abstract types Variants.
    BuiltIn(BuiltInType),
}

/// Descriptions of DataTypes by the NodeIds of the types and of their encodings.
#[derive(Debug, Clone, Default)]
pub struct DescribedTypes {
    types: HashMap<NodeId, Described>,
    /// DataTypes by the NodeIds of their encodings.
    encodings: HashMap<NodeId, NodeId>,
}

impl DescribedTypes {
    /// Adds a structure, with the NodeIds of its binary encodings, the `Default Binary` one first. Without any, the
    /// DefaultEncodingId of the definition is its encoding.
    pub fn insert_structure(&mut self, description: &StructureDescription, encodings: &[NodeId]) {
        let definition = &description.structure_definition;
        let (kind, allows_subtypes) = match definition.structure_type {
            StructureType::StructureWithOptionalFields => (StructureKind::OptionalFields, false),
            StructureType::Union => (StructureKind::Union, false),
            StructureType::StructureWithSubtypedValues => (StructureKind::Sequence, true),
            StructureType::UnionWithSubtypedValues => (StructureKind::Union, true),
            _ => (StructureKind::Sequence, false),
        };
        let fields = definition.fields.iter().map(|field| DescribedField {
            name: field.name.to_string(),
            data_type: field.data_type.clone(),
            value_rank: field.value_rank,
            is_optional: kind == StructureKind::OptionalFields && field.is_optional,
            allows_subtypes: allows_subtypes && field.is_optional,
        });
        let default = std::slice::from_ref(&definition.default_encoding_id);
        let encodings = match encodings {
            [] if !definition.default_encoding_id.is_null() => default,
            encodings => encodings,
        };
        for encoding in encodings {
            self.insert_encoding(encoding.clone(), description.data_type_id.clone());
        }
        // A wrong DefaultEncodingId may be the encoding of another type: it takes no place of one.
        if !definition.default_encoding_id.is_null() {
            let default = definition.default_encoding_id.clone();
            let type_id = description.data_type_id.clone();
            self.encodings.entry(default).or_insert(type_id);
        }
        let structure = DescribedStructure {
            name: description.name.clone(),
            type_id: description.data_type_id.clone(),
            encoding_id: encodings.first().cloned().unwrap_or_default(),
            kind,
            fields: fields.collect(),
        };
        let described = Described::Structure(structure);
        self.types
            .insert(description.data_type_id.clone(), described);
    }

    /// Adds an enumeration, or an OptionSet: its BuiltInType is then an unsigned integer.
    pub fn insert_enumeration(&mut self, description: &EnumDescription) {
        let built_in_type = BuiltInType::from_u8(description.built_in_type);
        // The description comes from outside: only integers have values that can be named.
        let built_in_type = built_in_type.filter(|known| known.is_integer());
        let built_in_type = built_in_type.unwrap_or(BuiltInType::Int32);
        let fields = description.enum_definition.fields.iter();
        let values = fields.map(|field| {
            let name = match field.name.is_empty() {
                true => &field.display_name.text,
                false => &field.name,
            };
            (field.value, name.to_string())
        });
        let mut values: Vec<_> = values.collect();
        // The first of several names of a value remains.
        values.sort_by_key(|(value, _)| *value);
        values.dedup_by_key(|(value, _)| *value);
        let enumeration = DescribedEnumeration {
            name: description.name.clone(),
            // Nothing else in the description tells an OptionSet: all enumerations are Int32.
            is_option_set: built_in_type != BuiltInType::Int32,
            built_in_type,
            values,
        };
        let described = Described::Enumeration(enumeration);
        self.types
            .insert(description.data_type_id.clone(), described);
    }

    /// Adds another name of a built-in type. Values of abstract DataTypes are ExtensionObjects if they are structures, else
    /// Variants.
    pub fn insert_simple(&mut self, data_type: NodeId, built_in_type: BuiltInType) {
        let described = Described::BuiltIn(built_in_type);
        self.types.insert(data_type, described);
    }

    /// Adds the NodeId of an encoding of a DataType.
    pub fn insert_encoding(&mut self, encoding: NodeId, data_type: NodeId) {
        self.encodings.insert(encoding, data_type);
    }

    /// Returns whether a DataType has a description.
    pub fn contains(&self, data_type: &NodeId) -> bool {
        self.value(data_type).is_some()
    }

    /// Returns the DataType with this encoding.
    pub fn of_encoding(&self, encoding: &NodeId) -> Option<NodeId> {
        let standard = || {
            let known = StandardStructure::of_encoding(encoding.standard_id()?)?;
            Some(NodeId::numeric(0, known.type_id))
        };
        let described = self.encodings.get(encoding).cloned();
        described.or_else(standard)
    }

    /// Returns whether a DataType is a structure with a description.
    pub fn is_structure(&self, data_type: &NodeId) -> bool {
        matches!(self.value(data_type), Some(ValueShape::Structure(_)))
    }

    /// Returns the DataTypes of the fields of a structure that have no description themselves.
    pub fn undescribed_fields(&self, data_type: &NodeId) -> Vec<NodeId> {
        let Some(Described::Structure(structure)) = self.types.get(data_type) else {
            return Vec::new();
        };
        let fields = structure.fields.iter().map(|field| &field.data_type);
        let unknown = fields.filter(|data_type| !self.contains(data_type));
        unknown.cloned().collect()
    }

    /// Returns whether values of a DataType are written by names: an enumeration, or an OptionSet.
    pub fn is_enumeration(&self, data_type: &NodeId) -> bool {
        matches!(self.value(data_type), Some(ValueShape::Enumeration(_)))
    }

    /// Returns the built-in type of the values; `None` for a DataType without description.
    pub fn built_in_type(&self, data_type: &NodeId) -> Option<BuiltInType> {
        Some(match self.value(data_type)? {
            ValueShape::BuiltIn(built_in_type) => built_in_type,
            ValueShape::Structure(_) | ValueShape::Subtyped(_) => BuiltInType::ExtensionObject,
            ValueShape::Enumeration(enumeration) => enumeration.built_in_type(),
        })
    }

    /// Returns the name of a DataType, its NodeId without description.
    pub fn name(&self, data_type: &NodeId) -> String {
        match self.value(data_type) {
            Some(ValueShape::BuiltIn(built_in_type)) => built_in_type.name().to_owned(),
            Some(ValueShape::Structure(shape) | ValueShape::Subtyped(shape)) => shape.name(),
            Some(ValueShape::Enumeration(shape)) => shape.name(),
            None => data_type.to_string(),
        }
    }

    /// Returns whether a structure has this name, as JSON for people has it in `$type`.
    pub fn contains_name(&self, name: &str) -> bool {
        self.named(name).is_ok_and(|found| found.is_some())
    }

    /// Returns how values of a DataType are encoded.
    pub(crate) fn value(&self, data_type: &NodeId) -> Option<ValueShape<'_>> {
        if let Some(described) = self.types.get(data_type) {
            return Some(match described {
                Described::Structure(it) => ValueShape::Structure(StructureShape::Described(it)),
                Described::Enumeration(it) => {
                    ValueShape::Enumeration(EnumerationShape::Described(it))
                }
                Described::BuiltIn(it) => ValueShape::BuiltIn(*it),
            });
        }
        let id = data_type.standard_id()?;
        if let Some(built_in_type) = BuiltInType::of_simple_type(id) {
            return Some(ValueShape::BuiltIn(built_in_type));
        }
        if let Some(known) = EnumerationDescription::of_type(id) {
            return Some(ValueShape::Enumeration(EnumerationShape::Standard(known)));
        }
        let known = StandardStructure::of_type(id)?;
        Some(ValueShape::Structure(StructureShape::Standard(known)))
    }

    /// Returns the field of a structure at a position.
    pub(crate) fn field<'a>(
        &'a self,
        shape: StructureShape<'a>,
        position: usize,
    ) -> Option<FieldShape<'a>> {
        let known = match shape {
            StructureShape::Standard(known) => {
                return known.fields.get(position).map(standard_field);
            }
            StructureShape::Described(known) => known,
        };
        let field = known.fields.get(position)?;
        let value = self.value(&field.data_type).ok_or(&field.data_type);
        Some(FieldShape {
            name: &field.name,
            value: match value {
                Ok(value) if field.allows_subtypes => Ok(subtyped(value)),
                value => value,
            },
            value_rank: field.value_rank,
            is_optional: field.is_optional,
        })
    }

    /// Returns the structure whose encoding has this NodeId. Some applications send the NodeId of the DataType instead.
    pub(crate) fn structure_of(&self, id: &NodeId) -> Option<StructureShape<'_>> {
        let data_type = self.encodings.get(id).unwrap_or(id);
        if let Some(Described::Structure(described)) = self.types.get(data_type) {
            return Some(StructureShape::Described(described));
        }
        let id = id.standard_id()?;
        StandardStructure::of_encoding(id)
            // `of_encoding` also finds XML encodings, whose bodies are no binary structures.
            .filter(|known| known.binary_encoding_id == id)
            .map(StructureShape::Standard)
    }

    /// Returns the structure with this name: `Range`, `2:Point`, `Point`, or the NodeId of its DataType or encoding.
    ///
    /// # Errors
    /// The name is that of several structures, whose full names it returns.
    pub(crate) fn named(&self, name: &str) -> Result<Option<StructureShape<'_>>, Vec<String>> {
        // A name without a namespace is one of the standard first.
        if let Some(known) = STRUCTURES.iter().find(|known| known.name == name) {
            return Ok(Some(StructureShape::Standard(known)));
        }
        if let Ok(id) = name.parse::<NodeId>() {
            return Ok(self.structure_of(&id));
        }
        let structures = self.types.values().filter_map(|described| match described {
            Described::Structure(structure) => Some(structure),
            _ => None,
        });
        let mut found = None;
        let mut alike = Vec::new();
        for structure in structures {
            if structure.name.to_string() == name {
                return Ok(Some(StructureShape::Described(structure)));
            }
            if structure.name.name == *name {
                alike.push(structure.name.to_string());
                found = Some(StructureShape::Described(structure));
            }
        }
        match alike.len() {
            0 | 1 => Ok(found),
            _ => {
                // The map has no order, but the same question shall get the same answer.
                alike.sort();
                Err(alike)
            }
        }
    }
}

/// Largest number of descriptions of each kind that are used of metadata.
const MOST_DESCRIBED: usize = 1024;

impl From<&DataSetMetaDataType> for DescribedTypes {
    /// Creates the descriptions that metadata has, at most 1024 of each kind.
    fn from(meta_data: &DataSetMetaDataType) -> Self {
        let mut types = Self::default();
        for simple in meta_data.simple_data_types.iter().take(MOST_DESCRIBED) {
            if let Some(built_in_type) = BuiltInType::from_u8(simple.built_in_type) {
                types.insert_simple(simple.data_type_id.clone(), built_in_type);
            }
        }
        for enumeration in meta_data.enum_data_types.iter().take(MOST_DESCRIBED) {
            types.insert_enumeration(enumeration);
        }
        for structure in meta_data.structure_data_types.iter().take(MOST_DESCRIBED) {
            types.insert_structure(structure, &[]);
        }
        types
    }
}
