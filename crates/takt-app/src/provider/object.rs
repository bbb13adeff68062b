//! Objects of a Provider.

use takt_ua::LocalizedText;

use super::texts::Texts;

/// An Object of a Provider, whose components are the Variables, Methods and Objects below its path.
///
/// The path of a Variable or Method implies the Objects above it. An Object has to be declared only for its texts, or if
/// there is nothing below it.
#[derive(Debug, Clone)]
pub struct Object {
    pub(super) path: String,
    pub(super) texts: Texts,
}

impl Object {
    /// Creates an Object with this path, for example `Spindle`.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            texts: Texts::default(),
        }
    }

    /// Sets its DisplayName; by default the last segment of the path.
    #[must_use]
    pub fn display_name(mut self, text: impl Into<LocalizedText>) -> Self {
        self.texts.display_name = Some(text.into());
        self
    }

    /// Sets its Description.
    #[must_use]
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.texts.description = Some(text.into());
        self
    }
}
