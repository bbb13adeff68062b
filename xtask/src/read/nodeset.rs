//! `Opc.Ua.NodeSet2.xml`: names of the nodes, DataType definitions, encodings.
//!
//! This reader is limited to these, because the parser of `takt-nodeset` needs the generated types.

use std::collections::{BTreeMap, HashMap};

use roxmltree::{Document, Node};

use crate::error::Error;

const FILE: &str = "Opc.Ua.NodeSet2.xml";

/// The nodes of namespace 0.
pub(crate) struct Nodeset {
    /// Version of the model, as in `1.05.07`.
    pub(crate) version: String,
    /// Nodes by numeric identifier.
    pub(crate) nodes: BTreeMap<u32, NodeEntry>,
    /// DataTypes by numeric identifier.
    pub(crate) data_types: BTreeMap<u32, DataType>,
    /// Encoding nodes by DataType and name of the encoding.
    pub(crate) encodings: HashMap<(u32, String), u32>,
}

/// Names of a node.
pub(crate) struct NodeEntry {
    /// Element name: `UAObject`, `UADataType`, ….
    pub(crate) class: String,
    /// SymbolicName, else BrowseName.
    pub(crate) symbol: String,
    parent: Option<u32>,
    /// DataType that this node is an encoding of.
    encoding_of: Option<u32>,
}

/// A DataType and its definition.
pub(crate) struct DataType {
    pub(crate) name: String,
    pub(crate) is_abstract: bool,
    /// Supertype; `None` for BaseDataType only.
    pub(crate) base: Option<u32>,
    /// Citation of its definition, as in `OPC 10000-5, 12.10`.
    pub(crate) clause: Option<String>,
    pub(crate) definition: Option<Definition>,
}

/// Own fields or values: those of the supertype are not repeated.
pub(crate) struct Definition {
    pub(crate) is_option_set: bool,
    pub(crate) fields: Vec<Field>,
}

/// Field of a structure, value of an enumeration or bit of an option set.
pub(crate) struct Field {
    pub(crate) name: String,
    /// Value of an enumeration, or bit number of an option set.
    pub(crate) value: Option<i32>,
    pub(crate) data_type: u32,
    pub(crate) is_array: bool,
    pub(crate) is_optional: bool,
    pub(crate) allow_subtypes: bool,
}

impl Nodeset {
    /// Reads the document.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let document = Document::parse(text).map_err(|source| Error::Xml { file: FILE, source })?;
        let root = document.root_element();
        let version = root
            .descendants()
            .find(|node| node.has_tag_name(tag(&root, "Model")))
            .and_then(|model| model.attribute("Version"))
            .ok_or_else(|| Error::content(FILE, "no Model with a Version"))?
            .to_owned();
        let aliases: HashMap<&str, u32> = root
            .descendants()
            .filter(|node| node.tag_name().name() == "Alias")
            .filter_map(|node| Some((node.attribute("Alias")?, numeric(node.text()?)?)))
            .collect();

        let mut nodeset = Self {
            version,
            nodes: BTreeMap::new(),
            data_types: BTreeMap::new(),
            encodings: HashMap::new(),
        };
        for element in root.children().filter(|node| node.has_attribute("NodeId")) {
            nodeset.node(&element, &aliases)?;
        }
        Ok(nodeset)
    }

    /// Returns the name of a node as in the standard's `NodeIds.csv`: symbols from the outermost parent down, joined
    /// by `_`.
    pub(crate) fn symbolic_path(&self, id: u32) -> String {
        let Some(node) = self.nodes.get(&id) else {
            return format!("i={id}");
        };
        match (node.parent, node.encoding_of) {
            (Some(parent), _) => format!("{}_{}", self.symbolic_path(parent), node.symbol),
            (None, Some(data_type)) => {
                format!("{}_Encoding_{}", self.symbolic_path(data_type), node.symbol)
            }
            (None, None) => node.symbol.clone(),
        }
    }

    /// Returns the outermost parent of a node, and how far above the node it is.
    pub(crate) fn outermost(&self, id: u32) -> (u32, usize) {
        match self.nodes.get(&id).and_then(|node| node.parent) {
            Some(parent) => {
                let (outermost, depth) = self.outermost(parent);
                (outermost, depth + 1)
            }
            None => (id, 0),
        }
    }

    fn node(&mut self, element: &Node<'_, '_>, aliases: &HashMap<&str, u32>) -> Result<(), Error> {
        let id_text = element.attribute("NodeId").unwrap_or_default();
        let id = numeric(id_text)
            .ok_or_else(|| Error::content(FILE, format!("NodeId {id_text} is not numeric")))?;
        let browse_name = element
            .attribute("BrowseName")
            .ok_or_else(|| Error::content(FILE, format!("{id_text} has no BrowseName")))?;
        let symbol = element
            .attribute("SymbolicName")
            .unwrap_or(browse_name)
            .to_owned();
        let encoding_of = inverse(element, "HasEncoding");
        if let Some(data_type) = encoding_of {
            self.encodings
                .insert((data_type, browse_name.to_owned()), id);
        }
        if element.tag_name().name() == "UADataType" {
            let definition = child(element, "Definition")
                .map(|node| definition(&node, aliases))
                .transpose()?;
            self.data_types.insert(
                id,
                DataType {
                    name: symbol.clone(),
                    is_abstract: is_true(element, "IsAbstract"),
                    base: inverse(element, "HasSubtype"),
                    clause: child(element, "Documentation").and_then(|node| clause(node.text()?)),
                    definition,
                },
            );
        }
        let parent = element.attribute("ParentNodeId").and_then(numeric);
        let class = element.tag_name().name().to_owned();
        self.nodes.insert(
            id,
            NodeEntry {
                class,
                symbol,
                parent,
                encoding_of,
            },
        );
        Ok(())
    }
}

fn definition(element: &Node<'_, '_>, aliases: &HashMap<&str, u32>) -> Result<Definition, Error> {
    let name = element.attribute("Name").unwrap_or("?");
    if is_true(element, "IsUnion") {
        // Up to 1.05.07 namespace 0 has none; a macro for them would be code that nothing runs.
        return Err(Error::content(
            FILE,
            format!(
                "{name} is a Union: add support for it to `generated_support.rs` and `model.rs`"
            ),
        ));
    }
    let mut fields = Vec::new();
    for field in element
        .children()
        .filter(|node| node.tag_name().name() == "Field")
    {
        let field_name = field.attribute("Name").unwrap_or_default();
        let broken =
            |what: &str| Error::content(FILE, format!("field {field_name} of {name}: {what}"));
        let data_type = match field.attribute("DataType") {
            Some(text) => numeric(text)
                .or_else(|| aliases.get(text).copied())
                .ok_or_else(|| broken("DataType"))?,
            None => 24,
        };
        let is_array = match field.attribute("ValueRank").unwrap_or("-1") {
            "-1" => false,
            "1" => true,
            _ => return Err(broken("ValueRank is neither -1 nor 1")),
        };
        fields.push(Field {
            name: field_name.to_owned(),
            value: field
                .attribute("Value")
                .map(str::parse)
                .transpose()
                .map_err(|_| broken("Value"))?,
            data_type,
            is_array,
            is_optional: is_true(&field, "IsOptional"),
            allow_subtypes: is_true(&field, "AllowSubTypes"),
        });
    }
    Ok(Definition {
        is_option_set: is_true(element, "IsOptionSet"),
        fields,
    })
}

fn tag<'a>(root: &Node<'a, 'a>, name: &'a str) -> (&'a str, &'a str) {
    (root.tag_name().namespace().unwrap_or_default(), name)
}

fn child<'a, 'input>(element: &Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    element
        .children()
        .find(|node| node.tag_name().name() == name)
}

fn is_true(element: &Node<'_, '_>, attribute: &str) -> bool {
    element.attribute(attribute) == Some("true")
}

/// Returns the source of the first inverse reference of a type.
fn inverse(element: &Node<'_, '_>, reference_type: &str) -> Option<u32> {
    let references = child(element, "References")?;
    references
        .children()
        .find(|node| {
            node.attribute("ReferenceType") == Some(reference_type)
                && node.attribute("IsForward") == Some("false")
        })
        .and_then(|node| numeric(node.text()?))
}

fn numeric(node_id: &str) -> Option<u32> {
    node_id.trim().strip_prefix("i=")?.parse().ok()
}

/// Converts `…/Part5/12.10` to `OPC 10000-5, 12.10`; a fragment, if there is one, names a subsection.
fn clause(url: &str) -> Option<String> {
    let (part, rest) = url.trim().split_once("/Part")?.1.split_once('/')?;
    let section = match rest.split_once('#') {
        Some((_, fragment)) => fragment,
        None => rest.trim_end_matches('/'),
    };
    if section.is_empty() {
        return Some(format!("OPC 10000-{part}"));
    }
    Some(format!("OPC 10000-{part}, {section}"))
}

#[cfg(test)]
mod tests {
    use super::clause;

    #[test]
    fn clause_is_taken_from_the_link() {
        let base = "https://reference.example.org/v105/Core/docs";
        assert_eq!(
            clause(&format!("{base}/Part5/12.10")).as_deref(),
            Some("OPC 10000-5, 12.10")
        );
        assert_eq!(
            clause(&format!("{base}/Part12/7.8.5/#7.8.5.5")).as_deref(),
            Some("OPC 10000-12, 7.8.5.5")
        );
        assert_eq!(clause("elsewhere"), None);
    }
}
