//! Structures of a Provider, and their values.

use std::sync::Arc;

use takt_client::model::OWN_NAMESPACE;
use takt_ua::binary::{DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::StructureType as Layout;
use takt_ua::structures::StructureDefinition;
use takt_ua::{
    Array, BuiltInType, Elements, ExtensionObject, ExtensionObjectBody, LocalizedText, NodeId,
    Variant, ids,
};

use super::field::{DataType, Field, Kind};

/// Largest size of an encoded structure in bytes.
const MAX_SIZE: usize = 64 << 20;

/// A structure: a DataType whose values are ExtensionObjects with these fields (OPC 10000-3, 5.8.3).
///
/// ```
/// use takt_app::{BuiltInType, Field, Provider, StructureDataType, Variable};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let recipe = StructureDataType::new("Recipe")
///     .field(Field::new("Name", BuiltInType::String))
///     .field(Field::new("Amounts", BuiltInType::Double).array(0));
/// let soup = recipe.value(&["Soup".into(), vec![0.5, 1.0].into()])?;
/// let builder = Provider::builder("Mixer")
///     .variable(Variable::stored("Recipe", soup).data_type(&recipe))
///     .data_type(recipe);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StructureDataType {
    pub(super) name: String,
    pub(super) description: LocalizedText,
    pub(super) fields: Arc<[Field]>,
}

/// Error of a value that is not one of its [`StructureDataType`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    /// The number of values is not that of the fields.
    #[error("it has {expected} fields, not {given}")]
    Count {
        /// Number of fields.
        expected: usize,
        /// Number of values.
        given: usize,
    },
    /// A value has another type than its field, or is an array instead of a scalar, or too long.
    #[error("a value does not fit the field `{0}`")]
    Field(String),
    /// The encoding of a field's DataType is not known.
    #[error("the field `{0}` has a DataType of which only the NodeId is known")]
    Unknown(String),
    /// The structure has no such field.
    #[error("there is no field `{name}`: the fields are {fields}")]
    NoField {
        /// The name.
        name: String,
        /// The fields, divided by commas.
        fields: String,
    },
    /// The ExtensionObject is of another type.
    #[error("it is of another type: {0}")]
    Type(NodeId),
    /// The body cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The value is too large.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A Rust structure with the fields of a [`StructureDataType`]: see [`structure_fields!`](crate::structure_fields).
pub trait StructureFields {
    /// Returns the fields with their names, in order.
    fn fields(&self) -> Vec<(&'static str, Variant)>;
}

/// Implements [`StructureFields`](crate::StructureFields) for a structure: names its fields as clients see them.
#[macro_export]
macro_rules! structure_fields {
    ($structure:ty { $($field:ident: $name:literal),+ $(,)? }) => {
        impl $crate::StructureFields for $structure {
            fn fields(&self) -> Vec<(&'static str, $crate::Variant)> {
                vec![$(($name, $crate::Variant::from(::std::clone::Clone::clone(&self.$field)))),+]
            }
        }
    };
}

impl StructureDataType {
    /// Creates a structure without fields.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: LocalizedText::NULL,
            fields: Arc::default(),
        }
    }

    /// Sets the Description of the DataType.
    #[must_use]
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.description = text.into();
        self
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields = self.fields.iter().cloned().chain([field]).collect();
        self
    }

    /// Returns the value with these fields, in order. The value of a field that is itself a structure is the ExtensionObject of
    /// that one.
    ///
    /// # Errors
    /// The values do not fit the fields.
    pub fn value(&self, fields: &[Variant]) -> Result<ExtensionObject, StructureError> {
        let mut body = Vec::new();
        encode(
            &self.fields,
            fields,
            &mut Encoder::growing(&mut body, MAX_SIZE),
        )?;
        Ok(ExtensionObject {
            type_id: DataType::from(self).encoding_id(OWN_NAMESPACE),
            body: ExtensionObjectBody::Binary(body),
        })
    }

    /// Creates a structure with the fields of a Rust structure, whose types are those of `example`.
    ///
    /// ```
    /// use takt_app::{StructureDataType, structure_fields};
    ///
    /// #[derive(Default)]
    /// struct Recipe {
    ///     name: String,
    ///     amounts: Vec<f64>,
    /// }
    /// structure_fields!(Recipe { name: "Name", amounts: "Amounts" });
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let recipe = StructureDataType::like("Recipe", &Recipe::default());
    /// let soup = Recipe { name: "Soup".to_owned(), amounts: vec![0.5, 1.0] };
    /// let value = recipe.value_of(&soup)?;
    /// assert_eq!(recipe.fields_of(&value)?, ["Soup".into(), vec![0.5, 1.0].into()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn like(name: impl Into<String>, example: &impl StructureFields) -> Self {
        let fields = example.fields().into_iter().map(|(name, value)| {
            let built_in_type = value.built_in_type().unwrap_or(BuiltInType::Variant);
            let field = Field::new(name, built_in_type);
            match value.is_array() {
                true => field.array(0),
                false => field,
            }
        });
        Self {
            fields: fields.collect(),
            ..Self::new(name)
        }
    }

    /// Returns the value with the fields of a Rust structure.
    ///
    /// # Errors
    /// The values do not fit the fields.
    pub fn value_of(
        &self,
        value: &impl StructureFields,
    ) -> Result<ExtensionObject, StructureError> {
        let values: Vec<Variant> = value.fields().into_iter().map(|(_, value)| value).collect();
        self.value(&values)
    }

    /// Returns the fields of a value, in order. The value may come from the Provider or from the registry.
    ///
    /// # Errors
    /// The value is of another type.
    pub fn fields_of(&self, value: &ExtensionObject) -> Result<Vec<Variant>, StructureError> {
        let mut decoder = Decoder::new(body(&self.into(), value)?);
        let fields = decode(&self.fields, &mut decoder)?;
        match decoder.remaining() {
            0 => Ok(fields),
            _ => Err(StructureError::Type(value.type_id.clone())),
        }
    }

    /// Returns the DataTypeDefinition at a server where the Provider's namespace has the index `own`.
    pub(super) fn definition(&self, own: u16) -> ExtensionObject {
        let fields = self.fields.iter();
        ExtensionObject::from_structure(&StructureDefinition {
            default_encoding_id: DataType::from(self).encoding_id(own),
            base_data_type: NodeId::numeric(0, ids::STRUCTURE),
            structure_type: Layout::Structure,
            fields: fields.map(|field| field.structure_field(own)).collect(),
        })
    }
}

impl From<&StructureDataType> for DataType {
    fn from(structure: &StructureDataType) -> Self {
        Self::own(
            &structure.name,
            Kind::Structure(Arc::clone(&structure.fields)),
        )
    }
}

/// Returns the body of a value of a structure of the Provider, at whatever index its namespace has.
fn body<'v>(data_type: &DataType, value: &'v ExtensionObject) -> Result<&'v [u8], StructureError> {
    match &value.body {
        ExtensionObjectBody::Binary(body)
            if value.type_id == data_type.encoding_id(value.type_id.namespace) =>
        {
            Ok(body)
        }
        _ => Err(StructureError::Type(value.type_id.clone())),
    }
}

/// Encodes fields one after another (OPC 10000-6, 5.2.6).
fn encode(
    fields: &[Field],
    values: &[Variant],
    encoder: &mut Encoder<'_>,
) -> Result<(), StructureError> {
    if fields.len() != values.len() {
        return Err(StructureError::Count {
            expected: fields.len(),
            given: values.len(),
        });
    }
    for (field, value) in fields.iter().zip(values) {
        let misfit = || StructureError::Field(field.name.clone());
        let built_in_type = field.data_type.built_in_type();
        let built_in_type =
            built_in_type.ok_or_else(|| StructureError::Unknown(field.name.clone()))?;
        match (field.length, value) {
            (None, value) => encode_scalar(field, built_in_type, value, encoder)?,
            (Some(limit), Variant::Array(array)) if array.dimensions.len() <= 1 => {
                let is_long = limit > 0 && array.len() > limit as usize;
                if array.element_type() != built_in_type || is_long {
                    return Err(misfit());
                }
                encoder.array_length(Some(array.len()))?;
                match &field.data_type.kind {
                    Kind::Structure(_) => {
                        for element in array.elements.iter() {
                            encode_scalar(field, built_in_type, &element, encoder)?;
                        }
                    }
                    _ => array.elements.encode(encoder)?,
                }
            }
            _ => return Err(misfit()),
        }
    }
    Ok(())
}

fn encode_scalar(
    field: &Field,
    built_in_type: BuiltInType,
    value: &Variant,
    encoder: &mut Encoder<'_>,
) -> Result<(), StructureError> {
    match (&field.data_type.kind, value) {
        (Kind::Structure(_), Variant::ExtensionObject(value)) => {
            // A structure in a structure has no TypeId and no length in front (OPC 10000-6, 5.2.6).
            encoder.bytes(body(&field.data_type, value)?)?;
        }
        (Kind::BuiltIn(BuiltInType::Variant), value) => value.encode(encoder)?,
        (_, value) if value.built_in_type() == Some(built_in_type) && !value.is_array() => {
            value.encode_scalar(encoder)?;
        }
        _ => return Err(StructureError::Field(field.name.clone())),
    }
    Ok(())
}

fn decode(fields: &[Field], decoder: &mut Decoder<'_>) -> Result<Vec<Variant>, StructureError> {
    let values = fields.iter().map(|field| {
        let built_in_type = field.data_type.built_in_type();
        let built_in_type =
            built_in_type.ok_or_else(|| StructureError::Unknown(field.name.clone()))?;
        if field.length.is_none() {
            return decode_scalar(field, built_in_type, decoder);
        }
        // An element takes a byte at least.
        let count = decoder.array_length(1)?.unwrap_or(0);
        let elements = match field.data_type.kind {
            Kind::Structure(_) => {
                let mut elements = Elements::empty(built_in_type);
                for _ in 0..count {
                    let element = decode_scalar(field, built_in_type, decoder)?;
                    elements
                        .push(element)
                        .map_err(|_| StructureError::Field(field.name.clone()))?;
                }
                elements
            }
            _ => Elements::decode(built_in_type, count, decoder)?,
        };
        Ok(Array::new(elements).into())
    });
    values.collect()
}

fn decode_scalar(
    field: &Field,
    built_in_type: BuiltInType,
    decoder: &mut Decoder<'_>,
) -> Result<Variant, StructureError> {
    match &field.data_type.kind {
        Kind::Structure(inner) => {
            // The encoding has no length of it: its end is where its last field ends.
            let rest = decoder.rest();
            decode(inner, decoder)?;
            let size = rest.len() - decoder.remaining();
            Ok(Variant::from(ExtensionObject {
                type_id: field.data_type.encoding_id(OWN_NAMESPACE),
                body: ExtensionObjectBody::Binary(rest.get(..size).unwrap_or_default().to_vec()),
            }))
        }
        Kind::BuiltIn(BuiltInType::Variant) => Ok(decoder.value()?),
        _ => Ok(Variant::decode_scalar(built_in_type, decoder)?),
    }
}
