//! Structures that a NodeSet defines: values encoded by their DataTypeDefinition (OPC 10000-6, 5.2.6 to 5.2.8).

use std::sync::Arc;

use takt_space::{AddressSpace, View};
use takt_ua::binary::{Decoder, Encode, Encoder};
use takt_ua::enumerations::StructureType;
use takt_ua::structures::{StructureDefinition, StructureField};
use takt_ua::{
    Array, BuiltInType, Elements, ExtensionObject, ExtensionObjectBody, NodeId, Variant, ids,
};

use super::field::DataType;
use super::structure::StructureError;

/// Largest size of an encoded structure in bytes.
const MAX_SIZE: usize = 64 << 20;

/// Largest depth of structures in structures.
const MAX_DEPTH: usize = 32;

/// A structure of a NodeSet, from [`NodeSets::structure`](crate::NodeSets::structure). Its values are ExtensionObjects.
#[derive(Clone)]
pub struct ModelStructure {
    space: Arc<AddressSpace>,
    data_type: NodeId,
    definition: Arc<StructureDefinition>,
}

impl ModelStructure {
    /// Returns the structure with this DataType; `None` if it is abstract or no structure.
    pub(super) fn new(space: Arc<AddressSpace>, data_type: NodeId) -> Option<Self> {
        let definition = space.view().structure_definition(&data_type)?;
        Some(Self {
            space,
            data_type,
            definition: Arc::new(definition),
        })
    }

    /// Returns the names of the fields, in order.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.definition
            .fields
            .iter()
            .map(|field| field.name.as_str())
    }

    /// Returns the value with these fields, given by name. A field that is not given has its default, or is absent if it is
    /// optional. A union has one field.
    ///
    /// # Errors
    /// A field does not exist, or a value does not fit its field.
    pub fn value(&self, fields: &[(&str, Variant)]) -> Result<ExtensionObject, StructureError> {
        for (name, _) in fields {
            if !self.field_names().any(|known| known == *name) {
                return Err(StructureError::NoField {
                    name: (*name).to_owned(),
                    fields: self.field_names().collect::<Vec<_>>().join(", "),
                });
            }
        }
        let mut body = Vec::new();
        let codec = Codec(self.space.view());
        let encoder = &mut Encoder::growing(&mut body, MAX_SIZE);
        codec.encode(&self.definition, fields, encoder, 0)?;
        Ok(ExtensionObject {
            type_id: self.definition.default_encoding_id.clone(),
            body: ExtensionObjectBody::Binary(body),
        })
    }

    /// Returns the fields of a value by name. Optional fields that it does not have are left out.
    ///
    /// # Errors
    /// The value is of another type.
    pub fn fields_of(
        &self,
        value: &ExtensionObject,
    ) -> Result<Vec<(String, Variant)>, StructureError> {
        let misfit = || StructureError::Type(value.type_id.clone());
        let ExtensionObjectBody::Binary(body) = &value.body else {
            return Err(misfit());
        };
        if value.type_id != self.definition.default_encoding_id {
            return Err(misfit());
        }
        let mut decoder = Decoder::new(body);
        let codec = Codec(self.space.view());
        let fields = codec.decode(&self.definition, &mut decoder, 0)?;
        match decoder.remaining() {
            0 => Ok(fields),
            _ => Err(misfit()),
        }
    }
}

impl From<&ModelStructure> for DataType {
    fn from(structure: &ModelStructure) -> Self {
        structure.data_type.clone().into()
    }
}

/// Form of a field's values.
enum Form {
    BuiltIn(BuiltInType),
    /// The body of another structure.
    Body(StructureDefinition),
}

struct Codec<'a>(View<'a>);

impl Codec<'_> {
    fn form(
        &self,
        definition: &StructureDefinition,
        field: &StructureField,
    ) -> Result<Form, StructureError> {
        let unknown = || StructureError::Unknown(field.name.as_str().to_owned());
        let built_in = self.0.built_in_type(&field.data_type);
        let built_in = built_in.ok_or_else(unknown)?;
        let takes_subtypes = field.is_optional
            && matches!(
                definition.structure_type,
                StructureType::StructureWithSubtypedValues | StructureType::UnionWithSubtypedValues
            );
        let is_structure = built_in == BuiltInType::ExtensionObject;
        // A field that takes any structure has it in an ExtensionObject; others have its fields in place.
        if is_structure && !takes_subtypes && field.data_type.standard_id() != Some(ids::STRUCTURE)
        {
            let inner = self.0.structure_definition(&field.data_type);
            let inner = inner.ok_or_else(unknown)?;
            return Ok(Form::Body(inner));
        }
        Ok(Form::BuiltIn(match takes_subtypes && !is_structure {
            true => BuiltInType::Variant,
            false => built_in,
        }))
    }

    fn encode(
        &self,
        definition: &StructureDefinition,
        values: &[(&str, Variant)],
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), StructureError> {
        let find = |field: &StructureField| {
            let given = values.iter().find(|(name, _)| *name == field.name.as_str());
            given.map(|(_, value)| value)
        };
        let fields = &definition.fields;
        match definition.structure_type {
            StructureType::Union | StructureType::UnionWithSubtypedValues => {
                let chosen = fields.iter().position(|field| find(field).is_some());
                let number = chosen.map_or(0, |position| position + 1);
                encoder.u32(u32::try_from(number).unwrap_or(u32::MAX))?;
                return match chosen.and_then(|position| fields.get(position)) {
                    Some(field) => self.field(definition, field, find(field), encoder, depth),
                    None => Ok(()),
                };
            }
            StructureType::StructureWithOptionalFields => {
                let optional = fields.iter().filter(|field| field.is_optional);
                let mask = (0_u32..32).zip(optional).fold(0, |mask, (bit, field)| {
                    mask | u32::from(find(field).is_some()) << bit
                });
                encoder.u32(mask)?;
            }
            _ => {}
        }
        let has_optional = definition.structure_type == StructureType::StructureWithOptionalFields;
        for field in fields {
            let value = find(field);
            if !(has_optional && field.is_optional && value.is_none()) {
                self.field(definition, field, value, encoder, depth)?;
            }
        }
        Ok(())
    }

    fn field(
        &self,
        definition: &StructureDefinition,
        field: &StructureField,
        value: Option<&Variant>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), StructureError> {
        let misfit = || StructureError::Field(field.name.as_str().to_owned());
        let form = self.form(definition, field)?;
        if field.value_rank < 1 {
            return self.scalar(field, &form, value, encoder, depth);
        }
        match value {
            None => Ok(encoder.array_length(None)?),
            Some(Variant::Array(array)) if field.value_rank == 1 => {
                encoder.array_length(Some(array.len()))?;
                for element in array.elements.iter() {
                    self.scalar(field, &form, Some(&element), encoder, depth)?;
                }
                Ok(())
            }
            // Matrices in structures are not supported; no published NodeSet has one.
            _ => Err(misfit()),
        }
    }

    fn scalar(
        &self,
        field: &StructureField,
        form: &Form,
        value: Option<&Variant>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), StructureError> {
        let misfit = || StructureError::Field(field.name.as_str().to_owned());
        match (form, value) {
            // A structure may contain itself, and its default value would have no end.
            (Form::Body(inner), None) if depth < MAX_DEPTH => {
                self.encode(inner, &[], encoder, depth + 1)
            }
            (Form::Body(inner), Some(Variant::ExtensionObject(object))) => match &object.body {
                ExtensionObjectBody::Binary(body)
                    if object.type_id == inner.default_encoding_id =>
                {
                    Ok(encoder.bytes(body)?)
                }
                _ => Err(misfit()),
            },
            (Form::BuiltIn(BuiltInType::Variant), value) => {
                Ok(value.unwrap_or(&Variant::Empty).encode(encoder)?)
            }
            (Form::BuiltIn(built_in), None) => {
                Ok(Variant::default_of(*built_in).encode_scalar(encoder)?)
            }
            (Form::BuiltIn(built_in), Some(value))
                if value.built_in_type() == Some(*built_in) && !value.is_array() =>
            {
                Ok(value.encode_scalar(encoder)?)
            }
            _ => Err(misfit()),
        }
    }

    fn decode(
        &self,
        definition: &StructureDefinition,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Vec<(String, Variant)>, StructureError> {
        let fields = &definition.fields;
        let mut absent = 0_u32;
        match definition.structure_type {
            StructureType::Union | StructureType::UnionWithSubtypedValues => {
                let number: u32 = decoder.value()?;
                let chosen = usize::try_from(number)
                    .ok()
                    .and_then(|at| at.checked_sub(1));
                let chosen = chosen.and_then(|position| fields.get(position));
                let chosen = chosen.into_iter();
                return chosen
                    .map(|field| self.decode_field(definition, field, decoder, depth))
                    .collect();
            }
            StructureType::StructureWithOptionalFields => absent = !decoder.value::<u32>()?,
            _ => {}
        }
        let mut values = Vec::new();
        let has_optional = definition.structure_type == StructureType::StructureWithOptionalFields;
        for field in fields {
            if has_optional && field.is_optional {
                let is_absent = absent & 1 == 1;
                absent >>= 1;
                if is_absent {
                    continue;
                }
            }
            values.push(self.decode_field(definition, field, decoder, depth)?);
        }
        Ok(values)
    }

    fn decode_field(
        &self,
        definition: &StructureDefinition,
        field: &StructureField,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<(String, Variant), StructureError> {
        let form = self.form(definition, field)?;
        let name = field.name.as_str().to_owned();
        if field.value_rank < 1 {
            let value = self.decode_scalar(field, &form, decoder, depth)?;
            return Ok((name, value));
        }
        // An element takes a byte at least.
        let count = decoder.array_length(1)?.unwrap_or(0);
        let element_type = match form {
            Form::Body(..) => BuiltInType::ExtensionObject,
            Form::BuiltIn(built_in) => built_in,
        };
        let mut elements = Elements::empty(element_type);
        for _ in 0..count {
            let element = self.decode_scalar(field, &form, decoder, depth)?;
            elements
                .push(element)
                .map_err(|_| StructureError::Field(name.clone()))?;
        }
        Ok((name, Array::new(elements).into()))
    }

    fn decode_scalar(
        &self,
        field: &StructureField,
        form: &Form,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Variant, StructureError> {
        match form {
            Form::Body(inner) => {
                // Each level takes stack, and the value may come from anybody.
                if depth >= MAX_DEPTH {
                    return Err(StructureError::Field(field.name.as_str().to_owned()));
                }
                let rest = decoder.rest();
                // The end of the value is where its last field ends.
                self.decode(inner, decoder, depth + 1)?;
                let size = rest.len() - decoder.remaining();
                Ok(Variant::from(ExtensionObject {
                    type_id: inner.default_encoding_id.clone(),
                    body: ExtensionObjectBody::Binary(
                        rest.get(..size).unwrap_or_default().to_vec(),
                    ),
                }))
            }
            Form::BuiltIn(BuiltInType::Variant) => Ok(decoder.value()?),
            Form::BuiltIn(built_in) => Ok(Variant::decode_scalar(*built_in, decoder)?),
        }
    }
}
