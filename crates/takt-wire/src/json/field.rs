//! Fields of DataSetMessages, and their encodings.

use serde_json::{Map, Value};
use takt_ua::enumerations::{DataSetFieldContentMask, JsonDataSetMessageContentMask};
use takt_ua::json_encoding::{JsonContext, JsonEncoder, JsonEncoding};
use takt_ua::structures::FieldMetaData;
use takt_ua::{BuiltInType, DataValue, Elements, ExtensionObject, Variant};

/// A field of a DataSet: its name and its value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonField {
    /// The name, as in the metadata.
    pub name: String,
    /// The value, with status and timestamps if they are sent.
    pub value: DataValue,
}

impl JsonField {
    /// Creates a field with a value of quality Good.
    pub fn new(name: impl Into<String>, value: impl Into<Variant>) -> Self {
        Self {
            name: name.into(),
            value: DataValue::good(value),
        }
    }
}

/// Content of a field (OPC 10000-14, 6.2.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JsonFieldContent {
    /// Only the value. A bad status replaces it, and with an uncertain one the field is a DataValue.
    #[default]
    Variant,
    /// The value with its status and timestamps.
    DataValue,
}

/// Encoding of fields (OPC 10000-14, 7.2.5.4, Table 112).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonFieldEncoding {
    /// The JSON DataEncoding. Verbose fields do not contain the type if the metadata has it; RawData fields never do.
    pub encoding: JsonEncoding,
    /// Content of a field.
    pub content: JsonFieldContent,
}

impl Default for JsonFieldEncoding {
    /// Compact Variants, which every OPC UA application can read, with and without metadata.
    fn default() -> Self {
        Self {
            encoding: JsonEncoding::Compact,
            content: JsonFieldContent::Variant,
        }
    }
}

impl JsonFieldEncoding {
    /// Returns the encoding for a JsonDataSetMessageContentMask and a DataSetFieldContentMask. A mask without
    /// FieldEncoding2 stands for one of the two encodings of version 1.04: reversible becomes Compact, non-reversible
    /// becomes Verbose.
    pub fn from_masks(
        data_set_message_content_mask: u32,
        data_set_field_content_mask: u32,
    ) -> Self {
        let is_compact =
            data_set_message_content_mask & JsonDataSetMessageContentMask::FieldEncoding1 != 0;
        let is_raw = data_set_field_content_mask & DataSetFieldContentMask::RawData != 0;
        let of_data_value = DataSetFieldContentMask::StatusCode
            | DataSetFieldContentMask::SourceTimestamp
            | DataSetFieldContentMask::ServerTimestamp
            | DataSetFieldContentMask::SourcePicoSeconds
            | DataSetFieldContentMask::ServerPicoSeconds;
        Self {
            encoding: match (is_compact, is_raw) {
                (true, _) => JsonEncoding::Compact,
                (false, true) => JsonEncoding::RawData,
                (false, false) => JsonEncoding::Verbose,
            },
            content: if data_set_field_content_mask & of_data_value != 0 {
                JsonFieldContent::DataValue
            } else {
                JsonFieldContent::Variant
            },
        }
    }

    /// Returns the value of a field as in a Payload.
    pub(super) fn encode(
        self,
        value: &DataValue,
        meta_data: Option<&FieldMetaData>,
        context: JsonContext<'_>,
    ) -> Value {
        let encoder = JsonEncoder::new(self.encoding, context);
        let plain = |variant: &Variant| match bare(&encoder, variant, meta_data) {
            Some(value) => value,
            None => encoder.variant(variant),
        };
        let empty = Variant::Empty;
        let variant = value.value.as_ref().unwrap_or(&empty);
        if self.content == JsonFieldContent::Variant {
            let status = value.status_code();
            if status.is_bad() {
                return plain(&status.into());
            }
            if status.is_good() {
                return plain(variant);
            }
        }
        let value = match self.content {
            JsonFieldContent::DataValue => value.clone(),
            JsonFieldContent::Variant => DataValue {
                value: value.value.clone(),
                status: value.status,
                ..DataValue::default()
            },
        };
        let Some(bare) = bare(&encoder, variant, meta_data) else {
            return encoder.data_value(&value);
        };
        let mut object = Map::from_iter([("Value".into(), bare)]);
        let rest = encoder.data_value(&DataValue {
            value: None,
            ..value
        });
        if let Value::Object(rest) = rest {
            object.extend(rest);
        }
        object.into()
    }
}

/// Returns the value without its type if the type may be left out: because the metadata has it, or because the field
/// is RawData.
fn bare(
    encoder: &JsonEncoder<'_>,
    value: &Variant,
    meta_data: Option<&FieldMetaData>,
) -> Option<Value> {
    let built_in_type = value.built_in_type();
    let known = meta_data.filter(|meta_data| {
        let said = BuiltInType::from_u8(meta_data.built_in_type);
        // A DataValue without a type would be read as status and timestamps of the field.
        let ambiguous = matches!(said, Some(BuiltInType::Variant | BuiltInType::DataValue));
        said == built_in_type && !ambiguous
    });
    let Some(meta_data) = known else {
        return (encoder.encoding() == JsonEncoding::RawData).then(|| encoder.value(value));
    };
    if encoder.encoding() == JsonEncoding::Compact {
        return None;
    }
    let data_type = &meta_data.data_type;
    let structure = |object: &ExtensionObject| {
        if encoder.is_of_type(object, data_type) {
            encoder.structure_of_object(object)
        } else {
            encoder.value(&object.clone().into())
        }
    };
    Some(match value {
        Variant::Int32(number) if encoder.is_enumeration(data_type) => {
            encoder.enumeration(data_type, *number)
        }
        Variant::ExtensionObject(object) => structure(object),
        Variant::Array(array) if array.dimensions.len() < 2 => match &array.elements {
            Elements::Int32(numbers) if encoder.is_enumeration(data_type) => numbers
                .iter()
                .map(|number| encoder.enumeration(data_type, *number))
                .collect(),
            Elements::ExtensionObject(objects) => objects.iter().map(structure).collect(),
            _ => encoder.value(value),
        },
        _ => encoder.value(value),
    })
}
