//! Reader of attributes and text of XML elements; its errors contain the position.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use roxmltree::Node as Element;
use takt_ua::{DateTime, Identifier, LocalizedText, NodeId, QualifiedName};

use crate::error::{Excerpt, NodeSetError, Reason};
use crate::lines::Lines;
use crate::model::Position;
use crate::{NODESET_NAMESPACE, ParseLimits};

/// State for reading the elements of one document.
pub(crate) struct Reader<'a> {
    file: &'a str,
    lines: Lines<'a>,
    /// Remaining bytes for repeated contents of the document, such as the identifiers of aliases. Without this
    /// budget, a small document could need any amount of memory.
    budget: Cell<usize>,
    /// NodeIds of `Aliases`, by name.
    pub(crate) aliases: HashMap<&'a str, NodeId>,
    /// Target index of each namespace index of the document; empty if all are kept.
    pub(crate) namespaces: Vec<u16>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str, limits: &ParseLimits) -> Self {
        Self {
            file,
            lines: Lines::new(text),
            budget: Cell::new(limits.max_bytes),
            aliases: HashMap::new(),
            namespaces: vec![0],
        }
    }

    // ---- limits

    /// Returns the number of bytes that remain for repeated or default contents.
    pub(crate) fn budget(&self) -> usize {
        self.budget.get()
    }

    /// Takes bytes off the budget.
    pub(crate) fn spend(&self, element: Element<'_, '_>, bytes: usize) -> Result<(), NodeSetError> {
        let rest = self.budget.get().checked_sub(bytes);
        let rest = rest.ok_or_else(|| self.error(element, Reason::Expansion))?;
        self.budget.set(rest);
        Ok(())
    }

    // ---- places and errors

    pub(crate) fn line(&self, element: Element<'_, '_>) -> u32 {
        self.lines.line(element.range().start)
    }

    pub(crate) fn position_at(&self, offset: usize) -> Position {
        self.lines.position(offset)
    }

    pub(crate) fn error_at(&self, position: Position, reason: Reason) -> NodeSetError {
        NodeSetError {
            file: self.file.to_owned(),
            position,
            reason,
        }
    }

    pub(crate) fn error(&self, element: Element<'_, '_>, reason: Reason) -> NodeSetError {
        self.error_at(self.position_at(element.range().start), reason)
    }

    pub(crate) fn invalid(
        &self,
        element: Element<'_, '_>,
        name: &str,
        text: &str,
        expected: &'static str,
    ) -> NodeSetError {
        self.error(
            element,
            Reason::InvalidText {
                name: name.into(),
                text: text.into(),
                expected,
            },
        )
    }

    // ---- elements

    /// Returns the children that belong to the NodeSet schema; children of extensions are ignored.
    pub(crate) fn children<'d, 'i>(
        &self,
        parent: Element<'d, 'i>,
    ) -> impl Iterator<Item = Element<'d, 'i>> + use<'d, 'i> {
        parent.children().filter(|child| {
            child.is_element() && child.tag_name().namespace() == Some(NODESET_NAMESPACE)
        })
    }

    /// Reads all text directly inside the element, comments and processing instructions left out.
    pub(crate) fn text<'d>(&self, element: Element<'d, '_>) -> Cow<'d, str> {
        let mut pieces = element
            .children()
            .filter_map(|child| if child.is_text() { child.text() } else { None });
        let Some(first) = pieces.next() else {
            return Cow::Borrowed("");
        };
        // A text without comments is one piece, which is not copied.
        let mut text = Cow::Borrowed(first);
        for piece in pieces {
            text.to_mut().push_str(piece);
        }
        text
    }

    // ---- attributes

    pub(crate) fn required<'d>(
        &self,
        element: Element<'d, '_>,
        attribute: &'static str,
    ) -> Result<&'d str, NodeSetError> {
        element.attribute(attribute).ok_or_else(|| {
            let element_name = Excerpt::from(element.tag_name().name());
            self.error(
                element,
                Reason::MissingAttribute {
                    element: element_name,
                    attribute,
                },
            )
        })
    }

    /// Reads an attribute of a type that implements `FromStr`, such as a number.
    pub(crate) fn parsed<T: std::str::FromStr>(
        &self,
        element: Element<'_, '_>,
        attribute: &'static str,
        default: T,
        expected: &'static str,
    ) -> Result<T, NodeSetError> {
        match element.attribute(attribute) {
            None => Ok(default),
            Some(text) => text
                .trim()
                .parse()
                .map_err(|_| self.invalid(element, attribute, text, expected)),
        }
    }

    pub(crate) fn flag(
        &self,
        element: Element<'_, '_>,
        attribute: &'static str,
        default: bool,
    ) -> Result<bool, NodeSetError> {
        match element.attribute(attribute) {
            None => Ok(default),
            Some(text) => {
                boolean(text).ok_or_else(|| self.invalid(element, attribute, text, "true or false"))
            }
        }
    }

    pub(crate) fn date(
        &self,
        element: Element<'_, '_>,
        attribute: &'static str,
    ) -> Result<Option<DateTime>, NodeSetError> {
        let Some(text) = element.attribute(attribute) else {
            return Ok(None);
        };
        let date = date_time(text);
        date.map(Some).ok_or_else(|| {
            self.invalid(
                element,
                attribute,
                text,
                "a date such as 2024-05-01T00:00:00Z",
            )
        })
    }

    /// Reads `ArrayDimensions`: numbers with commas between them.
    pub(crate) fn dimensions(&self, element: Element<'_, '_>) -> Result<Vec<u32>, NodeSetError> {
        let text = element.attribute("ArrayDimensions").unwrap_or("").trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let dimensions: Result<Vec<u32>, _> = text
            .split(',')
            .map(|number| number.trim().parse())
            .collect();
        dimensions.map_err(|_| {
            self.invalid(
                element,
                "ArrayDimensions",
                text,
                "a list of lengths such as 3,0",
            )
        })
    }

    // ---- names and NodeIds

    /// Converts a namespace index of the document to its target index.
    pub(crate) fn namespace(
        &self,
        element: Element<'_, '_>,
        index: u16,
    ) -> Result<u16, NodeSetError> {
        if self.namespaces.is_empty() {
            return Ok(index);
        }
        self.namespaces
            .get(usize::from(index))
            .copied()
            .ok_or_else(|| {
                // The entry for OPC UA itself is implied.
                let declared = self.namespaces.len().saturating_sub(1);
                self.error(element, Reason::UndeclaredNamespace { index, declared })
            })
    }

    /// Reads a plain NodeId: `i=85`, `ns=1;s=Speed`.
    pub(crate) fn plain_node_id(
        &self,
        element: Element<'_, '_>,
        name: &str,
        text: &str,
    ) -> Result<NodeId, NodeSetError> {
        let parsed: Result<NodeId, _> = text.trim().parse();
        let mut node_id = parsed.map_err(|_| {
            self.invalid(element, name, text, "a NodeId such as i=85 or ns=1;s=Speed")
        })?;
        node_id.namespace = self.namespace(element, node_id.namespace)?;
        Ok(node_id)
    }

    /// Reads a NodeId or an alias for one.
    pub(crate) fn node_id(
        &self,
        element: Element<'_, '_>,
        name: &str,
        text: &str,
    ) -> Result<NodeId, NodeSetError> {
        let text = text.trim();
        if let Some(node_id) = self.aliases.get(text) {
            self.spend(element, size_of_identifier(node_id))?;
            return Ok(node_id.clone());
        }
        // Each NodeId has this sign, so a text without it is an alias that the document does not define.
        if text.contains('=') {
            self.plain_node_id(element, name, text)
        } else {
            Err(self.error(element, Reason::UnknownAlias { alias: text.into() }))
        }
    }

    /// Reads an attribute that is a NodeId or an alias for one.
    pub(crate) fn node_id_attribute(
        &self,
        element: Element<'_, '_>,
        attribute: &'static str,
    ) -> Result<Option<NodeId>, NodeSetError> {
        let text = element
            .attribute(attribute)
            .map(str::trim)
            .filter(|text| !text.is_empty());
        text.map(|text| self.node_id(element, attribute, text))
            .transpose()
    }

    /// Reads a BrowseName: `Speed` or `1:Speed`. A colon after anything but digits belongs to the name.
    pub(crate) fn qualified_name(
        &self,
        element: Element<'_, '_>,
        text: &str,
    ) -> Result<QualifiedName, NodeSetError> {
        let (namespace, name) = match text.split_once(':') {
            Some((index, name))
                if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                let index = index.parse().map_err(|_| {
                    self.invalid(
                        element,
                        "BrowseName",
                        text,
                        "a name with a namespace index below 65536",
                    )
                })?;
                (self.namespace(element, index)?, name)
            }
            _ => (0, text),
        };
        Ok(QualifiedName {
            namespace,
            name: name.into(),
        })
    }

    /// Reads the LocalizedTexts in all children of that name.
    pub(crate) fn localized(&self, parent: Element<'_, '_>, name: &str) -> Vec<LocalizedText> {
        let named = self
            .children(parent)
            .filter(|child| child.tag_name().name() == name);
        named.map(|child| self.localized_text(child)).collect()
    }

    fn localized_text(&self, element: Element<'_, '_>) -> LocalizedText {
        let mut localized = LocalizedText::from(&*self.text(element));
        if let Some(locale) = element
            .attribute("Locale")
            .filter(|locale| !locale.is_empty())
        {
            localized.locale = locale.into();
        }
        localized
    }
}

/// Returns the number of bytes on the heap that a clone of the NodeId costs.
fn size_of_identifier(node_id: &NodeId) -> usize {
    match &node_id.identifier {
        Identifier::String(text) => text.len(),
        Identifier::Opaque(bytes) => bytes.len(),
        Identifier::Numeric(_) | Identifier::Guid(_) => 0,
    }
}

/// Reads an `xs:boolean`.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        // Other spellings are not in the schema, but some tools write them.
        other if other.eq_ignore_ascii_case("true") => Some(true),
        other if other.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Reads an `xs:dateTime`; times before the range of DateTime become its earliest time (OPC 10000-6, 5.2.2.5).
pub(crate) fn date_time(text: &str) -> Option<DateTime> {
    text.trim().parse().ok()
}
