//! Reader of single values, flags, and structures of namespace 0.

use takt_ua::binary::{DecodeErrorKind, Decoder};
use takt_ua::generated_support::{EnumerationDescription, FieldType, StructureDescription};
use takt_ua::{BuiltInType, StatusCode, Variant, VariantRef};

use super::grammar::{Bits, Names};
use super::reader::{Nodes, Reader};
use super::values::built_in;
use crate::error::WireError;

impl Reader<'_> {
    pub(super) fn built_in(
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
            // A null has the length -1. Nothing follows it, and the number of an earlier field is not its own.
            Variant::Int32(value) => Some(u64::try_from(value).unwrap_or(0)),
            _ => None,
        };
        if let Some(number) = number {
            self.note(name, number);
        }
        self.leaf(name, start, value, nodes);
        Ok(())
    }

    pub(super) fn flags(
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

    pub(super) fn named(
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

    pub(super) fn enumeration(
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

    pub(super) fn status(
        &mut self,
        name: &'static str,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
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

    /// Reads a structure of namespace 0 (OPC 10000-6, 5.2.6 and 5.2.7).
    pub(super) fn data_type(
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

    /// Reads the structure if its type is known and the body is exactly one value of it; else its bytes.
    pub(super) fn body(&mut self, name: &'static str, nodes: &mut Nodes) -> Result<(), WireError> {
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
            // The body may be damaged, or of another version: it is shown as bytes.
            self.position = start;
            self.errors.truncate(errors);
        }
        self.byte_field(name, length, nodes)
    }
}

fn name_of(names: Names, value: u64) -> Option<&'static str> {
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
