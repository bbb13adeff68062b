//! Structures and enumerations as JSON for people, by the descriptions of their DataTypes.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde_json::{Map, Value};

use super::TYPE;
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder};
use crate::data_types::{
    DescribedTypes, EnumerationShape, FieldShape, StructureKind, StructureShape, ValueShape,
};
use crate::json_nesting::{self, MAX_DEPTH};
use crate::{
    BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, Variant, foreign, json_encoding,
};

/// Form of values of enumerations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnumerationForm {
    /// `Green`, in the generated structures only: the form of configuration files.
    Name,
    /// `Green_1`, as in the JSON DataEncoding for other applications (OPC 10000-6, 5.4.4). OptionSets are numbers.
    NameAndNumber,
    /// `Green (1)`; OptionSets `Open | Locked (5)`.
    Text,
}

/// Reason why the body of an ExtensionObject is not written as fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndecodedReason {
    /// No DataType has this encoding.
    UnknownEncoding,
    /// A field has a DataType without description.
    UnknownDataType(NodeId),
    /// A field has a ValueRank with which its encoding is not defined.
    ValueRank {
        /// Name of the field.
        field: String,
        /// Its ValueRank.
        value_rank: i32,
    },
    /// The body is no structure of this type.
    Mismatch {
        /// Name of the type.
        name: String,
        /// Error of decoding.
        error: DecodeError,
    },
    /// The values take too much memory as JSON.
    TooLarge,
    /// The body is XML.
    Xml,
}

/// An ExtensionObject whose body is not written as fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndecodedStructure {
    /// NodeId of its encoding.
    pub encoding: NodeId,
    /// Reason.
    pub reason: UndecodedReason,
}

impl fmt::Display for UndecodedStructure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoding = &self.encoding;
        match &self.reason {
            UndecodedReason::UnknownEncoding => {
                write!(f, "no DataType with the encoding {encoding} is known")
            }
            UndecodedReason::UnknownDataType(data_type) => write!(
                f,
                "a structure with the encoding {encoding} has a field of the DataType {data_type}, which is not known"
            ),
            UndecodedReason::ValueRank { field, value_rank } => write!(
                f,
                "the field {field} of the structure with the encoding {encoding} has the ValueRank {value_rank}"
            ),
            UndecodedReason::Mismatch { name, error } => write!(
                f,
                "a value does not match the DataTypeDefinition of {name} (encoding {encoding}): {error}"
            ),
            UndecodedReason::TooLarge => {
                write!(f, "values are too large to be written as fields")
            }
            UndecodedReason::Xml => {
                write!(f, "a structure with the encoding {encoding} is sent as XML")
            }
        }
    }
}

/// Writes values as JSON for people, structures and enumerations by descriptions. It remembers which structures it could not
/// write as fields.
#[derive(Debug)]
pub struct DescribedValues<'a> {
    types: &'a DescribedTypes,
    form: EnumerationForm,
    /// Memory in bytes that fields may still take.
    room: Cell<usize>,
    undecoded: RefCell<Vec<UndecodedStructure>>,
}

/// Memory in bytes that the fields of a value take as JSON at most. A short body can name many fields.
const MOST_MEMORY: usize = 256 << 20;

/// Memory in bytes that a field or an element takes beside its name.
const FIELD: usize = 96;

/// Largest number of structures within one structure, beside one for each byte: descriptions can nest structures without content
/// in each other without limit.
const EMPTY_STRUCTURES: usize = 16;

/// Largest number of structures that could not be written which are remembered.
const MOST_UNDECODED: usize = 64;

impl<'a> DescribedValues<'a> {
    /// Creates a writer.
    #[must_use]
    pub fn new(types: &'a DescribedTypes, form: EnumerationForm) -> Self {
        Self {
            types,
            form,
            room: Cell::new(MOST_MEMORY),
            undecoded: RefCell::default(),
        }
    }

    /// Returns the JSON form of a value. With the DataType of its Variable, field or argument, numbers of an enumeration are
    /// written with their names.
    #[must_use]
    pub fn value(&self, value: &Variant, data_type: Option<&NodeId>) -> Value {
        let shape = data_type.and_then(|data_type| self.types.value(data_type));
        let json = self.variant(value, 0);
        match (shape, value.built_in_type()) {
            // A server may send another type than that of the DataType.
            (Some(ValueShape::Enumeration(shape)), Some(built_in)) if built_in.is_integer() => {
                self.named(shape, json)
            }
            _ => json,
        }
    }

    /// Returns the structures that were not written as fields since the last call, each once, the first 64.
    pub fn take_undecoded(&self) -> Vec<UndecodedStructure> {
        self.undecoded.take()
    }

    /// Returns the fields if the type is known and the body is exactly one value of it.
    pub(super) fn known(&self, object: &ExtensionObject, depth: usize) -> Option<Value> {
        let refused = |reason| {
            let undecoded = UndecodedStructure {
                encoding: object.type_id.clone(),
                reason,
            };
            let mut all = self.undecoded.borrow_mut();
            if all.len() < MOST_UNDECODED && !all.contains(&undecoded) {
                all.push(undecoded);
            }
            None
        };
        let bytes = match &object.body {
            ExtensionObjectBody::Binary(bytes) => bytes,
            // Without a body there is nothing that could not be written.
            ExtensionObjectBody::None => return None,
            ExtensionObjectBody::Xml(_) => return refused(UndecodedReason::Xml),
        };
        let Some(shape) = self.types.structure_of(&object.type_id) else {
            return received_as_json(object, bytes, depth)
                .or_else(|| refused(UndecodedReason::UnknownEncoding));
        };
        let room = self.room.get();
        let decoded = foreign::decode_as(bytes, |decoder| {
            // A second attempt has the same room.
            self.room.set(room);
            let value = self.structure(shape, decoder, depth + 1)?;
            match decoder.remaining() {
                0 => Ok(value),
                _ => {
                    let longer = DecodeErrorKind::InvalidValue("the value is longer");
                    Err(StructureError::Decode(decoder.error(longer)))
                }
            }
        });
        match decoded {
            Ok(Value::Object(fields)) => {
                // A reader of the text sees the type first: the map keeps the order.
                let mut value = Map::from_iter([(TYPE.into(), shape.name().into())]);
                value.extend(fields);
                Some(value.into())
            }
            Ok(other) => Some(other),
            Err(error) => refused(match error {
                StructureError::Decode(error) => UndecodedReason::Mismatch {
                    name: shape.name(),
                    error,
                },
                StructureError::UnknownDataType(id) => UndecodedReason::UnknownDataType(id),
                StructureError::ValueRank { field, value_rank } => {
                    UndecodedReason::ValueRank { field, value_rank }
                }
                StructureError::TooLarge => UndecodedReason::TooLarge,
            }),
        }
    }

    /// Decodes a structure: an object of its fields.
    pub(super) fn structure(
        &self,
        shape: StructureShape<'a>,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Value, StructureError> {
        let mut body = Body {
            values: self,
            structures_left: decoder.remaining().saturating_add(EMPTY_STRUCTURES),
        };
        body.structure(shape, decoder, depth).map(Value::Object)
    }

    /// Writes the number of an enumeration or OptionSet with its name; arrays keep their form.
    fn named(&self, shape: EnumerationShape<'_>, json: Value) -> Value {
        match json {
            Value::Array(elements) => {
                let named = elements.into_iter().map(|it| self.named(shape, it));
                named.collect()
            }
            Value::Number(number) if shape.is_option_set() => match number.as_u64() {
                Some(bits) if self.form == EnumerationForm::Text => bit_names(shape, bits).into(),
                _ => number.into(),
            },
            Value::Number(number) => {
                let name = number.as_i64().and_then(|value| shape.name_of(value));
                match (name, self.form) {
                    (None, _) => number.into(),
                    (Some(name), EnumerationForm::Name) => name.into(),
                    (Some(name), EnumerationForm::NameAndNumber) => {
                        format!("{name}_{number}").into()
                    }
                    (Some(name), EnumerationForm::Text) => format!("{name} ({number})").into(),
                }
            }
            other => other,
        }
    }

    fn take_room(&self, bytes: usize) -> Result<(), StructureError> {
        let left = self.room.get().checked_sub(bytes);
        self.room.set(left.ok_or(StructureError::TooLarge)?);
        Ok(())
    }
}

/// Returns a structure that was received as JSON and has no description: its text is the body
/// ([`json_encoding`](crate::json_encoding)).
fn received_as_json(object: &ExtensionObject, bytes: &[u8], depth: usize) -> Option<Value> {
    let text = bytes.starts_with(b"{").then_some(bytes)?;
    let Ok(Value::Object(fields)) = json_encoding::parse(text, json_encoding::MAX_BODY_LENGTH)
    else {
        return None;
    };
    let fields = Value::Object(fields);
    // The parser limits the depth of this text alone, without what is around it.
    if json_nesting::depth_of(&fields) + depth >= MAX_DEPTH {
        return None;
    }
    let mut value = Map::new();
    if !object.type_id.is_null() {
        value.insert(TYPE.into(), object.type_id.to_string().into());
    }
    if let Value::Object(fields) = fields {
        value.extend(fields);
    }
    Some(value.into())
}

/// Folds the elements of a matrix into arrays of arrays, the last dimension innermost.
pub(super) fn nest(mut elements: Vec<Value>, lengths: &[u32]) -> Value {
    // Dimensions from outside may not fit: the elements then stay in one list, so that none is lost.
    let consistent = lengths.iter().try_fold(1_usize, |product, length| {
        product
            .checked_mul(*length as usize)
            .filter(|product| *product > 0)
    }) == Some(elements.len());
    if consistent {
        // Innermost first: the rows of one dimension are the elements of the next.
        for length in lengths.iter().skip(1).rev() {
            let mut rest = elements.into_iter();
            elements = Vec::new();
            loop {
                let row: Vec<Value> = rest.by_ref().take(*length as usize).collect();
                if row.is_empty() {
                    break;
                }
                elements.push(row.into());
            }
        }
    }
    elements.into()
}

/// Returns the names of bits, and the number.
fn bit_names(shape: EnumerationShape<'_>, bits: u64) -> String {
    let is_set = |bit: &i64| bits >> bit & 1 == 1;
    let set = (0..64_i64).filter(is_set);
    let names: Vec<String> = set
        .map(|bit| match shape.name_of(bit) {
            Some(name) => name.to_owned(),
            None => format!("bit {bit}"),
        })
        .collect();
    match names.is_empty() {
        true => bits.to_string(),
        false => format!("{} ({bits})", names.join(" | ")),
    }
}

/// Reason why a structure cannot be decoded.
#[derive(Debug)]
pub(super) enum StructureError {
    Decode(DecodeError),
    UnknownDataType(NodeId),
    ValueRank { field: String, value_rank: i32 },
    TooLarge,
}

impl From<DecodeError> for StructureError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// Reads the body of an ExtensionObject.
struct Body<'w, 'a> {
    values: &'w DescribedValues<'a>,
    structures_left: usize,
}

impl<'a> Body<'_, 'a> {
    fn structure(
        &mut self,
        shape: StructureShape<'a>,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, StructureError> {
        if depth >= MAX_DEPTH {
            return Err(decoder.error(DecodeErrorKind::DepthExceeded).into());
        }
        let left = self.structures_left.checked_sub(1);
        self.structures_left = left.ok_or_else(|| {
            decoder.error(DecodeErrorKind::LimitExceeded("structures in a structure"))
        })?;
        let mut object = Map::new();
        let mut mask = match shape.kind() {
            StructureKind::Sequence => u32::MAX,
            StructureKind::OptionalFields => decoder.u32()?,
            StructureKind::Union => {
                let switch = decoder.u32()?;
                // 0 stands for a Union without a value (OPC 10000-6, 5.2.8).
                if let Some(position) = switch.checked_sub(1) {
                    let field = usize::try_from(position)
                        .ok()
                        .and_then(|position| self.values.types.field(shape, position));
                    let unknown = DecodeErrorKind::InvalidValue("a Union has no such field");
                    let field = field.ok_or_else(|| decoder.error(unknown))?;
                    self.field(&field, decoder, &mut object, depth)?;
                }
                return Ok(object);
            }
        };
        for position in 0..shape.field_count() {
            let Some(field) = self.values.types.field(shape, position) else {
                break;
            };
            if field.is_optional {
                let is_absent = mask & 1 == 0;
                mask >>= 1;
                if is_absent {
                    continue;
                }
            }
            self.field(&field, decoder, &mut object, depth)?;
        }
        Ok(object)
    }

    fn field(
        &mut self,
        field: &FieldShape<'a>,
        decoder: &mut Decoder<'_>,
        object: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), StructureError> {
        let value = match field.value {
            Ok(value) => value,
            Err(data_type) => return Err(StructureError::UnknownDataType(data_type.clone())),
        };
        self.values.take_room(FIELD + field.name.len())?;
        let value = match field.value_rank {
            -1 => self.element(value, decoder, depth)?,
            1 => {
                // Each element has to take a byte, which bounds the loop for structures without fields.
                let count = decoder.array_length(1)?.unwrap_or(0);
                self.elements(value, count, decoder, depth)?.into()
            }
            2.. => self.matrix(value, field.value_rank, decoder, depth)?,
            value_rank => {
                return Err(StructureError::ValueRank {
                    field: field.name.to_owned(),
                    value_rank,
                });
            }
        };
        object.insert(field.name.to_owned(), value);
        Ok(())
    }

    fn elements(
        &mut self,
        value: ValueShape<'a>,
        count: usize,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Vec<Value>, StructureError> {
        self.values.take_room(count.saturating_mul(FIELD))?;
        (0..count)
            .map(|_| self.element(value, decoder, depth))
            .collect()
    }

    /// Decodes a matrix: its dimensions, and the elements without their number (OPC 10000-6, 5.2.5).
    fn matrix(
        &mut self,
        value: ValueShape<'a>,
        value_rank: i32,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Value, StructureError> {
        let rank = decoder.array_length(4)?.unwrap_or(0);
        if rank != 0 && usize::try_from(value_rank) != Ok(rank) {
            let wrong = DecodeErrorKind::InvalidValue("a matrix has another number of dimensions");
            return Err(decoder.error(wrong).into());
        }
        let mut lengths = Vec::with_capacity(rank);
        for _ in 0..rank {
            // With a dimension below 0 there are no elements, as with one of 0 (OPC 10000-6, 5.2.5).
            lengths.push(u32::try_from(decoder.i32()?).unwrap_or(0));
        }
        let count = lengths.iter().try_fold(1_usize, |count, length| {
            count.checked_mul(usize::try_from(*length).ok()?)
        });
        let count = match count {
            _ if rank == 0 => 0,
            // Each element takes a byte at least.
            Some(count) if count <= decoder.remaining() => count,
            _ => return Err(decoder.error(DecodeErrorKind::UnexpectedEnd).into()),
        };
        let elements = self.elements(value, count, decoder, depth)?;
        Ok(nest(elements, &lengths))
    }

    fn element(
        &mut self,
        value: ValueShape<'a>,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Value, StructureError> {
        let values = self.values;
        Ok(match value {
            ValueShape::BuiltIn(BuiltInType::Variant) => {
                values.typed(&Variant::decode(decoder)?, depth + 1)
            }
            ValueShape::BuiltIn(built_in_type) => {
                values.variant(&Variant::decode_scalar(built_in_type, decoder)?, depth + 1)
            }
            ValueShape::Subtyped(_) => values.variant(
                &Variant::decode_scalar(BuiltInType::ExtensionObject, decoder)?,
                depth + 1,
            ),
            ValueShape::Structure(shape) => self.structure(shape, decoder, depth + 1)?.into(),
            ValueShape::Enumeration(shape) => {
                let number = Variant::decode_scalar(shape.built_in_type(), decoder)?;
                values.named(shape, values.variant(&number, depth + 1))
            }
        })
    }
}
