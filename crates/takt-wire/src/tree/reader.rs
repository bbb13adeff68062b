//! Reader of messages by the field tables.

use takt_ua::binary::{DecodeErrorKind, Decoder};
use takt_ua::{BuiltInType, ByteString, Variant};

use super::grammar::{Field, Kind};
use super::uadp::{DECRYPTED, NETWORK_MESSAGE, PAYLOAD, SIGNATURE_LENGTH};
use super::{DataSetFields, MessageTree, TreeNode, TreeParameters};
use crate::error::{WireError, WireErrorKind};
use crate::network_message_type::NetworkMessageType;

/// Largest depth of nested structures.
const MAX_DEPTH: usize = 100;

/// Reads a whole message.
pub(super) fn read_message(bytes: &[u8], parameters: &TreeParameters<'_>) -> MessageTree {
    let mut reader = Reader::new(bytes);
    reader.configured_sizes = parameters.payload.data_set_message_sizes;
    reader.data_sets = parameters.data_sets;
    reader.note(DECRYPTED, u64::from(parameters.decrypted));
    let signature_length = parameters.payload.signature_length as u64;
    reader.note(SIGNATURE_LENGTH, signature_length);
    reader.finish(&NETWORK_MESSAGE)
}

/// Reads a payload that was reassembled from chunks.
pub(super) fn read_payload(
    message_type: NetworkMessageType,
    bytes: &[u8],
    data_sets: &[Option<&DataSetFields>],
) -> MessageTree {
    let mut reader = Reader::new(bytes);
    reader.data_sets = data_sets;
    reader.note("ExtendedFlags2", u64::from(message_type.bits()));
    reader.finish(&PAYLOAD)
}

/// The message, and the reading position.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) position: usize,
    /// End of the current part.
    pub(super) end: usize,
    /// Values of fields that others depend on, the latest last.
    pub(super) values: Vec<(&'static str, u64)>,
    pub(super) configured_sizes: &'a [u16],
    /// Fields of each DataSetMessage, if they are known.
    pub(super) data_sets: &'a [Option<&'a DataSetFields>],
    /// Fields of the current DataSetMessage.
    pub(super) data_set: Option<&'a DataSetFields>,
    pub(super) depth: usize,
    pub(super) errors: Vec<WireError>,
}

/// The nodes that are being filled.
pub(super) type Nodes = Vec<TreeNode>;

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            end: bytes.len(),
            values: Vec::new(),
            configured_sizes: &[],
            data_sets: &[],
            data_set: None,
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

    pub(super) fn note(&mut self, name: &'static str, value: u64) {
        self.values.push((name, value));
    }

    pub(super) fn known(&self, name: &str) -> Option<u64> {
        // Each DataSetMessage and each structure notes the same names again.
        let mut latest_first = self.values.iter().rev();
        latest_first
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    }

    /// Returns the value of a field that was read before; 0 if it was absent.
    pub(super) fn value(&self, name: &str) -> u64 {
        self.known(name).unwrap_or(0)
    }

    pub(super) fn length(&self, name: &str) -> usize {
        usize::try_from(self.value(name)).unwrap_or(usize::MAX)
    }

    pub(super) fn error(&self, kind: DecodeErrorKind) -> WireError {
        WireError::new(self.position, WireErrorKind::Encoding(kind))
    }

    /// Returns a decoder of the remaining bytes.
    pub(super) fn decoder(&self) -> Decoder<'a> {
        Decoder::new(self.bytes.get(self.position..self.end).unwrap_or_default())
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let end = self
            .position
            .checked_add(length)
            .filter(|end| *end <= self.end);
        let bytes = end.and_then(|end| self.bytes.get(self.position..end));
        let bytes = bytes.ok_or_else(|| self.error(DecodeErrorKind::UnexpectedEnd))?;
        self.position += length;
        Ok(bytes)
    }

    /// Reads a part that ends at `end`. Errors stay within it: the bytes behind it can still be read.
    pub(super) fn window(
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
        // This cannot fail, because it was checked.
        let _ = self.rest(name, nodes);
        self.end = outer;
    }

    /// Reads all remaining bytes, if there are any.
    pub(super) fn rest(&mut self, name: &'static str, nodes: &mut Nodes) -> Result<(), WireError> {
        self.byte_field(name, self.end - self.position, nodes)
    }

    pub(super) fn byte_field(
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
    pub(super) fn leaf(&self, name: &'static str, start: usize, value: Variant, nodes: &mut Nodes) {
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
            Kind::RawData => self.raw_data(name, nodes),
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
                let built_in_type = match value {
                    // Reserved identifiers hold a ByteString (OPC 10000-6, 5.2.2.16).
                    26..=31 => Some(BuiltInType::ByteString),
                    value => BuiltInType::from_u8(value),
                };
                match built_in_type {
                    Some(built_in_type) => self.built_in(name, built_in_type, nodes),
                    None => Err(self.error(DecodeErrorKind::InvalidEncodingByte(value))),
                }
            }
            Kind::Payload(field) => self.payload(field, nodes),
            Kind::DataSetMessages(fields) => self.data_set_messages(name, fields, nodes),
            Kind::Body => self.body(name, nodes),
        }
    }

    /// Reads a group into a node of its own if the group has a name.
    pub(super) fn group(
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

    pub(super) fn structure(
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

    /// Reads a group whose values are not used outside of it.
    pub(super) fn nested(
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
        // The values of a structure must not be taken for those of the outer one.
        self.values.truncate(outside);
        self.depth -= 1;
        result
    }

    pub(super) fn elements(
        &mut self,
        count: usize,
        nodes: &mut Nodes,
        mut read: impl FnMut(&mut Self, &mut Nodes) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        // Each element takes at least one byte.
        if count > self.end - self.position {
            return Err(self.error(DecodeErrorKind::UnexpectedEnd));
        }
        for index in 0..count {
            let first = nodes.len();
            // The index is set even after an error: what was read belongs to this element.
            let result = read(self, nodes);
            if let Some(element) = nodes.get_mut(first) {
                element.index = Some(index);
            }
            result?;
        }
        Ok(())
    }

    pub(super) fn array(
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
                // Each element takes at least one byte, so this ends.
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

    /// Reads the payload, which ends before SecurityFooter and signature.
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
}
