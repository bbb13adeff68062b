//! RolePermissions and AccessRestrictions of nodes (OPC 10000-3, 5.2.9 to 5.2.11), for callers with different Roles.

use std::sync::Arc;

use takt_services::Server;
use takt_space::{CallError, Caller, NodeAccess, Peer, RoleSet, UserRole, Value, access_level};
use takt_ua::enumerations::{
    AccessRestrictionType, BrowseDirection, MessageSecurityMode, MonitoringMode, NodeClass,
    PermissionType as P,
};
use takt_ua::structures::*;
use takt_ua::{
    DataValue, Elements, ExtensionObject, NodeId, QualifiedName, StatusCode, Variant, ids,
};

use crate::common::{Client, VALUE, builder, read_id, write_of};
use crate::services::test_users::TestUsers;

/// Unix users of the test.
const OBSERVER: u32 = 1;
const OPERATOR: u32 = 2;
const ENGINEER: u32 = 3;
const ADMIN: u32 = 4;
const SUPERVISOR: u32 = 5;

/// Returns the Roles of a Unix user, of whom each has one.
fn one_each(peer: &Peer) -> RoleSet {
    let role = match peer.user() {
        Some(OPERATOR) => UserRole::Operator,
        Some(ENGINEER) => UserRole::Engineer,
        Some(ADMIN) => UserRole::SecurityAdmin,
        Some(SUPERVISOR) => UserRole::Supervisor,
        _ => UserRole::Observer,
    };
    RoleSet::from(role).authenticated()
}

/// A server with `Recipe`, which engineers write and observers see; `Secret`, which engineers alone see; `Open`; and the Method
/// `Calibrate`, which engineers call.
fn server() -> Arc<Server> {
    let server = builder().build().unwrap();
    server.set_users(Arc::new(TestUsers {
        anonymous: one_each,
        ..TestUsers::default()
    }));
    let space = server.address_space();
    let mut recipe = NodeAccess::default();
    recipe.grant(UserRole::Observer, P::Browse);
    recipe.grant(
        UserRole::Engineer,
        P::Browse | P::Read | P::Write | P::ReadRolePermissions,
    );
    let mut secret = NodeAccess::default();
    secret.grant(UserRole::Engineer, P::Browse | P::Read);
    let mut calibrate = NodeAccess::default();
    calibrate.grant(UserRole::Observer, P::Browse);
    calibrate.grant(UserRole::Engineer, P::Call);
    let variable = |name: &str, access: NodeAccess| {
        space
            .add_variable(QualifiedName::new(1, name))
            .node_id(NodeId::string(1, name))
            .value(Value::stored(1_u32))
            .writable()
            .access(access)
            .add()
            .unwrap();
    };
    variable("Recipe", recipe);
    variable("Secret", secret);
    space
        .add_variable(QualifiedName::new(1, "Open"))
        .node_id(NodeId::string(1, "Open"))
        .value(Value::stored(1_u32))
        .writable()
        .add()
        .unwrap();
    for (name, access) in [("Calibrate", calibrate), ("Start", NodeAccess::default())] {
        let handler = |_: &Caller, _: &NodeId, _: &[Variant]| Ok::<_, CallError>(Vec::new());
        space
            .add_method(QualifiedName::new(1, name))
            .node_id(NodeId::string(1, name))
            .handler(handler)
            .access(access)
            .add()
            .unwrap();
    }
    server
}

fn client(server: &Arc<Server>, user: u32) -> Client {
    let mut client = Client::connect_as(server, Some(user));
    client.create().unwrap();
    client.activate().unwrap();
    client
}

fn node(name: &str) -> NodeId {
    NodeId::string(1, name)
}

/// Reads in both forms, binary and laid out, which take different paths.
fn read(client: &mut Client, name: &str, attribute: u32) -> Result<Variant, StatusCode> {
    let first = client.read_attribute(node(name), attribute);
    let second = client.read_attribute(node(name), attribute);
    assert_eq!(first.status, second.status);
    match first.status {
        Some(status) if status.is_bad() => Err(status),
        _ => Ok(first.value.unwrap()),
    }
}

fn call(client: &mut Client, name: &str) -> StatusCode {
    let request_header = client.header();
    let called: CallResponse = client
        .call(CallRequest {
            request_header,
            methods_to_call: vec![CallMethodRequest {
                object_id: ids::OBJECTS_FOLDER.into(),
                method_id: node(name),
                input_arguments: Vec::new(),
            }],
        })
        .unwrap();
    called.results[0].status_code
}

fn browse(client: &mut Client, of: impl Into<NodeId>) -> Result<Vec<String>, StatusCode> {
    let request_header = client.header();
    let browsed: BrowseResponse = client
        .call(BrowseRequest {
            request_header,
            nodes_to_browse: vec![BrowseDescription {
                node_id: of.into(),
                browse_direction: BrowseDirection::Forward,
                result_mask: 63,
                ..BrowseDescription::default()
            }],
            ..BrowseRequest::default()
        })
        .unwrap();
    let result = &browsed.results[0];
    match result.status_code.is_bad() {
        true => Err(result.status_code),
        false => {
            let references = result.references.iter();
            let own = references.filter(|reference| reference.browse_name.namespace == 1);
            Ok(own
                .map(|reference| reference.browse_name.name.to_string())
                .collect())
        }
    }
}

fn translate(client: &mut Client, name: &str) -> StatusCode {
    let request_header = client.header();
    let translated: TranslateBrowsePathsToNodeIdsResponse = client
        .call(TranslateBrowsePathsToNodeIdsRequest {
            request_header,
            browse_paths: vec![BrowsePath {
                starting_node: ids::OBJECTS_FOLDER.into(),
                relative_path: RelativePath {
                    elements: vec![RelativePathElement {
                        reference_type_id: NodeId::NULL,
                        target_name: QualifiedName::new(1, name),
                        ..RelativePathElement::default()
                    }],
                },
            }],
        })
        .unwrap();
    translated.results[0].status_code
}

fn monitor(client: &mut Client, name: &str) -> StatusCode {
    let request_header = client.header();
    let subscription: CreateSubscriptionResponse = client
        .call(CreateSubscriptionRequest {
            request_header,
            requested_publishing_interval: 100.0,
            requested_lifetime_count: 100,
            requested_max_keep_alive_count: 10,
            publishing_enabled: true,
            ..CreateSubscriptionRequest::default()
        })
        .unwrap();
    let request_header = client.header();
    let created: CreateMonitoredItemsResponse = client
        .call(CreateMonitoredItemsRequest {
            request_header,
            subscription_id: subscription.subscription_id,
            timestamps_to_return: takt_ua::enumerations::TimestampsToReturn::Both,
            items_to_create: vec![MonitoredItemCreateRequest {
                item_to_monitor: read_id(node(name), VALUE),
                monitoring_mode: MonitoringMode::Reporting,
                requested_parameters: MonitoringParameters {
                    sampling_interval: 100.0,
                    queue_size: 1,
                    ..MonitoringParameters::default()
                },
            }],
        })
        .unwrap();
    created.results[0].status_code
}

#[test]
fn roles_have_their_default_permissions() {
    let server = server();
    let (good, denied) = (StatusCode::Good, StatusCode::BadUserAccessDenied);
    for (user, writes, calls) in [
        (OBSERVER, denied, denied),
        (OPERATOR, good, good),
        (ENGINEER, denied, good),
        (SUPERVISOR, denied, good),
        (ADMIN, denied, denied),
    ] {
        let mut client = client(&server, user);
        assert!(read(&mut client, "Open", VALUE).is_ok());
        assert_eq!(monitor(&mut client, "Open"), good, "user {user}");
        for _ in 0..2 {
            assert_eq!(
                client.write_value(node("Open"), 2_u32),
                writes,
                "user {user}"
            );
        }
        assert_eq!(call(&mut client, "Start"), calls, "user {user}");
        let level = match writes {
            StatusCode::Good => access_level::CURRENT_READ | access_level::WRITE,
            _ => access_level::CURRENT_READ,
        };
        let level = Variant::from(level as u8);
        assert_eq!(read(&mut client, "Open", 18), Ok(level), "user {user}");
        let executable = Variant::from(calls == good);
        assert_eq!(read(&mut client, "Start", 22), Ok(executable));
        assert_eq!(read(&mut client, "Start", 21), Ok(true.into()));
        for attribute in [24, 25, 26] {
            let absent = Err(StatusCode::BadAttributeIdInvalid);
            assert_eq!(read(&mut client, "Open", attribute), absent);
        }
    }
}

#[test]
fn a_node_with_permissions_serves_the_roles_that_it_names() {
    let server = server();
    let (good, denied) = (StatusCode::Good, StatusCode::BadUserAccessDenied);
    let mut engineer = client(&server, ENGINEER);
    assert_eq!(read(&mut engineer, "Recipe", VALUE), Ok(1_u32.into()));
    for _ in 0..2 {
        assert_eq!(engineer.write_value(node("Recipe"), 2_u32), good);
    }
    assert_eq!(engineer.write_value(node("Secret"), 2_u32), denied);
    assert_eq!(monitor(&mut engineer, "Recipe"), good);
    assert_eq!(call(&mut engineer, "Calibrate"), good);
    assert_eq!(translate(&mut engineer, "Secret"), good);
    let seen = browse(&mut engineer, ids::OBJECTS_FOLDER).unwrap();
    assert!(seen.contains(&"Secret".to_owned()), "{seen:?}");

    for user in [OPERATOR, OBSERVER, ADMIN] {
        let mut other = client(&server, user);
        for name in ["Recipe", "Secret"] {
            assert_eq!(read(&mut other, name, VALUE), Err(denied), "{name}");
            for _ in 0..2 {
                assert_eq!(other.write_value(node(name), 3_u32), denied, "{name}");
            }
            assert_eq!(monitor(&mut other, name), denied, "{name}");
        }
        assert_eq!(call(&mut other, "Calibrate"), denied);
        // Recipe is seen, with what the caller may do; Secret is not.
        assert_eq!(read(&mut other, "Recipe", 18), Ok(0_u8.into()));
        assert_eq!(read(&mut other, "Calibrate", 22), Ok(false.into()));
        assert_eq!(read(&mut other, "Secret", 3), Err(denied));
        assert_eq!(browse(&mut other, node("Secret")), Err(denied));
        assert_eq!(translate(&mut other, "Secret"), StatusCode::BadNoMatch);
        assert_eq!(translate(&mut other, "Recipe"), good);
        let seen = browse(&mut other, ids::OBJECTS_FOLDER).unwrap();
        let sees = |name: &str| seen.iter().any(|seen| seen == name);
        assert!(
            sees("Recipe") && sees("Open") && !sees("Secret"),
            "{seen:?}"
        );
    }
    assert_eq!(read(&mut engineer, "Recipe", VALUE), Ok(2_u32.into()));
    assert_eq!(read(&mut engineer, "Recipe", 18), Ok(0x63_u8.into()));
}

#[test]
fn permissions_are_attributes() {
    let server = server();
    let list = |value: Variant| -> Vec<(UserRole, u32)> {
        let objects = Vec::<ExtensionObject>::try_from(value).unwrap();
        let entries = objects.iter().map(|object| {
            let entry: RolePermissionType = object.decode_as().unwrap();
            (
                UserRole::of_node_id(&entry.role_id).unwrap(),
                entry.permissions,
            )
        });
        entries.collect()
    };
    let all = P::Browse | P::Read | P::Write | P::ReadRolePermissions;
    let observer = (UserRole::Observer, P::Browse);
    let mut engineer = client(&server, ENGINEER);
    let expected = vec![observer, (UserRole::Engineer, all)];
    for attribute in [24, 25] {
        let value = read(&mut engineer, "Recipe", attribute).unwrap();
        assert_eq!(list(value), expected);
    }
    assert_eq!(read(&mut engineer, "Recipe", 26), Ok(0_u16.into()));
    let mut operator = client(&server, OPERATOR);
    let own = read(&mut operator, "Recipe", 25).unwrap();
    assert_eq!(list(own), vec![observer]);
    let denied = Err(StatusCode::BadUserAccessDenied);
    assert_eq!(read(&mut operator, "Recipe", 24), denied);
    assert_eq!(read(&mut operator, "Secret", 25), denied);
}

/// Reads an attribute of `Pin` in the binary form, the only one over TCP.
fn read_over_tcp(client: &mut Client, attribute: u32) -> DataValue {
    let request_header = client.header();
    let mut read: ReadResponse = client
        .call(ReadRequest {
            request_header,
            nodes_to_read: vec![read_id(node("Pin"), attribute)],
            ..ReadRequest::default()
        })
        .unwrap();
    read.results.remove(0)
}

#[test]
fn restrictions_need_a_secured_channel() {
    let server = builder().build().unwrap();
    let space = server.address_space();
    let mut access = NodeAccess::default();
    access.grant(UserRole::Anonymous, P::Browse | P::Read | P::Write);
    access.restrict(AccessRestrictionType::EncryptionRequired);
    space
        .add_variable(QualifiedName::new(1, "Pin"))
        .node_id(node("Pin"))
        .value(Value::stored(1_u32))
        .writable()
        .access(access)
        .add()
        .unwrap();
    let insufficient = StatusCode::BadSecurityModeInsufficient;
    let mut none = Client::connect_over_tcp(&server, MessageSecurityMode::None);
    none.create().unwrap();
    none.activate().unwrap();
    let value = read_over_tcp(&mut none, VALUE);
    assert_eq!(value.status, Some(insufficient));
    let request_header = none.header();
    let written: WriteResponse = none
        .call(WriteRequest {
            request_header,
            nodes_to_write: vec![write_of(node("Pin"), DataValue::good(2_u32))],
        })
        .unwrap();
    assert_eq!(written.results, [insufficient]);
    assert_eq!(monitor(&mut none, "Pin"), insufficient);
    // It is seen nevertheless.
    assert_eq!(translate(&mut none, "Pin"), StatusCode::Good);
    let restrictions = read_over_tcp(&mut none, 26).value;
    assert_eq!(restrictions, Some(2_u16.into()));
    // Shared memory is private to both sides.
    let mut local = Client::new(&server);
    assert_eq!(local.write_value(node("Pin"), 2_u32), StatusCode::Good);
    assert_eq!(local.read_value(node("Pin")).value, Some(2_u32.into()));
}

#[test]
fn permissions_come_with_add_nodes() {
    let server = crate::services::nodes::managed();
    let mut client = Client::new(&server);
    let granted = |role_id: NodeId| {
        let entry = RolePermissionType {
            role_id,
            permissions: P::Browse | P::Read,
        };
        Variant::from(vec![ExtensionObject::from_structure(&entry)])
    };
    let with = |name: &str, attribute_id: u32, value: Variant| {
        let attributes = GenericAttributes {
            attribute_values: vec![GenericAttributeValue {
                attribute_id,
                value,
            }],
            ..GenericAttributes::default()
        };
        AddNodesItem {
            node_attributes: ExtensionObject::from_structure(&attributes),
            ..crate::services::nodes::item(NodeClass::Variable, name)
        }
    };
    let engineer = UserRole::Engineer.node_id();
    let item = with("Recipe", 24, granted(engineer.clone()));
    let added = crate::services::nodes::add_one(&mut client, item).unwrap();
    let read = client.read_attribute(added.clone(), 25).value;
    assert_eq!(read, Some(granted(engineer)));
    // Nobody has a permission.
    let nothing: Vec<ExtensionObject> = Vec::new();
    let item = with("Closed", 24, nothing.into());
    let closed = crate::services::nodes::add_one(&mut client, item).unwrap();
    let read = client.read_attribute(closed, 3).status;
    assert_eq!(read, Some(StatusCode::BadUserAccessDenied));
    for wrong in [
        with("A", 24, granted(NodeId::numeric(1, 7))),
        with("B", 24, 7_u32.into()),
        with("C", 26, 7_u32.into()),
    ] {
        assert_eq!(
            crate::services::nodes::add_one(&mut client, wrong),
            Err(StatusCode::BadNodeAttributesInvalid)
        );
    }
}

#[test]
fn diagnostics_of_other_clients_are_for_engineers_and_administrators() {
    let server = server();
    for (user, of_sessions, of_security) in [
        (OBSERVER, false, false),
        (OPERATOR, false, false),
        (ENGINEER, true, false),
        (ADMIN, true, true),
    ] {
        let mut client = client(&server, user);
        for (id, allowed) in [
            (ids::SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY, of_sessions),
            (
                ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY,
                of_sessions,
            ),
            (
                ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY,
                of_security,
            ),
        ] {
            let expected = match allowed {
                true => StatusCode::Good,
                false => StatusCode::BadUserAccessDenied,
            };
            assert_eq!(client.read_value(id).status_code(), expected, "user {user}, i={id}");
        }
    }
    let mut admin = client(&server, ADMIN);
    let id = ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY;
    let Some(Variant::Array(all)) = admin.read_value(id).value else {
        panic!("an array");
    };
    let Elements::ExtensionObject(all) = all.elements else {
        panic!("structures");
    };
    let own: SessionSecurityDiagnosticsDataType = all.last().unwrap().decode_as().unwrap();
    assert_eq!(own.client_user_id_of_session.as_str(), "unix-user=4");
    assert_eq!(own.transport_protocol.as_str(), "opc.iox2");
    assert_eq!(own.security_mode, MessageSecurityMode::None);
}
