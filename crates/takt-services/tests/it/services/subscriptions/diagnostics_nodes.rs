//! Nodes of each Session and Subscription (OPC 10000-5, 6.3.3 to 6.3.5 and 7.10 to 7.16).

use takt_space::{Peer, RoleSet, UserRole};
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::{Elements, QualifiedName, Structure, ids};

use super::*;
use crate::common::builder;
use crate::services::browse::{browse, browse_up_to, describe, names};
use crate::services::test_users::TestUsers;

const SUBSCRIPTIONS: u32 = ids::SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY;
const SUMMARY: u32 = ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY;
const SESSIONS: u32 =
    ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY;
const SECURITY: u32 =
    ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY;

/// Returns a server whose clients may see all diagnostics.
fn server() -> Arc<Server> {
    let server = builder().build().unwrap();
    server.set_users(Arc::new(TestUsers {
        anonymous: |_| {
            RoleSet::of(&[
                UserRole::Observer,
                UserRole::Engineer,
                UserRole::SecurityAdmin,
            ])
            .authenticated()
        },
        ..TestUsers::default()
    }));
    server
}

/// Returns the components of a node.
fn components(client: &mut Client, of: impl Into<NodeId>) -> Vec<ReferenceDescription> {
    let result = browse(
        client,
        BrowseDescription {
            browse_direction: BrowseDirection::Forward,
            reference_type_id: ids::HAS_COMPONENT.into(),
            ..describe(of)
        },
    );
    assert_eq!(result.status_code, StatusCode::Good);
    result.references
}

/// Returns the only component with this name.
fn component(client: &mut Client, of: impl Into<NodeId>, name: &str) -> NodeId {
    let mut all = components(client, of);
    all.retain(|one| one.browse_name.name.as_str() == name);
    assert_eq!(all.len(), 1, "{name}: {all:?}");
    all.remove(0).node_id.node_id
}

fn good(client: &mut Client, node: &NodeId) -> Variant {
    let value = client.read_value(node.clone());
    assert_eq!(value.status_code(), StatusCode::Good, "{node}");
    value.value.unwrap()
}

fn structure<S: Structure + for<'a> takt_ua::binary::Decode<'a>>(value: &Variant) -> S {
    let Variant::ExtensionObject(structure) = value else {
        panic!("a structure, not {value:?}");
    };
    structure.decode_as().unwrap()
}

fn elements(value: Variant) -> Vec<ExtensionObject> {
    let Variant::Array(array) = value else {
        panic!("an array");
    };
    let Elements::ExtensionObject(all) = array.elements else {
        panic!("structures");
    };
    all
}

fn close(subscriber: &mut Subscriber) {
    let request = CloseSessionRequest {
        request_header: subscriber.client.header(),
        delete_subscriptions: true,
    };
    let _: CloseSessionResponse = subscriber.client.call(request).unwrap();
}

#[test]
fn each_entry_of_the_arrays_is_a_variable_with_its_fields() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    let mut observer = Client::new(&server);

    let entries = components(&mut observer, SUBSCRIPTIONS);
    let [entry] = &entries[..] else {
        panic!("{entries:?}");
    };
    assert_eq!(
        entry.browse_name.name.as_str(),
        subscriber.id.to_string().as_str()
    );
    assert_eq!(entry.node_class, NodeClass::Variable);
    let type_id = NodeId::from(ids::SUBSCRIPTION_DIAGNOSTICS_TYPE);
    assert_eq!(entry.type_definition.node_id, type_id);
    let entry = entry.node_id.node_id.clone();
    let whole: SubscriptionDiagnosticsDataType = structure(&good(&mut observer, &entry));
    assert_eq!(whole.subscription_id, subscriber.id);
    assert_eq!(components(&mut observer, entry.clone()).len(), 31);
    let field = component(&mut observer, entry.clone(), "PublishingInterval");
    assert_eq!(good(&mut observer, &field), 100.0.into());
    let data_type = observer.read_attribute(field, 14).value;
    assert_eq!(data_type, Some(NodeId::from(ids::DURATION).into()));

    // Two Sessions: the Subscription belongs to the first.
    let sessions = components(&mut observer, SESSIONS);
    assert_eq!(sessions.len(), 2);
    let all = observer.read_value(SESSIONS).value.unwrap();
    for (session, entry) in sessions.iter().zip(elements(all)) {
        assert_eq!(
            session.browse_name,
            QualifiedName::new(0, "SessionDiagnostics")
        );
        let id = &session.node_id.node_id;
        let whole: SessionDiagnosticsDataType = structure(&good(&mut observer, id));
        let entry: SessionDiagnosticsDataType = entry.decode_as().unwrap();
        assert_eq!(whole.session_id, entry.session_id);
        assert_eq!(components(&mut observer, id.clone()).len(), 43);
        let field = component(&mut observer, id.clone(), "SessionId");
        assert_eq!(good(&mut observer, &field), entry.session_id.clone().into());
        let field = component(&mut observer, id.clone(), "CurrentSubscriptionsCount");
        let expected = u32::from(entry.session_id == whole_session(&mut observer, subscriber.id));
        assert_eq!(good(&mut observer, &field), expected.into());
        let field = component(&mut observer, id.clone(), "ReadCount");
        let _: ServiceCounterDataType = structure(&good(&mut observer, &field));
    }
    let security = components(&mut observer, SECURITY);
    assert_eq!(security.len(), 2);
    let field = component(
        &mut observer,
        security[0].node_id.node_id.clone(),
        "TransportProtocol",
    );
    assert_eq!(good(&mut observer, &field), "opc.iox2".into());

    // With the Session, its nodes and those of its Subscription go.
    let first = sessions[0].node_id.node_id.clone();
    close(&mut subscriber);
    for gone in [first, entry] {
        let status = observer.read_value(gone.clone()).status_code();
        assert_eq!(status, StatusCode::BadNodeIdUnknown);
        let status = browse(&mut observer, describe(gone)).status_code;
        assert_eq!(status, StatusCode::BadNodeIdUnknown);
    }
    assert!(components(&mut observer, SUBSCRIPTIONS).is_empty());
    assert_eq!(components(&mut observer, SESSIONS).len(), 1);
}

/// Returns the SessionId of a Subscription.
fn whole_session(client: &mut Client, id: u32) -> NodeId {
    let entry = component(client, SUBSCRIPTIONS, &id.to_string());
    let field = component(client, entry, "SessionId");
    match good(client, &field) {
        Variant::NodeId(id) => *id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_is_an_object_with_its_name() {
    let server = server();
    let subscriber = Subscriber::new(&server);
    let mut client = Client::connect(&server);
    let request_header = client.header();
    let created: CreateSessionResponse = client
        .call(CreateSessionRequest {
            request_header,
            session_name: "Watch".into(),
            requested_session_timeout: 60_000.0,
            ..CreateSessionRequest::default()
        })
        .unwrap();
    client.token = created.authentication_token;
    client.activate().unwrap();
    let object = component(&mut client, SUMMARY, "Watch");
    assert_eq!(object, created.session_id);
    let all = browse(
        &mut client,
        BrowseDescription {
            browse_direction: BrowseDirection::Both,
            ..describe(object.clone())
        },
    );
    let expected = [
        "SessionDiagnosticsObjectType",
        "SessionsDiagnosticsSummary",
        "SessionDiagnostics",
        "SessionSecurityDiagnostics",
        "SubscriptionDiagnosticsArray",
    ];
    assert_eq!(names(&all), expected);
    // The Variables are those of the arrays.
    let session = component(&mut client, object.clone(), "SessionDiagnostics");
    let parents = browse(
        &mut client,
        BrowseDescription {
            browse_direction: BrowseDirection::Inverse,
            ..describe(session)
        },
    );
    assert_eq!(names(&parents), ["SessionDiagnosticsArray", "Watch"]);
    // The other Session has the Subscription.
    let own = component(&mut client, object, "SubscriptionDiagnosticsArray");
    assert!(elements(good(&mut client, &own)).is_empty());
    let owner = whole_session(&mut client, subscriber.id);
    let array = component(&mut client, owner, "SubscriptionDiagnosticsArray");
    assert_eq!(elements(good(&mut client, &array)).len(), 1);
    let entry = component(&mut client, array.clone(), &subscriber.id.to_string());
    assert_eq!(
        entry,
        component(&mut client, SUBSCRIPTIONS, &subscriber.id.to_string())
    );
    let rank = client.read_attribute(array, 15).value;
    assert_eq!(rank, Some(1_i32.into()));

    // A path leads to a field.
    let element = |namespace, name: &str| RelativePathElement {
        reference_type_id: ids::HAS_COMPONENT.into(),
        target_name: QualifiedName::new(namespace, name),
        ..RelativePathElement::default()
    };
    let request = TranslateBrowsePathsToNodeIdsRequest {
        request_header: client.header(),
        browse_paths: vec![BrowsePath {
            starting_node: SUMMARY.into(),
            relative_path: RelativePath {
                elements: vec![
                    element(1, "Watch"),
                    element(0, "SessionDiagnostics"),
                    element(0, "SessionName"),
                ],
            },
        }],
    };
    let translated: TranslateBrowsePathsToNodeIdsResponse = client.call(request).unwrap();
    let field = translated.results[0].targets[0].target_id.node_id.clone();
    assert_eq!(good(&mut client, &field), "Watch".into());
    assert_eq!(
        client.write_value(field.clone(), "x"),
        StatusCode::BadNotWritable
    );
    let space = server.address_space();
    assert!(space.edit().delete_node(&field, true).is_err());
}

#[test]
fn fields_can_be_monitored_until_the_session_ends() {
    let server = server();
    let mut observed = Subscriber::new(&server);
    let mut subscriber = Subscriber::new(&server);
    let owner = whole_session(&mut subscriber.client, observed.id);
    let session = component(&mut subscriber.client, owner, "SessionDiagnostics");
    let count = component(
        &mut subscriber.client,
        session,
        "CurrentMonitoredItemsCount",
    );
    let entry = component(
        &mut subscriber.client,
        SUBSCRIPTIONS,
        &observed.id.to_string(),
    );
    let items = component(&mut subscriber.client, entry, "MonitoredItemCount");
    let watched = [(&count, 1), (&items, 2)].map(|(node, handle)| {
        let mut sampled = item(node, handle, 1);
        sampled.requested_parameters.sampling_interval = 50.0;
        sampled
    });
    let created = subscriber.monitor(watched.to_vec()).unwrap();
    assert!(created.iter().all(|one| one.status_code.is_good()));
    // They are sampled under the lock of all Subscriptions, and are not those of the sample before.
    assert_eq!(subscriber.values(), [(1, 0_u32.into()), (2, 0_u32.into())]);
    let node = variable(&server, "a", &Value::stored(1_u32));
    observed.watch(&node, 1, 1);
    assert_eq!(subscriber.values(), [(1, 1_u32.into()), (2, 1_u32.into())]);
    assert!(subscriber.values().is_empty());
    close(&mut observed);
    let gone = subscriber.changes().into_iter();
    let gone: Vec<_> = gone
        .map(|(handle, value)| (handle, value.status_code()))
        .collect();
    let unknown = StatusCode::BadNodeIdUnknown;
    assert_eq!(gone, [(1, unknown), (2, unknown)]);
    let refused = subscriber.monitor(vec![item(&count, 3, 1)]).unwrap();
    assert_eq!(refused[0].status_code, unknown);
}

#[test]
fn pages_of_sessions_go_on_after_one_that_has_ended() {
    let server = server();
    let mut others: Vec<_> = (0..10).map(|_| Subscriber::new(&server)).collect();
    let mut client = Client::new(&server);
    let wanted = BrowseDescription {
        browse_direction: BrowseDirection::Forward,
        reference_type_id: ids::HAS_COMPONENT.into(),
        ..describe(SESSIONS)
    };
    let page = browse_up_to(&mut client, 4, vec![wanted])
        .unwrap()
        .remove(0);
    assert_eq!(page.references.len(), 4);
    // The last one of the page, and the next one.
    close(&mut others[3]);
    close(&mut others[4]);
    let request = BrowseNextRequest {
        request_header: client.header(),
        continuation_points: vec![page.continuation_point],
        ..BrowseNextRequest::default()
    };
    let mut next: BrowseNextResponse = client.call(request).unwrap();
    let next = next.results.remove(0);
    assert_eq!(next.references.len(), 4);
    let id = |reference: &ReferenceDescription| reference.node_id.node_id.clone();
    let all = components(&mut client, SESSIONS);
    let rest: Vec<_> = all.iter().map(id).skip(3).take(4).collect();
    assert_eq!(next.references.iter().map(id).collect::<Vec<_>>(), rest);
}

#[test]
fn nodes_of_other_clients_are_for_engineers_and_administrators() {
    let server = builder().build().unwrap();
    let roles = |peer: &Peer| {
        let role = match peer.user() {
            Some(1) => UserRole::Operator,
            Some(2) => UserRole::Engineer,
            _ => UserRole::SecurityAdmin,
        };
        RoleSet::from(role).authenticated()
    };
    server.set_users(Arc::new(TestUsers {
        anonymous: roles,
        ..TestUsers::default()
    }));
    let [mut operator, mut engineer, mut admin] = [1, 2, 3].map(|user| {
        let mut client = Client::connect_as(&server, Some(user));
        client.create().unwrap();
        client.activate().unwrap();
        client
    });
    let sessions = components(&mut admin, SESSIONS);
    let security = components(&mut admin, SECURITY);
    assert_eq!((sessions.len(), security.len()), (3, 3));
    assert_eq!(components(&mut engineer, SESSIONS).len(), 3);
    let denied = browse(&mut engineer, describe(SECURITY)).status_code;
    assert_eq!(denied, StatusCode::BadUserAccessDenied);
    assert!(components(&mut operator, SESSIONS).is_empty());
    let one = components(&mut operator, SUMMARY);
    assert_eq!(one.len(), 1, "the array only: {one:?}");
    let session = sessions[0].node_id.node_id.clone();
    let field = component(&mut admin, session.clone(), "SessionName");
    let security = security[0].node_id.node_id.clone();
    let secret = component(&mut admin, security.clone(), "ClientUserIdOfSession");
    for (client, open, secrets) in [
        (&mut operator, false, false),
        (&mut engineer, true, false),
        (&mut admin, true, true),
    ] {
        for (node, allowed) in [
            (&session, open),
            (&field, open),
            (&security, secrets),
            (&secret, secrets),
        ] {
            let expected = match allowed {
                true => StatusCode::Good,
                false => StatusCode::BadUserAccessDenied,
            };
            assert_eq!(client.read_value(node.clone()).status_code(), expected);
        }
    }
    // AccessRestrictions as in the NodeSet: signed and encrypted.
    let restrictions = admin.read_attribute(secret, 26).value;
    assert_eq!(restrictions, Some(3_u16.into()));
}

#[test]
fn sessions_take_no_places_in_the_address_space() {
    let server = server();
    let nodes = server.address_space().nodes_of_namespace(1).len();
    let _others: Vec<_> = (0..50).map(|_| Client::new(&server)).collect();
    let mut client = Client::new(&server);
    let mut fields = 0;
    for session in components(&mut client, SESSIONS) {
        fields += components(&mut client, session.node_id.node_id).len();
    }
    assert_eq!(fields, 51 * 43);
    assert_eq!(server.address_space().nodes_of_namespace(1).len(), nodes);
}
