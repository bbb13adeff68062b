//! Roles of Unix users and groups over shared memory, as the file of users says.

use takt_app::{Client, Endpoint};
use takt_ua::structures::{AddNodesItem, AddNodesRequest};
use takt_ua::{NodeId, StatusCode, Variant, ids};

use crate::groups::shared::{ANNA, BERT, CARL, GROUP, Shared, User, as_user};

/// Returns the client of a user.
fn client(shared: &Shared, application: &str) -> Client {
    let url = format!("opc.iox2://{}", shared.application(application));
    let endpoint: Endpoint = url.parse().unwrap();
    Client::connect(&endpoint, shared.options()).unwrap()
}

/// Writes a Variable of the Machine, through the registry.
fn write(shared: &Shared, user: User) -> StatusCode {
    as_user(user, || {
        let mut client = client(shared, "Registry");
        let path = format!("{}/Spindle/Override", shared.application("Machine"));
        let node = client.find(&path).unwrap().node_id.node_id;
        match client.write(&node, Variant::Double(80.0)) {
            Ok(()) => StatusCode::Good,
            Err(error) => error.status_code(),
        }
    })
}

/// Adds a node without a name: a caller with the right gets another error than one without.
fn add_node(shared: &Shared, user: User) -> StatusCode {
    as_user(user, || {
        let mut client = client(shared, "Registry");
        let parent = client.find(&shared.application("Machine")).unwrap().node_id;
        let added = client.call(AddNodesRequest {
            nodes_to_add: vec![AddNodesItem {
                parent_node_id: parent.clone(),
                reference_type_id: NodeId::from(ids::HAS_COMPONENT),
                requested_new_node_id: NodeId::string(parent.node_id.namespace, "New").into(),
                browse_name: takt_ua::QualifiedName::new(parent.node_id.namespace, "New"),
                node_class: takt_ua::enumerations::NodeClass::Object,
                type_definition: NodeId::from(ids::BASE_OBJECT_TYPE).into(),
                ..AddNodesItem::default()
            }],
            ..AddNodesRequest::default()
        });
        added.unwrap().results[0].status_code
    })
}

/// Adds a SecurityGroup.
fn add_group(shared: &Shared, user: User, name: &str) -> StatusCode {
    as_user(user, || {
        let mut client = client(shared, "Registry");
        let added = client.call_method(
            &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS),
            &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_ADD_SECURITY_GROUP),
            vec![
                name.into(),
                0.0.into(),
                "".into(),
                0_u32.into(),
                0_u32.into(),
            ],
        );
        match added {
            Ok(_) => StatusCode::Good,
            Err(error) => error.status_code(),
        }
    })
}

pub fn unix_users_have_the_roles_of_the_table() {
    let shared = Shared::new();
    let _registry = shared.registry(ANNA);
    let _machine = shared.machine(ANNA);
    shared.wait_until_registered(ANNA);
    let data = shared.path().join(format!("data/registry{}", ANNA.id));
    let users = data.join("users");
    let users = users.to_str().unwrap();
    let change = |arguments: &[&str]| {
        let command = [&["user", "--users", users], arguments].concat();
        let mut command = shared.takt_for_all(ANNA, &command);
        let name = "takt user";
        takt_tests::process::run(name, &mut command, std::time::Duration::from_secs(60))
    };
    let set = |kind: &str, number: u32, roles: &str| {
        let add = ["add", kind, &number.to_string(), "--role", roles];
        change(&add).expect_success()
    };
    let (good, denied) = (StatusCode::Good, StatusCode::BadUserAccessDenied);
    // Without an entry, members of the group are operators and engineers.
    assert_eq!(write(&shared, BERT), good);
    assert_eq!(write(&shared, CARL), good);
    assert_eq!(add_group(&shared, CARL, "First"), good);

    // One member has the group as its primary one, the other one as a supplementary one.
    let _ = set("--unix-group", GROUP, "observer");
    for member in [BERT, CARL] {
        assert_eq!(write(&shared, member), denied);
        assert_eq!(add_node(&shared, member), denied);
        assert_eq!(add_group(&shared, member, "Second"), denied);
    }
    // The user that runs the registry keeps all roles.
    assert_eq!(write(&shared, ANNA), good);
    assert_eq!(add_group(&shared, ANNA, "Second"), good);

    // An entry for the user itself comes first.
    let _ = set("--unix-user", CARL.id, "operator,security-admin");
    assert_eq!(write(&shared, CARL), good);
    assert_eq!(add_node(&shared, CARL), denied);
    assert_eq!(add_group(&shared, CARL, "Third"), good);
    assert_eq!(write(&shared, BERT), denied);

    let listed = change(&["list"]).expect_success();
    assert!(listed.contains("operator,security-admin"), "{listed}");
    assert!(listed.contains("Unix group"), "{listed}");
    let _ = change(&["remove", "--unix-group", &GROUP.to_string()]).expect_success();
    assert_eq!(write(&shared, BERT), good);
    let again = change(&["remove", "--unix-group", &GROUP.to_string()]).expect_failure();
    assert!(again.contains("there is no Unix group"), "{again}");
}
