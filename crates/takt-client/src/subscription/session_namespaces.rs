//! NamespaceArray of a Session, and NodeIds of items by it.

use std::sync::Arc;

use takt_ua::{NamespaceMap, NodeId};

use super::options::Wanted;

/// NamespaceArray of the current Session.
#[derive(Default)]
pub(super) struct SessionNamespaces {
    pub(super) uris: Option<Arc<[String]>>,
    /// Session in which it was read.
    pub(super) epoch: u64,
}

impl SessionNamespaces {
    /// Returns the NamespaceArray for new items; `None` if it is not known.
    pub(super) fn uris(&self) -> Option<Arc<[String]>> {
        self.uris.clone()
    }

    /// Returns the map from the indexes of an item to those of the Session; `None` if they are the same.
    pub(super) fn map(&self, item: &Wanted) -> Option<NamespaceMap> {
        let (meant, now) = (item.namespaces.as_ref()?, self.uris.as_ref()?);
        // A running server only appends namespaces, so a longer array has the same indexes.
        let is_same = now.starts_with(meant);
        (!is_same).then(|| NamespaceMap::between(meant, now))
    }

    /// Returns the NodeId of an item in the Session.
    pub(super) fn node(&self, item: &Wanted) -> NodeId {
        match self.map(item) {
            Some(map) => map.node_id(&item.node),
            None => item.node.clone(),
        }
    }

    /// Returns true if the Session has no namespace for the item, as far as is known.
    pub(super) fn lacks(&self, item: &Wanted) -> bool {
        self.map(item)
            .is_some_and(|map| map.index(item.node.namespace).is_none())
    }
}
