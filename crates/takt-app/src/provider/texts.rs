//! DisplayName and Description of a node.

use takt_ua::LocalizedText;

/// The texts of a node for people (OPC 10000-3, 5.2.5 and 5.2.6).
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Texts {
    /// DisplayName; `None`: the name of the node.
    pub(super) display_name: Option<LocalizedText>,
    /// Description; `None`: the attribute does not exist.
    pub(super) description: Option<LocalizedText>,
}

/// DisplayName and Description of a new node, and their bits in SpecifiedAttributes (OPC 10000-4, 7.24.1).
pub(super) struct Names {
    pub(super) mask: u32,
    pub(super) display_name: LocalizedText,
    pub(super) description: LocalizedText,
}

impl Names {
    /// Returns the texts of a node with this name.
    pub(super) fn new(name: &str, texts: &Texts) -> Self {
        const DESCRIPTION: u32 = 1 << 5;
        const DISPLAY_NAME: u32 = 1 << 6;
        let has_description = texts.description.is_some();
        Self {
            mask: DISPLAY_NAME | if has_description { DESCRIPTION } else { 0 },
            display_name: texts.display_name.clone().unwrap_or_else(|| name.into()),
            description: texts.description.clone().unwrap_or_default(),
        }
    }
}
