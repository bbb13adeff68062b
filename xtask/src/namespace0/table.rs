//! Writer of the table: nodes, references, and the pools of shared contents.

use std::collections::HashMap;

use takt_nodeset::{Attributes, UaNode, ValueAttributes};

use super::content;
use super::error::invalid;
use super::nodes::{Nodes, Reference, standard_id};
use crate::error::Error;

const MAGIC: &[u8] = b"TKN0";
const VERSION: u32 = 1;
const HEADER_SIZE: usize = 64;
const NONE: u32 = u32::MAX;

/// Writes the whole table.
pub(super) fn write(nodes: &Nodes<'_>) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::default();
    for (position, (id, node, references)) in nodes.iter().enumerate() {
        writer.node(nodes, position, id, node, references)?;
    }
    writer.finish(nodes.len())
}

#[derive(Default)]
struct Writer {
    nodes: Vec<u8>,
    index: Vec<u8>,
    references: Vec<u8>,
    reference_types: Vec<u32>,
    strings: Pool,
    blobs: Pool,
}

impl Writer {
    fn node(
        &mut self,
        nodes: &Nodes<'_>,
        position: usize,
        id: u32,
        node: &UaNode,
        references: &[Reference],
    ) -> Result<(), Error> {
        self.index
            .resize(usize::try_from(id).map_err(invalid)? * 2, 0xFF);
        self.index.extend(small(position)?.to_le_bytes());

        let browse_name = node.browse_name.name.as_str();
        let display_name = node
            .display_name
            .first()
            .map_or(browse_name, |text| text.text.as_str());
        let first_reference = self.references.len() / 4;
        for reference in references {
            self.reference(reference)?;
        }
        let supertype = nodes.supertype(position).map_or(Ok(u16::MAX), small)?;
        let specific = self.specific(nodes, position, id, node)?;

        self.nodes.extend(id.to_le_bytes());
        self.nodes
            .extend(self.strings.string(browse_name)?.to_le_bytes());
        self.nodes
            .extend(self.strings.string(display_name)?.to_le_bytes());
        self.nodes.extend(large(first_reference)?.to_le_bytes());
        self.nodes.extend(small(references.len())?.to_le_bytes());
        self.nodes
            .push(u8::try_from(node.class().0).map_err(invalid)?);
        self.nodes.push(specific.flags);
        self.nodes.extend(specific.type_or_name.to_le_bytes());
        self.nodes.extend(specific.content.to_le_bytes());
        self.nodes.extend(specific.dimensions.to_le_bytes());
        self.nodes.extend(specific.value_rank.to_le_bytes());
        self.nodes.push(specific.access);
        self.nodes.extend(supertype.to_le_bytes());
        Ok(())
    }

    fn reference(&mut self, reference: &Reference) -> Result<(), Error> {
        let known = self
            .reference_types
            .iter()
            .position(|id| *id == reference.reference_type);
        let reference_type = known.unwrap_or_else(|| {
            self.reference_types.push(reference.reference_type);
            self.reference_types.len() - 1
        });
        if reference_type > 0x7FFF {
            return Err(invalid("more ReferenceTypes than the table can name"));
        }
        let entry = u32::from(small(reference.other)?)
            | u32::from(small(reference_type)?) << 16
            | u32::from(reference.is_forward) << 31;
        self.references.extend(entry.to_le_bytes());
        Ok(())
    }

    /// Writes the fields of the record that depend on the NodeClass.
    fn specific(
        &mut self,
        nodes: &Nodes<'_>,
        position: usize,
        id: u32,
        node: &UaNode,
    ) -> Result<Specific, Error> {
        let mut specific = Specific::default();
        match &node.attributes {
            Attributes::Object { event_notifier } => specific.access = *event_notifier,
            Attributes::Variable(variable) => {
                self.value(&mut specific, id, node, &variable.value)?;
                specific.access = u8::try_from(variable.access_level).map_err(invalid)?;
            }
            Attributes::VariableType { is_abstract, value } => {
                self.value(&mut specific, id, node, value)?;
                specific.flags = u8::from(*is_abstract);
            }
            Attributes::Method { executable, .. } => specific.flags = u8::from(*executable) << 2,
            Attributes::ObjectType { is_abstract } => specific.flags = u8::from(*is_abstract),
            Attributes::ReferenceType {
                is_abstract,
                symmetric,
                inverse_name,
            } => {
                specific.flags = u8::from(*is_abstract) | u8::from(*symmetric) << 1;
                if let Some(name) = inverse_name.first() {
                    specific.type_or_name = self.strings.string(name.text.as_str())?;
                }
            }
            Attributes::DataType { is_abstract, .. } => {
                specific.flags = u8::from(*is_abstract);
                specific.content = self.blobs.optional(content::definition(nodes, position)?)?;
            }
            Attributes::View { .. } => {
                return Err(invalid(format!(
                    "i={id} is a View, which the table does not support"
                )));
            }
        }
        Ok(specific)
    }

    fn value(
        &mut self,
        specific: &mut Specific,
        id: u32,
        node: &UaNode,
        attributes: &ValueAttributes,
    ) -> Result<(), Error> {
        specific.type_or_name = standard_id(&attributes.data_type)?;
        specific.value_rank = i8::try_from(attributes.value_rank).map_err(invalid)?;
        specific.content = self.blobs.optional(content::value(id, node)?)?;
        if !attributes.array_dimensions.is_empty() {
            let dimensions = attributes
                .array_dimensions
                .iter()
                .flat_map(|length| length.to_le_bytes());
            specific.dimensions = self.blobs.blob(dimensions.collect())?;
        }
        Ok(())
    }

    fn finish(self, count: usize) -> Result<Vec<u8>, Error> {
        let reference_types: Vec<u8> = self
            .reference_types
            .iter()
            .flat_map(|id| id.to_le_bytes())
            .collect();
        let sections = [
            (count, self.nodes),
            (self.index.len() / 2, self.index),
            (self.references.len() / 4, self.references),
            (self.reference_types.len(), reference_types),
            (self.strings.bytes.len(), self.strings.bytes),
            (self.blobs.bytes.len(), self.blobs.bytes),
        ];
        let mut header = Vec::from(MAGIC);
        header.extend(VERSION.to_le_bytes());
        let mut body = Vec::new();
        for (count, section) in sections {
            header.extend(large(count)?.to_le_bytes());
            header.extend(large(HEADER_SIZE + body.len())?.to_le_bytes());
            body.extend(section);
            // Blobs are aligned within their section, and so must be the section.
            body.resize(body.len().next_multiple_of(4), 0);
        }
        header.extend(large(HEADER_SIZE + body.len())?.to_le_bytes());
        header.resize(HEADER_SIZE, 0);
        header.extend(body);
        Ok(header)
    }
}

struct Specific {
    flags: u8,
    type_or_name: u32,
    content: u32,
    dimensions: u32,
    value_rank: i8,
    access: u8,
}

impl Default for Specific {
    fn default() -> Self {
        Self {
            flags: 0,
            type_or_name: NONE,
            content: NONE,
            dimensions: NONE,
            value_rank: 0,
            access: 0,
        }
    }
}

/// Pool of bytes that are stored once, independent of the number of uses.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    known: HashMap<Vec<u8>, u32>,
}

impl Pool {
    fn string(&mut self, text: &str) -> Result<u32, Error> {
        let mut entry = small(text.len())?.to_le_bytes().to_vec();
        entry.extend(text.as_bytes());
        self.add(entry)
    }

    fn blob(&mut self, bytes: Vec<u8>) -> Result<u32, Error> {
        let mut entry = large(bytes.len())?.to_le_bytes().to_vec();
        entry.extend(bytes);
        entry.resize(entry.len().next_multiple_of(4), 0);
        self.add(entry)
    }

    fn optional(&mut self, bytes: Option<Vec<u8>>) -> Result<u32, Error> {
        bytes.map_or(Ok(NONE), |bytes| self.blob(bytes))
    }

    fn add(&mut self, entry: Vec<u8>) -> Result<u32, Error> {
        if let Some(offset) = self.known.get(&entry) {
            return Ok(*offset);
        }
        let offset = large(self.bytes.len())?;
        self.bytes.extend(&entry);
        self.known.insert(entry, offset);
        Ok(offset)
    }
}

fn small(number: usize) -> Result<u16, Error> {
    match u16::try_from(number) {
        Ok(number) if number != u16::MAX => Ok(number),
        _ => Err(invalid(format!(
            "{number} does not fit into 16 bits of the table"
        ))),
    }
}

fn large(number: usize) -> Result<u32, Error> {
    u32::try_from(number)
        .map_err(|_| invalid(format!("{number} does not fit into 32 bits of the table")))
}
