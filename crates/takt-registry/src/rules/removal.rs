//! Removal of a Provider: it is gone at once, and its nodes follow, some at a time.
//!
//! The thread of the database does this, between the changes of clients. The name is free when the commit with the last step
//! has ended, before clients that wait for that commit are answered. If a commit fails, nodes are left: the name stays taken,
//! and the removal begins again when somebody forgets or registers the Provider. Which nodes are left is in the database, so a
//! removal that a restart interrupts is finished by [`restore`](Rules::restore).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use takt_ua::{NodeId, StatusCode};

use super::Rules;
use super::belonging::is_common;
use super::changes::delete_node;
use super::removed::{Removal, Removals};
use crate::database::DatabaseError;

/// Number of nodes that one step removes. Changes of clients come between two steps.
const STEP: usize = 128;

/// Number of removed nodes after which the database commits.
const SETTLED: usize = 1000;

impl Rules {
    fn removals(&self) -> MutexGuard<'_, Removals> {
        self.removals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that no nodes of a Provider that is removed are left: `BadInvalidState`. A removal that has failed begins again.
    pub(super) fn check_removed(&self, name: &str) -> Result<(), StatusCode> {
        let Some(removal) = self.removals().get(name).cloned() else {
            return Ok(());
        };
        if let Err(error) = self.begin_again(&removal) {
            tracing::debug!(provider = name, %error, "its nodes can still not be removed");
        }
        Err(StatusCode::BadInvalidState)
    }

    /// The namespace of a Provider that is being removed becomes free when its last node is gone; a removal that has failed
    /// begins again. Returns `None` if there is no such Provider.
    pub(super) fn free_after_removal(&self, name: &str) -> Option<Result<(), DatabaseError>> {
        let removal = self.removals().get(name).cloned()?;
        if !removal.frees.swap(true, Ordering::Relaxed)
            && let Err(error) = self.free_in_database(&removal)
        {
            removal.frees.store(false, Ordering::Relaxed);
            return Some(Err(error));
        }
        Some(self.begin_again(&removal))
    }

    /// Removes a Provider with its nodes, here and from the database. Nobody can register under its name before the last
    /// node is gone; `frees` says whether its namespace is free then.
    pub(super) fn remove(
        &self,
        name: &str,
        namespace: u16,
        frees: bool,
    ) -> Result<(), DatabaseError> {
        let mut namespaces = vec![namespace];
        namespaces.extend(self.names.additional_of(name));
        self.begin(&Arc::new(Removal {
            name: name.to_owned(),
            namespaces,
            frees: AtomicBool::new(frees),
            has_failed: AtomicBool::new(false),
            unsettled: AtomicUsize::new(0),
        }))
    }

    /// Begins a removal again that has failed; otherwise does nothing.
    fn begin_again(&self, removal: &Arc<Removal>) -> Result<(), DatabaseError> {
        if !removal.has_failed.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let begun = self.begin(removal);
        if begun.is_err() {
            removal.has_failed.store(true, Ordering::Relaxed);
        }
        begun
    }

    fn free_in_database(&self, removal: &Removal) -> Result<(), DatabaseError> {
        let mut namespaces = removal.namespaces.iter();
        namespaces.try_for_each(|namespace| self.database.set_owner(*namespace, None))
    }

    fn begin(&self, removal: &Arc<Removal>) -> Result<(), DatabaseError> {
        let name = &removal.name;
        self.database.remove_provider(name)?;
        if removal.frees.load(Ordering::Relaxed) {
            self.free_in_database(removal)?;
        }
        // Before the Provider is forgotten, so that its name is not free in between.
        self.removals().insert(name.clone(), Arc::clone(removal));
        self.providers.forget(name);
        self.remove_some(removal);
        Ok(())
    }

    /// Lets the thread of the database remove some nodes, and then the others.
    fn remove_some(&self, removal: &Arc<Removal>) {
        let is_last = Arc::new(AtomicBool::new(false));
        let (rules, this, found) = (self.weak(), Arc::clone(removal), Arc::clone(&is_last));
        let deleted = move |nodes: Vec<NodeId>| {
            if let Some(rules) = rules.upgrade() {
                let are_last = rules.some_removed(&this, &nodes);
                found.store(are_last, Ordering::Relaxed);
            }
        };
        let (rules, this) = (self.weak(), Arc::clone(removal));
        let done = move || {
            if is_last.load(Ordering::Relaxed)
                && let Some(rules) = rules.upgrade()
            {
                rules.end_removal(&this);
            }
        };
        let (rules, this) = (self.weak(), Arc::clone(removal));
        let lost = move || {
            if rules.upgrade().is_some() {
                this.fail(&DatabaseError::Lost);
            }
        };
        let namespaces = removal.namespaces.clone();
        let deleting = self
            .database
            .delete_some(namespaces, STEP, deleted, done, lost);
        if let Err(error) = deleting {
            removal.fail(&error);
        }
    }

    /// Removes nodes here that were deleted from the database. Returns true if none is left.
    fn some_removed(&self, removal: &Arc<Removal>, nodes: &[NodeId]) -> bool {
        let Some(space) = self.space() else {
            return false;
        };
        for node in nodes {
            // A NodeSet may have this NodeId since the registry was started.
            if is_common(&space, node) {
                continue;
            }
            self.model_changes.keep_deleted(node);
            if let Err(error) = space.apply(&delete_node(node)) {
                tracing::debug!(%node, %error, "a node of a Provider that is removed is gone already");
            }
        }
        let is_last = nodes.len() < STEP;
        let unsettled = removal.unsettled.load(Ordering::Relaxed) + nodes.len();
        let settles = is_last || unsettled >= SETTLED;
        if settles {
            // Nobody waits for it.
            self.database.settle(None, Box::new(|_| {}));
        }
        let unsettled = if settles { 0 } else { unsettled };
        removal.unsettled.store(unsettled, Ordering::Relaxed);
        if !is_last {
            self.remove_some(removal);
        }
        is_last
    }

    /// Ends a removal and frees the name, when the last step is on the disk.
    fn end_removal(&self, removal: &Arc<Removal>) {
        let mut removals = self.removals();
        let of_name = removals.get(&removal.name);
        // Another removal of a Provider with this name may have begun.
        if of_name.is_some_and(|of_name| Arc::ptr_eq(of_name, removal)) {
            removals.remove(&removal.name);
            if removal.frees.load(Ordering::Relaxed) {
                for namespace in &removal.namespaces {
                    self.names.free(*namespace);
                }
            }
        }
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
    use takt_ua::{QualifiedName, ids};

    use super::*;
    use crate::database::test_disk::TestDisk;
    use crate::database::{Database, NewProvider, ProviderRecord, Registration};
    use crate::names::{NameBudget, Names, Owner};
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
            Names::new(NameBudget::default(), runtime),
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

    fn is_removing(rules: &Rules) -> bool {
        rules.removals().contains_key("P")
    }

    /// Returns a Provider that wants to register as P.
    fn newcomer() -> Caller {
        Caller {
            application_uri: model::provider_uri("P").as_str().into(),
            ..Caller::local()
        }
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
        let again = |rules: &Rules| rules.may_register(&newcomer(), "P");
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
        while is_removing(&rules) {
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
    fn the_name_is_free_before_the_client_knows_that_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let disk = TestDisk::default();
        let (server, rules) = registry(folder.path(), &disk);
        let namespace = register(&server, &rules, 10);
        let held = hold(&disk, &rules);
        assert_eq!(rules.forget("P"), Ok(()));
        let (send, answered) = mpsc::channel();
        let same = Arc::clone(&rules);
        let answer = move |settled: Result<(), Arc<DatabaseError>>| {
            let again = same.may_register(&newcomer(), "P");
            let is_taken = same.names.is_taken(namespace);
            send.send((settled.is_ok(), again, is_taken)).unwrap();
        };
        rules.database.settle(None, Box::new(answer));
        disk.release();
        held.recv().unwrap().unwrap();
        assert_eq!(answered.recv().unwrap(), (true, Ok(()), false));
    }

    #[test]
    fn a_removal_that_is_lost_keeps_the_name_and_begins_again() {
        for forgets in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let disk = TestDisk::default();
            let (server, rules) = registry(folder.path(), &disk);
            let namespace = register(&server, &rules, NODES);
            disk.set_broken(true);
            let (send, lost) = mpsc::channel();
            let same = Arc::clone(&rules);
            // On the thread of the database, nothing comes between these calls: one step is written before the commit.
            let begin = move |_| {
                assert_eq!(same.forget("P"), Ok(()));
                let then = move |lost: Result<(), _>| send.send(lost.is_err()).unwrap();
                same.database.settle(None, Box::new(then));
            };
            rules.database.settle(None, Box::new(begin));
            assert_eq!(lost.recv(), Ok(true));
            assert_eq!(left(&server, namespace), NODES as usize - STEP);
            assert!(is_removing(&rules), "nodes are left");
            assert!(rules.names.is_taken(namespace));
            disk.set_broken(false);
            rules.database.settle_now().unwrap_err();
            if forgets {
                assert_eq!(rules.forget("P"), Ok(()));
            }
            let closed = Err(StatusCode::BadInvalidState);
            assert_eq!(rules.may_register(&newcomer(), "P"), closed);
            while is_removing(&rules) {
                rules.database.settle_now().unwrap();
            }
            assert_eq!(left(&server, namespace), 0);
            assert_eq!(rules.may_register(&newcomer(), "P"), Ok(()));
            assert!(!rules.names.is_taken(namespace));
            let contents = rules.database.load().unwrap();
            assert!(contents.changes.is_empty() && contents.owners.is_empty());
            assert!(contents.providers.is_empty());
        }
    }
}
