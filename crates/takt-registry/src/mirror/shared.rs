//! State that all mirrors share: namespaces in the database, and types with their users.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use takt_ua::NodeId;

use super::namespaces::KeptNamespaces;

/// State of all mirrors together.
pub(super) struct Shared {
    /// Indexes of the namespaces whose types the registry has from elsewhere.
    pub(super) foreign: BTreeSet<u16>,
    pub(super) namespaces: KeptNamespaces,
    types: Mutex<SharedTypes>,
}

impl Shared {
    pub(super) fn new(foreign: BTreeSet<u16>, namespaces: KeptNamespaces) -> Self {
        Self {
            foreign,
            namespaces,
            types: Mutex::default(),
        }
    }

    /// Locks the types. A mirror holds the lock while it changes its nodes, so that no type is deleted for which another one has
    /// just become a user.
    pub(super) fn types(&self) -> MutexGuard<'_, SharedTypes> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a mirror has inherited types. False while another mirror changes its nodes.
    pub(super) fn has_inherited(&self, mirror: u16) -> bool {
        let types = self.types.try_lock();
        types.is_ok_and(|types| types.heirs.contains(&mirror))
    }
}

/// Nodes of types, and the mirrors whose servers have them. A mirror is named by the index of its own namespace.
///
/// The first user of a type has added it: with the definition of its server, and with its values. When that server does not have
/// the type any more, the next user inherits it.
#[derive(Debug, Default)]
pub(super) struct SharedTypes {
    users: HashMap<NodeId, Vec<u16>>,
    /// Mirrors that have inherited a type and have not added it yet.
    heirs: HashSet<u16>,
}

impl SharedTypes {
    /// Makes a mirror the user of these types, and of no others. Returns the types without a user.
    pub(super) fn set(&mut self, mirror: u16, types: &HashSet<&NodeId>) -> Vec<NodeId> {
        let mut unused = Vec::new();
        let heirs = &mut self.heirs;
        heirs.remove(&mirror);
        self.users.retain(|node, users| {
            if types.contains(node) || !users.contains(&mirror) {
                return true;
            }
            let was_first = users.first() == Some(&mirror);
            users.retain(|user| *user != mirror);
            match users.first() {
                Some(heir) if was_first => {
                    heirs.insert(*heir);
                }
                Some(_) => {}
                None => unused.push(node.clone()),
            }
            !users.is_empty()
        });
        for node in types {
            match self.users.get_mut(*node) {
                Some(users) if users.contains(&mirror) => {}
                Some(users) => users.push(mirror),
                None => {
                    self.users.insert((*node).clone(), vec![mirror]);
                }
            }
        }
        unused
    }

    /// Returns true if a mirror is the first user of a type.
    pub(super) fn is_first(&self, mirror: u16, node: &NodeId) -> bool {
        let users = self.users.get(node);
        users.is_some_and(|users| users.first() == Some(&mirror))
    }

    /// Returns true if a type has users besides the first one.
    pub(super) fn is_shared(&self, node: &NodeId) -> bool {
        self.users.get(node).is_some_and(|users| users.len() > 1)
    }

    /// Returns true if a type has a user.
    pub(super) fn is_used(&self, node: &NodeId) -> bool {
        self.users.contains_key(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_unused_when_its_last_user_leaves() {
        let (one, other) = (NodeId::numeric(3, 1), NodeId::numeric(3, 2));
        let both = HashSet::from([&one, &other]);
        let mut types = SharedTypes::default();
        assert!(types.set(7, &both).is_empty());
        assert!(types.set(8, &both).is_empty());
        assert!(types.is_first(7, &one) && types.is_shared(&one));
        assert!(types.set(7, &HashSet::from([&other])).is_empty());
        assert!(types.is_first(8, &one) && !types.is_shared(&one));
        assert!(types.is_first(7, &other) && types.heirs.contains(&8));
        assert!(types.set(8, &both).is_empty());
        assert!(types.heirs.is_empty());
        assert_eq!(types.set(8, &HashSet::new()), vec![one.clone()]);
        assert!(!types.is_used(&one) && types.is_used(&other));
        assert_eq!(types.set(7, &HashSet::new()), [other]);
    }
}
