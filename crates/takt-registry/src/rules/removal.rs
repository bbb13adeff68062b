//! Removal of a Provider: it is gone at once, and its nodes follow in slices.
//!
//! Which nodes are left is in the database, so a removal that a restart interrupts is finished by
//! [`restore`](Rules::restore).

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use takt_services::Work;
use takt_space::AddressSpace;
use takt_ua::NodeId;

use super::Rules;
use super::following::delete_node;
use crate::database::DatabaseError;

/// Nodes that are removed at once, with the request.
const AT_ONCE: usize = 128;

/// Nodes that are removed between two looks at the work of a slice.
const STEP: usize = 8;

/// Units of work to remove one node, from the address space and from the database.
const NODE: u64 = 24;

/// After so many nodes the database is settled: a registration of them settles as often.
const SETTLED: usize = 1000;

/// The Providers whose nodes are being removed, and whether their namespaces become free then.
pub(super) type Removals = HashMap<String, bool>;

/// The nodes of one Provider that are being removed.
struct Removal {
    name: String,
    namespace: u16,
    unsettled: usize,
}

impl Rules {
    fn removals(&self) -> MutexGuard<'_, Removals> {
        self.removals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if nodes of a Provider that is removed are left.
    pub(super) fn is_removing(&self, name: &str) -> bool {
        self.removals().contains_key(name)
    }

    /// The namespace of a Provider that is being removed becomes free when its last node is gone. Returns true if there is
    /// such a Provider.
    pub(super) fn free_after_removal(&self, name: &str) -> bool {
        let mut removals = self.removals();
        let frees = removals.get_mut(name);
        frees.map(|frees| *frees = true).is_some()
    }

    /// Removes a Provider with its nodes, here and from the database. Nobody can register under its name before the last
    /// node is gone; `frees` says whether its namespace is free then.
    pub(super) fn remove(
        &self,
        space: &AddressSpace,
        name: &str,
        namespace: u16,
        frees: bool,
    ) -> Result<(), DatabaseError> {
        self.database.remove_provider(name)?;
        if frees {
            self.database.set_owner(namespace, None)?;
        }
        self.providers.forget(name);
        self.removals().insert(name.to_owned(), frees);
        let mut removal = Removal {
            name: name.to_owned(),
            namespace,
            unsettled: 0,
        };
        match self.remove_some(space, &mut removal, AT_ONCE) {
            Ok(false) => self.remove_later(removal),
            done => {
                self.end_removal(&removal);
                done?;
            }
        }
        Ok(())
    }

    /// Leaves the nodes that are left to the server.
    fn remove_later(&self, mut removal: Removal) {
        let Some((server, rules)) = self.server() else {
            return;
        };
        server.add_work(move |work| {
            let Some(rules) = rules.upgrade() else {
                return false;
            };
            let more = rules.continue_removal(&mut removal, work);
            more.unwrap_or_else(|error| {
                tracing::error!(
                    provider = removal.name,
                    %error,
                    "not all nodes could be removed; the others go with the next start of the registry"
                );
                rules.end_removal(&removal);
                false
            })
        });
    }

    /// Removes nodes for one slice; whether any are left.
    fn continue_removal(
        &self,
        removal: &mut Removal,
        work: &mut Work,
    ) -> Result<bool, DatabaseError> {
        let Some(space) = self.space() else {
            return Ok(false);
        };
        while !work.is_over() {
            work.spend(STEP as u64 * NODE);
            if self.remove_some(&space, removal, STEP)? {
                self.database.settle()?;
                self.end_removal(removal);
                return Ok(false);
            }
        }
        if removal.unsettled >= SETTLED {
            self.database.settle()?;
            removal.unsettled = 0;
        }
        Ok(true)
    }

    /// Removes up to `most` nodes; whether none is left.
    fn remove_some(
        &self,
        space: &AddressSpace,
        removal: &mut Removal,
        most: usize,
    ) -> Result<bool, DatabaseError> {
        let nodes: Vec<NodeId> = self.database.delete_some(removal.namespace, most)?;
        for node in &nodes {
            if let Err(error) = space.apply(&delete_node(node)) {
                tracing::debug!(%node, %error, "a node of a Provider that is removed is gone already");
            }
        }
        removal.unsettled += nodes.len();
        Ok(nodes.len() < most)
    }

    fn end_removal(&self, removal: &Removal) {
        if self.removals().remove(&removal.name) == Some(true) {
            self.names.free(removal.namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use takt_app::{ClientOptions, model};
    use takt_services::{Server, ServerLimits};
    use takt_shm::Runtime;
    use takt_space::{Caller, Change};
    use takt_ua::enumerations::NodeClass;
    use takt_ua::structures::AddNodesItem;
    use takt_ua::{QualifiedName, StatusCode, ids};

    use super::*;
    use crate::database::{Database, NewProvider, ProviderRecord};
    use crate::names::{NameLimits, Names, Owner};
    use crate::providers::Providers;

    const NODES: u32 = 3_000;
    const WORK: u32 = 1_000;

    /// A registry without endpoints, on a database in a folder.
    fn registry(folder: &Path) -> (Arc<Server>, Arc<Rules>) {
        let limits = ServerLimits {
            work_per_slice: WORK,
            ..ServerLimits::default()
        };
        let database = Database::open(&folder.join("registry.redb")).unwrap();
        let contents = database.load().unwrap();
        let runtime = Runtime::open(Some(folder)).unwrap();
        let rules = Arc::new(Rules::new(
            database,
            Providers::new(ClientOptions::named("Registry"), true),
            Names::new(NameLimits::default(), runtime),
        ));
        let server = Server::builder("Registry", "urn:test:registry").limits(limits);
        let server = server.node_management(Arc::clone(&rules) as _);
        let server = server.build().unwrap();
        let space = server.address_space();
        let namespaces = space.namespaces();
        let model = namespaces.register(model::NAMESPACE_URI).unwrap();
        namespaces.register(&model::provider_uri("P")).unwrap();
        rules.bind(&server, model);
        rules.restore(space, contents).unwrap();
        (server, rules)
    }

    /// Registers Provider P, with many nodes.
    fn register(server: &Server, rules: &Rules) -> u16 {
        let space = server.address_space();
        let uri = model::provider_uri("P");
        let namespace = space.namespaces().index_of(&uri).unwrap();
        let record = ProviderRecord {
            name: "P".to_owned(),
            user: Some(1000),
            secret_digest: Vec::new(),
        };
        let new = NewProvider {
            record: &record,
            namespace,
            uri: &uri,
            charged: &Owner::User(1000),
        };
        let node = |number| AddNodesItem {
            parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
            reference_type_id: ids::ORGANIZES.into(),
            requested_new_node_id: NodeId::numeric(namespace, number).into(),
            browse_name: QualifiedName::new(namespace, format!("N{number}")),
            node_class: NodeClass::Object,
            type_definition: NodeId::from(ids::FOLDER_TYPE).into(),
            ..AddNodesItem::default()
        };
        let changes = (1..=NODES).map(|number| Change::AddNode(Box::new(node(number * 30))));
        let changes: Vec<Change> = changes.collect();
        rules.database.record("P", Some(&new), &changes).unwrap();
        rules.database.settle().unwrap();
        for change in &changes {
            space.apply(change).unwrap();
        }
        rules.names.set(namespace, Owner::User(1000));
        rules.providers.restore(record, namespace);
        namespace
    }

    fn left(server: &Server, namespace: u16) -> usize {
        server.address_space().nodes_of_namespace(namespace).len()
    }

    #[test]
    fn a_provider_with_many_nodes_is_removed_in_slices() {
        let folder = tempfile::tempdir().unwrap();
        let (server, rules) = registry(folder.path());
        let namespace = register(&server, &rules);
        rules.forget("P").unwrap();
        assert!(rules.providers.with("P", |_| ()).is_none(), "it is gone");
        assert!(left(&server, namespace) > 2_500, "its nodes are not yet");
        let caller = Caller {
            application_uri: model::provider_uri("P").as_str().into(),
            ..Caller::local()
        };
        let again = |rules: &Rules| rules.may_register(&caller, "P");
        assert_eq!(again(&rules), Err(StatusCode::BadInvalidState));
        assert!(rules.names.is_taken(namespace));
        assert_eq!(rules.forget("P"), Ok(()), "once more");
        let mut slices = 1;
        while server.work() {
            slices += 1;
        }
        assert!(slices > 50, "{slices}");
        assert!(server.longest_slice() <= u64::from(WORK));
        assert_eq!(left(&server, namespace), 0);
        assert_eq!(again(&rules), Ok(()));
        assert!(!rules.names.is_taken(namespace));
        assert_eq!(rules.forget("P"), Err(StatusCode::BadNotFound));
        let contents = rules.database.load().unwrap();
        assert!(contents.changes.is_empty() && contents.owners.is_empty());
    }

    #[test]
    fn a_removal_that_a_restart_interrupts_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let (server, rules) = registry(folder.path());
        let namespace = register(&server, &rules);
        rules.forget("P").unwrap();
        assert!(server.work());
        drop((server, rules));
        let (server, rules) = registry(folder.path());
        assert_eq!(left(&server, namespace), 0);
        assert!(rules.database.load().unwrap().changes.is_empty());
    }
}
