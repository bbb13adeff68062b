//! Structures of the model.

use std::collections::{BTreeMap, BTreeSet};

use super::error::content;
use super::kind::{EXTENSION_OBJECT, Kind, built_in, kind};
use super::types::{Enumeration, Field, FieldType, Structure};
use crate::error::Error;
use crate::read::bsd::{self, Dictionary};
use crate::read::nodeset::{DataType, Nodeset};

/// Reads the structures of the NodeSet, and from the dictionary those that the NodeSet lacks.
pub(super) fn read(
    nodeset: &Nodeset,
    dictionary: &Dictionary,
    ids: &BTreeMap<&str, u32>,
    enumerations: &BTreeMap<String, Enumeration>,
) -> Result<BTreeMap<String, Structure>, Error> {
    let mut result = BTreeMap::new();
    for (id, data_type) in &nodeset.data_types {
        if kind(nodeset, *id) != Kind::Structure {
            continue;
        }
        let encoding = |name: &str| nodeset.encodings.get(&(*id, name.to_owned())).copied();
        let fields = flattened(nodeset, data_type)?;
        if let Some(other) = dictionary.structures.get(&data_type.name) {
            let other = from_dictionary(nodeset, enumerations, &data_type.name, other)?;
            // The dictionary cannot describe optional fields.
            if fields != other && !fields.iter().any(|field| field.is_optional) {
                return Err(content(format!(
                    "{} is not the same in NodeSet and dictionary",
                    data_type.name
                )));
            }
        }
        let structure = Structure {
            type_id: *id,
            binary_encoding_id: encoding("Default Binary").ok_or_else(|| {
                content(format!("{} has no Default Binary encoding", data_type.name))
            })?,
            xml_encoding_id: encoding("Default XML"),
            is_abstract: data_type.is_abstract,
            clause: data_type.clause.clone(),
            fields,
        };
        result.insert(data_type.name.clone(), structure);
    }
    for (name, fields) in &dictionary.structures {
        if result.contains_key(name) {
            continue;
        }
        // Structures without a binary encoding exist in JSON only (the messages of OPC 10000-14, 7.2.5).
        let encoding = |suffix: &str| {
            ids.get(format!("{name}_Encoding_{suffix}").as_str())
                .copied()
        };
        let Some(binary_encoding_id) = encoding("DefaultBinary") else {
            continue;
        };
        let structure = Structure {
            type_id: *ids
                .get(name.as_str())
                .ok_or_else(|| content(format!("{name} has no NodeId")))?,
            binary_encoding_id,
            xml_encoding_id: encoding("DefaultXml"),
            is_abstract: false,
            clause: None,
            fields: from_dictionary(nodeset, enumerations, name, fields)?,
        };
        result.insert(name.clone(), structure);
    }
    // Base types without fields (FilterOperand, NotificationData) are never sent, because no value has only this
    // type.
    result.retain(|_, structure| !structure.fields.is_empty());
    complete(&result)?;
    Ok(result)
}

/// Checks that every structure named by a field exists, and that none contains itself: a peer must not control the
/// depth of recursion, and the macros do not support `Box` fields.
fn complete(structures: &BTreeMap<String, Structure>) -> Result<(), Error> {
    fn visit(
        structures: &BTreeMap<String, Structure>,
        name: &str,
        path: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Result<(), Error> {
        if done.contains(name) {
            return Ok(());
        }
        if path.iter().any(|entered| entered == name) {
            return Err(content(format!(
                "{name} contains itself: {}",
                path.join(", ")
            )));
        }
        path.push(name.to_owned());
        let structure = structures
            .get(name)
            .ok_or_else(|| content(format!("no structure {}", path.join(", "))))?;
        for field in &structure.fields {
            if let FieldType::Structure(inner) = &field.field_type {
                visit(structures, inner, path, done)?;
            }
        }
        path.pop();
        done.insert(name.to_owned());
        Ok(())
    }
    let mut done = BTreeSet::new();
    structures
        .keys()
        .try_for_each(|name| visit(structures, name, &mut Vec::new(), &mut done))
}

/// Returns the fields of a structure of the NodeSet, those of its base types first.
fn flattened(nodeset: &Nodeset, data_type: &DataType) -> Result<Vec<Field>, Error> {
    let mut fields = match data_type
        .base
        .and_then(|base| nodeset.data_types.get(&base))
    {
        Some(base) => flattened(nodeset, base)?,
        None => Vec::new(),
    };
    for field in data_type
        .definition
        .iter()
        .flat_map(|definition| &definition.fields)
    {
        let target = nodeset.data_types.get(&field.data_type);
        let target = target.ok_or_else(|| {
            content(format!(
                "field {} of {} has no known type",
                field.name, data_type.name
            ))
        })?;
        let field_type = match kind(nodeset, field.data_type) {
            // Only the ExtensionObject around it contains the subtype.
            Kind::Structure if field.allow_subtypes || target.is_abstract => {
                FieldType::BuiltIn(EXTENSION_OBJECT)
            }
            Kind::Structure => FieldType::Structure(target.name.clone()),
            Kind::Enumeration => FieldType::Enumeration(target.name.clone()),
            Kind::BuiltIn(built_in) => FieldType::BuiltIn(built_in),
        };
        let name = field.name.clone();
        fields.push(Field {
            name,
            field_type,
            is_array: field.is_array,
            is_optional: field.is_optional,
        });
    }
    Ok(fields)
}

fn from_dictionary(
    nodeset: &Nodeset,
    enumerations: &BTreeMap<String, Enumeration>,
    structure: &str,
    fields: &[bsd::Field],
) -> Result<Vec<Field>, Error> {
    let mut result = Vec::new();
    for field in fields {
        let name = field.type_name.as_str();
        let field_type = match enumerations.get(name).map(|found| found.option_set) {
            Some(None) => FieldType::Enumeration(name.to_owned()),
            Some(Some(bits)) => FieldType::BuiltIn(bits),
            None => match built_in(name) {
                Some(number) => FieldType::BuiltIn(number),
                None => FieldType::Structure(name.to_owned()),
            },
        };
        let abstract_type = |name: &String| {
            nodeset
                .data_types
                .values()
                .any(|t| t.is_abstract && t.name == *name)
        };
        if matches!(&field_type, FieldType::Structure(name) if abstract_type(name)) {
            return Err(content(format!(
                "field {} of {structure} has an abstract type",
                field.name
            )));
        }
        result.push(Field {
            name: field.name.clone(),
            field_type,
            is_array: field.is_array,
            is_optional: false,
        });
    }
    Ok(result)
}
