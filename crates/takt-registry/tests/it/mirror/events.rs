//! Events of a mirrored server: fields of its EventTypes, notifiers, rights, alarms, and a server that ends and comes back.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use takt_app::users::{User, UserFile, UserProof};
use takt_app::{
    Client, ClientOptions, Endpoint, EventNotification, EventQuery, Identity, LimitAlarm, NodeSets,
    Provider, Subscription, SubscriptionOptions, Variable,
};
use takt_crypto::PasswordHash;
use takt_space::{
    Event, MethodHandler, NodeAccess, RemoteMethod, RemoteOperations, RemoteRequest, RemoteSource,
    RoleSet, SourceKey, UserRole,
};
use takt_ua::enumerations::{FilterOperator, PermissionType};
use takt_ua::{ByteString, LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids};

use crate::mirror::support::{
    PATIENCE, eventually, find, mirror, port, registry, serve, tcp, users, wait_for,
};

/// Namespace of the EventTypes. One that begins with `urn:takt:` would be no namespace of mirrored types.
const PARTS: &str = "urn:test:parts";

/// An EventType with a field in its own namespace.
const EVENT_TYPES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris><Uri>urn:test:parts</Uri></NamespaceUris>
  <Models><Model ModelUri="urn:test:parts"><RequiredModel ModelUri="http://opcfoundation.org/UA/"/></Model></Models>
  <UAObjectType NodeId="ns=1;i=1" BrowseName="1:PartEventType"><References>
    <Reference ReferenceType="i=45" IsForward="false">i=2041</Reference>
    <Reference ReferenceType="i=46">ns=1;i=2</Reference>
  </References></UAObjectType>
  <UAVariable NodeId="ns=1;i=2" BrowseName="1:PartId" DataType="i=12"><References>
    <Reference ReferenceType="i=40">i=68</Reference><Reference ReferenceType="i=37">i=78</Reference>
    <Reference ReferenceType="i=46" IsForward="false">ns=1;i=1</Reference>
  </References></UAVariable>
</UANodeSet>"#;

/// The mirrored server, with an alarm above the limit 100.
fn upstream(directory: &Path, port: u16, speed: f64) -> Provider {
    Provider::builder("Mill")
        .without_registry()
        .endpoint(format!("opc.tcp://127.0.0.1:{port}"))
        .serve(serve(directory))
        .nodesets(&NodeSets::from_documents([("parts", EVENT_TYPES)]).unwrap())
        .variable(Variable::stored("Spindle/Speed", speed).writable())
        .alarm(LimitAlarm::new("Spindle/Overspeed", "Spindle/Speed").high(100.0, 700))
        .state_directory(directory.join("state"))
        .start()
        .unwrap()
}

fn connect(directory: &Path, endpoint: &Endpoint) -> Client {
    connect_as(directory, endpoint, Identity::Anonymous)
}

/// Makes anna an observer at the registry, and connects as this user.
fn connect_as_observer(directory: &Path, registry: &Endpoint) -> Client {
    let observer = User {
        name: "anna".to_owned(),
        roles: UserRole::Observer.into(),
        proof: UserProof::Password(PasswordHash::of(b"hammer").unwrap()),
    };
    UserFile::new(users(directory), RoleSet::default())
        .add(observer)
        .unwrap();
    let identity = Identity::UserName {
        name: "anna".to_owned(),
        password: "hammer".to_owned(),
    };
    connect_as(directory, registry, identity)
}

fn connect_as(directory: &Path, endpoint: &Endpoint, identity: Identity) -> Client {
    let options = ClientOptions {
        identity,
        timeout: PATIENCE,
        runtime_directory: Some(directory.join("runtime")),
        ..ClientOptions::named("Watch")
    };
    Client::connect(endpoint, options).unwrap()
}

fn set_speed(directory: &Path, provider: &Provider, speed: f64) {
    let mut client = connect(directory, &provider.endpoints()[0]);
    let node = provider.node_id("Spindle/Speed");
    client.write(&node, speed.into()).unwrap();
}

/// Reports an Event of the EventType of the NodeSet.
fn report(provider: &Provider, source: NodeId, part: &str) {
    let namespaces = provider.server().address_space().namespaces();
    let namespace = namespaces.index_of(PARTS).unwrap();
    let event = Event::new(NodeId::numeric(namespace, 1), source)
        .severity(300)
        .message(part)
        .field_at(vec![QualifiedName::new(namespace, "PartId")], part);
    assert!(provider.events().report(event));
}

/// Fields of the Events that are watched.
const FIELDS: [&str; 6] = [
    "Message",
    "EventId",
    "SourceNode",
    "EventType",
    "ActiveState/Id",
    "AckedState/Id",
];

fn query() -> EventQuery {
    EventQuery::new(FIELDS).condition_id()
}

/// Events at one node.
struct Watch(Subscription);

impl Watch {
    fn new(client: Client, node: &NodeId, query: EventQuery) -> Self {
        let options = SubscriptionOptions {
            publishing_interval: Duration::from_millis(10),
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(client, options).unwrap();
        subscription.monitor_events(node, query).unwrap();
        Self(subscription)
    }

    /// Returns the next Event.
    fn next(&mut self) -> EventNotification {
        eventually("an Event", PATIENCE, || {
            self.0.next_event(Duration::from_millis(100)).unwrap()
        })
    }

    /// Returns the next Event for which a condition holds.
    fn next_that(
        &mut self,
        what: &str,
        is_it: impl Fn(&EventNotification) -> bool,
    ) -> EventNotification {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let next = self.0.next_event(Duration::from_millis(100)).unwrap();
            if let Some(event) = next.filter(&is_it) {
                return event;
            }
        }
        panic!("no Event: {what}");
    }

    /// Returns the next Event with this text in its Message.
    fn next_with(&mut self, text: &str) -> EventNotification {
        self.next_that(text, |event| message(event).contains(text))
    }

    /// Acknowledges the alarm of an Event.
    fn acknowledge(&mut self, event: &EventNotification) -> Result<(), StatusCode> {
        let method = NodeId::from(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE);
        let inputs = vec![event.fields[1].clone(), LocalizedText::from("seen").into()];
        let client = self.0.client();
        let called = client.call_method(&node(&event.fields[6]), &method, inputs);
        called.map(drop).map_err(|error| error.status_code())
    }
}

fn message(event: &EventNotification) -> &str {
    match &event.fields[0] {
        Variant::LocalizedText(text) => text.text.as_str(),
        _ => "",
    }
}

fn node(value: &Variant) -> NodeId {
    match value {
        Variant::NodeId(node) => NodeId::clone(node),
        other => panic!("no NodeId: {other:?}"),
    }
}

#[test]
fn events_of_foreign_types_pass_filters_and_arrive_at_their_notifiers() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = upstream(directory, 0, 20.0);
    let (registry, mut client) = registry(directory, vec![mirror("Press", &tcp(&server))]);
    wait_for(&mut client, "Press/Mill/Spindle/Speed", &20.0.into());
    let event_type = client.find_by_type("PartEventType");
    assert!(event_type.is_ok(), "the type is mirrored: {event_type:?}");
    let parts = client.namespace_index(PARTS).unwrap().unwrap();
    let part_type = NodeId::numeric(parts, 1);
    let part_id = vec![QualifiedName::new(parts, "PartId")];
    let wheels = query()
        .declared_field(part_type.clone(), part_id.clone())
        .of_type(part_type.clone())
        .compare_declared(part_type.clone(), part_id, FilterOperator::Equals, "wheel");
    let at = |node: &NodeId, query: EventQuery| {
        Watch::new(connect(directory, &registry.endpoints()[0]), node, query)
    };
    let folder = find(&mut client, "Press").unwrap();
    let speed = find(&mut client, "Press/Mill/Spindle/Speed").unwrap();
    let object = find(&mut client, "Press/Mill").unwrap();
    let mut watches = [
        at(&ids::SERVER.into(), wheels.clone()),
        at(&folder, wheels.clone()),
        // A notifier of its alarms at the server, and so of all Events of their source.
        at(&object, wheels),
    ];
    // Events are forwarded a short time after the first client monitors them: until then nothing arrives.
    let mut all = at(&folder, query());
    eventually("Events are mirrored", PATIENCE, || {
        report(&server, NodeId::from(ids::SERVER), "begin");
        let event = all.0.next_event(Duration::from_millis(100)).unwrap()?;
        (message(&event) == "begin").then_some(event)
    });
    report(&server, server.node_id("Spindle/Speed"), "axle");
    report(&server, server.node_id("Spindle/Speed"), "wheel");
    for watch in &mut watches {
        let event = watch.next();
        assert_eq!(message(&event), "wheel");
        assert_eq!(node(&event.fields[2]), speed);
        assert_eq!(node(&event.fields[3]), part_type);
        assert_eq!(event.fields[7], "wheel".into());
    }
    // The Server Object of the mirrored server is not that of the registry.
    report(&server, NodeId::from(ids::SERVER), "from the server");
    let event = all.next_with("from the server");
    assert_eq!(node(&event.fields[2]), folder);
}

#[test]
fn an_alarm_is_acknowledged_through_the_mirror_and_comes_again_with_its_server() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = upstream(directory, 0, 20.0);
    let endpoint = tcp(&server);
    let (registry, mut client) = registry(directory, vec![mirror("Press", &endpoint)]);
    wait_for(&mut client, "Press/Mill/Spindle/Speed", &20.0.into());
    let alarms = query().of_type(ids::LIMIT_ALARM_TYPE);
    let at_server = |endpoint: &Endpoint, query: &EventQuery| {
        let client = connect(directory, endpoint);
        Watch::new(client, &ids::SERVER.into(), query.clone())
    };
    let mut watch = at_server(&registry.endpoints()[0], &alarms);
    set_speed(directory, &server, 150.0);
    let active = watch.next_with("150");
    let condition = find(&mut client, "Press/Mill/Spindle/Overspeed").unwrap();
    assert_eq!(node(&active.fields[6]), condition);
    assert_eq!(active.fields[4], true.into());

    // Observers receive Events, and may not call Methods.
    let client = connect_as_observer(directory, &registry.endpoints()[0]);
    let mut observer = Watch::new(client, &ids::SERVER.into(), alarms.clone());
    observer.0.refresh_conditions().unwrap();
    let seen = observer.next_with("150");
    let refused = observer.acknowledge(&seen).unwrap_err();
    assert_eq!(refused, StatusCode::BadUserAccessDenied);
    watch.acknowledge(&active).unwrap();
    let acknowledged = |watch: &mut Watch| {
        watch.next_that("it is acknowledged", |event| event.fields[5] == true.into());
    };
    acknowledged(&mut watch);
    acknowledged(&mut observer);
    let again = watch.acknowledge(&active).unwrap_err();
    assert_eq!(again, StatusCode::BadConditionBranchAlreadyAcked);

    // The server ends and comes back with an active alarm, about which nobody reports an Event then.
    let mut comings = at_server(
        &registry.endpoints()[0],
        &query().of_type(ids::SYSTEM_EVENT_TYPE),
    );
    drop(server);
    comings.next_with("Mirror Press is not available");
    let mut late = at_server(&registry.endpoints()[0], &alarms);
    late.0.refresh_conditions().unwrap();
    let server = upstream(directory, port(&endpoint), 170.0);
    let begin = Instant::now();
    let active = watch.next_with("170");
    println!("the alarm is there again after {:?}", begin.elapsed());
    comings.next_with("Mirror Press is available");
    late.next_with("170");
    watch.acknowledge(&active).unwrap();
    acknowledged(&mut watch);
    drop(server);
}

#[test]
fn events_of_a_source_reach_only_clients_with_the_permission() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = upstream(directory, 0, 20.0);
    let (registry, mut client) = registry(directory, vec![mirror("Press", &tcp(&server))]);
    wait_for(&mut client, "Press/Mill/Spindle/Speed", &20.0.into());
    let speed = find(&mut client, "Press/Mill/Spindle/Speed").unwrap();
    // A source that the server does not show, and that only security-admins may see at the registry.
    let mut access = NodeAccess::default();
    access.grant(UserRole::SecurityAdmin, PermissionType::ReceiveEvents);
    let space = registry.server().address_space();
    space
        .add_object(QualifiedName::new(speed.namespace, "Secret"))
        .node_id(NodeId::string(speed.namespace, "Secret"))
        .component_of(ids::OBJECTS_FOLDER)
        .access(access)
        .add()
        .unwrap();
    let watch = |client| Watch::new(client, &ids::SERVER.into(), query());
    let endpoint = &registry.endpoints()[0];
    let mut administrator = watch(connect(directory, endpoint));
    let mut observer = watch(connect_as_observer(directory, endpoint));
    eventually("Events are mirrored", PATIENCE, || {
        report(&server, server.node_id("Spindle/Speed"), "begin");
        let event = observer.0.next_event(Duration::from_millis(100)).unwrap()?;
        (message(&event) == "begin").then_some(event)
    });
    report(&server, server.node_id("Secret"), "secret");
    report(&server, server.node_id("Spindle/Speed"), "end");
    administrator.next_with("secret");
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last| last != "end") {
        seen.push(message(&observer.next()).to_owned());
    }
    assert!(!seen.iter().any(|text| text == "secret"), "{seen:?}");
}

#[test]
fn a_flood_of_events_does_not_stop_the_mirror() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = upstream(directory, 0, 20.0);
    let (registry, mut client) = registry(directory, vec![mirror("Press", &tcp(&server))]);
    wait_for(&mut client, "Press/Mill/Spindle/Speed", &20.0.into());
    let folder = find(&mut client, "Press").unwrap();
    let client = connect(directory, &registry.endpoints()[0]);
    let mut watch = Watch::new(client, &folder, query());
    let source = || server.node_id("Spindle/Speed");
    eventually("Events are mirrored", PATIENCE, || {
        report(&server, source(), "begin");
        watch.0.next_event(Duration::from_millis(100)).unwrap()
    });
    // Most of them are lost somewhere, and an EventQueueOverflowEvent tells it.
    let text = "x".repeat(30_000);
    for _ in 0..20_000 {
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, source()).message(text.as_str());
        server.events().report(event);
    }
    watch.next_that("an overflow is told", |event| {
        // A text of 30 000 bytes is too large for a mirrored Event.
        assert!(message(event).len() < 30_000);
        node(&event.fields[3]) == NodeId::from(ids::EVENT_QUEUE_OVERFLOW_EVENT_TYPE)
    });
    // The Subscription at the server may be a new one by now.
    let end = Event::new(ids::SYSTEM_EVENT_TYPE, source()).message("end");
    eventually("Events arrive again", PATIENCE, || {
        server.events().report(end.clone());
        let mut arrived = std::iter::from_fn(|| {
            let next = watch.0.next_event(Duration::from_millis(100));
            next.unwrap()
        });
        arrived.find(|event| message(event) == "end")
    });
}

/// Server of Conditions that are no nodes: it records each Acknowledge and accepts it.
#[derive(Default)]
struct HiddenConditions {
    key: SourceKey,
    acknowledged: Mutex<Vec<NodeId>>,
}

impl RemoteSource for HiddenConditions {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        if let RemoteOperations::Call(calls) = &request.operations {
            let conditions = calls.iter().map(|call| call.object_id.clone());
            self.acknowledged.lock().unwrap().extend(conditions);
        }
        let results = request.operations.failed(StatusCode::Good);
        request.reply.answer(results);
    }
}

#[test]
fn conditions_that_are_no_nodes_are_acknowledged_at_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = upstream(directory, 0, 20.0);
    let conditions = Arc::new(HiddenConditions::default());
    let acknowledge = NodeId::from(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE);
    let handler = MethodHandler::Remote(RemoteMethod {
        source: Arc::clone(&conditions) as Arc<dyn RemoteSource>,
        object_id: NodeId::NULL,
        method_id: acknowledge.clone(),
        checks_arguments: false,
        takes_unknown_objects: true,
    });
    let space = server.server().address_space();
    space.set_method(&acknowledge, handler).unwrap();
    let (registry, mut client) = registry(directory, vec![mirror("Press", &tcp(&server))]);
    wait_for(&mut client, "Press/Mill/Spindle/Speed", &20.0.into());
    let folder = find(&mut client, "Press").unwrap();
    let mut watch = Watch::new(
        connect(directory, &registry.endpoints()[0]),
        &folder,
        query(),
    );
    let namespace = server.node_id("Spindle/Speed").namespace;
    // One Condition has an identifier in namespace 0, which is that of the registry there.
    let hidden = [
        NodeId::string(namespace, "hidden"),
        NodeId::string(0, "standard"),
    ];
    for condition in &hidden {
        let event = eventually("an Event of the Condition", PATIENCE, || {
            let source = server.node_id("Spindle/Speed");
            let event = Event::new(ids::ALARM_CONDITION_TYPE, source)
                .of_condition(condition.clone())
                .message(condition.to_string().as_str());
            assert!(server.events().report(event));
            let next = watch.0.next_event(Duration::from_millis(100)).unwrap();
            next.filter(|event| message(event) == condition.to_string())
        });
        let at_registry = node(&event.fields[6]);
        assert_ne!(at_registry.namespace, 0);
        assert!(client.read_good(&at_registry).is_err(), "it is no node");
        watch.acknowledge(&event).unwrap();
        assert_eq!(
            conditions.acknowledged.lock().unwrap().pop().as_ref(),
            Some(condition)
        );
    }
    // A namespace of no server, and a Method that needs a node.
    let unknown = client.namespace_array().unwrap().len() as u16;
    let inputs = || {
        vec![
            ByteString::from(vec![1]).into(),
            LocalizedText::from("seen").into(),
        ]
    };
    for (object, method) in [
        (NodeId::string(unknown, "hidden"), acknowledge),
        (
            NodeId::string(0, "hidden"),
            ids::SERVER_GET_MONITORED_ITEMS.into(),
        ),
    ] {
        let refused = client.call_method(&object, &method, inputs()).unwrap_err();
        assert_eq!(refused.status_code(), StatusCode::BadNodeIdUnknown);
    }
}
