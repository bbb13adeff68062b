//! Conversion of values to JSON: Variants, arrays and DataValues.

use serde_json::{Map, Value};

use super::{JsonContext, JsonEncoding};
use crate::json_nesting::MAX_DEPTH;
use crate::{Array, BuiltInType, DataValue, DateTime, Elements, StatusCode, Variant};

/// Writes values in the JSON DataEncoding of version 1.05 (OPC 10000-6, 5.4). Encoding cannot fail.
#[derive(Debug, Clone, Copy)]
pub struct JsonEncoder<'a> {
    pub(super) encoding: JsonEncoding,
    pub(super) context: JsonContext<'a>,
}

impl<'a> JsonEncoder<'a> {
    /// Creates an encoder.
    pub fn new(encoding: JsonEncoding, context: JsonContext<'a>) -> Self {
        Self { encoding, context }
    }

    /// Returns the encoding in use.
    pub fn encoding(&self) -> JsonEncoding {
        self.encoding
    }

    /// Encodes a Variant: an object with `UaType`, `Value` and `Dimensions`; null if it is null
    /// (OPC 10000-6, 5.4.2.17).
    pub fn variant(&self, value: &Variant) -> Value {
        self.typed(value, 0)
    }

    /// Encodes a value whose type the reader knows, as it stands in a structure: without `UaType`.
    pub fn value(&self, value: &Variant) -> Value {
        self.untyped(value, 0)
    }

    /// Encodes a DataValue: the fields of the Variant, and Status and timestamps unless they have their defaults
    /// (OPC 10000-6, 5.4.2.18).
    pub fn data_value(&self, value: &DataValue) -> Value {
        self.timed(value, 0)
    }

    /// Encodes a StatusCode: an object, empty for Good (OPC 10000-6, 5.4.2.12).
    pub fn status_code(&self, value: StatusCode) -> Value {
        self.code(value)
    }

    pub(super) fn is_compact(&self) -> bool {
        self.encoding == JsonEncoding::Compact
    }

    pub(super) fn typed(&self, value: &Variant, depth: usize) -> Value {
        if self.encoding == JsonEncoding::RawData {
            return self.untyped(value, depth);
        }
        let mut object = Map::new();
        self.insert_variant(&mut object, value, depth);
        if object.is_empty() {
            Value::Null
        } else {
            object.into()
        }
    }

    /// Inserts the fields of a Variant; none if it is null.
    fn insert_variant(&self, object: &mut Map<String, Value>, value: &Variant, depth: usize) {
        let Some(built_in_type) = value.built_in_type() else {
            return;
        };
        object.insert("UaType".into(), (built_in_type as u8).into());
        match value {
            Variant::Array(array) => {
                object.insert("Value".into(), self.elements(&array.elements, depth + 1));
                if let Some(dimensions) = dimensions(array) {
                    object.insert("Dimensions".into(), dimensions.into());
                }
            }
            scalar if is_null(scalar) => {}
            scalar => {
                object.insert("Value".into(), self.scalar(scalar, depth + 1));
            }
        }
    }

    pub(super) fn untyped(&self, value: &Variant, depth: usize) -> Value {
        match value {
            Variant::Array(array) => match dimensions(array) {
                // A matrix as a field of a structure (OPC 10000-6, 5.4.5).
                Some(dimensions) => Map::from_iter([
                    ("Array".into(), self.elements(&array.elements, depth + 1)),
                    ("Dimensions".into(), dimensions.into()),
                ])
                .into(),
                None => self.elements(&array.elements, depth + 1),
            },
            scalar if is_null(scalar) => Value::Null,
            scalar => self.scalar(scalar, depth),
        }
    }

    fn elements(&self, elements: &Elements, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Null;
        }
        let of_variants = elements.element_type() == BuiltInType::Variant;
        let element = |element: Variant| {
            if of_variants {
                self.typed(&element, depth + 1)
            } else {
                self.untyped(&element, depth + 1)
            }
        };
        elements.iter().map(element).collect()
    }

    pub(super) fn timed(&self, value: &DataValue, depth: usize) -> Value {
        let mut object = Map::new();
        if let Some(value) = &value.value {
            if self.encoding == JsonEncoding::RawData {
                object.insert("Value".into(), self.untyped(value, depth + 1));
            } else {
                self.insert_variant(&mut object, value, depth + 1);
            }
        }
        if let Some(status) = value.status.filter(|status| status.0 != 0) {
            object.insert("Status".into(), self.code(status));
        }
        let mut time = |name: &str, time: Option<DateTime>, picoseconds: Option<u16>| {
            if let Some(time) = time.filter(|time| !time.is_null()) {
                object.insert(format!("{name}Timestamp"), time.to_iso8601().into());
            }
            if let Some(picoseconds) = picoseconds.filter(|picoseconds| *picoseconds != 0) {
                object.insert(format!("{name}Picoseconds"), picoseconds.into());
            }
        };
        time("Source", value.source_timestamp, value.source_picoseconds);
        time("Server", value.server_timestamp, value.server_picoseconds);
        object.into()
    }
}

/// Returns the dimensions of a matrix if their product is the number of elements.
fn dimensions(array: &Array) -> Option<Vec<u32>> {
    let product = array
        .dimensions
        .iter()
        .try_fold(1_usize, |product, length| {
            product.checked_mul(usize::try_from(*length).ok()?)
        });
    let says_something = array.dimensions.len() > 1 && !array.is_empty();
    (says_something && product == Some(array.len())).then(|| array.dimensions.clone())
}

/// Returns whether a single value is the null of its type; numbers and StatusCodes have none (OPC 10000-6, 5.1.2).
pub(super) fn is_null(value: &Variant) -> bool {
    match value {
        Variant::Empty => true,
        Variant::String(value) => value.is_null(),
        Variant::DateTime(value) => value.is_null(),
        Variant::Guid(value) => *value == crate::Guid::NULL,
        Variant::ByteString(value) => value.is_null(),
        Variant::XmlElement(value) => value.0.is_null(),
        Variant::NodeId(value) => **value == crate::NodeId::NULL,
        Variant::ExpandedNodeId(value) => **value == crate::ExpandedNodeId::NULL,
        Variant::QualifiedName(value) => **value == crate::QualifiedName::NULL,
        Variant::LocalizedText(value) => value.locale.is_empty() && value.text.is_empty(),
        Variant::ExtensionObject(value) => value.is_null(),
        Variant::DataValue(value) => says_nothing(value),
        Variant::DiagnosticInfo(value) => **value == crate::DiagnosticInfo::default(),
        _ => false,
    }
}

fn says_nothing(value: &DataValue) -> bool {
    let no_time = |time: Option<DateTime>| time.is_none_or(DateTime::is_null);
    value.value.as_ref().is_none_or(Variant::is_empty)
        && value.status_code().0 == 0
        && no_time(value.source_timestamp)
        && no_time(value.server_timestamp)
        && value.source_picoseconds.unwrap_or(0) == 0
        && value.server_picoseconds.unwrap_or(0) == 0
}

/// Returns whether a single value is the default of its type.
pub(super) fn is_default(value: &Variant) -> bool {
    match value {
        Variant::Boolean(value) => !value,
        Variant::SByte(value) => *value == 0,
        Variant::Byte(value) => *value == 0,
        Variant::Int16(value) => *value == 0,
        Variant::UInt16(value) => *value == 0,
        Variant::Int32(value) => *value == 0,
        Variant::UInt32(value) => *value == 0,
        Variant::Int64(value) => *value == 0,
        Variant::UInt64(value) => *value == 0,
        // Minus zero is not the default, because its sign would be lost.
        Variant::Float(value) => value.to_bits() == 0,
        Variant::Double(value) => value.to_bits() == 0,
        Variant::StatusCode(value) => value.0 == 0,
        other => is_null(other),
    }
}
