//! Conversion of structures to JSON (OPC 10000-6, 5.4.6 to 5.4.8 and 5.4.2.16). Their binary form is read by their
//! descriptions.

use serde_json::{Map, Value};

use super::context::{DataType, Layout, LayoutField, LayoutKind};
use super::encoder::is_default;
use super::{JsonEncoder, JsonEncoding};
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder};
use crate::json_nesting::{MAX_DEPTH, depth_of};
use crate::{
    BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, Structure, Variant, base64,
};

/// Largest number of structures within one structure, beside one for each byte: foreign descriptions can nest
/// structures without content in each other without limit.
const EMPTY_STRUCTURES: usize = 16;

impl JsonEncoder<'_> {
    /// Encodes a structure of the standard: an object of its fields. Null if the descriptions do not know the
    /// structure, which is impossible for generated structures.
    pub fn structure<T: Structure>(&self, structure: &T) -> Value {
        let bytes = structure.encode_to_vec();
        self.context
            .structure(&NodeId::numeric(0, T::TYPE_ID))
            .and_then(|layout| self.body(&layout, &bytes, 0))
            .map_or(Value::Null, Value::Object)
    }

    /// Encodes an ExtensionObject whose DataType the reader knows: without `UaTypeId`.
    pub fn structure_of_object(&self, object: &ExtensionObject) -> Value {
        match self.fields(object, 0) {
            Some((_, fields)) => fields.into(),
            None => self.extension_object(object, 0),
        }
    }

    pub(super) fn extension_object(&self, object: &ExtensionObject, depth: usize) -> Value {
        if object.is_null() {
            return Map::new().into();
        }
        let mark = |type_id: &NodeId| ("UaTypeId".to_owned(), self.node_id(type_id).into());
        if let Some((type_id, fields)) = self.fields(object, depth) {
            let marked = self.encoding != JsonEncoding::RawData && !type_id.is_null();
            let mut value = Map::new();
            value.extend(marked.then(|| mark(&type_id)));
            value.extend(fields);
            return value.into();
        }
        let (encoding, body) = match &object.body {
            // Without UaEncoding, a reader would take this for a structure with only default values.
            ExtensionObjectBody::None => (1, None),
            ExtensionObjectBody::Binary(bytes) => (1, Some(bytes.as_slice())),
            ExtensionObjectBody::Xml(text) => (2, Some(text.as_bytes())),
        };
        // JSON names the DataType, and the object its encoding.
        let known = self.context.structure_of_encoding(&object.type_id);
        let type_id = known.map_or_else(|| object.type_id.clone(), |layout| layout.type_id);
        let mut value = Map::from_iter([mark(&type_id), ("UaEncoding".into(), encoding.into())]);
        value.extend(body.map(|bytes| ("UaBody".to_owned(), base64::encode(bytes).into())));
        value.into()
    }

    /// Returns the DataType and the fields, if the body can be shown as an object.
    fn fields(
        &self,
        object: &ExtensionObject,
        depth: usize,
    ) -> Option<(NodeId, Map<String, Value>)> {
        let ExtensionObjectBody::Binary(bytes) = &object.body else {
            return None;
        };
        if let Some(layout) = self.context.structure_of_encoding(&object.type_id) {
            let fields = self.body(&layout, bytes, depth + 1)?;
            return Some((layout.type_id, fields));
        }
        // A structure that was received as JSON and has no description.
        let text = bytes.starts_with(b"{").then_some(bytes)?;
        let value = super::parse(text, super::MAX_BODY_LENGTH).ok()?;
        let fits = depth_of(&value) + depth < MAX_DEPTH;
        match value {
            // A second UaTypeId would make the text invalid.
            Value::Object(fields) if fits && !fields.contains_key("UaTypeId") => {
                Some((object.type_id.clone(), fields))
            }
            _ => None,
        }
    }

    /// Encodes the fields of a body that is exactly one structure.
    fn body(&self, layout: &Layout<'_>, bytes: &[u8], depth: usize) -> Option<Map<String, Value>> {
        let mut decoder = Decoder::new(bytes);
        let mut reader = Reader {
            encoder: *self,
            structures_left: bytes.len().saturating_add(EMPTY_STRUCTURES),
        };
        let fields = reader.structure(layout, &mut decoder, depth).ok()?;
        (decoder.remaining() == 0).then_some(fields)
    }
}

/// Reads binary structures and writes them as objects.
struct Reader<'a> {
    encoder: JsonEncoder<'a>,
    structures_left: usize,
}

impl Reader<'_> {
    fn structure(
        &mut self,
        layout: &Layout<'_>,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, DecodeError> {
        if depth >= MAX_DEPTH {
            return Err(decoder.error(DecodeErrorKind::DepthExceeded));
        }
        let limit = DecodeErrorKind::LimitExceeded("structures in a structure");
        self.structures_left = self
            .structures_left
            .checked_sub(1)
            .ok_or_else(|| decoder.error(limit))?;
        match layout.kind {
            LayoutKind::Union => self.union(layout, decoder, depth),
            LayoutKind::Structure => self.sequence(layout, u32::MAX, decoder, depth),
            LayoutKind::OptionalFields => {
                let mask = decoder.u32()?;
                let fields = self.sequence(layout, mask, decoder, depth)?;
                let mut object = Map::new();
                if self.encoder.is_compact() {
                    object.insert("EncodingMask".into(), mask.into());
                }
                object.extend(fields);
                Ok(object)
            }
        }
    }

    fn sequence(
        &mut self,
        layout: &Layout<'_>,
        mut mask: u32,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, DecodeError> {
        let mut object = Map::new();
        for field in &layout.fields {
            if field.is_optional {
                let is_absent = mask & 1 == 0;
                mask >>= 1;
                if is_absent {
                    continue;
                }
            }
            let (value, is_default) = self.field(field, decoder, depth)?;
            if !(is_default && self.encoder.is_compact()) {
                object.insert(field.name.to_owned(), value);
            }
        }
        Ok(object)
    }

    /// Decodes a Union: one of the fields, selected by a number counted from 1 or by its name.
    fn union(
        &mut self,
        layout: &Layout<'_>,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, DecodeError> {
        let switch = decoder.u32()?;
        let mut object = Map::new();
        if self.encoder.is_compact() {
            object.insert("SwitchField".into(), switch.into());
        }
        if let Some(position) = switch.checked_sub(1) {
            let field = usize::try_from(position)
                .ok()
                .and_then(|position| layout.fields.get(position));
            let unknown = DecodeErrorKind::InvalidValue("a Union has no such field");
            let field = field.ok_or_else(|| decoder.error(unknown))?;
            let (value, is_default) = self.field(field, decoder, depth)?;
            if !(is_default && self.encoder.is_compact()) {
                object.insert(field.name.to_owned(), value);
            }
        }
        Ok(object)
    }

    /// Encodes the value of a field; also returns whether it is the default.
    fn field(
        &mut self,
        field: &LayoutField<'_>,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<(Value, bool), DecodeError> {
        if !field.is_array {
            return self.element(&field.data_type, decoder, depth);
        }
        // Each element has to take a byte, which bounds the loop for structures without fields.
        let count = decoder.array_length(1)?.unwrap_or(0);
        let elements = (0..count).map(|_| Ok(self.element(&field.data_type, decoder, depth)?.0));
        let elements = elements.collect::<Result<Vec<_>, _>>()?;
        Ok((elements.into(), count == 0))
    }

    fn element(
        &mut self,
        data_type: &DataType,
        decoder: &mut Decoder<'_>,
        depth: usize,
    ) -> Result<(Value, bool), DecodeError> {
        match data_type {
            DataType::BuiltIn(BuiltInType::Variant) => {
                let value = Variant::decode(decoder)?;
                Ok((self.encoder.typed(&value, depth + 1), value.is_empty()))
            }
            DataType::BuiltIn(built_in_type) => {
                let value = Variant::decode_scalar(*built_in_type, decoder)?;
                Ok((self.encoder.untyped(&value, depth + 1), is_default(&value)))
            }
            DataType::Structure(type_id) => {
                let layout = self.encoder.context.structure(type_id);
                let missing = DecodeErrorKind::InvalidValue("a structure has no description");
                let layout = layout.ok_or_else(|| decoder.error(missing))?;
                let fields = self.structure(&layout, decoder, depth + 1)?;
                let is_default = fields.is_empty();
                Ok((fields.into(), is_default))
            }
            DataType::Enumeration(type_id) => {
                let value = decoder.i32()?;
                Ok((self.encoder.enumeration(type_id, value), value == 0))
            }
        }
    }
}

impl JsonEncoder<'_> {
    /// Returns whether a DataType is an enumeration.
    pub fn is_enumeration(&self, data_type: &NodeId) -> bool {
        matches!(
            self.context.data_type(data_type),
            Some(DataType::Enumeration(_))
        )
    }

    /// Returns whether an ExtensionObject holds a structure of exactly this DataType.
    pub fn is_of_type(&self, object: &ExtensionObject, data_type: &NodeId) -> bool {
        let known = self.context.structure_of_encoding(&object.type_id);
        known.is_some_and(|layout| layout.type_id == *data_type)
    }

    /// Encodes a value of an enumeration: its number, or `name_number` (OPC 10000-6, 5.4.4).
    pub fn enumeration(&self, type_id: &NodeId, value: i32) -> Value {
        if self.is_compact() {
            return value.into();
        }
        match self.context.enumeration_name(type_id, value) {
            Some(name) => format!("{name}_{value}").into(),
            None => value.to_string().into(),
        }
    }
}
