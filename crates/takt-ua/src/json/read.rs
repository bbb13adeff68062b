//! Conversion of JSON to values that contain others: arrays, structures by the generated descriptions, and values with their type.

use serde_json::{Map, Value};

use super::scalar::{self, check_keys};
use super::{JsonError, VALUE_RANK_ANY, VALUE_RANK_SCALAR};
use crate::data_types::{DescribedTypes, EnumerationShape, StructureShape, ValueShape};
use crate::json_nesting::{self, MAX_DEPTH, NestingError};
use crate::json_types::{common_type, number_type};
use crate::{Array, BuiltInType, DataValue, DiagnosticInfo, NodeId, Variant};

/// Reads a value of a type.
///
/// `value_rank` selects the accepted shapes, as the ValueRank of a Variable does (OPC 10000-3, 5.6.2): -3 scalar or
/// one dimension, -2 any, -1 scalar, 0 one or more dimensions, a positive number exactly that many. Arrays are JSON
/// arrays, matrices nested ones. Numbers are checked against the range of their type.
///
/// For [`BuiltInType::Variant`] the value contains its own type; see the [module](super).
pub fn from_value(
    value: &Value,
    built_in_type: BuiltInType,
    value_rank: i32,
) -> Result<Variant, JsonError> {
    Reader::new(&DescribedTypes::default()).of_rank(value, built_in_type.into(), value_rank, 0)
}

/// Reads a value that contains its own type, as in a DataValue or in an array of Variants.
pub fn variant_from_value(value: &Value) -> Result<Variant, JsonError> {
    Reader::new(&DescribedTypes::default()).variant(value, 0)
}

/// Reads a value of a DataType that `types` describes, in a shape that `value_rank` allows (see [`from_value`]).
///
/// The values of an enumeration are written as `1`, `"Green"`, `"Green_1"` or `"Green (1)"`, those of an OptionSet as a number or
/// as `"Open | Locked"`. A structure is an object of its fields. `$type` names a subtype.
///
/// # Errors
/// The value is none of this type; or the DataType has no description.
pub fn described_from_value(
    value: &Value,
    types: &DescribedTypes,
    data_type: &NodeId,
    value_rank: i32,
) -> Result<Variant, JsonError> {
    let expected = Expected::of(types, data_type)?;
    Reader::new(types).of_rank(value, expected, value_rank, 0)
}

/// Expected type of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected<'a> {
    BuiltIn(BuiltInType),
    Enumeration(EnumerationShape<'a>),
    /// An ExtensionObject with this structure or a subtype.
    Structure(StructureShape<'a>),
}

impl From<BuiltInType> for Expected<'_> {
    fn from(built_in_type: BuiltInType) -> Self {
        Self::BuiltIn(built_in_type)
    }
}

impl<'a> Expected<'a> {
    pub(super) fn of(types: &'a DescribedTypes, data_type: &NodeId) -> Result<Self, JsonError> {
        Ok(match types.value(data_type) {
            Some(ValueShape::BuiltIn(built_in_type)) => Self::BuiltIn(built_in_type),
            Some(ValueShape::Enumeration(shape)) => Self::Enumeration(shape),
            Some(ValueShape::Structure(shape) | ValueShape::Subtyped(shape)) => {
                Self::Structure(shape)
            }
            None => {
                let message = format!("the DataType {data_type} has no description");
                return Err(JsonError::new(message));
            }
        })
    }

    fn built_in_type(self) -> BuiltInType {
        match self {
            Self::BuiltIn(built_in_type) => built_in_type,
            Self::Enumeration(shape) => shape.built_in_type(),
            Self::Structure(_) => BuiltInType::ExtensionObject,
        }
    }

    fn name(self) -> String {
        match self {
            Self::BuiltIn(built_in_type) => built_in_type.name().to_owned(),
            Self::Enumeration(shape) => shape.name(),
            Self::Structure(shape) => shape.name(),
        }
    }
}

/// Reads values by the descriptions of DataTypes.
pub(super) struct Reader<'a> {
    pub(super) types: &'a DescribedTypes,
}

impl<'a> Reader<'a> {
    pub(super) fn new(types: &'a DescribedTypes) -> Self {
        Self { types }
    }

    pub(super) fn of_rank(
        &self,
        value: &Value,
        expected: Expected<'_>,
        value_rank: i32,
        depth: usize,
    ) -> Result<Variant, JsonError> {
        if !value.is_array() {
            if value_rank >= 0 {
                return Err(JsonError::expected(
                    &format!("an array of {}, such as [...]", expected.name()),
                    value,
                ));
            }
            return self.single(value, expected, depth);
        }
        if value_rank == VALUE_RANK_SCALAR {
            return Err(JsonError::expected(
                &format!("a single {}", expected.name()),
                value,
            ));
        }
        let array = self.array(value, expected, depth)?;
        let rank = array.lengths().len();
        let fits = match value_rank {
            -3 => rank == 1,
            VALUE_RANK_ANY | 0 => true,
            wanted => {
                // An empty array has no rows that could show its rank.
                usize::try_from(wanted).is_ok_and(|wanted| wanted == rank) || array.is_empty()
            }
        };
        if !fits {
            let wanted = if value_rank == -3 { 1 } else { value_rank };
            return Err(JsonError::new(format!(
                "expected an array of {wanted} dimensions, found {rank}"
            )));
        }
        Ok(array.into())
    }

    fn array(
        &self,
        value: &Value,
        expected: Expected<'_>,
        depth: usize,
    ) -> Result<Array, JsonError> {
        json_nesting::array(
            value,
            expected.built_in_type(),
            true,
            depth,
            |value, depth, elements| {
                let element = self.single(value, expected, depth)?;
                elements
                    .push(element)
                    .map_err(|error| JsonError::new(error.to_string()))
            },
        )
    }

    /// Reads a value that is no array.
    fn single(
        &self,
        value: &Value,
        expected: Expected<'_>,
        depth: usize,
    ) -> Result<Variant, JsonError> {
        match expected {
            Expected::BuiltIn(BuiltInType::Variant) => self.variant(value, depth),
            Expected::BuiltIn(built_in_type) => self.of_type(value, built_in_type, depth),
            Expected::Enumeration(shape) => scalar::enumeration(shape, value),
            Expected::Structure(shape) => self
                .extension_object(value, Some(shape), depth)
                .map(Variant::from),
        }
    }

    /// Reads a value that contains its own type.
    pub(super) fn variant(&self, value: &Value, depth: usize) -> Result<Variant, JsonError> {
        if depth >= MAX_DEPTH {
            return Err(JsonError::too_deep());
        }
        match value {
            Value::Null => Ok(Variant::Empty),
            Value::Bool(value) => Ok((*value).into()),
            Value::Number(number) => self.of_type(value, number_type(number), depth),
            Value::String(text) => Ok(text.as_str().into()),
            Value::Array(elements) => self.of_rank(
                value,
                common_type(elements).into(),
                VALUE_RANK_ANY,
                depth + 1,
            ),
            Value::Object(object) if object.contains_key("$type") => {
                self.of_type(value, BuiltInType::ExtensionObject, depth)
            }
            Value::Object(object) => self.typed(object, value, depth),
        }
    }

    /// Reads `{"type": ..., "value": ...}`.
    fn typed(
        &self,
        object: &Map<String, Value>,
        whole: &Value,
        depth: usize,
    ) -> Result<Variant, JsonError> {
        let (Some(Value::String(name)), Some(value), 2) =
            (object.get("type"), object.get("value"), object.len())
        else {
            return Err(JsonError::expected(
                "a value such as {\"type\": \"UInt16\", \"value\": 7}",
                whole,
            ));
        };
        self.of_type_name(name, value, depth)
    }

    fn of_type_name(&self, name: &str, value: &Value, depth: usize) -> Result<Variant, JsonError> {
        let Some(built_in_type) = BuiltInType::from_name(name) else {
            let names: Vec<_> = BuiltInType::all().map(BuiltInType::name).collect();
            let message = format!(
                "'{name}' is not a type; expected one of {}",
                names.join(", ")
            );
            return Err(JsonError::new(message).in_field("type"));
        };
        self.of_rank(value, built_in_type.into(), VALUE_RANK_ANY, depth + 1)
            .map_err(|error| error.in_field("value"))
    }

    /// Reads a value of a known type.
    pub(super) fn of_type(
        &self,
        value: &Value,
        built_in_type: BuiltInType,
        depth: usize,
    ) -> Result<Variant, JsonError> {
        use BuiltInType as B;
        if depth >= MAX_DEPTH {
            return Err(JsonError::too_deep());
        }
        if let Some(read) = scalar::read(value, built_in_type) {
            return read;
        }
        match built_in_type {
            B::ExtensionObject => self
                .extension_object(value, None, depth + 1)
                .map(Variant::from),
            B::DataValue => self.data_value(value, depth + 1).map(Variant::from),
            B::DiagnosticInfo => self.diagnostic_info(value, depth + 1).map(Variant::from),
            _ => self.variant(value, depth + 1),
        }
    }

    /// Reads an optional field of an object that has a type of its own.
    fn field<T: TryFrom<Variant>>(
        &self,
        object: &Map<String, Value>,
        name: &str,
        built_in_type: BuiltInType,
        depth: usize,
    ) -> Result<Option<T>, JsonError> {
        let Some(value) = object.get(name) else {
            return Ok(None);
        };
        let value = self
            .of_type(value, built_in_type, depth)
            .map_err(|error| error.in_field(name))?;
        Ok(T::try_from(value).ok())
    }

    fn data_value(&self, value: &Value, depth: usize) -> Result<DataValue, JsonError> {
        const KEYS: [&str; 7] = [
            "value",
            "type",
            "status",
            "sourceTimestamp",
            "sourcePicoseconds",
            "serverTimestamp",
            "serverPicoseconds",
        ];
        let Value::Object(object) = value else {
            return Err(JsonError::expected(
                "an object with value, type, status and timestamps",
                value,
            ));
        };
        check_keys(object, &KEYS)?;
        let value = match (object.get("value"), object.get("type")) {
            (None, _) => None,
            (Some(value), None) => Some(
                self.variant(value, depth)
                    .map_err(|error| error.in_field("value"))?,
            ),
            (Some(value), Some(Value::String(name))) => {
                Some(self.of_type_name(name, value, depth)?)
            }
            (Some(_), Some(other)) => {
                return Err(JsonError::expected("the name of a type", other).in_field("type"));
            }
        };
        Ok(DataValue {
            value,
            status: self.field(object, "status", BuiltInType::StatusCode, depth)?,
            source_timestamp: self.field(
                object,
                "sourceTimestamp",
                BuiltInType::DateTime,
                depth,
            )?,
            source_picoseconds: self.field(
                object,
                "sourcePicoseconds",
                BuiltInType::UInt16,
                depth,
            )?,
            server_timestamp: self.field(
                object,
                "serverTimestamp",
                BuiltInType::DateTime,
                depth,
            )?,
            server_picoseconds: self.field(
                object,
                "serverPicoseconds",
                BuiltInType::UInt16,
                depth,
            )?,
        })
    }

    fn diagnostic_info(&self, value: &Value, depth: usize) -> Result<DiagnosticInfo, JsonError> {
        const KEYS: [&str; 7] = [
            "SymbolicId",
            "NamespaceUri",
            "Locale",
            "LocalizedText",
            "AdditionalInfo",
            "InnerStatusCode",
            "InnerDiagnosticInfo",
        ];
        let Value::Object(object) = value else {
            return Err(JsonError::expected(
                "an object such as {\"SymbolicId\": 1}",
                value,
            ));
        };
        check_keys(object, &KEYS)?;
        let inner: Option<DiagnosticInfo> = self.field(
            object,
            "InnerDiagnosticInfo",
            BuiltInType::DiagnosticInfo,
            depth,
        )?;
        Ok(DiagnosticInfo {
            symbolic_id: self.field(object, "SymbolicId", BuiltInType::Int32, depth)?,
            namespace_uri: self.field(object, "NamespaceUri", BuiltInType::Int32, depth)?,
            locale: self.field(object, "Locale", BuiltInType::Int32, depth)?,
            localized_text: self.field(object, "LocalizedText", BuiltInType::Int32, depth)?,
            additional_info: self.field(object, "AdditionalInfo", BuiltInType::String, depth)?,
            inner_status_code: self.field(
                object,
                "InnerStatusCode",
                BuiltInType::StatusCode,
                depth,
            )?,
            inner_diagnostic_info: inner.map(Box::new),
        })
    }
}
