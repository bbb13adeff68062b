//! Tests of a registry whose disk is slow or full: only the clients whose changes are made durable notice.

use std::path::Path;
use std::thread::ScopedJoinHandle;

use takt_app::serve::ServeOptions;
use takt_app::{Attribute, Client};
use takt_space::Change;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{
    AddNodesItem, AddNodesRequest, CallMethodRequest, CallRequest, DeleteNodesItem,
    DeleteNodesRequest,
};
use takt_ua::{ExpandedNodeId, QualifiedName, ids};

use super::*;
use crate::database::test_disk::TestDisk;

/// A registry in a folder, on a disk that the test holds.
pub(super) struct Setting {
    pub(super) folder: tempfile::TempDir,
    pub(super) disk: TestDisk,
    pub(super) registry: Registry,
}

pub(super) fn options(folder: &Path) -> RegistryOptions {
    RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: folder.join("registry.redb"),
        serve: ServeOptions {
            runtime_directory: Some(folder.join("runtime")),
            ..ServeOptions::default()
        },
        ..RegistryOptions::default()
    }
}

impl Setting {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = TestDisk::default();
        let options = options(folder.path());
        let database = Database::on(&disk, &options.database);
        Self {
            registry: Registry::start_with(database, options).unwrap(),
            folder,
            disk,
        }
    }

    /// Connects a client that may act for the Provider of its name.
    pub(super) fn client(&self, name: &str) -> Client {
        client(&self.registry, self.folder.path(), name)
    }

    /// Registers a Provider.
    pub(super) fn provider(&self, name: &str) -> Client {
        let mut client = self.client(name);
        assert_eq!(register(&mut client), StatusCode::Good);
        client
    }
}

pub(super) fn client(registry: &Registry, folder: &Path, name: &str) -> Client {
    let options = ClientOptions {
        application_uri: model::provider_uri(name),
        runtime_directory: Some(folder.join("runtime")),
        timeout: std::time::Duration::from_secs(60),
        ..ClientOptions::named(name)
    };
    Client::new(&registry.endpoints()[0], options)
}

pub(super) fn add(client: &mut Client, nodes_to_add: Vec<AddNodesItem>) -> Vec<StatusCode> {
    let response = client.call(AddNodesRequest {
        nodes_to_add,
        ..AddNodesRequest::default()
    });
    let results = response.unwrap().results;
    results.iter().map(|result| result.status_code).collect()
}

/// Adds the Object of the client's Provider.
pub(super) fn register(client: &mut Client) -> StatusCode {
    let name = client.options().application_name.clone();
    let model = client.namespace_index(model::NAMESPACE_URI);
    let model = model.unwrap().unwrap();
    let object = AddNodesItem {
        parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
        reference_type_id: NodeId::from(ids::ORGANIZES),
        requested_new_node_id: ExpandedNodeId {
            node_id: NodeId::numeric(0, model::provider::OBJECT),
            namespace_uri: model::provider_uri(&name).as_str().into(),
            server_index: 0,
        },
        browse_name: QualifiedName::new(model, name.as_str()),
        node_class: NodeClass::Object,
        type_definition: NodeId::numeric(model, model::PROVIDER_TYPE).into(),
        ..AddNodesItem::default()
    };
    add(client, vec![object])[0]
}

pub(super) fn namespace(client: &mut Client) -> u16 {
    let uri = model::provider_uri(&client.options().application_name);
    client.namespace_index(&uri).unwrap().unwrap()
}

/// Adds an Object of the client's Provider.
fn add_object(client: &mut Client, name: &str) -> StatusCode {
    add_object_with(client, name, name)
}

/// Adds an Object with this BrowseName.
fn add_object_with(client: &mut Client, name: &str, browse_name: &str) -> StatusCode {
    let namespace = namespace(client);
    let object = AddNodesItem {
        parent_node_id: NodeId::numeric(namespace, model::provider::OBJECT).into(),
        reference_type_id: NodeId::from(ids::HAS_COMPONENT),
        requested_new_node_id: NodeId::string(namespace, name).into(),
        browse_name: QualifiedName::new(namespace, browse_name),
        node_class: NodeClass::Object,
        type_definition: NodeId::from(ids::BASE_OBJECT_TYPE).into(),
        ..AddNodesItem::default()
    };
    add(client, vec![object])[0]
}

pub(super) fn delete(client: &mut Client, node: &NodeId) -> StatusCode {
    let response = client.call(DeleteNodesRequest {
        nodes_to_delete: vec![DeleteNodesItem {
            node_id: node.clone(),
            delete_target_references: true,
        }],
        ..DeleteNodesRequest::default()
    });
    response.unwrap().results[0]
}

pub(super) fn exists(client: &mut Client, node: &NodeId) -> bool {
    let read = client.read_attribute(node, Attribute::NodeClass);
    read.unwrap().status_code() == StatusCode::Good
}

fn wait_until_visible(client: &mut Client, node: &NodeId) {
    while !exists(client, node) {
        std::thread::yield_now();
    }
}

fn status(adding: ScopedJoinHandle<'_, StatusCode>) -> StatusCode {
    adding.join().unwrap()
}

#[test]
fn a_slow_disk_delays_only_the_client_that_changes_something() {
    let setting = Setting::new();
    let mut provider = setting.provider("P");
    let node = NodeId::string(namespace(&mut provider), "A");
    let mut reader = setting.client("Reader");
    reader.set_timeout(std::time::Duration::from_secs(10));
    assert!(!exists(&mut reader, &node));
    setting.disk.hold();
    std::thread::scope(|scope| {
        let adding = scope.spawn(|| add_object(&mut provider, "A"));
        setting.disk.wait_for_sync();
        // Other clients use the registry, and see the node.
        let served = reader.read_attribute(&node, Attribute::NodeClass);
        let is_waiting = !adding.is_finished();
        setting.disk.release();
        assert_eq!(served.unwrap().status_code(), StatusCode::Good);
        assert!(is_waiting, "the node is confirmed when it is durable");
        assert_eq!(status(adding), StatusCode::Good);
    });
}

#[test]
fn a_full_disk_takes_back_what_was_being_stored_and_what_depends_on_it() {
    let setting = Setting::new();
    let (mut first, mut second) = (setting.provider("P"), setting.provider("Q"));
    let mut reader = setting.client("Reader");
    let nodes = [("A", &mut first), ("B", &mut second)];
    let nodes = nodes.map(|(name, client)| NodeId::string(namespace(client), name));
    setting.disk.hold();
    std::thread::scope(|scope| {
        let a = scope.spawn(|| add_object(&mut first, "A"));
        setting.disk.wait_for_sync();
        let b = scope.spawn(|| add_object(&mut second, "B"));
        for node in &nodes {
            wait_until_visible(&mut reader, node);
        }
        setting.disk.set_broken(true);
        setting.disk.release();
        for adding in [a, b] {
            assert_eq!(status(adding), StatusCode::BadResourceUnavailable);
        }
        for node in &nodes {
            assert!(!exists(&mut reader, node));
        }
    });
    // With room on the disk everything works again, and is there after a restart.
    setting.disk.set_broken(false);
    assert_eq!(add_object(&mut first, "A"), StatusCode::Good);
    assert_eq!(add_object(&mut second, "B"), StatusCode::Good);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((first, second, reader, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut reader = client(&registry, folder.path(), "Reader");
    for node in &nodes {
        assert!(exists(&mut reader, node));
    }
}

#[test]
fn keys_of_a_security_group_wait_for_the_disk_and_a_lost_group_is_gone() {
    let setting = Setting::new();
    let mut user = setting.client("User");
    let mut reader = setting.client("Reader");
    let folder = NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS);
    let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_ADD_SECURITY_GROUP);
    let inputs = [
        "Plant".into(),
        3_600_000.0.into(),
        "".into(),
        2_u32.into(),
        1_u32.into(),
    ];
    let add = |user: &mut Client| user.call_method(&folder, &method, inputs.to_vec());
    let group = NodeId::string(1, "SecurityGroups/Plant");
    assert!(!exists(&mut reader, &group));
    setting.disk.hold();
    std::thread::scope(|scope| {
        let adding = scope.spawn(|| add(&mut user).map(drop));
        setting.disk.wait_for_sync();
        assert!(exists(&mut reader, &group));
        // Another client asks for keys that may be lost.
        let asking = scope.spawn(|| reader.get_security_keys("Plant", 1).map(drop));
        setting.disk.set_broken(true);
        setting.disk.release();
        let lost = adding.join().unwrap().unwrap_err();
        assert_eq!(lost.status_code(), StatusCode::BadResourceUnavailable);
        asking.join().unwrap().unwrap_err();
    });
    assert!(!exists(&mut reader, &group));
    setting.disk.set_broken(false);
    add(&mut user).unwrap();
    assert!(exists(&mut reader, &group));
    reader.get_security_keys("Plant", 1).unwrap();
}

#[test]
fn registrations_are_delayed_while_too_much_waits_for_the_disk() {
    let setting = Setting::new();
    let rules = &setting.registry._ending.0;
    let mut reader = setting.client("Reader");
    let (mut first, mut second) = (setting.provider("P"), setting.provider("Q"));
    assert!(namespace(&mut first) != namespace(&mut second));
    let unknown = NodeId::numeric(1, 4711);
    assert!(!exists(&mut reader, &unknown));
    setting.disk.hold();
    std::thread::scope(|scope| {
        let a = scope.spawn(|| add_object(&mut first, "A"));
        setting.disk.wait_for_sync();
        let mut filled = Vec::new();
        for bits in (0..25).rev() {
            while let Ok(charge) = rules.reserve(1 << bits) {
                filled.push(charge);
            }
        }
        let sessions = setting.registry.server().memory_of_sessions();
        let before = sessions.used();
        let b = scope.spawn(|| add_object(&mut second, "B"));
        while sessions.used() == before && !b.is_finished() {
            assert!(!exists(&mut reader, &unknown), "others are served");
        }
        assert!(!b.is_finished());
        drop(filled);
        setting.disk.release();
        for adding in [a, b] {
            assert_eq!(status(adding), StatusCode::Good);
        }
    });
}

#[test]
fn methods_of_one_call_run_in_the_order_of_the_request() {
    let setting = Setting::new();
    let mut user = setting.client("User");
    let folder = NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS);
    let call = |method: u32, input_arguments: Vec<Variant>| CallMethodRequest {
        object_id: folder.clone(),
        method_id: method.into(),
        input_arguments,
    };
    let add = |lifetime: f64| {
        let inputs = vec![
            "Plant".into(),
            lifetime.into(),
            "".into(),
            2_u32.into(),
            1_u32.into(),
        ];
        let add = ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_ADD_SECURITY_GROUP;
        call(add, inputs)
    };
    let group = NodeId::string(1, "SecurityGroups/Plant");
    let remove = || {
        let remove = ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_REMOVE_SECURITY_GROUP;
        call(remove, vec![group.clone().into()])
    };
    // Each call needs the one before it.
    let calls = vec![
        remove(),
        add(10_000.0),
        add(20_000.0),
        remove(),
        add(30_000.0),
        remove(),
        remove(),
        add(40_000.0),
    ];
    let response = user.call(CallRequest {
        methods_to_call: calls,
        ..CallRequest::default()
    });
    let results = response.unwrap().results;
    let statuses = results.iter().map(|result| result.status_code);
    let expected = [
        StatusCode::BadNodeIdUnknown,
        StatusCode::Good,
        StatusCode::BadNodeIdExists,
        StatusCode::Good,
        StatusCode::Good,
        StatusCode::Good,
        StatusCode::BadNodeIdUnknown,
        StatusCode::Good,
    ];
    assert_eq!(statuses.collect::<Vec<_>>(), expected);
    assert!(exists(&mut user, &group));
}

#[test]
fn a_provider_whose_registration_is_lost_is_not_registered() {
    let setting = Setting::new();
    let mut newcomer = setting.client("New");
    setting.disk.set_broken(true);
    assert_eq!(register(&mut newcomer), StatusCode::BadResourceUnavailable);
    let refused = add_object(&mut newcomer, "A");
    assert_eq!(refused, StatusCode::BadParentNodeIdInvalid);
    setting.disk.set_broken(false);
    drop(newcomer);
    let mut newcomer = setting.provider("New");
    assert_eq!(add_object(&mut newcomer, "A"), StatusCode::Good);
}

#[test]
fn a_node_that_is_added_again_after_a_lost_deletion_is_the_new_one() {
    let setting = Setting::new();
    let mut provider = setting.provider("P");
    let node = NodeId::string(namespace(&mut provider), "A");
    assert_eq!(add_object_with(&mut provider, "A", "Old"), StatusCode::Good);
    setting.disk.set_broken(true);
    assert_eq!(
        delete(&mut provider, &node),
        StatusCode::BadResourceUnavailable
    );
    setting.disk.set_broken(false);
    assert_eq!(add_object_with(&mut provider, "A", "New"), StatusCode::Good);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((provider, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut reader = client(&registry, folder.path(), "Reader");
    let browse_name = reader.read_attribute(&node, Attribute::BrowseName);
    let expected = QualifiedName::new(node.namespace, "New");
    assert_eq!(browse_name.unwrap().value, Some(expected.into()));
    drop((reader, registry));
    // The file has one row of the node.
    let contents = Database::open(&folder.path().join("registry.redb"));
    let contents = contents.unwrap().load().unwrap();
    let is_node = |change: &Change| match change {
        Change::AddNode(item) => item.requested_new_node_id.node_id == node,
        _ => false,
    };
    let rows = contents
        .changes
        .iter()
        .filter(|(_, change)| is_node(change));
    assert_eq!(rows.count(), 1);
}

#[test]
fn a_provider_that_finds_its_registration_waits_until_it_is_durable() {
    for is_lost in [true, false] {
        let setting = Setting::new();
        let (mut first, mut second) = (setting.client("P"), setting.client("P"));
        let (mut reader, mut other) = (setting.client("Reader"), setting.client("P"));
        setting.disk.hold();
        std::thread::scope(|scope| {
            let adding = scope.spawn(|| register(&mut first));
            setting.disk.wait_for_sync();
            let node = NodeId::numeric(namespace(&mut other), model::provider::OBJECT);
            wait_until_visible(&mut reader, &node);
            let waiting = setting.registry.server().memory_of_sessions();
            let of_first = waiting.used();
            let again = scope.spawn(|| register(&mut second));
            while waiting.used() <= of_first && !again.is_finished() {
                std::thread::yield_now();
            }
            setting.disk.set_broken(is_lost);
            setting.disk.release();
            let lost = StatusCode::BadResourceUnavailable;
            let expected = match is_lost {
                true => [lost, lost],
                false => [StatusCode::Good, StatusCode::BadNodeIdExists],
            };
            assert_eq!([status(adding), status(again)], expected);
            assert_eq!(exists(&mut reader, &node), !is_lost);
        });
    }
}
