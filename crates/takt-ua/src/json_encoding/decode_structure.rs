//! Conversion of JSON to structures (OPC 10000-6, 5.4.6 to 5.4.8, 5.4.2.16, H.7 and H.10). Their binary form is
//! written by their descriptions.

use serde_json::{Map, Value};

use super::context::{DataType, Layout, LayoutField, LayoutKind};
use super::integer::integer;
use super::{JsonDecodeError, JsonDecodeErrorKind, JsonDecoder};
use crate::binary::{Decoder, Encode, EncodeError, Encoder};
use crate::json_nesting::MAX_DEPTH;
use crate::{
    BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, Structure, Variant, base64,
};

impl JsonDecoder<'_> {
    /// Decodes a structure of the standard, from an object of its fields. Fields that are missing have their default
    /// value, fields that the structure does not have are ignored.
    pub fn structure<T: Structure>(&self, value: &Value) -> Result<T, JsonDecodeError> {
        let type_id = NodeId::numeric(0, T::TYPE_ID);
        let unknown =
            || JsonDecodeError::new(JsonDecodeErrorKind::UnknownStructure(type_id.clone()));
        let layout = self.context.structure(&type_id).ok_or_else(unknown)?;
        let bytes = self.body(&layout, value, 0)?;
        T::decode(&mut Decoder::new(&bytes)).map_err(|_| unknown())
    }

    /// Decodes a structure whose DataType is known from elsewhere; the `UaTypeId` is optional.
    pub fn structure_of_type(
        &self,
        value: &Value,
        data_type: &NodeId,
    ) -> Result<ExtensionObject, JsonDecodeError> {
        let says_type = value
            .as_object()
            .is_some_and(|object| object.contains_key("UaTypeId") || is_reversible(object));
        match self.context.structure(data_type) {
            // A type in the value wins: it may be a subtype.
            Some(layout) if !says_type && !value.is_null() => self.object(&layout, value, 0),
            _ => self.extension_object(value, 0),
        }
    }

    /// Returns whether an object has only fields of this structure.
    pub fn is_structure(&self, object: &Map<String, Value>, data_type: &NodeId) -> bool {
        self.context.structure(data_type).is_some_and(|layout| {
            let known = |name: &str| layout.fields.iter().any(|field| field.name == name);
            object.keys().all(|name| known(name))
        })
    }

    /// Decodes a value of an enumeration: its number, or `name_number` (OPC 10000-6, 5.4.4).
    pub fn enumeration(&self, value: &Value) -> Result<i32, JsonDecodeError> {
        let text = value.as_str();
        // The name may contain underscores itself.
        let number = text.and_then(|text| text.rsplit_once('_')?.1.parse().ok());
        integer(value).or(number).ok_or_else(|| {
            JsonDecodeError::expected("a number, or name_number (enumeration)", value)
        })
    }

    pub(super) fn extension_object(
        &self,
        value: &Value,
        depth: usize,
    ) -> Result<ExtensionObject, JsonDecodeError> {
        let object = match value {
            Value::Null => return Ok(ExtensionObject::NULL),
            Value::Object(object) if object.is_empty() => return Ok(ExtensionObject::NULL),
            Value::Object(object) => object,
            other => {
                return Err(JsonDecodeError::expected(
                    "an object (ExtensionObject)",
                    other,
                ));
            }
        };
        let id = |name: &str| {
            object
                .get(name)
                .map(|id| self.node_id(id).map_err(|error| error.in_field(name)))
                .transpose()
        };
        if let Some(type_id) = id("UaTypeId")? {
            return match object.get("UaEncoding") {
                None | Some(Value::Null) => self.of_fields(type_id, value, depth),
                Some(encoding) => {
                    self.encoded(type_id, encoding, "UaEncoding", object.get("UaBody"), true)
                }
            };
        }
        if !is_reversible(object) {
            return self.of_fields(NodeId::NULL, value, depth);
        }
        let type_id = id("TypeId")?.unwrap_or(NodeId::NULL);
        let body = object.get("Body").filter(|body| !body.is_null());
        match (object.get("Encoding"), body) {
            (None | Some(Value::Null), Some(body)) => self
                .of_fields(type_id, body, depth)
                .map_err(|error| error.in_field("Body")),
            (Some(encoding), Some(body)) if integer::<u8>(encoding) == Some(0) => self
                .of_fields(type_id, body, depth)
                .map_err(|error| error.in_field("Body")),
            (Some(encoding), body) => self.encoded(type_id, encoding, "Encoding", body, false),
            (None, None) => Ok(ExtensionObject {
                type_id,
                body: ExtensionObjectBody::None,
            }),
        }
    }

    /// Decodes a body that is in another DataEncoding: 1 for binary, 2 for XML, which is a text in version 1.04.
    fn encoded(
        &self,
        type_id: NodeId,
        encoding: &Value,
        name: &str,
        body: Option<&Value>,
        xml_as_base64: bool,
    ) -> Result<ExtensionObject, JsonDecodeError> {
        let bytes = |body: &Value| {
            body.as_str()
                .and_then(base64::decode)
                .ok_or_else(|| JsonDecodeError::expected("base64", body).in_field("UaBody"))
        };
        let xml = |body: &Value| {
            let expected = || JsonDecodeError::expected("XML", body).in_field("UaBody");
            if xml_as_base64 {
                String::from_utf8(bytes(body)?).map_err(|_| expected())
            } else {
                body.as_str().map(str::to_owned).ok_or_else(expected)
            }
        };
        let body = match (integer::<u8>(encoding), body) {
            (Some(1), Some(body)) => ExtensionObjectBody::Binary(bytes(body)?),
            (Some(2), Some(body)) => ExtensionObjectBody::Xml(xml(body)?),
            (Some(1 | 2), None) => ExtensionObjectBody::None,
            _ => {
                return Err(
                    JsonDecodeError::expected("1 (binary) or 2 (XML)", encoding).in_field(name)
                );
            }
        };
        // JSON names the DataType, but a binary body is known by the NodeId of its encoding.
        let binary = matches!(body, ExtensionObjectBody::Binary(_));
        let known = self.context.structure(&type_id).filter(|_| binary);
        let type_id = known.map_or(type_id, |layout| layout.encoding_id);
        Ok(ExtensionObject { type_id, body })
    }

    /// Decodes a structure from its fields. Without a description of it, its JSON text is the body.
    fn of_fields(
        &self,
        type_id: NodeId,
        value: &Value,
        depth: usize,
    ) -> Result<ExtensionObject, JsonDecodeError> {
        if let Some(layout) = self.context.structure_of_object(&type_id) {
            return self.object(&layout, value, depth);
        }
        let Value::Object(object) = value else {
            return Err(JsonDecodeError::expected("an object: a structure", value));
        };
        let mut fields = object.clone();
        // `remove` would change the order of the other fields.
        fields.shift_remove("UaTypeId");
        Ok(ExtensionObject {
            type_id,
            body: ExtensionObjectBody::Binary(Value::Object(fields).to_string().into_bytes()),
        })
    }

    fn object(
        &self,
        layout: &Layout<'_>,
        value: &Value,
        depth: usize,
    ) -> Result<ExtensionObject, JsonDecodeError> {
        Ok(ExtensionObject {
            type_id: layout.encoding_id.clone(),
            body: ExtensionObjectBody::Binary(self.body(layout, value, depth + 1)?),
        })
    }

    /// Returns the binary form of a structure.
    fn body(
        &self,
        layout: &Layout<'_>,
        value: &Value,
        depth: usize,
    ) -> Result<Vec<u8>, JsonDecodeError> {
        let mut bytes = Vec::new();
        let mut writer = Writer {
            decoder: self,
            encoder: Encoder::growing(&mut bytes, self.room.get()),
        };
        writer.structure(layout, value, depth)?;
        self.room.set(self.room.get().saturating_sub(bytes.len()));
        Ok(bytes)
    }
}

/// Returns whether the object is `{"TypeId": .., "Encoding": .., "Body": ..}` of version 1.04.
fn is_reversible(object: &Map<String, Value>) -> bool {
    let known = |name: &String| matches!(name.as_str(), "TypeId" | "Encoding" | "Body");
    object.contains_key("TypeId") && object.keys().all(known)
}

/// Reads objects and writes them as binary structures.
struct Writer<'d, 'b> {
    decoder: &'d JsonDecoder<'d>,
    encoder: Encoder<'b>,
}

impl Writer<'_, '_> {
    fn structure(
        &mut self,
        layout: &Layout<'_>,
        value: &Value,
        depth: usize,
    ) -> Result<(), JsonDecodeError> {
        if depth >= MAX_DEPTH {
            return Err(JsonDecodeError::new(JsonDecodeErrorKind::TooDeep));
        }
        // A short text can ask for many structures that take no bytes, so that the room alone is no limit.
        self.decoder.count_structure(value)?;
        let empty = Map::new();
        let object = match value {
            Value::Null => &empty,
            Value::Object(object) => object,
            other => return Err(JsonDecodeError::expected("an object: a structure", other)),
        };
        match layout.kind {
            LayoutKind::Structure => self.sequence(layout, object, 0, depth),
            LayoutKind::OptionalFields => {
                let mask = optional_fields(layout, object)?;
                self.encoder.u32(mask)?;
                self.sequence(layout, object, mask, depth)
            }
            LayoutKind::Union => self.union(layout, object, depth),
        }
    }

    fn sequence(
        &mut self,
        layout: &Layout<'_>,
        object: &Map<String, Value>,
        mut mask: u32,
        depth: usize,
    ) -> Result<(), JsonDecodeError> {
        for field in &layout.fields {
            if field.is_optional {
                let is_absent = mask & 1 == 0;
                mask >>= 1;
                if is_absent {
                    continue;
                }
            }
            self.field(field, object.get(field.name), depth)
                .map_err(|error| error.in_field(field.name))?;
        }
        Ok(())
    }

    /// Encodes a Union. `SwitchField`, or the only field of the object, selects the field; version 1.04 names its
    /// value `Value`.
    fn union(
        &mut self,
        layout: &Layout<'_>,
        object: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), JsonDecodeError> {
        let switch = match object.get("SwitchField") {
            Some(switch) => integer::<usize>(switch)
                .filter(|switch| *switch <= layout.fields.len())
                .ok_or_else(|| {
                    JsonDecodeError::expected("the number of a field of the Union", switch)
                        .in_field("SwitchField")
                })?,
            None => {
                let present = |field: &LayoutField<'_>| object.contains_key(field.name);
                layout
                    .fields
                    .iter()
                    .position(present)
                    .map_or(0, |position| position + 1)
            }
        };
        self.encoder
            .u32(u32::try_from(switch).map_err(|_| EncodeError::LengthOverflow)?)?;
        let Some(field) = switch
            .checked_sub(1)
            .and_then(|position| layout.fields.get(position))
        else {
            return Ok(());
        };
        let value = object.get(field.name).or_else(|| object.get("Value"));
        self.field(field, value, depth)
            .map_err(|error| error.in_field(field.name))
    }

    fn field(
        &mut self,
        field: &LayoutField<'_>,
        value: Option<&Value>,
        depth: usize,
    ) -> Result<(), JsonDecodeError> {
        if !field.is_array {
            return self.element(&field.data_type, value, depth);
        }
        match value {
            // Fields left out have their defaults, and an empty array means the same as the null array.
            None | Some(Value::Null) => Ok(self.encoder.array_length(Some(0))?),
            Some(Value::Array(elements)) => {
                self.encoder.array_length(Some(elements.len()))?;
                for (index, element) in elements.iter().enumerate() {
                    self.element(&field.data_type, Some(element), depth)
                        .map_err(|error| error.in_element(index))?;
                }
                Ok(())
            }
            Some(other) => Err(JsonDecodeError::expected("an array", other)),
        }
    }

    /// Encodes a value, or the default of its type.
    fn element(
        &mut self,
        data_type: &DataType,
        value: Option<&Value>,
        depth: usize,
    ) -> Result<(), JsonDecodeError> {
        let value = value.unwrap_or(&Value::Null);
        match data_type {
            DataType::BuiltIn(BuiltInType::Variant) => {
                let variant = self.decoder.typed(value, depth + 1)?;
                Ok(variant.encode(&mut self.encoder)?)
            }
            DataType::BuiltIn(built_in_type) => {
                let scalar: Variant = match value {
                    Value::Null => Variant::default_of(*built_in_type),
                    value => self.decoder.scalar(value, *built_in_type, depth + 1)?,
                };
                Ok(scalar.encode_scalar(&mut self.encoder)?)
            }
            DataType::Structure(type_id) => match self.decoder.context.structure(type_id) {
                Some(layout) => self.structure(&layout, value, depth + 1),
                None => Err(JsonDecodeError::new(JsonDecodeErrorKind::UnknownStructure(
                    type_id.clone(),
                ))),
            },
            DataType::Enumeration(_) => {
                let number = match value {
                    Value::Null => 0,
                    value => self.decoder.enumeration(value)?,
                };
                Ok(self.encoder.i32(number)?)
            }
        }
    }
}

/// Decodes the mask of a structure with optional fields: the present fields, and those named by `EncodingMask`.
fn optional_fields(
    layout: &Layout<'_>,
    object: &Map<String, Value>,
) -> Result<u32, JsonDecodeError> {
    let optional = layout.fields.iter().filter(|field| field.is_optional);
    let count = u32::try_from(optional.clone().count()).unwrap_or(u32::MAX);
    let mut mask = 0_u32;
    for (bit, field) in (0_u32..).zip(optional) {
        // A field that is null is present, with the default value.
        let present = u32::from(object.contains_key(field.name));
        mask |= present.checked_shl(bit).unwrap_or(0);
    }
    let said = match object.get("EncodingMask") {
        None | Some(Value::Null) => 0,
        Some(said) => integer::<u32>(said)
            // A shift by 32 bits would overflow.
            .filter(|said| count >= 32 || said >> count == 0)
            .ok_or_else(|| {
                JsonDecodeError::expected("a mask of the optional fields", said)
                    .in_field("EncodingMask")
            })?,
    };
    Ok(mask | said)
}
