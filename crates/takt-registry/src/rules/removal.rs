//! Removal of a Provider: it is gone at once, and its nodes follow, some at a time.
//!
//! The thread of the database does this, between the changes of clients. Which nodes are left is in the database, so a
//! removal that a restart interrupts is finished by [`restore`](Rules::restore).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use takt_ua::NodeId;

use super::Rules;
use super::following::delete_node;
use crate::database::DatabaseError;

/// Number of nodes that one step removes. Changes of clients come between two steps.
const STEP: usize = 128;

/// Number of removed nodes after which the database commits.
const SETTLED: usize = 1000;

/// The Providers whose nodes are being removed, and whether their namespaces become free then. The `Arc` is that of one
/// [`Removal`]: a late end of another one, of the same name, does not end it.
pub(super) type Removals = HashMap<String, Arc<AtomicBool>>;

/// The nodes of one Provider that are being removed.
#[derive(Clone)]
struct Removal {
    name: String,
    namespace: u16,
    /// True if the namespace becomes free.
    frees: Arc<AtomicBool>,
    /// Number of nodes removed since the last commit.
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
        let removals = self.removals();
        let frees = removals.get(name);
        frees
            .map(|frees| frees.store(true, Ordering::Relaxed))
            .is_some()
    }

    /// Removes a Provider with its nodes, here and from the database. Nobody can register under its name before the last
    /// node is gone; `frees` says whether its namespace is free then.
    pub(super) fn remove(
        &self,
        name: &str,
        namespace: u16,
        frees: bool,
    ) -> Result<(), DatabaseError> {
        self.database.remove_provider(name)?;
        if frees {
            self.database.set_owner(namespace, None)?;
        }
        self.providers.forget(name);
        let frees = Arc::new(AtomicBool::new(frees));
        self.removals().insert(name.to_owned(), Arc::clone(&frees));
        self.remove_some(Removal {
            name: name.to_owned(),
            namespace,
            frees,
            unsettled: 0,
        });
        Ok(())
    }

    /// Lets the thread of the database remove some nodes, and then the others.
    fn remove_some(&self, removal: Removal) {
        let (this, left) = (removal.clone(), removal.clone());
        let (rules, same_rules) = (self.weak(), self.weak());
        let deleted = move |nodes: Vec<NodeId>| {
            if let Some(rules) = rules.upgrade() {
                rules.some_removed(removal, &nodes);
            }
        };
        let lost = move || {
            if let Some(rules) = same_rules.upgrade() {
                rules.give_up(&left, &DatabaseError::Lost);
            }
        };
        let database = &self.database;
        if let Err(error) = database.delete_some(this.namespace, STEP, deleted, lost) {
            self.give_up(&this, &error);
        }
    }

    /// Removes nodes here that were deleted from the database.
    fn some_removed(&self, mut removal: Removal, nodes: &[NodeId]) {
        let Some(space) = self.space() else {
            return;
        };
        for node in nodes {
            if let Err(error) = space.apply(&delete_node(node)) {
                tracing::debug!(%node, %error, "a node of a Provider that is removed is gone already");
            }
        }
        removal.unsettled += nodes.len();
        if nodes.len() < STEP {
            let rules = self.weak();
            // If the commit fails, the last step is durable already, or it was lost, which has ended this removal.
            let end = move |_| {
                if let Some(rules) = rules.upgrade() {
                    rules.end_removal(&removal);
                }
            };
            self.database.settle(None, Box::new(end));
            return;
        }
        if removal.unsettled >= SETTLED {
            // Nobody waits for it.
            self.database.settle(None, Box::new(|_| {}));
            removal.unsettled = 0;
        }
        self.remove_some(removal);
    }

    fn give_up(&self, removal: &Removal, error: &DatabaseError) {
        if self.end_removal(removal) {
            tracing::error!(
                provider = removal.name,
                %error,
                "not all nodes could be removed; the others go with the next start of the registry"
            );
        }
    }

    /// Ends a removal and frees the name. Returns false if it has ended before.
    fn end_removal(&self, removal: &Removal) -> bool {
        let mut removals = self.removals();
        let is_under_way = removals
            .get(&removal.name)
            .is_some_and(|frees| Arc::ptr_eq(frees, &removal.frees));
        if is_under_way {
            removals.remove(&removal.name);
            if removal.frees.load(Ordering::Relaxed) {
                self.names.free(removal.namespace);
            }
        }
        is_under_way
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{self, Receiver};

    use takt_app::{ClientOptions, model};
    use takt_services::Server;
    use takt_shm::Runtime;
    use takt_space::{Caller, Change};
    use takt_ua::enumerations::NodeClass;
    use takt_ua::structures::AddNodesItem;
    use takt_ua::{QualifiedName, StatusCode, ids};

    use super::*;
    use crate::database::test_disk::TestDisk;
    use crate::database::{Database, NewProvider, ProviderRecord, Registration};
    use crate::names::{NameLimits, Names, Owner};
    use crate::providers::Providers;

    const NODES: u32 = 3_000;

    /// A registry without endpoints, on a database in a folder, on a disk that the test holds.
    fn registry(folder: &Path, disk: &TestDisk) -> (Arc<Server>, Arc<Rules>) {
        let database = Database::on(disk, &folder.join("registry.redb"));
        let contents = database.load().unwrap();
        let runtime = Runtime::open(Some(folder)).unwrap();
        let rules = Arc::new(Rules::new(
            database,
            Providers::new(ClientOptions::named("Registry"), true),
            Names::new(NameLimits::default(), runtime),
        ));
        let server = Server::builder("Registry", "urn:test:registry");
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

    /// Registers Provider P, with so many nodes.
    fn register(server: &Server, rules: &Rules, nodes: u32) -> u16 {
        let space = server.address_space();
        let uri = model::provider_uri("P");
        let namespace = space.namespaces().index_of(&uri).unwrap();
        let record = ProviderRecord {
            name: "P".to_owned(),
            user: Some(1000),
            secret_digest: Vec::new(),
        };
        let new = NewProvider {
            record: record.clone(),
            namespace,
            uri,
            charged: Owner::User(1000),
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
        let changes = (1..=nodes).map(|number| Change::AddNode(Box::new(node(number * 30))));
        let changes: Arc<[Change]> = changes.collect();
        let registration = Registration {
            owner: "P".to_owned(),
            newcomer: Some(new),
            changes: Arc::clone(&changes),
        };
        rules.database.record(registration, None).unwrap();
        rules.database.settle_now().unwrap();
        for change in changes.iter() {
            space.apply(change).unwrap();
        }
        rules.names.set(namespace, Owner::User(1000));
        rules.providers.restore(record, namespace);
        namespace
    }

    type Settled = Receiver<Result<(), Arc<DatabaseError>>>;

    fn settle(rules: &Rules) -> Settled {
        let (send, settled) = mpsc::channel();
        let then = move |result| send.send(result).unwrap();
        rules.database.settle(None, Box::new(then));
        settled
    }

    /// Lets the thread of the database wait for the disk.
    fn hold(disk: &TestDisk, rules: &Rules) -> Settled {
        disk.hold();
        rules.record_own(Vec::new()).unwrap();
        let settled = settle(rules);
        disk.wait_for_sync();
        settled
    }

    fn left(server: &Server, namespace: u16) -> usize {
        server.address_space().nodes_of_namespace(namespace).len()
    }

    #[test]
    fn a_provider_with_many_nodes_is_removed_in_steps() {
        let folder = tempfile::tempdir().unwrap();
        let disk = TestDisk::default();
        let (server, rules) = registry(folder.path(), &disk);
        let namespace = register(&server, &rules, NODES);
        let caller = Caller {
            application_uri: model::provider_uri("P").as_str().into(),
            ..Caller::local()
        };
        let again = |rules: &Rules| rules.may_register(&caller, "P");
        let held = hold(&disk, &rules);
        assert_eq!(rules.forget("P"), Ok(()));
        assert!(rules.providers.with("P", |_| ()).is_none(), "it is gone");
        assert_eq!(
            left(&server, namespace),
            NODES as usize,
            "its nodes are not"
        );
        assert_eq!(again(&rules), Err(StatusCode::BadInvalidState));
        assert!(rules.names.is_taken(namespace));
        assert_eq!(rules.forget("P"), Ok(()), "once more");
        let forgotten = settle(&rules);
        disk.release();
        for settled in [held, forgotten] {
            settled.recv().unwrap().unwrap();
        }
        assert!(left(&server, namespace) <= NODES as usize - STEP);
        let mut steps = 0;
        while rules.is_removing("P") {
            // Each step lets those who wait go on.
            rules.database.settle_now().unwrap();
            steps += 1;
            assert!(steps < NODES as usize, "it ends");
        }
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
        let disk = TestDisk::default();
        let (server, rules) = registry(folder.path(), &disk);
        let namespace = register(&server, &rules, NODES);
        let held = hold(&disk, &rules);
        assert_eq!(rules.forget("P"), Ok(()));
        let forgotten = settle(&rules);
        std::thread::scope(|scope| {
            scope.spawn(|| rules.database.end());
            while rules.record_own(Vec::new()).is_ok() {
                // The end has not begun.
            }
            disk.release();
        });
        for settled in [held, forgotten] {
            settled.recv().unwrap().unwrap();
        }
        assert_eq!(left(&server, namespace), NODES as usize - STEP);
        drop((server, rules));
        let (server, rules) = registry(folder.path(), &disk);
        assert_eq!(left(&server, namespace), 0);
        assert!(rules.database.load().unwrap().changes.is_empty());
    }

    #[test]
    fn a_removal_that_is_lost_does_not_end_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let disk = TestDisk::default();
        let (server, rules) = registry(folder.path(), &disk);
        let namespace = register(&server, &rules, 10);
        let (send, seen) = mpsc::channel();
        disk.set_broken(true);
        let (same, same_disk) = (Arc::clone(&rules), disk.clone());
        // On the thread of the database, nothing comes between these calls.
        let begin = move |_| {
            same.remove("P", namespace, true).unwrap();
            let again = Arc::clone(&same);
            let lost = move |lost: Result<(), Arc<DatabaseError>>| {
                same_disk.set_broken(false);
                again.remove("P", namespace, true).unwrap();
                let later = Arc::clone(&again);
                let settled = move |settled: Result<(), Arc<DatabaseError>>| {
                    let is_removing = later.is_removing("P");
                    send.send((lost.is_err(), settled.is_ok(), is_removing))
                        .unwrap();
                };
                again.database.settle(None, Box::new(settled));
            };
            // This comes before the end of the first removal.
            same.database.settle(None, Box::new(lost));
        };
        rules.database.settle(None, Box::new(begin));
        assert_eq!(seen.recv().unwrap(), (true, true, true));
        rules.database.settle_now().unwrap();
        assert!(!rules.is_removing("P"));
        assert!(!rules.names.is_taken(namespace));
        assert!(rules.database.load().unwrap().changes.is_empty());
    }
}
