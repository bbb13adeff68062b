//! The NamespaceArray (OPC 10000-5, 6.3.1): append-only, read without a lock.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use super::AddressSpaceError;

/// URI of namespace 0.
pub const STANDARD_NAMESPACE: &str = "http://opcfoundation.org/UA/";

/// The NamespaceArray: an index never changes its URI, and no URI is ever taken away.
#[derive(Debug)]
pub struct Namespaces {
    uris: ArcSwap<Vec<Arc<str>>>,
    append: Mutex<()>,
    capacity: usize,
    aliases: ArcSwap<Vec<(u16, u16)>>,
}

impl Namespaces {
    /// Index 0 is the standard's, index 1 the server's own: its ApplicationUri (OPC 10000-5, 6.3.1).
    pub(crate) fn new(application_uri: &str, capacity: usize) -> Self {
        let uris = vec![Arc::from(STANDARD_NAMESPACE), Arc::from(application_uri)];
        Self {
            uris: ArcSwap::from_pointee(uris),
            append: Mutex::new(()),
            aliases: ArcSwap::default(),
            capacity: capacity.clamp(2, usize::from(u16::MAX) + 1),
        }
    }

    /// The index of `uri`, appended if it is new.
    ///
    /// # Errors
    /// An empty URI, or no room for another one.
    pub fn register(&self, uri: &str) -> Result<u16, AddressSpaceError> {
        if let Some(index) = self.index_of(uri) {
            return Ok(index);
        }
        if uri.is_empty() {
            return Err(AddressSpaceError::NamespaceUriEmpty);
        }
        let _appending = self.append.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.index_of(uri) {
            return Ok(index);
        }
        let mut uris = Vec::clone(&self.uris.load());
        let index = self.next_index(&uris)?;
        uris.push(Arc::from(uri));
        self.uris.store(Arc::new(uris));
        Ok(index)
    }

    /// The index that `uri` has, or would get from [`register`](Self::register).
    pub(crate) fn index_or_next(&self, uri: &str) -> Result<u16, AddressSpaceError> {
        match self.index_of(uri) {
            Some(index) => Ok(index),
            None if uri.is_empty() => Err(AddressSpaceError::NamespaceUriEmpty),
            None => self.next_index(&self.uris.load()),
        }
    }

    fn next_index(&self, uris: &[Arc<str>]) -> Result<u16, AddressSpaceError> {
        if uris.len() >= self.capacity {
            return Err(AddressSpaceError::TooManyNamespaces {
                limit: self.capacity,
            });
        }
        u16::try_from(uris.len()).map_err(|_| AddressSpaceError::TooManyNamespaces {
            limit: self.capacity,
        })
    }

    /// The index of `uri`, if it is registered.
    pub fn index_of(&self, uri: &str) -> Option<u16> {
        let uris = self.uris.load();
        let index = uris.iter().position(|known| &**known == uri)?;
        u16::try_from(index).ok()
    }

    /// The URI at `index`.
    pub fn uri(&self, index: u16) -> Option<Arc<str>> {
        self.uris.load().get(usize::from(index)).cloned()
    }

    /// Whether `index` stands for a URI.
    pub fn contains(&self, index: u16) -> bool {
        usize::from(index) < self.uris.load().len()
    }

    /// Lets NodeIds whose namespace is `alias` stand for those of namespace `index`, where no node has them as they are.
    ///
    /// A client that knows a node from another server's address space, whose NamespaceArray is in another order, finds
    /// it here under the NodeId that it has there.
    pub fn set_alias(&self, alias: u16, index: u16) {
        let _changing = self.append.lock().unwrap_or_else(PoisonError::into_inner);
        let mut aliases = Vec::clone(&self.aliases.load());
        aliases.retain(|(known, _)| *known != alias);
        if alias != index {
            aliases.push((alias, index));
        }
        self.aliases.store(Arc::new(aliases));
    }

    /// The namespace that `index` is an alias of.
    #[inline]
    pub(crate) fn resolve_alias(&self, index: u16) -> Option<u16> {
        let aliases = self.aliases.load();
        aliases
            .iter()
            .find(|(alias, _)| *alias == index)
            .map(|(_, index)| *index)
    }

    /// All URIs, by index.
    pub fn all(&self) -> Vec<Arc<str>> {
        Vec::clone(&self.uris.load())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_stable_and_appended() {
        let namespaces = Namespaces::new("urn:host:application", 4);
        assert_eq!(namespaces.index_of(STANDARD_NAMESPACE), Some(0));
        assert_eq!(namespaces.register("urn:host:application"), Ok(1));
        assert_eq!(namespaces.register("urn:a"), Ok(2));
        assert_eq!(namespaces.index_or_next("urn:b"), Ok(3));
        assert_eq!(namespaces.register("urn:b"), Ok(3));
        assert_eq!(namespaces.register("urn:a"), Ok(2));
        assert_eq!(
            namespaces.register("urn:c"),
            Err(AddressSpaceError::TooManyNamespaces { limit: 4 })
        );
        assert_eq!(
            namespaces.register(""),
            Err(AddressSpaceError::NamespaceUriEmpty)
        );
        assert_eq!(namespaces.uri(2).as_deref(), Some("urn:a"));
        assert!(!namespaces.contains(4));
    }
}
