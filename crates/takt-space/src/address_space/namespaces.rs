//! The NamespaceArray (OPC 10000-5, 6.3.1): append-only, read without a lock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use takt_ua::StatusCode;

use super::AddressSpaceError;

/// URI of namespace 0.
pub const STANDARD_NAMESPACE: &str = "http://opcfoundation.org/UA/";

/// Prefix of the URI at a free index of the NamespaceArray; the index follows.
const FREE: &str = "urn:takt:free:";

/// The NamespaceArray: an index never changes its URI, and no URI is ever removed. Only an index that was
/// [released](Self::release), and so has no namespace, gets a new URI.
#[derive(Debug)]
pub struct Namespaces {
    uris: ArcSwap<Vec<Arc<str>>>,
    /// The free indices; locked while a URI is added.
    free: Mutex<Vec<u16>>,
    capacity: usize,
    aliases: ArcSwap<Vec<(u16, u16)>>,
}

impl Namespaces {
    /// Creates the array. Index 0 is the standard's, index 1 the server's own: its ApplicationUri (OPC 10000-5, 6.3.1).
    pub(crate) fn new(application_uri: &str, capacity: usize) -> Self {
        let uris = vec![Arc::from(STANDARD_NAMESPACE), Arc::from(application_uri)];
        Self {
            uris: ArcSwap::from_pointee(uris),
            free: Mutex::default(),
            aliases: ArcSwap::default(),
            // Two indices are used from the beginning, and an index has 16 bits.
            capacity: capacity.clamp(2, usize::from(u16::MAX) + 1),
        }
    }

    /// Returns the index of `uri`. A new URI gets a free index, or else the next one.
    ///
    /// # Errors
    /// The URI is empty, or the array is full.
    pub fn register(&self, uri: &str) -> Result<u16, AddressSpaceError> {
        if let Some(index) = self.index_of(uri) {
            return Ok(index);
        }
        if uri.is_empty() {
            return Err(AddressSpaceError::NamespaceUriEmpty);
        }
        let mut free = self.free();
        // Another thread may have registered it before this one got the lock.
        if let Some(index) = self.index_of(uri) {
            return Ok(index);
        }
        let mut uris = Vec::clone(&self.uris.load());
        let index = self.next_index(&free, &uris)?;
        match uris.get_mut(usize::from(index)) {
            Some(place) => *place = Arc::from(uri),
            None => uris.push(Arc::from(uri)),
        }
        free.retain(|other| *other != index);
        self.uris.store(Arc::new(uris));
        Ok(index)
    }

    /// Adds a new URI at the end of the array, where it gets `index`. Free indices stay free.
    ///
    /// # Errors
    /// The URI is empty or known, the end is at another index, or the array is full.
    pub(crate) fn append(&self, index: u16, uri: &str) -> Result<(), AddressSpaceError> {
        if uri.is_empty() {
            return Err(AddressSpaceError::NamespaceUriEmpty);
        }
        // The lock of all changes.
        let _changing = self.free();
        let mut uris = Vec::clone(&self.uris.load());
        if usize::from(index) != uris.len() || uris.iter().any(|known| **known == *uri) {
            return Err(AddressSpaceError::Refused(StatusCode::BadOutOfRange));
        }
        if uris.len() >= self.capacity {
            return Err(AddressSpaceError::TooManyNamespaces {
                limit: self.capacity,
            });
        }
        uris.push(Arc::from(uri));
        self.uris.store(Arc::new(uris));
        Ok(())
    }

    /// Makes `index` free: it has no namespace until a new URI gets it. To be used only while no client has a NodeId with this
    /// index, such as before the server serves.
    pub fn release(&self, index: u16) {
        let mut free = self.free();
        let mut uris = Vec::clone(&self.uris.load());
        if let Some(place) = uris.get_mut(usize::from(index))
            && !free.contains(&index)
        {
            *place = format!("{FREE}{index}").into();
            free.push(index);
            self.uris.store(Arc::new(uris));
        }
    }

    /// Returns true if `index` is free.
    pub fn is_free(&self, index: u16) -> bool {
        self.free().contains(&index)
    }

    fn free(&self) -> MutexGuard<'_, Vec<u16>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index that `uri` has, or would get from [`register`](Self::register).
    pub fn index_or_next(&self, uri: &str) -> Result<u16, AddressSpaceError> {
        match self.index_of(uri) {
            Some(index) => Ok(index),
            None if uri.is_empty() => Err(AddressSpaceError::NamespaceUriEmpty),
            None => self.next_index(&self.free(), &self.uris.load()),
        }
    }

    /// Returns the index that each URI has, or would get if all are [registered](Self::register) in this order. One for which there
    /// is no index gets the last one: its registration is refused.
    pub(crate) fn planned<'u>(&self, wanted: &'u [String]) -> HashMap<&'u str, u16> {
        let free = self.free();
        let uris = self.uris.load();
        // In reverse order, so that the first of equal URIs counts, as it does in `index_of`.
        let known = uris.iter().enumerate().rev();
        let mut planned: HashMap<&str, usize> = known.map(|(index, uri)| (&**uri, index)).collect();
        let mut unused = free.iter().copied().map(usize::from).chain(uris.len()..);
        let mut indices = HashMap::new();
        for uri in wanted {
            let next = || unused.next().unwrap_or(usize::MAX);
            let index = *planned.entry(uri).or_insert_with(next);
            indices.insert(uri.as_str(), u16::try_from(index).unwrap_or(u16::MAX));
        }
        indices
    }

    fn next_index(&self, free: &[u16], uris: &[Arc<str>]) -> Result<u16, AddressSpaceError> {
        if let Some(index) = free.first() {
            return Ok(*index);
        }
        let full = AddressSpaceError::TooManyNamespaces {
            limit: self.capacity,
        };
        match u16::try_from(uris.len()) {
            Ok(index) if uris.len() < self.capacity => Ok(index),
            _ => Err(full),
        }
    }

    /// Returns the index of `uri`, if it is registered.
    pub fn index_of(&self, uri: &str) -> Option<u16> {
        let uris = self.uris.load();
        let index = uris.iter().position(|known| &**known == uri)?;
        u16::try_from(index).ok()
    }

    /// Returns the URI at `index`.
    pub fn uri(&self, index: u16) -> Option<Arc<str>> {
        self.uris.load().get(usize::from(index)).cloned()
    }

    /// Returns true if `index` has a URI.
    pub fn contains(&self, index: u16) -> bool {
        usize::from(index) < self.uris.load().len()
    }

    /// Makes namespace `alias` an alias of namespace `index` in NodeIds. It applies if there is no node with the unchanged
    /// NodeId.
    ///
    /// Another server may have the same namespaces in another order. With the alias, its clients find a node here under the
    /// NodeId that it has there.
    pub fn set_alias(&self, alias: u16, index: u16) {
        // The lock of all changes; the free indices are not used.
        let _changing = self.free();
        let mut aliases = Vec::clone(&self.aliases.load());
        aliases.retain(|(known, _)| *known != alias);
        if alias != index {
            aliases.push((alias, index));
        }
        self.aliases.store(Arc::new(aliases));
    }

    /// Returns the namespace that `index` is an alias of.
    #[inline]
    pub(crate) fn resolve_alias(&self, index: u16) -> Option<u16> {
        let aliases = self.aliases.load();
        aliases
            .iter()
            .find(|(alias, _)| *alias == index)
            .map(|(_, index)| *index)
    }

    /// Returns all URIs, by index.
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

    #[test]
    fn a_free_place_is_given_to_the_next_uri() {
        let namespaces = Namespaces::new("urn:host:application", 5);
        assert_eq!(namespaces.register("urn:a"), Ok(2));
        assert_eq!(namespaces.register("urn:b"), Ok(3));
        assert_eq!(namespaces.register("urn:x"), Ok(4));
        namespaces.release(4);
        namespaces.release(9);
        assert!(namespaces.is_free(4) && !namespaces.is_free(3) && !namespaces.is_free(9));
        assert_eq!(namespaces.index_of("urn:x"), None);
        assert!(namespaces.uri(4).is_some());
        assert_eq!(namespaces.index_or_next("urn:c"), Ok(4));
        assert_eq!(namespaces.register("urn:c"), Ok(4));
        assert_eq!(namespaces.uri(4).as_deref(), Some("urn:c"));
        assert!(namespaces.register("urn:d").is_err());
    }

    #[test]
    fn a_uri_is_appended_at_the_end_although_another_place_is_free() {
        let namespaces = Namespaces::new("urn:host:application", 5);
        assert_eq!(namespaces.register("urn:a"), Ok(2));
        assert_eq!(namespaces.register("urn:b"), Ok(3));
        namespaces.release(2);
        let refused = Err(AddressSpaceError::Refused(StatusCode::BadOutOfRange));
        assert_eq!(namespaces.append(4, "urn:b"), refused);
        assert_eq!(namespaces.append(2, "urn:c"), refused);
        assert_eq!(
            namespaces.append(4, ""),
            Err(AddressSpaceError::NamespaceUriEmpty)
        );
        assert_eq!(namespaces.append(4, "urn:c"), Ok(()));
        assert_eq!(namespaces.index_of("urn:c"), Some(4));
        assert!(namespaces.is_free(2));
        assert_eq!(
            namespaces.append(5, "urn:d"),
            Err(AddressSpaceError::TooManyNamespaces { limit: 5 })
        );
    }

    #[test]
    fn uris_are_planned_as_they_are_registered() {
        let namespaces = Namespaces::new("urn:host:application", 100);
        for index in 2..8_u16 {
            assert_eq!(namespaces.register(&format!("urn:{index}")), Ok(index));
        }
        for index in [6, 3, 5] {
            namespaces.release(index);
        }
        let wanted = ["a", "urn:4", "b", "a", "c", "d", STANDARD_NAMESPACE, "e"];
        let wanted = wanted.map(String::from);
        let planned = namespaces.planned(&wanted);
        for uri in &wanted {
            assert_eq!(Ok(planned[uri.as_str()]), namespaces.register(uri), "{uri}");
        }
        assert_eq!(planned["a"], 6);
        assert_eq!(planned["e"], 9);
    }
}
