//! Model of the generated code, combined from the sources and independent of the output format.
//!
//! Structures and enumerations come from the definitions in the NodeSet; those that are only in the binary type
//! dictionary (the service messages) from there, with their NodeIds from the table of NodeIds.

mod enumerations;
mod identifiers;
mod kind;
mod structures;

use std::collections::BTreeMap;

use crate::error::Error;
use crate::read::bsd::Dictionary;
use crate::read::nodeset::Nodeset;
use crate::read::typescript;
use crate::sources::Sources;

pub(crate) use kind::BUILT_IN;

/// Contents of the generated files.
pub(crate) struct Model {
    /// Version of namespace 0, as in `1.05.07`.
    pub(crate) version: String,
    /// Structures by name.
    pub(crate) structures: BTreeMap<String, Structure>,
    /// Enumerations by name.
    pub(crate) enumerations: BTreeMap<String, Enumeration>,
    /// Symbolic names, by NodeId.
    pub(crate) identifiers: BTreeMap<u32, String>,
    /// StatusCodes by code.
    pub(crate) status_codes: BTreeMap<u32, String>,
}

/// A Structure DataType.
pub(crate) struct Structure {
    pub(crate) type_id: u32,
    pub(crate) binary_encoding_id: u32,
    pub(crate) xml_encoding_id: Option<u32>,
    pub(crate) is_abstract: bool,
    /// Citation of its definition; `None` if it is only in the binary type dictionary.
    pub(crate) clause: Option<String>,
    pub(crate) fields: Vec<Field>,
}

impl Structure {
    pub(crate) fn has_optional_fields(&self) -> bool {
        self.fields.iter().any(|field| field.is_optional)
    }
}

/// Field of a structure; those of the base types come first.
#[derive(Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    pub(crate) is_array: bool,
    pub(crate) is_optional: bool,
}

/// Type of a field or of its elements.
#[derive(Clone, PartialEq)]
pub(crate) enum FieldType {
    /// A built-in type by its number in OPC 10000-6, 5.1.2.
    BuiltIn(u32),
    Structure(String),
    Enumeration(String),
}

/// An Enumeration DataType or an option set.
pub(crate) struct Enumeration {
    pub(crate) type_id: u32,
    pub(crate) clause: Option<String>,
    /// Built-in type of the bits of an option set, whose values are masks; `None` for an enumeration.
    pub(crate) option_set: Option<u32>,
    pub(crate) values: Vec<(String, u32)>,
}

impl Model {
    /// Reads the sources and combines them.
    pub(crate) fn read(sources: &Sources) -> Result<Self, Error> {
        let nodeset = Nodeset::read(&sources.nodeset)?;
        let dictionary = Dictionary::read(&sources.types)?;
        let node_ids = typescript::node_ids(&sources.node_ids)?;
        let ids: BTreeMap<&str, u32> = node_ids
            .iter()
            .map(|(id, name)| (name.as_str(), *id))
            .collect();

        let enumerations = enumerations::read(&nodeset, &dictionary, &ids)?;
        let structures = structures::read(&nodeset, &dictionary, &ids, &enumerations)?;
        let mut status_codes = BTreeMap::new();
        for (name, code) in typescript::status_codes(&sources.status_codes)? {
            if let Some(other) = status_codes.insert(code, name.clone()) {
                return Err(content(format!(
                    "{name} and {other} are the same StatusCode"
                )));
            }
        }
        Ok(Self {
            version: nodeset.version.clone(),
            structures,
            enumerations,
            identifiers: identifiers::read(&nodeset, &node_ids)?,
            status_codes,
        })
    }
}

fn content(message: String) -> Error {
    Error::content("NodeSet and type files", message)
}
