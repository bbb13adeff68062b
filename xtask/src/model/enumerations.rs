//! Enumerations and option sets.

use std::collections::BTreeMap;

use super::error::content;
use super::kind::{ENUMERATION, Kind, kind};
use super::types::Enumeration;
use crate::error::Error;
use crate::read::bsd::Dictionary;
use crate::read::nodeset::Nodeset;

/// Reads the enumerations of the NodeSet, and from the dictionary those that the NodeSet lacks.
pub(super) fn read(
    nodeset: &Nodeset,
    dictionary: &Dictionary,
    ids: &BTreeMap<&str, u32>,
) -> Result<BTreeMap<String, Enumeration>, Error> {
    let mut result = BTreeMap::new();
    for (id, data_type) in &nodeset.data_types {
        let Some(definition) = &data_type.definition else {
            continue;
        };
        let kind = kind(nodeset, *id);
        let option_set = match kind {
            Kind::Enumeration => None,
            Kind::BuiltIn(built_in) if definition.is_option_set => Some(built_in),
            _ => continue,
        };
        let mut values = Vec::new();
        for field in &definition.fields {
            let value = field.value.and_then(|value| u32::try_from(value).ok());
            let value = if option_set.is_some() {
                value.and_then(|bit| 1u32.checked_shl(bit))
            } else {
                value
            };
            let name = field.name.clone();
            values.push(value.map(|value| (name, value)).ok_or_else(|| {
                content(format!(
                    "{} of {} has no usable value",
                    field.name, data_type.name
                ))
            })?);
        }
        let clause = data_type.clause.clone();
        result.insert(
            data_type.name.clone(),
            Enumeration {
                type_id: *id,
                clause,
                option_set,
                values,
            },
        );
    }
    for (name, enumeration) in &dictionary.enumerations {
        // Enumerations without a NodeId describe the encoding of built-in types.
        let Some(type_id) = ids
            .get(name.as_str())
            .copied()
            .filter(|id| *id != ENUMERATION)
        else {
            continue;
        };
        if result.contains_key(name) {
            continue;
        }
        let option_set = if enumeration.is_option_set {
            Some(unsigned(enumeration.bits)?)
        } else {
            None
        };
        let values = enumeration
            .values
            .iter()
            .map(|(name, value)| Some((name.clone(), u32::try_from(*value).ok()?)))
            .collect::<Option<_>>()
            .ok_or_else(|| content(format!("{name} has a negative value")))?;
        result.insert(
            name.clone(),
            Enumeration {
                type_id,
                clause: None,
                option_set,
                values,
            },
        );
    }
    Ok(result)
}

/// Returns the unsigned built-in type of an option set.
fn unsigned(bits: u32) -> Result<u32, Error> {
    match bits {
        8 => Ok(3),
        16 => Ok(5),
        32 => Ok(7),
        _ => Err(content(format!("option set of {bits} bits"))),
    }
}
