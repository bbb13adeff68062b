//! Model of the generated code, combined from the sources and independent of the output format.
//!
//! Structures and enumerations come from the definitions in the NodeSet; those that are only in the binary type
//! dictionary (the service messages) from there, with their NodeIds from the table of NodeIds.

mod enumerations;
mod error;
mod identifiers;
mod kind;
mod structures;
mod types;

use std::collections::BTreeMap;

use crate::error::Error;
use crate::read::bsd::Dictionary;
use crate::read::nodeset::Nodeset;
use crate::read::typescript;
use crate::sources::Sources;

pub(crate) use kind::BUILT_IN;
pub(crate) use types::{Enumeration, Field, FieldType, Structure};

use error::content;

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
