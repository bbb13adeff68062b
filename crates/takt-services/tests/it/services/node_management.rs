//! NodeManagement: rules of the application, and effects on other clients (OPC 10000-4, 5.8).

use std::sync::{Arc, Mutex};

use crate::common::{Client, builder, server};
use crate::services::nodes::*;
use takt_services::{EverybodyManages, NodeManagement, ServerBudgets};
use takt_space::{Caller, Change, MethodHandler, Value};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{DataValue, ExpandedNodeId, NodeId, StatusCode, Variant, ids};

#[test]
fn a_server_without_rules_has_no_node_management() {
    let mut client = Client::new(&server());
    let request_header = client.header();
    let request = AddNodesRequest {
        request_header,
        nodes_to_add: vec![object("A")],
    };
    let refused: Result<AddNodesResponse, _> = client.call(request);
    assert_eq!(refused.unwrap_err(), StatusCode::BadServiceUnsupported);
}

#[test]
fn the_address_space_is_bounded() {
    let budgets = ServerBudgets {
        max_nodes: 3,
        max_namespaces: 3,
        ..ServerBudgets::default()
    };
    let server = builder()
        .budgets(budgets)
        .node_management(Arc::new(EverybodyManages))
        .build()
        .unwrap();
    let mut client = Client::new(&server);
    let uri = |uri: &str| AddNodesItem {
        requested_new_node_id: ExpandedNodeId {
            namespace_uri: uri.into(),
            ..NodeId::string(0, uri).into()
        },
        ..object(uri)
    };
    assert!(add_one(&mut client, uri("urn:1")).is_ok());
    assert_eq!(
        add_one(&mut client, uri("urn:2")),
        Err(StatusCode::BadResourceUnavailable)
    );
    assert!(add_one(&mut client, object("A")).is_ok());
    let b = add_one(&mut client, object("B")).unwrap();
    assert_eq!(
        add_one(&mut client, object("C")),
        Err(StatusCode::BadResourceUnavailable)
    );
    assert_eq!(delete(&mut client, &b, true), StatusCode::Good);
    assert!(add_one(&mut client, object("C")).is_ok());
}

/// Rules that record all changes, and refuse some names.
#[derive(Default)]
struct Rules(Mutex<Vec<String>>);

impl Rules {
    fn log(&self, what: &str, change: &Change) {
        let change = match change {
            Change::AddNamespace { uri, .. } => format!("namespace {uri}"),
            Change::AddNode(item) => format!("add {}", item.requested_new_node_id.node_id),
            Change::AddReference(item) => format!("reference to {}", item.target_node_id.node_id),
            Change::DeleteNode(item) => format!("delete {}", item.node_id),
            Change::DeleteReference(_) => "delete reference".to_owned(),
            Change::SetAttribute(change) => format!("set {}", change.attribute_id),
        };
        self.0.lock().unwrap().push(format!("{what} {change}"));
    }
}

impl NodeManagement for Rules {
    fn new_node_id(&self, _: &Caller, item: &AddNodesItem) -> Option<NodeId> {
        Some(NodeId::string(1, item.browse_name.name.as_str()))
    }

    fn authorize(&self, caller: &Caller, change: &Change) -> Result<(), StatusCode> {
        self.log("authorize", change);
        match change {
            Change::AddNode(item) if item.browse_name.name == "Forbidden" => {
                Err(StatusCode::BadUserAccessDenied)
            }
            Change::DeleteNode(_) if caller.peer().user() != Some(1000) => {
                Err(StatusCode::BadUserAccessDenied)
            }
            _ => Ok(()),
        }
    }

    fn commit(&self, _: &Caller, changes: &[Change], _: u64) -> Result<(), StatusCode> {
        changes.iter().for_each(|change| self.log("commit", change));
        match changes.first() {
            Some(Change::AddNode(item)) if item.browse_name.name == "Full" => {
                Err(StatusCode::BadOutOfMemory)
            }
            _ => Ok(()),
        }
    }

    fn value(&self, _: &Caller, item: &AddNodesItem) -> Option<Value> {
        (item.browse_name.name == "Live").then(|| Value::callback(|| DataValue::good(42_u32)))
    }

    fn method(&self, _: &Caller, _: &AddNodesItem) -> Option<MethodHandler> {
        Some(MethodHandler::local(
            |_: &Caller, _: &NodeId, _: &[Variant]| Ok::<_, takt_space::CallError>(Vec::new()),
        ))
    }

    fn applied(&self, _: &Caller, changes: &[Change]) {
        changes
            .iter()
            .for_each(|change| self.log("applied", change));
    }
}

#[test]
fn rules_decide_before_anything_is_visible() {
    let rules = Arc::new(Rules::default());
    let server = builder()
        .node_management(Arc::clone(&rules) as _)
        .build()
        .unwrap();
    let mut client = Client::new(&server);
    let logged = || std::mem::take(&mut *rules.0.lock().unwrap());
    assert_eq!(
        add_one(&mut client, object("A")),
        Ok(NodeId::string(1, "A"))
    );
    assert_eq!(
        logged(),
        [
            "authorize add ns=1;s=A",
            "commit add ns=1;s=A",
            "applied add ns=1;s=A"
        ]
    );
    assert_eq!(
        add_one(&mut client, object("Forbidden")),
        Err(StatusCode::BadUserAccessDenied)
    );
    assert_eq!(logged(), ["authorize add ns=1;s=Forbidden"]);
    assert_eq!(
        add_one(&mut client, object("Full")),
        Err(StatusCode::BadOutOfMemory)
    );
    assert_eq!(logged().len(), 2, "nothing was applied");
    assert!(
        server
            .address_space()
            .view()
            .node(&NodeId::string(1, "Full"))
            .is_none()
    );

    let live = add_one(&mut client, item(NodeClass::Variable, "Live")).unwrap();
    assert_eq!(client.read_value(live).value, Some(42_u32.into()));
    let method = add_one(&mut client, item(NodeClass::Method, "Run")).unwrap();
    assert_eq!(client.read_attribute(method, 21).value, Some(true.into()));
    logged();
    let analog = AddNodesItem {
        type_definition: ids::ANALOG_ITEM_TYPE.into(),
        ..variable("Analog", ids::DOUBLE, 1.0)
    };
    add_one(&mut client, analog).unwrap();
    assert_eq!(
        logged(),
        [
            "authorize add ns=1;s=Analog",
            "authorize add ns=1;s=EURange",
            "commit add ns=1;s=Analog",
            "commit add ns=1;s=EURange",
            "applied add ns=1;s=Analog",
            "applied add ns=1;s=EURange",
        ]
    );
    let mut stranger = Client::connect_as(&server, Some(1001));
    stranger.create().unwrap();
    stranger.activate().unwrap();
    let a = NodeId::string(1, "A");
    assert_eq!(
        delete(&mut stranger, &a, true),
        StatusCode::BadUserAccessDenied
    );
    assert_eq!(delete(&mut client, &a, true), StatusCode::Good);
}

#[test]
fn changes_can_be_applied_again_to_another_server() {
    #[derive(Default)]
    struct Recorder(Mutex<Vec<Change>>);
    impl NodeManagement for Recorder {
        fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
            Ok(())
        }
        fn commit(&self, _: &Caller, changes: &[Change], _: u64) -> Result<(), StatusCode> {
            self.0.lock().unwrap().extend_from_slice(changes);
            Ok(())
        }
    }
    let recorder = Arc::new(Recorder::default());
    let server = builder()
        .node_management(Arc::clone(&recorder) as _)
        .build()
        .unwrap();
    let mut client = Client::new(&server);
    let machine = AddNodesItem {
        requested_new_node_id: ExpandedNodeId {
            namespace_uri: "urn:provider".into(),
            ..NodeId::string(0, "m").into()
        },
        ..object("Machine")
    };
    let machine = add_one(&mut client, machine).unwrap();
    let analog = AddNodesItem {
        parent_node_id: machine.clone().into(),
        type_definition: ids::ANALOG_ITEM_TYPE.into(),
        ..variable("Load", ids::DOUBLE, 1.0)
    };
    let analog = add_one(&mut client, analog).unwrap();
    assert_eq!(
        connect(&mut client, reference(&machine, ids::ORGANIZES, &analog)),
        StatusCode::Good
    );
    let doomed = add_one(&mut client, object("Doomed")).unwrap();
    assert_eq!(delete(&mut client, &doomed, true), StatusCode::Good);

    let restored = builder().build().unwrap();
    for change in recorder.0.lock().unwrap().iter() {
        restored.address_space().apply(change).unwrap();
    }
    for node in [&machine, &analog, &ids::OBJECTS_FOLDER.into()] {
        assert_eq!(
            references(&restored, node),
            references(&server, node),
            "{node}"
        );
    }
    assert_eq!(
        restored
            .address_space()
            .namespaces()
            .index_of("urn:provider"),
        Some(machine.namespace)
    );
    let mut client = Client::new(&restored);
    assert_eq!(client.read_value(analog).value, Some(1.0.into()));
    assert_eq!(
        client.read_attribute(doomed, 1).status,
        Some(StatusCode::BadNodeIdUnknown)
    );
}

#[test]
fn readers_are_not_disturbed_by_changes() {
    let server = managed();
    let node = server
        .address_space()
        .add_variable((1, "V"))
        .value(Value::stored(1_u32))
        .add()
        .unwrap();
    std::thread::scope(|scope| {
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (changing, stop) = (Arc::clone(&server), Arc::clone(&done));
        scope.spawn(move || {
            let mut client = Client::new(&changing);
            for round in 0..200 {
                let a = add_one(&mut client, object(&format!("A{round}"))).unwrap();
                let b = AddNodesItem {
                    parent_node_id: a.clone().into(),
                    ..object("B")
                };
                add_one(&mut client, b).unwrap();
                assert_eq!(delete(&mut client, &a, true), StatusCode::Good);
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        for _ in 0..2 {
            let (server, node, done) = (Arc::clone(&server), node.clone(), Arc::clone(&done));
            scope.spawn(move || {
                let mut client = Client::new(&server);
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    assert_eq!(client.read_value(node.clone()).value, Some(1_u32.into()));
                    let request_header = client.header();
                    let description = BrowseDescription {
                        node_id: ids::OBJECTS_FOLDER.into(),
                        ..BrowseDescription::default()
                    };
                    let browse = BrowseRequest {
                        request_header,
                        nodes_to_browse: vec![description],
                        ..BrowseRequest::default()
                    };
                    let result = client
                        .call::<_, BrowseResponse>(browse)
                        .unwrap()
                        .results
                        .remove(0);
                    assert_eq!(result.status_code, StatusCode::Good);
                }
            });
        }
    });
}
