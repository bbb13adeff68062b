//! `Opc.Ua.Types.bsd`: the binary type dictionary (OPC 10000-6, Annex C of 1.04).
//!
//! The definitions of the NodeSet are preferred, because they have optional fields, subtypes and NodeIds; but the
//! NodeSet lacks the service messages, which are here.

use std::collections::BTreeMap;

use roxmltree::Document;

use crate::error::Error;

const FILE: &str = "Opc.Ua.Types.bsd";

/// Types of the dictionary, by name.
pub(crate) struct Dictionary {
    /// Structures that derive from another one, which excludes the built-in types; with the fields of the base type.
    pub(crate) structures: BTreeMap<String, Vec<Field>>,
    /// Enumerations and option sets.
    pub(crate) enumerations: BTreeMap<String, Enumeration>,
}

/// Field of a structure.
pub(crate) struct Field {
    pub(crate) name: String,
    /// Name without its prefix; built-in types and types of the dictionary do not share a name.
    pub(crate) type_name: String,
    pub(crate) is_array: bool,
}

/// Enumeration or option set.
pub(crate) struct Enumeration {
    pub(crate) is_option_set: bool,
    pub(crate) bits: u32,
    pub(crate) values: Vec<(String, i32)>,
}

impl Dictionary {
    /// Reads the document.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let document = Document::parse(text).map_err(|source| Error::Xml { file: FILE, source })?;
        let mut dictionary = Self {
            structures: BTreeMap::new(),
            enumerations: BTreeMap::new(),
        };
        for element in document
            .root_element()
            .children()
            .filter(roxmltree::Node::is_element)
        {
            let name = element.attribute("Name").unwrap_or_default().to_owned();
            match element.tag_name().name() {
                "StructuredType" if element.has_attribute("BaseType") => {
                    let fields = structure(&element, &name)?;
                    dictionary.structures.insert(name, fields);
                }
                "EnumeratedType" => {
                    let enumeration = enumeration(&element, &name)?;
                    dictionary.enumerations.insert(name, enumeration);
                }
                _ => {}
            }
        }
        Ok(dictionary)
    }
}

fn structure(element: &roxmltree::Node<'_, '_>, name: &str) -> Result<Vec<Field>, Error> {
    let fields: Vec<_> = element
        .children()
        .filter(|node| node.tag_name().name() == "Field")
        .collect();
    let lengths: Vec<_> = fields
        .iter()
        .filter_map(|field| field.attribute("LengthField"))
        .collect();
    let mut result = Vec::new();
    for field in fields {
        let (Some(field_name), Some(type_name)) =
            (field.attribute("Name"), field.attribute("TypeName"))
        else {
            return Err(Error::content(
                FILE,
                format!("{name} has a field without name or type"),
            ));
        };
        if field.has_attribute("SwitchField") || type_name == "opc:Bit" {
            return Err(Error::content(
                FILE,
                format!("field {field_name} of {name} is optional, which only the NodeSet can say"),
            ));
        }
        if lengths.contains(&field_name) {
            continue;
        }
        let type_name = type_name
            .split_once(':')
            .map_or(type_name, |(_, name)| name)
            .to_owned();
        let is_array = field.has_attribute("LengthField");
        result.push(Field {
            name: field_name.to_owned(),
            type_name,
            is_array,
        });
    }
    Ok(result)
}

fn enumeration(element: &roxmltree::Node<'_, '_>, name: &str) -> Result<Enumeration, Error> {
    let broken = || {
        Error::content(
            FILE,
            format!("enumeration {name} has no valid length or values"),
        )
    };
    let bits = element
        .attribute("LengthInBits")
        .and_then(|bits| bits.parse().ok())
        .ok_or_else(broken)?;
    let values = element
        .children()
        .filter(|node| node.tag_name().name() == "EnumeratedValue")
        .map(|node| {
            Some((
                node.attribute("Name")?.to_owned(),
                node.attribute("Value")?.parse().ok()?,
            ))
        })
        .collect::<Option<_>>()
        .ok_or_else(broken)?;
    Ok(Enumeration {
        is_option_set: element.attribute("IsOptionSet") == Some("true"),
        bits,
        values,
    })
}
