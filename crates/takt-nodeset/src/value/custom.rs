//! Structures that a NodeSet defines: conversion of the XML body of an ExtensionObject to the binary one, with the
//! DataTypeDefinitions of the address space (OPC 10000-6, 5.2.6 to 5.2.8, 5.3.6 to 5.3.8).

use std::cell::Cell;

use roxmltree::{Document, Node as Element};
use takt_ua::binary::{Encoder, Limits};
use takt_ua::enumerations::StructureType;
use takt_ua::structures::{StructureDefinition, StructureField};
use takt_ua::{BuiltInType, NodeId, ids};

use super::structure::{MAX_DEFAULT_DEPTH, encode_default};
use crate::ParseLimits;
use crate::reader::Reader;

/// Cost of a structure in the budget, besides its bytes: a structure without bytes takes time too.
const STRUCTURE_COST: usize = 64;

/// Source of DataTypeDefinitions.
pub trait DataTypes {
    /// Returns the definition of a DataType that is a structure or union.
    fn structure(&self, data_type: &NodeId) -> Option<StructureDefinition>;

    /// Returns the built-in type of the values of a DataType: Int32 for enumerations, ExtensionObject for structures,
    /// Variant for abstract types of several built-in types.
    fn built_in_type(&self, data_type: &NodeId) -> Option<BuiltInType>;
}

/// Converter of XML bodies to binary ones.
pub struct BodyEncoder<'t> {
    types: &'t dyn DataTypes,
    /// Remaining budget of bytes and structures, because nested definitions could need any amount.
    budget: Cell<usize>,
}

/// A body that is being encoded. Its methods return `None` if a type is not known, or the XML does not match the
/// type.
struct Body<'a> {
    reader: Reader<'a>,
    types: &'a dyn DataTypes,
    budget: &'a Cell<usize>,
}

impl<'t> BodyEncoder<'t> {
    /// Creates an encoder for the types of one address space. All that it encodes stays within `limits.max_bytes`.
    pub fn new(types: &'t dyn DataTypes, limits: &ParseLimits) -> Self {
        Self {
            types,
            budget: Cell::new(limits.max_bytes),
        }
    }

    /// Returns the binary encoding of a structure of this DataType, given its XML encoding. NodeIds in it have the
    /// namespace indexes of the address space. `None` if a type is not known, or the XML does not match the type.
    pub fn encode(&self, data_type: &NodeId, xml: &str) -> Option<Vec<u8>> {
        let limits = ParseLimits::DEFAULT;
        // The XML need not be from a document that was checked.
        crate::guard::check(xml, &limits).ok()?;
        let document = Document::parse(xml).ok()?;
        let mut reader = Reader::new("", xml, &limits);
        reader.namespaces.clear();
        let body = Body {
            reader,
            types: self.types,
            budget: &self.budget,
        };
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, self.budget.get());
        body.structure(Some(document.root_element()), data_type, &mut encoder, 0)?;
        self.budget.set(self.budget.get().checked_sub(bytes.len())?);
        Some(bytes)
    }
}

impl Body<'_> {
    fn structure(
        &self,
        content: Option<Element<'_, '_>>,
        data_type: &NodeId,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Option<()> {
        self.budget
            .set(self.budget.get().checked_sub(STRUCTURE_COST)?);
        if depth > MAX_DEFAULT_DEPTH.min(Limits::DEFAULT.max_depth) {
            return None;
        }
        let definition = self.types.structure(data_type)?;
        match definition.structure_type {
            StructureType::Union | StructureType::UnionWithSubtypedValues => {
                return self.union(content, &definition, encoder, depth);
            }
            StructureType::StructureWithOptionalFields => {
                let optional = definition.fields.iter().filter(|field| field.is_optional);
                let mask = optional.enumerate().try_fold(0u32, |mask, (bit, field)| {
                    // The mask has 32 bits, so a definition with more optional fields has no encoding.
                    let bit = u32::try_from(bit).ok().filter(|bit| *bit < 32)?;
                    Some(mask | u32::from(self.part(content, field).is_some()) << bit)
                })?;
                encoder.u32(mask).ok()?;
            }
            _ => {}
        }
        let may_be_absent = definition.structure_type == StructureType::StructureWithOptionalFields;
        for field in &definition.fields {
            let part = self.part(content, field);
            // In other structures, the flag means that a field allows subtypes.
            if !(may_be_absent && field.is_optional && part.is_none()) {
                self.field(part, &definition, field, encoder, depth)?;
            }
        }
        Some(())
    }

    /// Encodes a Union: the field whose number is in `SwitchField`, counted from 1, or the only field of the element.
    fn union(
        &self,
        content: Option<Element<'_, '_>>,
        definition: &StructureDefinition,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Option<()> {
        let switch = content.and_then(|content| self.reader.part(content, "SwitchField"));
        let number: usize = match switch {
            Some(switch) => self.reader.number(switch).ok()?,
            None => definition
                .fields
                .iter()
                .position(|field| self.part(content, field).is_some())
                .map_or(0, |at| at + 1),
        };
        encoder.u32(u32::try_from(number).ok()?).ok()?;
        // The number 0 stands for a Union without a field.
        let Some(position) = number.checked_sub(1) else {
            return Some(());
        };
        let field = definition.fields.get(position)?;
        self.field(self.part(content, field), definition, field, encoder, depth)
    }

    fn part<'d, 'i>(
        &self,
        content: Option<Element<'d, 'i>>,
        field: &StructureField,
    ) -> Option<Element<'d, 'i>> {
        self.reader
            .part(content?, field.name.as_str())
            .filter(|part| !self.reader.is_nil(*part))
    }

    fn field(
        &self,
        part: Option<Element<'_, '_>>,
        definition: &StructureDefinition,
        field: &StructureField,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Option<()> {
        let takes_subtypes = field.is_optional
            && matches!(
                definition.structure_type,
                StructureType::StructureWithSubtypedValues | StructureType::UnionWithSubtypedValues
            );
        match (field.value_rank, part) {
            (-1, part) => self.value(part, &field.data_type, takes_subtypes, encoder, depth),
            (1, None) => encoder.array_length(None).ok(),
            (1, Some(part)) => {
                let elements = || part.children().filter(Element::is_element);
                encoder.array_length(Some(elements().count())).ok()?;
                elements().try_for_each(|element| {
                    self.value(
                        Some(element),
                        &field.data_type,
                        takes_subtypes,
                        encoder,
                        depth,
                    )
                })
            }
            // Multi-dimensional arrays in structures are not supported; no published NodeSet contains one.
            _ => None,
        }
    }

    fn value(
        &self,
        content: Option<Element<'_, '_>>,
        data_type: &NodeId,
        takes_subtypes: bool,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Option<()> {
        let mut built_in_type = self.types.built_in_type(data_type)?;
        let is_structure = built_in_type == BuiltInType::ExtensionObject;
        // Structure itself is abstract: its values name their types, as ExtensionObjects.
        if is_structure && !takes_subtypes && data_type.standard_id() != Some(ids::STRUCTURE) {
            return self.structure(content, data_type, encoder, depth + 1);
        }
        // The value may be of any subtype, which only a Variant names.
        if takes_subtypes && !is_structure {
            built_in_type = BuiltInType::Variant;
        }
        match content {
            None => encode_default(built_in_type, encoder).ok(),
            // Enumerations are Int32 with a name in front; see OPC 10000-6, 5.3.2.
            Some(content) if built_in_type == BuiltInType::Int32 => {
                encoder.i32(self.reader.enumeration(content).ok()?).ok()
            }
            Some(content) => self
                .reader
                .encode_built_in(content, built_in_type, encoder)
                .ok(),
        }
    }
}
