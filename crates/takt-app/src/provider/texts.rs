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
