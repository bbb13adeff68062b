//! Descriptions that were learned, and reasons why others were not.

use std::collections::HashMap;

use takt_ua::json::{DescribedValues, EnumerationForm, UndecodedReason, UndecodedStructure};
use takt_ua::structures::{EnumDescription, StructureDescription};
use takt_ua::{BuiltInType, DescribedTypes, NodeId, Variant};

use crate::client::answer_budget::AnswerBudget;
use crate::endpoint::Endpoint;

/// Memory in bytes that descriptions take at most.
const MOST_MEMORY: usize = 64 << 20;

/// Largest number of DataTypes and encodings that are remembered, with and without description.
pub(super) const MOST_TYPES: usize = 10_000;

/// Largest length of a name in bytes. The standard allows 512 characters (OPC 10000-3, 8.3).
pub(super) const LONGEST_NAME: usize = 2048;

/// Descriptions of the DataTypes of a server, as far as values needed them.
///
/// They are those of one session: NamespaceIndexes may be others in the next one.
#[derive(Debug)]
pub struct DataTypeCache {
    pub(super) types: DescribedTypes,
    /// Reasons why DataTypes and encodings have no description.
    pub(super) refused: HashMap<NodeId, String>,
    pub(super) count: usize,
    budget: AnswerBudget,
    /// Epoch of the client.
    pub(super) epoch: Option<u64>,
}

impl Default for DataTypeCache {
    fn default() -> Self {
        Self {
            types: DescribedTypes::default(),
            refused: HashMap::new(),
            count: 0,
            budget: AnswerBudget::new(MOST_MEMORY),
            epoch: None,
        }
    }
}

/// A value to be described, and the DataType of its Variable or argument.
pub type DeclaredValue<'a> = (Option<&'a NodeId>, &'a Variant);

impl DataTypeCache {
    /// Returns the descriptions that were learned.
    #[must_use]
    pub fn types(&self) -> &DescribedTypes {
        &self.types
    }

    /// Returns why a structure is not written as fields, in one line.
    #[must_use]
    pub fn reason(&self, undecoded: &UndecodedStructure) -> String {
        let asked = match &undecoded.reason {
            UndecodedReason::UnknownEncoding => self.refused.get(&undecoded.encoding),
            UndecodedReason::UnknownDataType(data_type) => self.refused.get(data_type),
            _ => None,
        };
        match asked {
            Some(reason) => format!("{undecoded}: {reason}"),
            None => undecoded.to_string(),
        }
    }

    /// Returns why a DataType has no description.
    #[must_use]
    pub fn refusal(&self, data_type: &NodeId) -> Option<&str> {
        self.refused.get(data_type).map(String::as_str)
    }

    pub(super) fn is_asked(&self, data_type: &NodeId) -> bool {
        self.types.contains(data_type) || self.refused.contains_key(data_type)
    }

    pub(super) fn is_asked_encoding(&self, encoding: &NodeId) -> bool {
        self.types.of_encoding(encoding).is_some() || self.refused.contains_key(encoding)
    }

    pub(super) fn refuse(&mut self, id: &NodeId, reason: impl Into<String>) {
        if self.count < MOST_TYPES {
            self.count += 1;
            self.refused.insert(id.clone(), reason.into());
        }
    }

    /// Counts a type, and returns whether it may be kept.
    fn admit(&mut self, endpoint: &Endpoint, id: &NodeId, taken: Taken<'_>) -> bool {
        let is_long = |name: &str| name.len() > LONGEST_NAME;
        let (name, has_long, fits) = match taken {
            Taken::Structure(it) => {
                let fields = &it.structure_definition.fields;
                let long = fields.iter().any(|field| is_long(field.name.as_str()));
                let fits = self
                    .budget
                    .take(endpoint, "DataTypes", std::slice::from_ref(it));
                (&it.name, long, fits)
            }
            Taken::Enumeration(it) => {
                let fields = &it.enum_definition.fields;
                let long = fields.iter().any(|field| {
                    is_long(field.name.as_str()) || is_long(field.display_name.text.as_str())
                });
                let fits = self
                    .budget
                    .take(endpoint, "DataTypes", std::slice::from_ref(it));
                (&it.name, long, fits)
            }
        };
        if has_long || is_long(name.name.as_str()) {
            self.refuse(
                id,
                format!("it has a name of more than {LONGEST_NAME} bytes"),
            );
            return false;
        }
        if fits.is_err() || self.count >= MOST_TYPES {
            self.refuse(id, "the descriptions of the server are too large");
            return false;
        }
        self.count += 1;
        true
    }

    pub(super) fn insert_structure(
        &mut self,
        endpoint: &Endpoint,
        description: &StructureDescription,
        encodings: &[NodeId],
    ) {
        let id = &description.data_type_id;
        if self.admit(endpoint, id, Taken::Structure(description)) {
            self.types.insert_structure(description, encodings);
        }
    }

    pub(super) fn insert_enumeration(
        &mut self,
        endpoint: &Endpoint,
        description: &EnumDescription,
    ) {
        let id = &description.data_type_id;
        if self.admit(endpoint, id, Taken::Enumeration(description)) {
            self.types.insert_enumeration(description);
        }
    }

    pub(super) fn insert_simple(&mut self, data_type: &NodeId, built_in_type: BuiltInType) {
        if self.count < MOST_TYPES {
            self.count += 1;
            self.types.insert_simple(data_type.clone(), built_in_type);
        }
    }

    pub(super) fn insert_encoding(&mut self, encoding: &NodeId, data_type: &NodeId) {
        if self.count < MOST_TYPES {
            self.count += 1;
            self.types
                .insert_encoding(encoding.clone(), data_type.clone());
        }
    }

    /// Returns the encodings in values that have no description yet.
    pub(super) fn unknown_encodings(&self, values: &[DeclaredValue<'_>]) -> Vec<NodeId> {
        // What is not remembered would be asked for with each value.
        if self.count >= MOST_TYPES {
            return Vec::new();
        }
        let written = DescribedValues::new(&self.types, EnumerationForm::NameAndNumber);
        for (_, value) in values.iter().filter(|(_, value)| may_contain(value)) {
            // Only the search for unknown encodings counts here, not the text.
            let _ = written.value(value, None);
        }
        let undecoded = written.take_undecoded().into_iter();
        let unknown = undecoded.filter_map(|it| match it.reason {
            UndecodedReason::UnknownEncoding => Some(it.encoding),
            _ => None,
        });
        unknown
            .filter(|encoding| !self.refused.contains_key(encoding))
            .collect()
    }
}

#[derive(Clone, Copy)]
enum Taken<'a> {
    Structure(&'a StructureDescription),
    Enumeration(&'a EnumDescription),
}

/// Returns whether a value may contain ExtensionObjects.
pub(super) fn may_contain(value: &Variant) -> bool {
    matches!(
        value.built_in_type(),
        Some(BuiltInType::ExtensionObject | BuiltInType::Variant | BuiltInType::DataValue)
    )
}
