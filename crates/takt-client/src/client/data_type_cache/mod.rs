//! DataTypes of a server, learned when values need them (OPC 10000-3, 5.8.3 and 8.47 to 8.52).
//!
//! A structure is found by its encoding: along HasEncoding, or, if the server has no such node, as the DataType of the Variable
//! or a subtype. DefaultEncodingId of the definition comes last, because servers send wrong ones. Enumerations without a
//! DataTypeDefinition have the Properties EnumStrings or EnumValues.

mod cache;
mod learn;
mod older;
#[cfg(test)]
mod tests;

use takt_ua::{BuiltInType, NodeId};

pub use cache::{DataTypeCache, DeclaredValue};

use super::Client;
use super::requests::ready;
use crate::error::ClientError;
use cache::may_contain;
use learn::DataTypeServices;

/// Largest number of structures within each other whose DataTypes are learned one after the other.
const DEEPEST: usize = 16;

impl Client {
    /// Learns the DataTypes that are needed to write `values` with the names of their fields and enumerations. What the server
    /// does not describe is asked for once.
    ///
    /// # Errors
    /// The server does not answer, or refuses Read or Browse as a whole.
    pub fn describe_values(
        &mut self,
        cache: &mut DataTypeCache,
        values: &[DeclaredValue<'_>],
    ) -> Result<(), ClientError> {
        self.begin(cache);
        let declared = values.iter().filter_map(|(data_type, value)| {
            let is_numbered = value.built_in_type().is_some_and(BuiltInType::is_integer);
            data_type.filter(|_| is_numbered)
        });
        let declared: Vec<NodeId> = declared.cloned().collect();
        ready(self.learn_data_types(cache, &declared))?;
        // A structure may contain others whose types are known only after it was decoded.
        for _ in 0..DEEPEST {
            let unknown = cache.unknown_encodings(values);
            if unknown.is_empty() {
                break;
            }
            let declared = values.iter().filter(|(_, value)| may_contain(value));
            let declared = declared.filter_map(|(data_type, _)| data_type.cloned());
            let declared: Vec<NodeId> = declared.collect();
            ready(self.learn_encodings(cache, &unknown, &declared))?;
        }
        Ok(())
    }

    /// Learns DataTypes, and those of their fields.
    ///
    /// # Errors
    /// As [`describe_values`](Self::describe_values).
    pub fn describe_data_types(
        &mut self,
        cache: &mut DataTypeCache,
        data_types: &[NodeId],
    ) -> Result<(), ClientError> {
        self.begin(cache);
        ready(self.learn_data_types(cache, data_types))
    }

    /// Learns a DataType and, if it is a structure, its subtypes: everything that a value of it can be.
    ///
    /// # Errors
    /// As [`describe_values`](Self::describe_values).
    pub fn describe_subtypes(
        &mut self,
        cache: &mut DataTypeCache,
        data_type: &NodeId,
    ) -> Result<(), ClientError> {
        self.begin(cache);
        ready(self.learn_subtypes(cache, data_type))
    }

    /// Learns the structures with these BrowseNames: `2:Point`, or `Point`.
    ///
    /// # Errors
    /// As [`describe_values`](Self::describe_values).
    pub fn describe_structures_named(
        &mut self,
        cache: &mut DataTypeCache,
        names: &[String],
    ) -> Result<(), ClientError> {
        self.begin(cache);
        ready(self.learn_named(cache, names))
    }

    /// Forgets the DataTypes of another session.
    fn begin(&self, cache: &mut DataTypeCache) {
        if cache.epoch.is_some_and(|epoch| epoch != self.epoch()) {
            *cache = DataTypeCache::default();
        }
        cache.epoch = Some(self.epoch());
    }
}
