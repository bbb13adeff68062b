//! Roles of users over opc.tcp: NodeManagement and SecurityGroups depend on them, not on options of the registry.

use takt_app::{Client, ClientOptions, ClientSecurity, Identity, model};
use takt_tests::{Registry, Sandbox};
use takt_ua::{NodeId, QualifiedName, StatusCode, ids};

use crate::registry::ownership::{add_named, add_provider, delete};
use crate::registry::security_groups::{add, remove, status};
use crate::registry::{PATIENCE, client_as};

pub(crate) const PASSWORD: &str = "hammer";

/// Adds a user with this password to the users of the registry.
pub(crate) fn add_user(sandbox: &Sandbox, name: &str, roles: &str) -> String {
    let users = sandbox.data_directory().join("users");
    let password = sandbox.data_directory().join("password");
    std::fs::write(&password, format!("{PASSWORD}\n")).unwrap();
    let (users, password) = (users.to_str().unwrap(), password.to_str().unwrap());
    let add = ["user", "--users", users, "add", name, "--role", roles];
    let add = [&add[..], &["--password-file", password]].concat();
    sandbox.run(&add).expect_success()
}

/// Returns a client of a user with this ApplicationUri, on a channel with this security.
pub(crate) fn client_of(
    sandbox: &Sandbox,
    registry: &Registry,
    user: &str,
    uri: &str,
    security: &str,
) -> Client {
    client_at(sandbox, &registry.endpoint, user, uri, security)
}

/// Returns a client of a user at any endpoint.
pub(crate) fn client_at(
    sandbox: &Sandbox,
    endpoint: &str,
    user: &str,
    uri: &str,
    security: &str,
) -> Client {
    let options = ClientOptions {
        application_uri: uri.to_owned(),
        identity: Identity::UserName {
            name: user.to_owned(),
            password: PASSWORD.to_owned(),
        },
        timeout: PATIENCE,
        security: ClientSecurity {
            choice: security.parse().unwrap(),
            // The applications of one folder trust each other.
            certificates: Some(sandbox.data_directory().join("pki")),
            ..ClientSecurity::default()
        },
        // The certificate has the ApplicationUri.
        ..ClientOptions::named(uri.rsplit(':').next().unwrap())
    };
    Client::new(&endpoint.parse().unwrap(), options)
}

#[test]
fn engineers_manage_nodes_over_tcp() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let said = add_user(&sandbox, "bert", "engineer,observer");
    assert!(said.contains("bert is observer,engineer"), "{said}");
    let _ = add_user(&sandbox, "anna", "operator,security-admin");
    let name = sandbox.application("Pump");
    let uri = model::provider_uri(&name);
    let denied = StatusCode::BadUserAccessDenied;

    let mut anonymous = client_as(&sandbox, &registry.endpoint, &uri, Identity::Anonymous);
    assert_eq!(add_provider(&mut anonymous, &name), denied);
    let mut operator = client_of(&sandbox, &registry, "anna", &uri, "encrypt");
    assert_eq!(add_provider(&mut operator, &name), denied);

    let mut engineer = client_of(&sandbox, &registry, "bert", &uri, "encrypt");
    assert_eq!(add_provider(&mut engineer, &name), StatusCode::Good);
    let object = engineer.find(&name).unwrap().node_id.node_id;
    let valve = NodeId::string(object.namespace, "Valve");
    let named = QualifiedName::new(object.namespace, "Valve");
    let add_valve = |client: &mut Client| {
        add_named(client, object.clone(), valve.clone().into(), named.clone())
    };
    assert_eq!(add_valve(&mut operator), denied);
    assert_eq!(add_valve(&mut engineer), StatusCode::Good);
    for other in [&mut operator, &mut anonymous] {
        assert_eq!(delete(other, &valve), denied);
        assert_eq!(delete(other, &object), denied);
    }
    // In another Session, which has no secret of the Provider.
    drop(engineer);
    let mut engineer = client_of(&sandbox, &registry, "bert", &uri, "encrypt");
    assert_eq!(delete(&mut engineer, &valve), StatusCode::Good);
    // Not a Provider that a Unix user has registered, nor a node of the standard.
    let local = sandbox.application("Local");
    let mut provider = client_as(
        &sandbox,
        &registry.shared_memory(),
        &model::provider_uri(&local),
        Identity::Anonymous,
    );
    assert_eq!(add_provider(&mut provider, &local), StatusCode::Good);
    let of_other = provider.find(&local).unwrap().node_id.node_id;
    let uri = model::provider_uri(&local);
    let mut as_local = client_of(&sandbox, &registry, "bert", &uri, "encrypt");
    assert_eq!(delete(&mut as_local, &of_other), denied);
    assert!(delete(&mut engineer, &NodeId::from(ids::SERVER)).is_bad());
    assert_eq!(delete(&mut engineer, &object), StatusCode::Good);
}

#[test]
fn security_administrators_change_security_groups_over_tcp() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--security-group", "Plant"]);
    let _ = add_user(&sandbox, "carl", "security-admin");
    let _ = add_user(
        &sandbox,
        "bert",
        "operator,engineer,supervisor,configure-admin",
    );
    let uri = "urn:plant:desk";
    let mut admin = client_of(&sandbox, &registry, "carl", uri, "encrypt");
    let cell = add(&mut admin, "Cell", 3_600_000.0, "").unwrap();
    let rotate = |client: &mut Client, group: &str| {
        let object = NodeId::string(1, &format!("SecurityGroups/{group}"));
        let method = NodeId::string(1, &format!("SecurityGroups.ForceKeyRotation/{group}"));
        client.call_method(&object, &method, Vec::new())
    };
    // It changes every group, but it gets no keys.
    for group in ["Plant", "Cell"] {
        rotate(&mut admin, group).unwrap();
        let keys = admin.get_security_keys(group, 1);
        assert_eq!(status(keys), StatusCode::BadUserAccessDenied);
    }
    let mut other = client_of(&sandbox, &registry, "bert", uri, "encrypt");
    let denied = StatusCode::BadUserAccessDenied;
    assert_eq!(status(add(&mut other, "Line", 0.0, "")), denied);
    assert_eq!(status(rotate(&mut other, "Cell")), denied);
    assert_eq!(status(remove(&mut other, &cell)), denied);
    for security in ["sign", "none"] {
        let mut readable = client_of(&sandbox, &registry, "carl", uri, security);
        let insufficient = StatusCode::BadSecurityModeInsufficient;
        assert_eq!(status(add(&mut readable, "Line", 0.0, "")), insufficient);
        assert_eq!(status(remove(&mut readable, &cell)), insufficient);
    }
    remove(&mut admin, &cell).unwrap();
    // A right that was taken back: with the next Session.
    let users = sandbox.data_directory().join("users");
    let users = users.to_str().unwrap();
    let listed = sandbox.run(&["user", "--users", users, "list", "--json"]);
    let listed = listed.expect_success();
    assert!(listed.contains(r#"["security-admin"]"#), "{listed}");
    let _ = add_user(&sandbox, "carl", "observer");
    let mut admin = client_of(&sandbox, &registry, "carl", uri, "encrypt");
    assert_eq!(status(add(&mut admin, "Line", 0.0, "")), denied);
}
