//! Tests of the thread of the database: who waits for a commit, and what a failed one takes with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use takt_database::DatabaseFault;
use takt_rt::memory_budget::MemoryBudget;
use takt_space::Change;
use takt_ua::NodeId;
use takt_ua::structures::AddNodesItem;

use super::test_disk::TestDisk;
use super::*;

/// Database on a disk that the test holds.
struct Setting {
    disk: TestDisk,
    database: Database,
    path: PathBuf,
    memory: MemoryBudget,
    undone: (mpsc::Sender<u32>, Receiver<u32>),
    _folder: tempfile::TempDir,
}

impl Setting {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("registry.redb");
        let disk = TestDisk::default();
        Self {
            database: Database::on(&disk, &path),
            disk,
            path,
            memory: MemoryBudget::unlimited(),
            undone: mpsc::channel(),
            _folder: folder,
        }
    }

    /// Hands over a node of a request that began with these losses.
    fn add(&self, number: u32, losses: u64) -> Result<(), DatabaseError> {
        let node = AddNodesItem {
            requested_new_node_id: NodeId::numeric(7, number).into(),
            ..AddNodesItem::default()
        };
        let undone = self.undone.0.clone();
        let of_client = OfClient {
            losses,
            undo: Box::new(move || undone.send(number).unwrap()),
            charge: self.memory.charge(100).unwrap(),
        };
        let registration = Registration {
            owner: "P".to_owned(),
            newcomer: None,
            changes: Arc::new([Change::AddNode(Box::new(node))]),
        };
        self.database.record(registration, Some(of_client))
    }

    /// Settles a request that began with these losses.
    fn settle(&self, losses: u64) -> Receiver<Result<(), Arc<DatabaseError>>> {
        let (send, settled) = mpsc::channel();
        let then = move |result| send.send(result).unwrap();
        self.database.settle(Some(losses), Box::new(then));
        settled
    }

    fn undone(&self) -> Vec<u32> {
        self.undone.1.try_iter().collect()
    }

    /// Closes the database, and returns the number of nodes on the disk.
    fn nodes_on_disk(self) -> usize {
        self.database.end();
        let database = Database::open(&self.path).unwrap();
        database.load().unwrap().changes.len()
    }
}

#[test]
fn changes_that_come_during_a_commit_share_the_next_one() {
    let setting = Setting::new();
    setting.add(1, 0).unwrap();
    let before = setting.disk.syncs();
    setting.settle(0).recv().unwrap().unwrap();
    let one_commit = setting.disk.syncs() - before;
    assert!(one_commit > 0);

    setting.disk.hold();
    setting.add(2, 0).unwrap();
    let first = setting.settle(0);
    setting.disk.wait_for_sync();
    let others: Vec<_> = (3..20)
        .map(|number| {
            setting.add(number, 0).unwrap();
            setting.settle(0)
        })
        .collect();
    assert!(first.try_recv().is_err(), "it waits for the disk");
    assert_eq!(setting.memory.used(), 1800);
    let before = setting.disk.syncs();
    setting.disk.release();
    first.recv().unwrap().unwrap();
    for other in others {
        other.recv().unwrap().unwrap();
    }
    assert_eq!(setting.disk.syncs() - before, 2 * one_commit);
    assert_eq!(setting.memory.used(), 0);
    assert_eq!(setting.undone(), [0_u32; 0]);
    assert_eq!(setting.nodes_on_disk(), 19);
}

#[test]
fn a_failed_commit_takes_back_everything_since_the_last_one() {
    let setting = Setting::new();
    setting.add(1, 0).unwrap();
    setting.settle(0).recv().unwrap().unwrap();
    setting.disk.hold();
    for number in [2, 3] {
        setting.add(number, 0).unwrap();
    }
    let first = setting.settle(0);
    setting.disk.wait_for_sync();
    // These may depend on the changes that are being committed.
    for number in [4, 5] {
        setting.add(number, 0).unwrap();
    }
    let second = setting.settle(0);
    setting.disk.set_broken(true);
    setting.disk.release();
    for lost in [first, second] {
        let error = lost.recv().unwrap().unwrap_err();
        let is_full = matches!(&*error, DatabaseError::File(error)
            if matches!(error.fault, DatabaseFault::Storage(_)));
        assert!(is_full, "{error:?}");
    }
    assert_eq!(setting.undone(), [5, 4, 3, 2], "the last one first");
    assert_eq!(setting.memory.used(), 0);
    setting.disk.set_broken(false);
    let losses = setting.database.losses();
    setting.add(6, losses).unwrap();
    setting.settle(losses).recv().unwrap().unwrap();
    assert_eq!(setting.nodes_on_disk(), 2);
}

#[test]
fn a_request_under_way_knows_that_another_commit_lost_its_changes() {
    let setting = Setting::new();
    // The request has made one of its changes.
    setting.add(1, 0).unwrap();
    // A SecurityGroup is stored, or the nodes of a Provider are removed.
    setting.disk.set_broken(true);
    let undo = Box::new(|| {});
    let database = &setting.database;
    let charge = setting.memory.charge(100).unwrap();
    let removed = database.remove_security_group("Plant", undo, charge);
    removed.unwrap();
    setting.database.settle_now().unwrap_err();
    setting.disk.set_broken(false);
    assert_eq!(setting.undone(), [1]);
    // The request goes on: what it still does could depend on what is lost.
    let refused = setting.add(2, 0).unwrap_err();
    assert!(matches!(refused, DatabaseError::Lost), "{refused:?}");
    let error = setting.settle(0).recv().unwrap().unwrap_err();
    assert!(matches!(*error, DatabaseError::Lost), "{error:?}");
    // Requests that began later are not concerned.
    let losses = setting.database.losses();
    setting.add(3, losses).unwrap();
    setting.settle(losses).recv().unwrap().unwrap();
    assert_eq!(setting.nodes_on_disk(), 1);
}

#[test]
fn the_end_waits_for_the_last_commit() {
    let setting = Setting::new();
    setting.disk.hold();
    setting.add(1, 0).unwrap();
    let settled = setting.settle(0);
    setting.disk.wait_for_sync();
    // Nobody waits for this one.
    setting.add(2, 0).unwrap();
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| setting.database.end());
        while setting.add(2, 0).is_ok() {
            // The end has not begun.
        }
        assert!(!ended.is_finished());
        setting.disk.release();
    });
    settled.recv().unwrap().unwrap();
    let late = setting.settle(0).recv().unwrap().unwrap_err();
    assert!(matches!(*late, DatabaseError::Lost), "{late:?}");
    assert!(matches!(setting.database.load(), Err(DatabaseError::Lost)));
    assert_eq!(setting.undone(), [0_u32; 0]);
    assert_eq!(setting.nodes_on_disk(), 2);
}
