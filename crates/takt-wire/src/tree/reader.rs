//! Reads messages by the field tables.

use takt_ua::binary::{DecodeErrorKind, Decoder};
use takt_ua::generated_support::{EnumerationDescription, FieldType, StructureDescription};
use takt_ua::{BuiltInType, ByteString, StatusCode, Variant, VariantRef};

use super::grammar::{Bits, Field, Kind, Names};
use super::uadp::{DECRYPTED, NETWORK_MESSAGE, PAYLOAD, SIGNATURE_LENGTH};
use super::values::built_in;
use super::{MessageTree, TreeNode, TreeParameters};
use crate::error::{WireError, WireErrorKind};
use crate::network_message::NetworkMessageType;

/// How deep structures may be nested in each other.
const MAX_DEPTH: usize = 100;

/// Reads a whole message.
pub(super) fn read_message(bytes: &[u8], parameters: &TreeParameters<'_>) -> MessageTree {
    let mut reader = Reader::new(bytes);
    reader.configured_sizes = parameters.payload.data_set_message_sizes;
    reader.note(DECRYPTED, u64::from(parameters.decrypted));
    let signature_length = parameters.payload.signature_length as u64;
    reader.note(SIGNATURE_LENGTH, signature_length);
    reader.finish(&NETWORK_MESSAGE)
}

/// Reads a payload that was put together from chunks.
pub(super) fn read_payload(message_type: NetworkMessageType, bytes: &[u8]) -> MessageTree {
    let mut reader = Reader::new(bytes);
    reader.note("ExtendedFlags2", u64::from(message_type.bits()));
    reader.finish(&PAYLOAD)
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where what is read now has to end.
    end: usize,
    /// The values of fields that others depend on, the latest last.
    values: Vec<(&'static str, u64)>,
    configured_sizes: &'a [u16],
    depth: usize,
    errors: Vec<WireError>,
}

type Nodes = Vec<TreeNode>;

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            end: bytes.len(),
            values: Vec::new(),
            configured_sizes: &[],
            depth: 0,
            errors: Vec::new(),
        }
    }

    fn finish(mut self, field: &'static Field) -> MessageTree {
        let mut nodes = Nodes::new();
        self.window(self.end, &mut nodes, |reader, nodes| {
            reader.field(field, nodes)
        });
        MessageTree {
            nodes,
            errors: self.errors,
        }
    }

    fn note(&mut self, name: &'static str, value: u64) {
        self.values.push((name, value));
    }

    fn known(&self, name: &str) -> Option<u64> {
        let mut latest_first = self.values.iter().rev();
        latest_first
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    }

    /// The value of a field that was read before; 0 if it was not there.
    fn value(&self, name: &str) -> u64 {
        self.known(name).unwrap_or(0)
    }

    fn length(&self, name: &str) -> usize {
        usize::try_from(self.value(name)).unwrap_or(usize::MAX)
    }

    fn error(&self, kind: DecodeErrorKind) -> WireError {
        WireError::new(self.position, WireErrorKind::Encoding(kind))
    }

    /// A decoder of what is left.
    fn decoder(&self) -> Decoder<'a> {
        Decoder::new(self.bytes.get(self.position..self.end).unwrap_or_default())
    }

    /// Takes the next bytes.
    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let end = self
            .position
            .checked_add(length)
            .filter(|end| *end <= self.end);
        let bytes = end.and_then(|end| self.bytes.get(self.position..end));
        let bytes = bytes.ok_or_else(|| self.error(DecodeErrorKind::UnexpectedEnd))?;
        self.position += length;
        Ok(bytes)
    }

    /// Reads what ends at `end`. Errors stay within it: what is behind can be read nevertheless.
    fn window(
        &mut self,
        end: usize,
        nodes: &mut Nodes,
        read: impl FnOnce(&mut Self, &mut Nodes) -> Result<(), WireError>,
    ) {
        let outer = std::mem::replace(&mut self.end, end);
        let depth = self.depth;
        let result = read(self, nodes);
        self.depth = depth;
        let rest = self.bytes.get(self.position..end).unwrap_or_default();
        let first = rest.iter().position(|byte| *byte != 0);
        let name = match (&result, first) {
            (Ok(()), None) => "Padding",
            _ => "Undecoded",
        };
        if let Err(error) = result {
            self.errors.push(error);
        } else if let Some(first) = first {
            let kind = WireErrorKind::TrailingBytes(rest.len() - first);
            self.errors
                .push(WireError::new(self.position + first, kind));
        }
        // What has been checked cannot fail.
        let _ = self.rest(name, nodes);
        self.end = outer;
    }

    /// All bytes that are left, if there are any.
    fn rest(&mut self, name: &'static str, nodes: &mut Nodes) -> Result<(), WireError> {
        self.byte_field(name, self.end - self.position, nodes)
    }

    fn byte_field(
        &mut self,
        name: &'static str,
        length: usize,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        if length > 0 {
            let start = self.position;
            let bytes = Variant::ByteString(ByteString::from(self.take(length)?));
            self.leaf(name, start, bytes, nodes);
        }
        Ok(())
    }

    /// Adds a leaf that began at `start`.
    fn leaf(&self, name: &'static str, start: usize, value: Variant, nodes: &mut Nodes) {
        nodes.push(TreeNode {
            value: Some(value),
            ..TreeNode::new(name, start..self.position)
        });
    }

    fn field(&mut self, field: &'static Field, nodes: &mut Nodes) -> Result<(), WireError> {
        let there = field
            .when
            .is_none_or(|(other, test)| test.holds(self.value(other)));
        match there {
            true => self.kind(field.name, &field.kind, nodes),
            false => Ok(()),
        }
    }

    fn kind(
        &mut self,
        name: &'static str,
        kind: &'static Kind,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        match *kind {
            Kind::BuiltIn(built_in_type) => self.built_in(name, built_in_type, nodes),
            Kind::Flags(bits) => self.flags(name, bits, nodes),
            Kind::Named(length, names) => self.named(name, length, names, nodes),
            Kind::Status => self.status(name, nodes),
            Kind::Bytes(length) => self.byte_field(name, self.length(length), nodes),
            Kind::Rest => self.rest(name, nodes),
            Kind::Group(fields) => self.group(name, nodes, |reader, nodes| {
                fields
                    .iter()
                    .try_for_each(|field| reader.field(field, nodes))
            }),
            Kind::DataType(id) => self.data_type(name, id, nodes),
            Kind::Enumeration(id) => self.enumeration(name, id, nodes),
            Kind::List(count, element) => {
                let count = self.length(count);
                self.group(name, nodes, |reader, nodes| {
                    reader.elements(count, nodes, |reader, nodes| reader.field(element, nodes))
                })
            }
            Kind::Array(element) => {
                self.array(name, nodes, |reader, nodes| reader.field(element, nodes))
            }
            Kind::Fill(size, element) => self.fill(name, self.length(size), element, nodes),
            Kind::Switch(on, mask, cases) => {
                let value = self.value(on) & mask;
                match cases.iter().find(|(case, _)| *case == value) {
                    Some((_, field)) => self.field(field, nodes),
                    None => {
                        let value = u16::try_from(self.value(on)).unwrap_or(u16::MAX);
                        let kind = WireErrorKind::Reserved { field: on, value };
                        Err(WireError::new(self.position, kind))
                    }
                }
            }
            Kind::TypedBy(on, mask) => {
                let value = u8::try_from(self.value(on) & mask).unwrap_or(0);
                match BuiltInType::from_u8(value) {
                    Some(built_in_type) => self.built_in(name, built_in_type, nodes),
                    None => Err(self.error(DecodeErrorKind::InvalidEncodingByte(value))),
                }
            }
            Kind::Payload(field) => self.payload(field, nodes),
            Kind::DataSetMessages(fields) => self.data_set_messages(name, fields, nodes),
            Kind::Body => self.body(name, nodes),
        }
    }

    /// Puts what is read into a node of its own, if that has a name.
    fn group(
        &mut self,
        name: &'static str,
        nodes: &mut Nodes,
        read: impl FnOnce(&mut Self, &mut Nodes) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        if name.is_empty() {
            return read(self, nodes);
        }
        let start = self.position;
        let mut children = Nodes::new();
        let result = read(self, &mut children);
        nodes.push(TreeNode {
            children,
            ..TreeNode::new(name, start..self.position)
        });
        result
    }

    fn structure(
        &mut self,
        name: &'static str,
        fields: &'static [Field],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        self.nested(name, nodes, |reader, nodes| {
            fields
                .iter()
                .try_for_each(|field| reader.field(field, nodes))
        })
    }

    /// A group whose values nobody outside asks for.
    fn nested(
        &mut self,
        name: &'static str,
        nodes: &mut Nodes,
        read: impl FnOnce(&mut Self, &mut Nodes) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(DecodeErrorKind::DepthExceeded));
        }
        self.depth += 1;
        let outside = self.values.len();
        let result = self.group(name, nodes, read);
        self.values.truncate(outside);
        self.depth -= 1;
        result
    }

    fn elements(
        &mut self,
        count: usize,
        nodes: &mut Nodes,
        mut read: impl FnMut(&mut Self, &mut Nodes) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        // Each takes a byte at least.
        if count > self.end - self.position {
            return Err(self.error(DecodeErrorKind::UnexpectedEnd));
        }
        for index in 0..count {
            let first = nodes.len();
            let result = read(self, nodes);
            if let Some(element) = nodes.get_mut(first) {
                element.index = Some(index);
            }
            result?;
        }
        Ok(())
    }

    fn array(
        &mut self,
        name: &'static str,
        nodes: &mut Nodes,
        read: impl FnMut(&mut Self, &mut Nodes) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        self.group(name, nodes, |reader, nodes| {
            let start = reader.position;
            reader.built_in("ArrayLength", BuiltInType::Int32, nodes)?;
            let length = match nodes.last().and_then(|node| node.value.as_ref()) {
                Some(Variant::Int32(length)) => *length,
                _ => 0,
            };
            match usize::try_from(length) {
                Ok(length) => reader.elements(length, nodes, read),
                Err(_) if length == -1 => Ok(()),
                Err(_) => {
                    let kind = WireErrorKind::Encoding(DecodeErrorKind::NegativeLength);
                    Err(WireError::new(start, kind))
                }
            }
        })
    }

    fn fill(
        &mut self,
        name: &'static str,
        size: usize,
        element: &'static Field,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let end = self
            .position
            .checked_add(size)
            .filter(|end| *end <= self.end);
        let end = end.ok_or_else(|| self.error(DecodeErrorKind::UnexpectedEnd))?;
        self.group(name, nodes, |reader, nodes| {
            reader.window(end, nodes, |reader, nodes| {
                for index in 0.. {
                    if reader.position == reader.end {
                        break;
                    }
                    let first = nodes.len();
                    let result = reader.field(element, nodes);
                    if let Some(element) = nodes.get_mut(first) {
                        element.index = Some(index);
                    }
                    result?;
                }
                Ok(())
            });
            Ok(())
        })
    }

    fn built_in(
        &mut self,
        name: &'static str,
        built_in_type: BuiltInType,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        if let Some(fields) = built_in(built_in_type) {
            return self.structure(name, fields, nodes);
        }
        let start = self.position;
        let mut decoder = self.decoder();
        let value = VariantRef::decode_scalar(built_in_type, &mut decoder).map_err(|error| {
            let mut error = WireError::from(error);
            error.offset += start;
            error
        })?;
        self.position += decoder.position();
        let value = value.to_owned();
        let number = match value {
            Variant::Boolean(value) => Some(u64::from(value)),
            Variant::Byte(value) => Some(u64::from(value)),
            Variant::UInt16(value) => Some(u64::from(value)),
            Variant::Int32(value) => u64::try_from(value).ok(),
            _ => None,
        };
        if let Some(number) = number {
            self.note(name, number);
        }
        self.leaf(name, start, value, nodes);
        Ok(())
    }

    fn flags(
        &mut self,
        name: &'static str,
        bits: &'static [Bits],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        self.built_in(name, BuiltInType::Byte, nodes)?;
        let value = self.value(name);
        if let Some(node) = nodes.last_mut() {
            node.bits = bits.iter().map(|bits| bits.read(value)).collect();
        }
        Ok(())
    }

    fn named(
        &mut self,
        name: &'static str,
        length: u8,
        names: Names,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let built_in_type = match length {
            1 => BuiltInType::Byte,
            _ => BuiltInType::UInt16,
        };
        self.built_in(name, built_in_type, nodes)?;
        let meaning = name_of(names, self.value(name)).map(str::to_owned);
        if let Some(node) = nodes.last_mut() {
            node.meaning = meaning;
        }
        Ok(())
    }

    fn enumeration(
        &mut self,
        name: &'static str,
        id: u32,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        self.built_in(name, BuiltInType::Int32, nodes)?;
        if let Some(node) = nodes.last_mut()
            && let Some(Variant::Int32(value)) = node.value
        {
            let names = EnumerationDescription::of_type(id);
            let meaning = names.and_then(|names| names.name_of(value));
            node.meaning = meaning.map(str::to_owned);
        }
        Ok(())
    }

    fn status(&mut self, name: &'static str, nodes: &mut Nodes) -> Result<(), WireError> {
        let start = self.position;
        let mut decoder = Decoder::new(self.take(2)?);
        let upper = u32::from(decoder.u16()?);
        self.leaf(
            name,
            start,
            Variant::StatusCode(StatusCode(upper << 16)),
            nodes,
        );
        Ok(())
    }

    /// A structure of namespace 0 (OPC 10000-6, 5.2.6 and 5.2.7).
    fn data_type(
        &mut self,
        name: &'static str,
        id: u32,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let Some(description) = StructureDescription::of_type(id) else {
            return Err(self.error(DecodeErrorKind::InvalidValue(
                "a structure that is not known",
            )));
        };
        self.nested(name, nodes, |reader, nodes| {
            let mut present = u64::MAX;
            if description.has_optional_fields() {
                reader.built_in("EncodingMask", BuiltInType::UInt32, nodes)?;
                if let Some(Variant::UInt32(mask)) =
                    nodes.last().and_then(|node| node.value.as_ref())
                {
                    present = u64::from(*mask);
                }
            }
            for field in description.fields {
                if field.is_optional {
                    let there = present & 1 != 0;
                    present >>= 1;
                    if !there {
                        continue;
                    }
                }
                let name = field.name;
                let read = |reader: &mut Self, nodes: &mut Nodes| match field.field_type {
                    FieldType::BuiltIn(built_in_type) => {
                        reader.built_in(name, built_in_type, nodes)
                    }
                    FieldType::Structure(id) => reader.data_type(name, id, nodes),
                    FieldType::Enumeration(id) => reader.enumeration(name, id, nodes),
                };
                match field.is_array {
                    true => reader.array(name, nodes, read)?,
                    false => read(reader, nodes)?,
                }
            }
            Ok(())
        })
    }

    /// The structure, if its type is known and the body is exactly one of it; else its bytes.
    fn body(&mut self, name: &'static str, nodes: &mut Nodes) -> Result<(), WireError> {
        let length = self.length("Length");
        let end = self
            .position
            .checked_add(length)
            .filter(|end| *end <= self.end);
        let end = end.ok_or_else(|| self.error(DecodeErrorKind::UnexpectedEnd))?;
        let id = nodes.iter().rev().find(|node| node.name == "TypeId");
        let id = match id.and_then(|node| node.value.as_ref()) {
            Some(Variant::NodeId(id)) => id.as_ref().standard_id(),
            _ => None,
        };
        let description = id.filter(|_| self.value("Encoding") == 1).and_then(|id| {
            StructureDescription::of_encoding(id).filter(|known| known.binary_encoding_id == id)
        });
        if let Some(description) = description {
            let (start, errors) = (self.position, self.errors.len());
            let outer = std::mem::replace(&mut self.end, end);
            let (depth, values) = (self.depth, self.values.len());
            let mut read = Nodes::new();
            let result = self.data_type(description.name, description.type_id, &mut read);
            self.end = outer;
            self.depth = depth;
            self.values.truncate(values);
            if result.is_ok() && self.position == end {
                nodes.append(&mut read);
                return Ok(());
            }
            self.position = start;
            self.errors.truncate(errors);
        }
        self.byte_field(name, length, nodes)
    }

    /// What is before SecurityFooter and signature.
    fn payload(&mut self, field: &'static Field, nodes: &mut Nodes) -> Result<(), WireError> {
        let signed = self.value("SecurityFlags") & 1 != 0;
        let signature = if signed {
            self.length(SIGNATURE_LENGTH)
        } else {
            0
        };
        let behind = signature.saturating_add(self.length("SecurityFooterSize"));
        let end = self
            .end
            .checked_sub(behind)
            .filter(|end| *end >= self.position);
        let Some(end) = end else {
            return Err(WireError::new(self.end, WireErrorKind::NoRoomForSignature));
        };
        self.window(end, nodes, |reader, nodes| reader.field(field, nodes));
        Ok(())
    }

    /// Each in a window of its own, so that one that is in error leaves the others.
    fn data_set_messages(
        &mut self,
        name: &'static str,
        fields: &'static [Field],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let mut sizes: Vec<usize> = match self.known("Count") {
            None => self
                .configured_sizes
                .iter()
                .map(|size| usize::from(*size))
                .collect(),
            Some(count) if count > 1 => nodes
                .last()
                .map(|sizes| sizes.children.iter().filter_map(number).collect())
                .unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        if sizes.len() < 2 {
            sizes = vec![self.end - self.position];
        }
        self.group(name, nodes, |reader, nodes| {
            for (index, size) in sizes.into_iter().enumerate() {
                let end = reader.position + size;
                if end > reader.end {
                    return Err(reader.error(DecodeErrorKind::UnexpectedEnd));
                }
                let start = reader.position;
                let mut children = Nodes::new();
                reader.window(end, &mut children, |reader, nodes| {
                    reader.structure("", fields, nodes)
                });
                nodes.push(TreeNode {
                    index: Some(index),
                    children,
                    ..TreeNode::new("DataSetMessage", start..end)
                });
            }
            Ok(())
        })
    }
}

fn number(node: &TreeNode) -> Option<usize> {
    match node.value {
        Some(Variant::UInt16(value)) => Some(usize::from(value)),
        _ => None,
    }
}

pub(super) fn name_of(names: Names, value: u64) -> Option<&'static str> {
    let known = names.iter().find(|(known, _)| *known == value);
    known.map(|(_, name)| *name)
}

impl Bits {
    fn read(&self, flags: u64) -> super::TreeBits {
        let value = (flags & self.mask) >> self.mask.trailing_zeros();
        super::TreeBits {
            name: self.name,
            mask: u8::try_from(self.mask).unwrap_or(0),
            value: u8::try_from(value).unwrap_or(0),
            meaning: name_of(self.names, value),
        }
    }
}
