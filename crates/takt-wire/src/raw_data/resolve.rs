//! Conversion of metadata to the layout of RawData fields.

use std::collections::HashMap;
use std::sync::Arc;

use takt_ua::enumerations::StructureType;
use takt_ua::generated_support::{EnumerationDescription, FieldType, StructureDescription};
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData, StructureDefinition};
use takt_ua::{BuiltInType, NodeId};

use super::error::{Problem, RawDataError};
use super::layout::{MAX_RANK, Rank, RawField, RawStructure, RawType, StructureKind};

/// Deepest nesting of structures.
const MAX_DEPTH: usize = 32;

pub(super) struct Resolver<'m> {
    meta_data: &'m DataSetMetaDataType,
    /// Resolved structures; `None` while a structure is being resolved.
    structures: HashMap<NodeId, Option<Arc<RawStructure>>>,
}

/// Array properties in the metadata.
struct Shape<'m> {
    value_rank: i32,
    array_dimensions: &'m [u32],
}

impl<'m> Resolver<'m> {
    pub(super) fn new(meta_data: &'m DataSetMetaDataType) -> Self {
        Self {
            meta_data,
            structures: HashMap::new(),
        }
    }

    /// Returns the fields of the DataSet.
    pub(super) fn fields(mut self) -> Result<Vec<RawField>, RawDataError> {
        let fields = self.meta_data.fields.iter().enumerate();
        let fields =
            fields.map(|(index, field)| self.field(field).map_err(|problem| problem.at(index)));
        fields.collect()
    }

    fn field(&mut self, field: &FieldMetaData) -> Result<RawField, Problem> {
        let shape = Shape {
            value_rank: field.value_rank,
            array_dimensions: &field.array_dimensions,
        };
        let raw_type = match BuiltInType::from_u8(field.built_in_type) {
            Some(BuiltInType::ExtensionObject) => {
                self.data_type(&field.data_type, field.max_string_length, MAX_DEPTH)?
            }
            Some(built_in_type) => simple(built_in_type, field.max_string_length)?,
            None => return Err(Problem::Invalid("an unknown BuiltInType")),
        };
        RawField::new(field.name.as_str(), raw_type, shape.rank()?, false)
    }

    /// Returns the type of a field with this DataType.
    fn data_type(
        &mut self,
        data_type: &NodeId,
        max_string_length: u32,
        depth: usize,
    ) -> Result<RawType, Problem> {
        let meta_data = self.meta_data;
        let built_in = |id: u8| BuiltInType::from_u8(id).ok_or(Problem::Invalid("no BuiltInType"));
        if let Some(found) = find(
            &meta_data.structure_data_types,
            |d| &d.data_type_id,
            data_type,
        ) {
            let definition = &found.structure_definition;
            return self.structure(data_type, depth, |resolver| {
                resolver.definition(definition, depth)
            });
        }
        if let Some(found) = find(&meta_data.enum_data_types, |d| &d.data_type_id, data_type) {
            return simple(built_in(found.built_in_type)?, 0);
        }
        if let Some(found) = find(&meta_data.simple_data_types, |d| &d.data_type_id, data_type) {
            return simple(built_in(found.built_in_type)?, max_string_length);
        }
        let unknown = || Problem::UnknownDataType(data_type.clone());
        let id = data_type.as_ref().standard_id().ok_or_else(unknown)?;
        if let Some(found) = BuiltInType::of_simple_type(id) {
            return simple(found, max_string_length);
        }
        if EnumerationDescription::of_type(id).is_some() {
            return Ok(RawType::Fixed(BuiltInType::Int32));
        }
        let description = StructureDescription::of_type(id).ok_or_else(unknown)?;
        self.structure(data_type, depth, |resolver| {
            resolver.description(description, depth)
        })
    }

    /// Resolves a structure once; a structure that contains itself is refused.
    fn structure(
        &mut self,
        data_type: &NodeId,
        depth: usize,
        resolve: impl FnOnce(&mut Self) -> Result<RawStructure, Problem>,
    ) -> Result<RawType, Problem> {
        match self.structures.get(data_type) {
            Some(Some(known)) => return Ok(RawType::Structure(known.clone())),
            Some(None) => {
                return Err(Problem::Forbidden("a structure that contains itself"));
            }
            None if depth == 0 => {
                return Err(Problem::Invalid("structures are nested too deeply"));
            }
            None => {}
        }
        // Until it is resolved, this entry marks a structure that would contain itself.
        self.structures.insert(data_type.clone(), None);
        let structure = Arc::new(resolve(self)?);
        self.structures
            .insert(data_type.clone(), Some(structure.clone()));
        Ok(RawType::Structure(structure))
    }

    /// Returns a structure that the metadata describes.
    fn definition(
        &mut self,
        definition: &StructureDefinition,
        depth: usize,
    ) -> Result<RawStructure, Problem> {
        let kind = match definition.structure_type {
            StructureType::Structure => StructureKind::Plain,
            StructureType::StructureWithOptionalFields => StructureKind::OptionalFields,
            StructureType::Union => StructureKind::Union,
            _ => return Err(Problem::Forbidden("a structure with subtyped values")),
        };
        let mut fields = Vec::with_capacity(definition.fields.len());
        for field in &definition.fields {
            // `structure` has refused a depth of 0.
            let raw_type = self.data_type(&field.data_type, field.max_string_length, depth - 1)?;
            let shape = Shape {
                value_rank: field.value_rank,
                array_dimensions: &field.array_dimensions,
            };
            let is_optional = kind == StructureKind::OptionalFields && field.is_optional;
            let name = field.name.as_str();
            fields.push(RawField::new(name, raw_type, shape.rank()?, is_optional)?);
        }
        RawStructure::new(definition.default_encoding_id.clone(), kind, fields)
    }

    /// Returns a structure of namespace 0.
    fn description(
        &mut self,
        description: &StructureDescription,
        depth: usize,
    ) -> Result<RawStructure, Problem> {
        let kind = match description.has_optional_fields() {
            true => StructureKind::OptionalFields,
            false => StructureKind::Plain,
        };
        let mut fields = Vec::with_capacity(description.fields.len());
        for field in description.fields {
            let raw_type = match field.field_type {
                FieldType::BuiltIn(built_in_type) => simple(built_in_type, 0)?,
                FieldType::Enumeration(_) => RawType::Fixed(BuiltInType::Int32),
                FieldType::Structure(id) => self.data_type(&NodeId::from(id), 0, depth - 1)?,
            };
            let rank = match field.is_array {
                true => Rank::Array(0),
                false => Rank::Scalar,
            };
            fields.push(RawField::new(
                field.name,
                raw_type,
                rank,
                field.is_optional,
            )?);
        }
        let encoding_id = NodeId::from(description.binary_encoding_id);
        RawStructure::new(encoding_id, kind, fields)
    }
}

fn find<'t, T>(list: &'t [T], id: impl Fn(&T) -> &NodeId, data_type: &NodeId) -> Option<&'t T> {
    list.iter().find(|entry| id(entry) == data_type)
}

/// Returns a type that is not a structure, if it may be RawData.
fn simple(built_in_type: BuiltInType, max_string_length: u32) -> Result<RawType, Problem> {
    let max = max_string_length as usize;
    Ok(match built_in_type {
        BuiltInType::String => RawType::String(max),
        BuiltInType::ByteString => RawType::ByteString(max),
        BuiltInType::ExtensionObject | BuiltInType::Variant => {
            return Err(Problem::Forbidden("an abstract type"));
        }
        other if other.encoded_size().is_some() => RawType::Fixed(other),
        other => return Err(Problem::Forbidden(other.name())),
    })
}

impl Shape<'_> {
    fn rank(&self) -> Result<Rank, Problem> {
        let max = || self.array_dimensions.iter().map(|max| *max as usize);
        let rank = match self.value_rank {
            -1 => return Ok(Rank::Scalar),
            ..=0 => {
                return Err(Problem::Forbidden("a field that may be scalar or array"));
            }
            rank => usize::try_from(rank).unwrap_or(usize::MAX),
        };
        if !self.array_dimensions.is_empty() && self.array_dimensions.len() != rank {
            return Err(Problem::Invalid(
                "the ArrayDimensions do not agree with the ValueRank",
            ));
        }
        Ok(match rank {
            1 => Rank::Array(max().next().unwrap_or(0)),
            // One unknown length makes the size of the whole field unknown.
            2..=MAX_RANK if max().any(|max| max == 0) => Rank::Matrix {
                rank,
                max: Vec::new(),
            },
            2..=MAX_RANK => Rank::Matrix {
                rank,
                max: max().collect(),
            },
            _ => return Err(Problem::Invalid("more than 8 dimensions")),
        })
    }
}
