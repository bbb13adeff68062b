//! Conversion of values to JSON.

use serde_json::{Map, Value};

use super::described::{DescribedValues, EnumerationForm, nest};
use super::{BODY, TYPE, XML};
use crate::binary::Decoder;
use crate::data_types::{DescribedTypes, StructureShape};
use crate::generated_support::StructureDescription;
use crate::json_nesting::MAX_DEPTH;
use crate::json_number::{double, single};
use crate::{
    Array, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject,
    ExtensionObjectBody, Guid, LocalizedText, NodeId, QualifiedName, StatusCode, Structure,
    Variant, base64,
};

/// A value that has a compact JSON form.
pub trait ToJson {
    /// Returns the compact JSON form.
    fn to_json(&self) -> Value;
}

/// Returns the compact JSON form of a value.
pub fn to_value<T: ToJson + ?Sized>(value: &T) -> Value {
    value.to_json()
}

/// Returns the compact JSON form of a DataValue: `value`, `type`, `status`, `sourceTimestamp`, `serverTimestamp` and
/// the picoseconds, each if it is present.
pub fn data_value_to_value(value: &DataValue) -> Value {
    plain(|values| values.data_value(value, 0))
}

/// Returns the compact JSON form of a structure: an object of its fields, named as in the standard. Null if the
/// descriptions do not know the structure, which is impossible for generated structures.
pub fn structure_to_value<T: Structure>(structure: &T) -> Value {
    let bytes = structure.encode_to_vec();
    let Some(known) = StructureDescription::of_type(T::TYPE_ID) else {
        return Value::Null;
    };
    let shape = StructureShape::Standard(known);
    plain(|values| values.structure(shape, &mut Decoder::new(&bytes), 0)).unwrap_or(Value::Null)
}

/// Writes with the descriptions of the standard only.
fn plain<T>(write: impl FnOnce(&DescribedValues<'_>) -> T) -> T {
    write(&DescribedValues::new(
        &DescribedTypes::default(),
        EnumerationForm::Name,
    ))
}

impl ToJson for Variant {
    fn to_json(&self) -> Value {
        plain(|values| values.variant(self, 0))
    }
}

impl ToJson for DataValue {
    fn to_json(&self) -> Value {
        plain(|values| values.data_value(self, 0))
    }
}

impl ToJson for ExtensionObject {
    fn to_json(&self) -> Value {
        plain(|values| values.extension_object(self, 0))
    }
}

macro_rules! display {
    ($($type:ty),*) => {$(
        impl ToJson for $type {
            fn to_json(&self) -> Value {
                Value::String(self.to_string())
            }
        }
    )*};
}

display!(NodeId, ExpandedNodeId, Guid);

impl ToJson for DateTime {
    fn to_json(&self) -> Value {
        self.to_iso8601().into()
    }
}

impl ToJson for QualifiedName {
    fn to_json(&self) -> Value {
        if self.namespace == 0 && self.name.is_null() {
            Value::Null
        } else {
            self.to_string().into()
        }
    }
}

impl ToJson for LocalizedText {
    fn to_json(&self) -> Value {
        let text = self.text.as_option().into();
        match self.locale.as_option() {
            None => text,
            Some(locale) => {
                Map::from_iter([("locale".into(), locale.into()), ("text".into(), text)]).into()
            }
        }
    }
}

impl ToJson for StatusCode {
    fn to_json(&self) -> Value {
        match self.name() {
            // The name alone would lose the flag bits.
            Some(name) if self.code() == *self => name.into(),
            _ => format!("0x{:08X}", self.0).into(),
        }
    }
}

impl ToJson for DiagnosticInfo {
    fn to_json(&self) -> Value {
        diagnostic_info(self)
    }
}

impl DescribedValues<'_> {
    /// Encodes a value whose type the reader knows.
    pub(super) fn variant(&self, value: &Variant, depth: usize) -> Value {
        match value {
            Variant::Empty => Value::Null,
            Variant::Boolean(value) => (*value).into(),
            Variant::SByte(value) => (*value).into(),
            Variant::Byte(value) => (*value).into(),
            Variant::Int16(value) => (*value).into(),
            Variant::UInt16(value) => (*value).into(),
            Variant::Int32(value) => (*value).into(),
            Variant::UInt32(value) => (*value).into(),
            Variant::Int64(value) => (*value).into(),
            Variant::UInt64(value) => (*value).into(),
            Variant::Float(value) => single(*value),
            Variant::Double(value) => double(*value),
            Variant::String(value) => value.as_option().into(),
            Variant::DateTime(value) => value.to_json(),
            Variant::Guid(value) => value.to_json(),
            Variant::ByteString(value) => value.as_option().map(base64::encode).into(),
            Variant::XmlElement(value) => value.0.as_option().into(),
            Variant::NodeId(value) => value.to_json(),
            Variant::ExpandedNodeId(value) => value.to_json(),
            Variant::StatusCode(value) => value.to_json(),
            Variant::QualifiedName(value) => value.to_json(),
            Variant::LocalizedText(value) => value.to_json(),
            Variant::ExtensionObject(value) => self.extension_object(value, depth + 1),
            Variant::DataValue(value) => self.data_value(value, depth + 1),
            Variant::DiagnosticInfo(value) => diagnostic_info(value),
            Variant::Array(value) => self.array(value, depth),
        }
    }

    /// Encodes a value whose type the reader does not know.
    pub(super) fn typed(&self, value: &Variant, depth: usize) -> Value {
        // Exactly what a reader takes for the same type if none is written.
        let plain = match value {
            Variant::Empty | Variant::Boolean(_) | Variant::Int64(_) => true,
            Variant::Double(value) => value.is_finite(),
            Variant::String(value) => !value.is_null(),
            _ => false,
        };
        let json = self.variant(value, depth);
        match value.built_in_type() {
            Some(built_in_type) if !plain => Map::from_iter([
                ("type".into(), built_in_type.name().into()),
                ("value".into(), json),
            ])
            .into(),
            _ => json,
        }
    }

    fn array(&self, array: &Array, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Null;
        }
        let of_variants = matches!(array.elements, crate::Elements::Variant(_));
        let element = |element| {
            if of_variants {
                self.typed(&element, depth + 1)
            } else {
                self.variant(&element, depth + 1)
            }
        };
        let elements: Vec<Value> = array.elements.iter().map(element).collect();
        nest(elements, &array.dimensions)
    }

    pub(super) fn data_value(&self, value: &DataValue, depth: usize) -> Value {
        let mut object = Map::new();
        if let Some(value) = &value.value {
            object.insert("value".into(), self.variant(value, depth + 1));
            if let Some(built_in_type) = value.built_in_type() {
                object.insert("type".into(), built_in_type.name().into());
            }
        }
        let mut insert = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(name.into(), value);
            }
        };
        insert("status", value.status.map(|status| status.to_json()));
        insert(
            "sourceTimestamp",
            value.source_timestamp.map(|time| time.to_json()),
        );
        insert(
            "sourcePicoseconds",
            value.source_picoseconds.map(Value::from),
        );
        insert(
            "serverTimestamp",
            value.server_timestamp.map(|time| time.to_json()),
        );
        insert(
            "serverPicoseconds",
            value.server_picoseconds.map(Value::from),
        );
        object.into()
    }

    pub(super) fn extension_object(&self, object: &ExtensionObject, depth: usize) -> Value {
        if object.is_null() {
            return Value::Null;
        }
        if let Some(value) = self.known(object, depth) {
            return value;
        }
        let mut value = Map::from_iter([(TYPE.into(), object.type_id.to_string().into())]);
        match &object.body {
            ExtensionObjectBody::None => None,
            ExtensionObjectBody::Binary(bytes) => {
                value.insert(BODY.into(), base64::encode(bytes).into())
            }
            ExtensionObjectBody::Xml(text) => value.insert(XML.into(), text.as_str().into()),
        };
        value.into()
    }
}

fn diagnostic_info(value: &DiagnosticInfo) -> Value {
    let mut object = Map::new();
    let mut insert = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.into(), value);
        }
    };
    insert("SymbolicId", value.symbolic_id.map(Value::from));
    insert("NamespaceUri", value.namespace_uri.map(Value::from));
    insert("Locale", value.locale.map(Value::from));
    insert("LocalizedText", value.localized_text.map(Value::from));
    insert(
        "AdditionalInfo",
        value
            .additional_info
            .as_ref()
            .map(|text| text.as_option().into()),
    );
    insert(
        "InnerStatusCode",
        value.inner_status_code.map(|code| code.to_json()),
    );
    insert(
        "InnerDiagnosticInfo",
        value.inner_diagnostic_info.as_deref().map(diagnostic_info),
    );
    object.into()
}
