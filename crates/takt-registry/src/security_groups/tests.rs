//! Tests of SecurityGroups whose disk is slow: their memory is bounded, and what is lost is taken back.

use std::path::Path;
use std::sync::mpsc;

use takt_app::{ClientOptions, model};
use takt_rt::memory_budget::Charge;
use takt_services::Server;
use takt_shm::Runtime;

use super::*;
use crate::database::Database;
use crate::database::test_disk::TestDisk;
use crate::names::{NameBudget, Names};
use crate::providers::Providers;
use crate::rules::MAX_WAITING;

const USER: u32 = 1000;

/// Ticks of a KeyLifetime of an hour.
const HOUR: i64 = 36_000_000_000;

/// SecurityGroups without endpoints, on a disk that the test holds.
struct Setting {
    disk: TestDisk,
    server: Arc<Server>,
    rules: Arc<Rules>,
    groups: Arc<SecurityGroups>,
}

impl Setting {
    fn new(folder: &Path) -> Self {
        let disk = TestDisk::default();
        let database = Database::on(&disk, &folder.join("registry.redb"));
        let mut contents = database.load().unwrap();
        let runtime = Runtime::open(Some(folder)).unwrap();
        let rules = Arc::new(Rules::new(
            database,
            Providers::new(ClientOptions::named("Registry"), true),
            Names::new(NameBudget::default(), runtime),
        ));
        let server = Server::builder("Registry", "urn:test:registry");
        let server = server.build().unwrap();
        let space = server.address_space();
        let model = space.namespaces().register(model::NAMESPACE_URI).unwrap();
        rules.bind(&server, model);
        let durable = DurableMethods::new(&rules);
        let groups = SecurityGroups::new(&rules, &durable, space, &mut contents, &[]).unwrap();
        groups.start(&[]).unwrap();
        Self {
            disk,
            server,
            rules,
            groups,
        }
    }

    fn add(&self, name: &str) -> Result<NodeId, StatusCode> {
        let wanted = SecurityGroupDataType {
            name: name.into(),
            ..SecurityGroupDataType::default()
        };
        self.groups.add(wanted, USER)
    }

    /// Lets the thread of the database wait for the disk.
    fn hold(&self) {
        self.disk.hold();
        self.rules.record_own(Vec::new()).unwrap();
        self.rules.database.settle(None, Box::new(|_| {}));
        self.disk.wait_for_sync();
    }

    /// Returns the memory of changes that wait for the disk.
    fn waiting(&self) -> usize {
        let server = &self.server;
        server.memory().used() - server.memory_of_nodes().used()
    }

    /// Returns the token of the current key so many hours after now.
    fn token(&self, name: &str, hours: i64) -> Result<u32, StatusCode> {
        let now = DateTime(DateTime::now().0 + hours * HOUR);
        let outputs = self.groups.keys(name, 0, 1, &KeyHolder::User(USER), now)?;
        match outputs[1] {
            Variant::UInt32(token) => Ok(token),
            ref other => panic!("{other:?}"),
        }
    }
}

/// Fills the budget of changes that wait for the disk, except for so many bytes.
fn fill(setting: &Setting, except: usize) -> Charge {
    let bytes = MAX_WAITING - setting.waiting() - except;
    setting.rules.reserve(bytes).unwrap()
}

#[test]
fn changes_of_clients_are_refused_when_too_much_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting::new(folder.path());
    let group = setting.add("Plant").unwrap();
    setting.rules.database.settle_now().unwrap();
    assert_eq!(setting.waiting(), 0);
    setting.hold();
    let filled = fill(&setting, 100_000);
    // A client adds and removes a group repeatedly.
    let mut rounds = 0;
    let refused = loop {
        let added = setting.add("Other");
        match added.and_then(|node| setting.groups.remove(&node, USER)) {
            Ok(()) => rounds += 1,
            Err(status) => break status,
        }
    };
    assert!((5..100).contains(&rounds), "{rounds}");
    assert_eq!(refused, StatusCode::BadTooManyOperations);
    let rest = fill(&setting, 0);
    let full = Err(StatusCode::BadTooManyOperations);
    assert_eq!(setting.add("Third").map(drop), full);
    assert_eq!(setting.groups.remove(&group, USER), full);
    let rotate = || {
        let rotated = SecurityGroup::rotate;
        setting.groups.change_keys("Plant", USER, "", rotated)
    };
    assert_eq!(rotate(), full);
    let token = setting.token("Plant", 0).unwrap();
    // Keys that are due are renewed nevertheless.
    assert_eq!(setting.token("Plant", 1), Ok(token + 1));
    drop((filled, rest));
    setting.disk.release();
    setting.rules.database.settle_now().unwrap();
    assert_eq!(setting.waiting(), 0);
    rotate().unwrap();
    setting.groups.remove(&group, USER).unwrap();
}

#[test]
fn a_group_has_one_renewal_that_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting::new(folder.path());
    setting.add("Plant").unwrap();
    setting.add("Line").unwrap();
    setting.rules.database.settle_now().unwrap();
    let first = setting.token("Plant", 0).unwrap();
    setting.hold();
    assert_eq!(setting.token("Plant", 1), Ok(first + 1));
    let one = setting.waiting();
    assert!(one > 0);
    assert!(setting.token("Line", 1).is_ok());
    for hours in 2..100 {
        let token = first + hours;
        assert_eq!(setting.token("Plant", i64::from(hours)), Ok(token));
    }
    assert!(setting.waiting() <= 2 * one, "one change of each group");
    setting.disk.release();
    setting.rules.database.settle_now().unwrap();
    // The file has the last renewal, and the highest token of all groups.
    let contents = setting.rules.database.load().unwrap();
    let mut records = contents.security_groups.iter();
    let record = records.find(|record| record.configuration.name.as_str() == "Plant");
    assert_eq!(record.unwrap().current_token_id, first + 99);
    assert_eq!(contents.last_token, setting.groups.lock().last_token);
    // A removal is not overtaken by a renewal.
    setting.hold();
    setting.token("Plant", 200).unwrap();
    let group = nodes::node_id("Plant");
    setting.groups.remove(&group, USER).unwrap();
    setting.add("Plant").unwrap();
    setting.groups.remove(&group, USER).unwrap();
    setting.disk.release();
    setting.rules.database.settle_now().unwrap();
    let contents = setting.rules.database.load().unwrap();
    assert_eq!(contents.security_groups.len(), 1);
}

#[test]
fn renewals_that_are_lost_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting::new(folder.path());
    setting.add("Plant").unwrap();
    setting.rules.database.settle_now().unwrap();
    let first = setting.token("Plant", 0).unwrap();
    setting.hold();
    for hours in 1..10 {
        setting.token("Plant", hours).unwrap();
    }
    let (send, settled) = mpsc::channel();
    let then = move |settled: Result<(), _>| send.send(settled.is_ok()).unwrap();
    setting.rules.database.settle(None, Box::new(then));
    setting.disk.set_broken(true);
    setting.disk.release();
    assert_eq!(settled.recv(), Ok(false));
    assert_eq!(setting.waiting(), 0);
    // The keys before them are current again.
    assert_eq!(setting.token("Plant", 0), Ok(first));
    setting.disk.set_broken(false);
    setting.rules.database.settle_now().unwrap_err();
    assert_eq!(setting.token("Plant", 5), Ok(first + 5));
    setting.rules.database.settle_now().unwrap();
    let contents = setting.rules.database.load().unwrap();
    let current = contents.security_groups[0].current_token_id;
    assert_eq!(current, first + 5);
}

#[test]
fn refused_members_are_reported_with_the_setting_that_admits_them() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let setting = Setting::new(folder.path());
    setting.add("Plant").unwrap();
    let stranger = KeyHolder::Application("urn:press\n".to_owned());
    for _ in 0..3 {
        let refused = setting
            .groups
            .keys("Plant", 0, 1, &stranger, DateTime::now());
        assert_eq!(refused, Err(StatusCode::BadUserAccessDenied));
    }
    let lines = setting.groups.refusals.lines();
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(line.contains(r"'Plant:urn:press\n'"), "{line}");
}
