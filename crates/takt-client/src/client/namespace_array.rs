//! The NamespaceArray of the server, as it was last read.

/// The NamespaceArray as it was last read.
#[derive(Default)]
pub(super) struct NamespaceArray {
    pub(super) uris: Vec<String>,
    /// Session in which it was read: an index is valid for one session only.
    pub(super) epoch: u64,
}

impl NamespaceArray {
    /// Returns the index of a namespace, if the array contains it.
    pub(super) fn index(&self, uri: &str) -> Option<u16> {
        let position = self.uris.iter().position(|known| known == uri)?;
        u16::try_from(position).ok()
    }
}
