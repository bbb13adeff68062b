//! The whole document: namespaces, models, aliases, and the nodes.

use std::collections::HashMap;

use roxmltree::{Document, Node as Element, ParsingOptions};

use crate::error::{NodeSetError, Reason};
use crate::model::{ModelTableEntry, NodeSet, Position, RequiredModel};
use crate::reader::Reader;
use crate::{NODESET_NAMESPACE, ParseLimits, UA_NAMESPACE, guard, node};

/// A document whose XML and header are parsed, but not its nodes.
///
/// It is made for imports: the header names the namespaces and models, and [`NodeSetDocument::nodes`] then reads the
/// nodes with the namespace indexes of the address space.
#[derive(Debug)]
pub struct NodeSetDocument<'a> {
    name: &'a str,
    xml: &'a str,
    document: Document<'a>,
    namespace_uris: Vec<String>,
    models: Vec<ModelTableEntry>,
    limits: ParseLimits,
}

impl<'a> NodeSetDocument<'a> {
    /// Reads XML and header of a NodeSet document. Errors contain `name`, usually the path.
    pub fn parse(name: &'a str, xml: &'a str, limits: &ParseLimits) -> Result<Self, NodeSetError> {
        // Some tools write a byte order mark.
        let xml = xml.strip_prefix('\u{feff}').unwrap_or(xml);
        let reader = || Reader::new(name, xml, limits);
        guard::check(xml, limits)
            .map_err(|(offset, reason)| reader().error_at(reader().position_at(offset), reason))?;
        let options = ParsingOptions {
            // The entities of a DTD could make a small document large.
            allow_dtd: false,
            // XML nodes are elements, and the texts and comments between them.
            nodes_limit: u32::try_from(limits.max_elements.saturating_mul(3)).unwrap_or(u32::MAX),
            entity_resolver: None,
        };
        let document = Document::parse_with_options(xml, options)
            .map_err(|error| xml_error(&reader(), &error, limits))?;
        let root = document.root_element();
        if root.tag_name().name() != "UANodeSet"
            || root.tag_name().namespace() != Some(NODESET_NAMESPACE)
        {
            let found = root.tag_name();
            let found = match found.namespace() {
                Some(namespace) => format!("{} of {namespace}", found.name()),
                None => found.name().to_owned(),
            };
            return Err(reader().error(
                root,
                Reason::NotANodeSet {
                    found: found.as_str().into(),
                },
            ));
        }
        let namespace_uris = namespace_uris(&reader(), root)?;
        let models = models(&reader(), root)?;
        Ok(Self {
            name,
            xml,
            document,
            namespace_uris,
            models,
            limits: *limits,
        })
    }

    /// Returns the namespaces of the document by its own indexes; the first is that of OPC UA itself.
    pub fn namespace_uris(&self) -> &[String] {
        &self.namespace_uris
    }

    /// Returns the models that the document defines, and those that they require.
    pub fn models(&self) -> &[ModelTableEntry] {
        &self.models
    }

    /// Reads the nodes. `index_of` returns, for each namespace of the document except that of OPC UA, its index in
    /// the address space.
    pub fn nodes(&self, mut index_of: impl FnMut(&str) -> u16) -> Result<NodeSet, NodeSetError> {
        // The namespace of OPC UA itself has index 0 everywhere.
        let foreign = self.namespace_uris.iter().skip(1).map(|uri| index_of(uri));
        let indexes = std::iter::once(0).chain(foreign).collect();
        self.nodes_with(indexes)
    }

    /// Reads the nodes with the document's own namespace indexes.
    pub(crate) fn nodes_unmapped(&self) -> Result<NodeSet, NodeSetError> {
        let count = u16::try_from(self.namespace_uris.len()).unwrap_or(u16::MAX);
        self.nodes_with((0..count).collect())
    }

    fn nodes_with(&self, indexes: Vec<u16>) -> Result<NodeSet, NodeSetError> {
        let mut reader = Reader::new(self.name, self.xml, &self.limits);
        reader.namespaces = indexes;
        let root = self.document.root_element();
        // After the namespaces: the aliases are NodeIds, whose indexes are mapped.
        read_aliases(&mut reader, root)?;
        let mut nodes = Vec::new();
        let mut lines = HashMap::new();
        for element in reader.children(root) {
            let Some(node) = node::read(&reader, element)? else {
                check_header_element(&reader, element)?;
                continue;
            };
            if let Some(first_line) = lines.insert(node.node_id.clone(), node.line) {
                let node_id = node.node_id.to_string().as_str().into();
                return Err(reader.error(
                    element,
                    Reason::DuplicateNode {
                        node_id,
                        first_line,
                    },
                ));
            }
            nodes.push(node);
        }
        Ok(NodeSet {
            name: self.name.to_owned(),
            namespace_uris: self.namespace_uris.clone(),
            models: self.models.clone(),
            nodes,
        })
    }
}

impl NodeSet {
    /// Parses a NodeSet document within the default limits; namespace indexes stay the document's own. Errors contain
    /// `name`, usually the path.
    pub fn parse(name: &str, xml: &str) -> Result<Self, NodeSetError> {
        Self::parse_with_limits(name, xml, &ParseLimits::DEFAULT)
    }

    /// Parses as [`NodeSet::parse`] does, with limits of the caller's choice.
    pub fn parse_with_limits(
        name: &str,
        xml: &str,
        limits: &ParseLimits,
    ) -> Result<Self, NodeSetError> {
        NodeSetDocument::parse(name, xml, limits)?.nodes_unmapped()
    }
}

fn xml_error(reader: &Reader<'_>, error: &roxmltree::Error, limits: &ParseLimits) -> NodeSetError {
    let at = error.pos();
    let position = Position {
        line: at.row,
        column: at.col,
    };
    let reason = match error {
        roxmltree::Error::NodesLimitReached => Reason::LimitExceeded {
            what: "elements",
            limit: limits.max_elements,
        },
        _ => Reason::Xml(crate::error::Excerpt::from(error.to_string().as_str()).to_string()),
    };
    reader.error_at(position, reason)
}

fn child<'d, 'i>(
    reader: &Reader<'_>,
    parent: Element<'d, 'i>,
    name: &str,
) -> Option<Element<'d, 'i>> {
    reader
        .children(parent)
        .find(|child| child.tag_name().name() == name)
}

fn namespace_uris(reader: &Reader<'_>, root: Element<'_, '_>) -> Result<Vec<String>, NodeSetError> {
    let mut uris = vec![UA_NAMESPACE.to_owned()];
    let Some(table) = child(reader, root, "NamespaceUris") else {
        return Ok(uris);
    };
    for element in reader.children(table) {
        let text = reader.text(element);
        let uri = text.trim();
        if uri.is_empty() {
            return Err(reader.invalid(element, "Uri", uri, "the URI of a namespace"));
        }
        if uris.len() > usize::from(u16::MAX) {
            let limit = usize::from(u16::MAX);
            return Err(reader.error(
                element,
                Reason::LimitExceeded {
                    what: "namespaces",
                    limit,
                },
            ));
        }
        uris.push(uri.to_owned());
    }
    Ok(uris)
}

fn models(
    reader: &Reader<'_>,
    root: Element<'_, '_>,
) -> Result<Vec<ModelTableEntry>, NodeSetError> {
    let Some(table) = child(reader, root, "Models") else {
        return Ok(Vec::new());
    };
    let models = reader
        .children(table)
        .filter(|element| element.tag_name().name() == "Model");
    models
        .map(|element| {
            let required = reader
                .children(element)
                .filter(|child| child.tag_name().name() == "RequiredModel");
            Ok(ModelTableEntry {
                uri: model_uri(reader, element)?,
                version: element.attribute("Version").map(str::to_owned),
                publication_date: reader.date(element, "PublicationDate")?,
                required_models: required
                    .map(|required| {
                        Ok(RequiredModel {
                            uri: model_uri(reader, required)?,
                            version: required.attribute("Version").map(str::to_owned),
                            publication_date: reader.date(required, "PublicationDate")?,
                            line: reader.line(required),
                        })
                    })
                    .collect::<Result<_, _>>()?,
                line: reader.line(element),
            })
        })
        .collect()
}

fn model_uri(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<String, NodeSetError> {
    let uri = reader.required(element, "ModelUri")?.trim();
    if uri.is_empty() {
        return Err(reader.invalid(element, "ModelUri", uri, "the URI of a model"));
    }
    Ok(uri.to_owned())
}

fn read_aliases<'d>(reader: &mut Reader<'d>, root: Element<'d, '_>) -> Result<(), NodeSetError> {
    let Some(table) = child(reader, root, "Aliases") else {
        return Ok(());
    };
    let mut aliases = HashMap::new();
    for element in reader.children(table) {
        let alias = reader.required(element, "Alias")?.trim();
        let text = reader.text(element);
        // A plain NodeId: an alias for another alias could end in a cycle.
        aliases.insert(alias, reader.plain_node_id(element, "Alias", &text)?);
    }
    reader.aliases = aliases;
    Ok(())
}

/// Refuses an element that is neither a node nor a known part of the header: it is most likely a misspelt node.
fn check_header_element(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<(), NodeSetError> {
    match element.tag_name().name() {
        "NamespaceUris" | "ServerUris" | "Models" | "Aliases" | "Extensions" => Ok(()),
        other => {
            let (element_name, parent) = (other.into(), "UANodeSet".into());
            Err(reader.error(
                element,
                Reason::UnexpectedElement {
                    element: element_name,
                    parent,
                },
            ))
        }
    }
}
