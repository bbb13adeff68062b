//! What is generated, put together from the sources and independent of how it is written.
//!
//! Structures and enumerations come from the definitions in the NodeSet; those that are only in the binary type
//! dictionary (the service messages) from there, with their NodeIds from the table of NodeIds.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::read::bsd::Dictionary;
use crate::read::nodeset::{DataType, Nodeset};
use crate::read::typescript;
use crate::sources::Sources;

/// Everything that is generated.
pub(crate) struct Model {
    /// Version of namespace 0, as in `1.05.07`.
    pub(crate) version: String,
    /// By name.
    pub(crate) structures: BTreeMap<String, Structure>,
    /// By name.
    pub(crate) enumerations: BTreeMap<String, Enumeration>,
    /// By NodeId: class and symbolic name.
    pub(crate) identifiers: BTreeMap<u32, (String, String)>,
    /// By code.
    pub(crate) status_codes: BTreeMap<u32, String>,
}

/// A Structure DataType.
pub(crate) struct Structure {
    pub(crate) type_id: u32,
    pub(crate) binary_encoding_id: u32,
    pub(crate) xml_encoding_id: Option<u32>,
    pub(crate) is_abstract: bool,
    /// Where the standard defines it; `None` for what is only in the binary type dictionary.
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
    /// Numbered as in OPC 10000-6, 5.1.2.
    BuiltIn(u32),
    Structure(String),
    Enumeration(String),
}

/// An Enumeration DataType or an option set.
pub(crate) struct Enumeration {
    pub(crate) type_id: u32,
    pub(crate) clause: Option<String>,
    /// For an option set the built-in type of its bits; the values are then masks.
    pub(crate) option_set: Option<u32>,
    pub(crate) values: Vec<(String, u32)>,
}

const EXTENSION_OBJECT: u32 = 22;
const BASE_DATA_TYPE: u32 = 24;
const ENUMERATION: u32 = 29;

/// Names of the built-in types in the binary type dictionary, from 1.
const BUILT_IN: [&str; 25] = [
    "Boolean",
    "SByte",
    "Byte",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Float",
    "Double",
    "String",
    "DateTime",
    "Guid",
    "ByteString",
    "XmlElement",
    "NodeId",
    "ExpandedNodeId",
    "StatusCode",
    "QualifiedName",
    "LocalizedText",
    "ExtensionObject",
    "DataValue",
    "Variant",
    "DiagnosticInfo",
];

impl Model {
    /// Reads the sources and puts them together.
    pub(crate) fn read(sources: &Sources) -> Result<Self, Error> {
        let nodeset = Nodeset::read(&sources.nodeset)?;
        let dictionary = Dictionary::read(&sources.types)?;
        let node_ids = typescript::node_ids(&sources.node_ids)?;
        let ids: BTreeMap<&str, u32> = node_ids
            .iter()
            .map(|(id, (_, name))| (name.as_str(), *id))
            .collect();

        let enumerations = enumerations(&nodeset, &dictionary, &ids)?;
        let structures = structures(&nodeset, &dictionary, &ids, &enumerations)?;
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
            identifiers: identifiers(&nodeset, &node_ids)?,
            status_codes,
        })
    }
}

fn enumerations(
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
        // Those without a NodeId describe the encoding of built-in types.
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

fn structures(
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
        // What has no binary encoding exists in JSON only (the messages of OPC 10000-14, 7.2.5).
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
    // Bases without fields (FilterOperand, NotificationData) never travel: no value could be of just this type.
    result.retain(|_, structure| !structure.fields.is_empty());
    complete(&result)?;
    Ok(result)
}

/// Every structure that a field names must exist, and none may contain itself: decoding must not recurse as deep as
/// a peer likes, and the macros give no field a `Box`.
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

/// Fields of a structure of the NodeSet, those of its bases first.
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
            // Only the ExtensionObject around it says which subtype it is.
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
    fields: &[crate::read::bsd::Field],
) -> Result<Vec<Field>, Error> {
    let mut result = Vec::new();
    for field in fields {
        let field_type = match field.type_name.as_str() {
            name if BUILT_IN.contains(&name) => {
                let index = BUILT_IN
                    .iter()
                    .position(|built_in| *built_in == name)
                    .unwrap_or_default();
                FieldType::BuiltIn(u32::try_from(index + 1).unwrap_or_default())
            }
            name => match enumerations
                .get(name)
                .map(|enumeration| enumeration.option_set)
            {
                Some(None) => FieldType::Enumeration(name.to_owned()),
                Some(Some(built_in)) => FieldType::BuiltIn(built_in),
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

/// What a DataType is encoded as.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    BuiltIn(u32),
    Structure,
    Enumeration,
}

fn kind(nodeset: &Nodeset, id: u32) -> Kind {
    match id {
        // Number, Integer, UInteger are abstract: only a Variant says which one a value is.
        BASE_DATA_TYPE | 26..=28 => Kind::BuiltIn(BASE_DATA_TYPE),
        1..=25 => Kind::BuiltIn(id),
        ENUMERATION => Kind::BuiltIn(6),
        _ => match nodeset
            .data_types
            .get(&id)
            .and_then(|data_type| data_type.base)
        {
            Some(EXTENSION_OBJECT) => Kind::Structure,
            Some(ENUMERATION) => Kind::Enumeration,
            Some(base) => kind(nodeset, base),
            None => Kind::BuiltIn(BASE_DATA_TYPE),
        },
    }
}

/// The unsigned built-in type of an option set.
fn unsigned(bits: u32) -> Result<u32, Error> {
    match bits {
        8 => Ok(3),
        16 => Ok(5),
        32 => Ok(7),
        _ => Err(content(format!("option set of {bits} bits"))),
    }
}

/// Names of the nodes: as the NodeSet gives them, and from the table what the NodeSet leaves out.
///
/// Left away are the deprecated type dictionaries (one Variable per type, in two languages) and the declarations more
/// than one level below a type, which nobody addresses by number.
fn identifiers(
    nodeset: &Nodeset,
    node_ids: &BTreeMap<u32, (String, String)>,
) -> Result<BTreeMap<u32, (String, String)>, Error> {
    const DICTIONARIES: [u32; 2] = [7617, 8252];
    let mut result = BTreeMap::new();
    for (id, node) in &nodeset.nodes {
        let (outermost, depth) = nodeset.outermost(*id);
        let below_type = nodeset
            .nodes
            .get(&outermost)
            .is_some_and(|top| top.class.ends_with("Type"));
        if depth > 0 && DICTIONARIES.contains(&outermost) || below_type && depth > 1 {
            continue;
        }
        let name = nodeset.symbolic_path(*id);
        if let Some((_, other)) = node_ids.get(id).filter(|(_, other)| *other != name) {
            return Err(content(format!(
                "i={id} is {name} in the NodeSet, {other} in the table of NodeIds"
            )));
        }
        result.insert(*id, (node.class.trim_start_matches("UA").to_owned(), name));
    }
    for (id, (class, name)) in node_ids {
        let class = class.trim_end_matches("Ids").to_owned();
        if !nodeset.nodes.contains_key(id) {
            result.insert(*id, (class, name.clone()));
        }
    }
    Ok(result)
}

fn content(message: String) -> Error {
    Error::content("NodeSet and type files", message)
}
