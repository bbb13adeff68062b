//! Errors of NodeSet documents, with file, position, reason and fix.

use std::fmt;

use crate::model::Position;

/// Error of a refused NodeSet document.
///
/// It is displayed as `file:line:column: reason; fix`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{position}: {reason}; {}", .reason.advice())]
pub struct NodeSetError {
    /// Name of the document given by the caller, usually its path.
    pub file: String,
    /// Position in the document.
    pub position: Position,
    /// Reason of the refusal.
    pub reason: Reason,
}

/// Reason for which a NodeSet document was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The text is not well-formed XML, or uses a DTD.
    #[error("not well-formed XML: {0}")]
    Xml(String),
    /// One of [`crate::ParseLimits`] is exceeded.
    #[error("the document exceeds the limit of {limit} {what}")]
    LimitExceeded {
        /// Counted quantity.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The root element is not `UANodeSet`.
    #[error("the root element is {found}, not UANodeSet of {namespace}", namespace = crate::NODESET_NAMESPACE)]
    NotANodeSet {
        /// The element found instead.
        found: Excerpt,
    },
    /// A mandatory attribute is missing.
    #[error("{element} has no attribute {attribute}")]
    MissingAttribute {
        /// The element.
        element: Excerpt,
        /// Missing attribute.
        attribute: &'static str,
    },
    /// A mandatory child element is missing.
    #[error("{element} has no element {child}")]
    MissingElement {
        /// The element.
        element: Excerpt,
        /// Missing child element.
        child: &'static str,
    },
    /// The text of an attribute or element does not have the required form.
    #[error("{name} is \"{text}\", which is not {expected}")]
    InvalidText {
        /// The attribute or element.
        name: Excerpt,
        /// Actual text.
        text: Excerpt,
        /// Expected form.
        expected: &'static str,
    },
    /// A name is neither a NodeId nor an alias of the document.
    #[error("\"{alias}\" is neither a NodeId nor an alias of this document")]
    UnknownAlias {
        /// The name.
        alias: Excerpt,
    },
    /// A namespace index has no entry in `NamespaceUris`.
    #[error("namespace index {index} is not declared: NamespaceUris has {declared} entries")]
    UndeclaredNamespace {
        /// The index used.
        index: u16,
        /// Number of namespaces that the document declares.
        declared: usize,
    },
    /// Two nodes have the same NodeId.
    #[error("NodeId {node_id} is used twice; line {first_line} defines it first")]
    DuplicateNode {
        /// The NodeId.
        node_id: Excerpt,
        /// The line of the first node that has it.
        first_line: u32,
    },
    /// An element is not known at this place.
    #[error("{element} is not known inside {parent}")]
    UnexpectedElement {
        /// The element.
        element: Excerpt,
        /// The element that contains it.
        parent: Excerpt,
    },
    /// Repeated names, defaults and namespaces of the document exceed the limit of bytes.
    #[error(
        "the names, defaults and namespaces that the document repeats exceed the limit of memory"
    )]
    Expansion,
}

impl Reason {
    /// Returns the fix for the author or the user of the document.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Xml(_) => "repair or export the document again (a DTD is not allowed)",
            Self::LimitExceeded { .. } => "split the document, or raise the limit if you trust it",
            Self::NotANodeSet { .. } => "give a NodeSet2 file (OPC 10000-6, Annex F)",
            Self::MissingAttribute { .. } | Self::MissingElement { .. } => "add it",
            Self::InvalidText { .. } => "correct it",
            Self::UnknownAlias { .. } => {
                "add it to Aliases, or write the NodeId as i=1 or ns=1;s=Name"
            }
            Self::UndeclaredNamespace { .. } => {
                "add the namespace to NamespaceUris, or correct the index"
            }
            Self::DuplicateNode { .. } => "give one of them another NodeId",
            Self::UnexpectedElement { .. } => {
                "remove it, or use an element of OPC 10000-6, Annex F"
            }
            Self::Expansion => {
                "use shorter ones, or raise the limit of bytes if you trust the document"
            }
        }
    }
}

/// A piece of the document as it appears in an error: shortened, without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// Largest number of characters shown, so that a hostile document cannot fill the terminal.
    const MAX_CHARACTERS: usize = 80;
}

impl From<&str> for Excerpt {
    fn from(text: &str) -> Self {
        let mut characters = text.trim().chars();
        let mut excerpt: String = characters
            .by_ref()
            .take(Self::MAX_CHARACTERS)
            // A document must not send control sequences to the terminal.
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if characters.next().is_some() {
            excerpt.push('…');
        }
        Self(excerpt)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_place_reason_and_remedy() {
        let error = NodeSetError {
            file: "Machine.NodeSet2.xml".into(),
            position: Position {
                line: 7,
                column: 12,
            },
            reason: Reason::UnknownAlias {
                alias: "HasPart".into(),
            },
        };
        assert_eq!(
            error.to_string(),
            "Machine.NodeSet2.xml:7:12: \"HasPart\" is neither a NodeId nor an alias of this document; \
             add it to Aliases, or write the NodeId as i=1 or ns=1;s=Name"
        );
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(Excerpt::from(" a\tb\u{1b}[31m ").to_string(), "a b [31m");
        assert_eq!(
            Excerpt::from("x".repeat(1000).as_str())
                .to_string()
                .chars()
                .count(),
            81
        );
    }
}
