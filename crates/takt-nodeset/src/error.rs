//! Errors that say where in which document something is wrong, and what to do about it.

use std::fmt;

use crate::model::Position;

/// Why a NodeSet document was refused.
///
/// Prints as `file:line:column: reason; what to do`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{position}: {reason}; {}", .reason.advice())]
pub struct NodeSetError {
    /// The name that the caller gave the document, usually its path.
    pub file: String,
    /// Where in the document.
    pub position: Position,
    /// What is wrong there.
    pub reason: Reason,
}

/// What is wrong with a NodeSet document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The text is no well-formed XML, or uses a DTD.
    #[error("not well-formed XML: {0}")]
    Xml(String),
    /// One of [`crate::ParseLimits`] is exceeded.
    #[error("the document exceeds the limit of {limit} {what}")]
    LimitExceeded {
        /// What was counted.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The root element is something else than `UANodeSet`.
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
        /// The attribute that it lacks.
        attribute: &'static str,
    },
    /// A mandatory child element is missing.
    #[error("{element} has no element {child}")]
    MissingElement {
        /// The element.
        element: Excerpt,
        /// The child that it lacks.
        child: &'static str,
    },
    /// The text of an attribute or element does not have the form that it must have.
    #[error("{name} is \"{text}\", which is not {expected}")]
    InvalidText {
        /// The attribute or element.
        name: Excerpt,
        /// What it says.
        text: Excerpt,
        /// What it should have been.
        expected: &'static str,
    },
    /// A name stands where a NodeId or an alias is needed, and no alias has that name.
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
        /// How many namespaces the document declares.
        declared: usize,
    },
    /// Two nodes have the same NodeId.
    #[error("NodeId {node_id} is used again; line {first_line} has it already")]
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
    /// What the document says once and uses often adds up to more than the document may have.
    #[error(
        "names, defaults and namespaces that the document uses again and again add up to too much"
    )]
    Expansion,
}

impl Reason {
    /// What the author or the user of the document can do about it.
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
    /// Characters shown at most; a hostile document does not get to fill the terminal.
    const MAX_CHARACTERS: usize = 80;
}

impl From<&str> for Excerpt {
    fn from(text: &str) -> Self {
        let mut characters = text.trim().chars();
        let mut excerpt: String = characters
            .by_ref()
            .take(Self::MAX_CHARACTERS)
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
