//! RawData fields whose metadata is known (OPC 10000-14, 7.2.4.5.11).

use takt_ua::binary::DecodeErrorKind;
use takt_ua::{BuiltInType, Variant};

use super::TreeNode;
use super::reader::{Nodes, Reader};
use crate::error::WireError;
use crate::raw_data::{Rank, RawField, RawStructure, RawType, StructureKind, cells};

impl Reader<'_> {
    /// Reads the fields, or their bytes if there is no metadata.
    pub(super) fn raw_data(
        &mut self,
        name: &'static str,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let data_set = self.data_set.filter(|it| it.describes(nodes));
        match data_set.map(|data_set| &data_set.raw_data) {
            Some(Ok(layout)) => self.group(name, nodes, |reader, nodes| {
                let mut fields = layout.fields.iter().enumerate();
                fields.try_for_each(|(index, field)| reader.raw_field(index, field, nodes))
            }),
            unknown => {
                let first = nodes.len();
                self.rest(name, nodes)?;
                // The node says why it shows only bytes.
                if let (Some(Err(error)), Some(node)) = (unknown, nodes.get_mut(first)) {
                    node.meaning = Some(error.to_string());
                }
                Ok(())
            }
        }
    }

    fn raw_field(
        &mut self,
        index: usize,
        field: &RawField,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let first = nodes.len();
        let read = match &field.rank {
            Rank::Scalar => self.raw_value("Field", &field.raw_type, nodes),
            Rank::Array(max) => self.nested("Field", nodes, |reader, nodes| {
                reader.raw_array(&field.raw_type, *max, nodes)
            }),
            Rank::Matrix { rank, max } => self.nested("Field", nodes, |reader, nodes| {
                reader.raw_matrix(&field.raw_type, *rank, max, nodes)
            }),
        };
        // Even after an error: what was read belongs to this field.
        if let Some(node) = nodes.get_mut(first) {
            node.index = Some(index);
            node.field_name = Some(field.name.clone());
        }
        read
    }

    fn raw_value(
        &mut self,
        name: &'static str,
        raw_type: &RawType,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        match raw_type {
            RawType::Fixed(built_in_type) => self.built_in(name, *built_in_type, nodes),
            RawType::String(max) => self.raw_text(name, BuiltInType::String, *max, nodes),
            RawType::ByteString(max) => self.raw_text(name, BuiltInType::ByteString, *max, nodes),
            RawType::Structure(structure) => self.nested(name, nodes, |reader, nodes| {
                reader.raw_structure(structure, nodes)
            }),
        }
    }

    /// Reads a text and its padding up to its MaxStringLength.
    fn raw_text(
        &mut self,
        name: &'static str,
        built_in_type: BuiltInType,
        max: usize,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let start = self.position;
        self.built_in(name, built_in_type, nodes)?;
        let length = (self.position - start).saturating_sub(size_of::<i32>());
        match max.checked_sub(length) {
            Some(padding) => self.byte_field("Padding", padding, nodes),
            // 0 stands for a text of any length, which has no padding.
            None if max == 0 => Ok(()),
            None => Err(self.error(DecodeErrorKind::InvalidValue("longer than MaxStringLength"))),
        }
    }

    fn raw_array(
        &mut self,
        raw_type: &RawType,
        max: usize,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        self.array("", nodes, |reader, nodes| {
            reader.raw_value("Value", raw_type, nodes)
        })?;
        let count = nodes.iter().filter(|node| node.name == "Value").count();
        match (max.checked_sub(count), raw_type.fixed_size()) {
            (None, _) if max > 0 => {
                Err(self.error(DecodeErrorKind::InvalidValue("longer than ArrayDimensions")))
            }
            (Some(missing), Some(size)) => {
                self.byte_field("Padding", missing.saturating_mul(size), nodes)
            }
            _ => Ok(()),
        }
    }

    fn raw_matrix(
        &mut self,
        raw_type: &RawType,
        rank: usize,
        max: &[usize],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        self.array("ArrayDimensions", nodes, |reader, nodes| {
            reader.built_in("Dimension", BuiltInType::Int32, nodes)
        })?;
        let lengths = nodes.last().map_or(&[][..], |node| &node.children);
        // The first child is the length of the array.
        let lengths: Vec<usize> = lengths.iter().skip(1).filter_map(length).collect();
        // A message cannot name more values than it has bytes for.
        let size = lengths.iter().try_fold(raw_type.min_size(), |size, it| {
            size.checked_mul(*it)
                .filter(|size| *size <= self.end - self.position)
        });
        let beyond = lengths.iter().zip(max).any(|(length, max)| length > max);
        if lengths.len() != rank || size.is_none() || beyond {
            return Err(self.error(DecodeErrorKind::InvalidValue(
                "not a matrix as described in the metadata",
            )));
        }
        let size = raw_type.fixed_size();
        let mut index = 0;
        cells(
            &lengths,
            // Values without a fixed size are not padded.
            if size.is_some() { max } else { &[] },
            |present| {
                if !present {
                    return self.byte_field("Padding", size.unwrap_or(0), nodes);
                }
                let first = nodes.len();
                self.raw_value("Value", raw_type, nodes)?;
                if let Some(node) = nodes.get_mut(first) {
                    node.index = Some(index);
                }
                index += 1;
                Ok(())
            },
        )
    }

    fn raw_structure(
        &mut self,
        structure: &RawStructure,
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let mut fields = structure.fields.iter().enumerate();
        match structure.kind {
            StructureKind::Plain => {
                fields.try_for_each(|(index, field)| self.raw_field(index, field, nodes))
            }
            StructureKind::OptionalFields => {
                let mut bits = self.raw_u32("EncodingMask", nodes)?;
                for (index, field) in fields {
                    let present = !field.is_optional || bits & 1 != 0;
                    if field.is_optional {
                        bits >>= 1;
                    }
                    match present {
                        true => self.raw_field(index, field, nodes)?,
                        false => {
                            let size = field.fixed_size().unwrap_or(0);
                            self.byte_field("Padding", size, nodes)?;
                        }
                    }
                }
                Ok(())
            }
            StructureKind::Union => {
                let switch = self.raw_u32("SwitchField", nodes)? as usize;
                let mut size = 0;
                if let Some(index) = switch.checked_sub(1) {
                    let field = structure.fields.get(index).ok_or_else(|| {
                        let what = "a field of a Union that does not exist";
                        self.error(DecodeErrorKind::InvalidValue(what))
                    })?;
                    self.raw_field(index, field, nodes)?;
                    size = field.fixed_size().unwrap_or(0);
                }
                // A Union is as long as its longest field.
                let padding = structure.union_size().saturating_sub(size);
                self.byte_field("Padding", padding, nodes)
            }
        }
    }

    fn raw_u32(&mut self, name: &'static str, nodes: &mut Nodes) -> Result<u32, WireError> {
        self.built_in(name, BuiltInType::UInt32, nodes)?;
        match nodes.last().and_then(|node| node.value.as_ref()) {
            Some(Variant::UInt32(value)) => Ok(*value),
            _ => Ok(0),
        }
    }
}

fn length(node: &TreeNode) -> Option<usize> {
    match node.value {
        Some(Variant::Int32(length)) => usize::try_from(length).ok(),
        _ => None,
    }
}
