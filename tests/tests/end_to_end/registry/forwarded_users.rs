//! Users whom a Provider gives fewer Roles than the registry does: each Service through the registry, over both transports.

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{
    Client, ClientError, ClientOptions, ClientSecurity, Identity, Method, Provider, UserRole,
    Variable,
};
use takt_tests::{Registry, Sandbox};
use takt_ua::enumerations::PermissionType as P;
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Variant};

use crate::registry::roles::add_user;
use crate::registry::{PATIENCE, consumer, eventually, provider_builder, wait_until_available};

const DENIED: StatusCode = StatusCode::BadUserAccessDenied;

/// Starts a Provider whose own table makes anna an observer. `Recipe` is for engineers alone. `host` has its shared memory.
fn press(
    sandbox: &Sandbox,
    host: &Sandbox,
    name: &str,
    registry: &str,
    identity: Identity,
) -> Provider {
    let users = sandbox.data_directory().join("users of the Provider");
    let password = sandbox.data_directory().join("password");
    let (users, password) = (users.to_str().unwrap(), password.to_str().unwrap());
    let add = [
        "user", "--users", users, "add", "anna", "--role", "observer",
    ];
    let add = [&add[..], &["--password-file", password]].concat();
    let _ = sandbox.run(&add).expect_success();
    let all = P::Browse | P::Read | P::Write | P::Call;
    provider_builder(sandbox, name, registry)
        .registry_identity(identity)
        .registry_security(ClientSecurity {
            choice: "encrypt".parse().unwrap(),
            certificates: Some(sandbox.data_directory().join("pki")),
            ..ClientSecurity::default()
        })
        .serve(ServeOptions {
            runtime_directory: Some(host.runtime_directory()),
            security: EndpointSecurity {
                users: Some(users.into()),
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .variable(Variable::stored("Level", 40.0).writable())
        .variable(
            Variable::stored("Recipe", 1_u32)
                .writable()
                .permissions(UserRole::Engineer, all)
                .permissions(UserRole::Anonymous, P::Browse),
        )
        .variable(
            Variable::callback("Computed", takt_ua::BuiltInType::UInt32, || 5_u32)
                .permissions(UserRole::Engineer, all)
                .permissions(UserRole::Anonymous, P::Browse),
        )
        .method(Method::new("Calibrate", |_| Ok(Vec::new())))
        .start()
        .unwrap()
}

fn status<T>(result: Result<T, ClientError>) -> StatusCode {
    match result {
        Ok(_) => StatusCode::Good,
        Err(error) => error.status_code(),
    }
}

/// Returns the status of the first value that a MonitoredItem reports.
fn monitored(client: &mut Client, node: &NodeId) -> StatusCode {
    assert_eq!(crate::registry::monitor(client, node), StatusCode::Good);
    loop {
        let published = client.call(PublishRequest::default()).unwrap();
        let data = published.notification_message.notification_data;
        if let Some(data) = data.first() {
            let data: DataChangeNotification = data.decode_as().unwrap();
            return data.monitored_items[0].value.status_code();
        }
    }
}

/// Uses each Service that the registry forwards; returns the results of Read, Read of a callback, Read of a part, Write, Call and
/// CreateMonitoredItems.
fn try_all(client: &mut Client, name: &str) -> [StatusCode; 6] {
    let object = client.find(name).unwrap().node_id.node_id;
    let node = |path: &str| NodeId::string(object.namespace, path);
    // Everybody reads this one.
    assert!(client.read_good(&node("Level")).is_ok());
    let both = client.call(ReadRequest {
        nodes_to_read: ["Level", "Recipe"]
            .map(|path| ReadValueId {
                node_id: node(path),
                attribute_id: 13,
                ..ReadValueId::default()
            })
            .to_vec(),
        ..ReadRequest::default()
    });
    let both = both.unwrap().results;
    assert!(both[0].status_code().is_good());
    [
        status(client.read_good(&node("Recipe"))),
        status(client.read_good(&node("Computed"))),
        both[1].status_code(),
        status(client.write(&node("Level"), Variant::Double(50.0))),
        status(client.call_method(&object, &node("Calibrate"), Vec::new())),
        monitored(client, &node("Recipe")),
    ]
}

fn user(name: &str) -> Identity {
    Identity::UserName {
        name: name.to_owned(),
        password: "hammer".to_owned(),
    }
}

/// Returns the client of a user of the registry.
fn desk(sandbox: &Sandbox, endpoint: &str, name: &str) -> Client {
    let options = ClientOptions {
        identity: user(name),
        timeout: PATIENCE,
        runtime_directory: Some(sandbox.runtime_directory()),
        security: ClientSecurity {
            choice: "encrypt".parse().unwrap(),
            certificates: Some(sandbox.data_directory().join("pki")),
            ..ClientSecurity::default()
        },
        ..ClientOptions::named("desk")
    };
    Client::new(&endpoint.parse().unwrap(), options)
}

#[test]
fn a_user_with_fewer_roles_at_the_provider_has_no_more_through_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    for (user, roles) in [
        ("anna", "operator,engineer"),
        ("bert", "operator,engineer"),
        ("carl", "observer"),
    ] {
        let _ = add_user(&sandbox, user, roles);
    }
    let name = sandbox.application("Press");
    let own = Identity::Anonymous;
    let _provider = press(&sandbox, &sandbox, &name, &registry.shared_memory(), own);
    wait_until_available(&mut consumer(&sandbox, &registry), &name);
    let client = |endpoint: &str, user: &str| desk(&sandbox, endpoint, user);
    for endpoint in [&registry.endpoint, &registry.shared_memory()] {
        let results = |user| try_all(&mut client(endpoint, user), &name);
        // Unknown to the Provider: the registry's word counts.
        assert_eq!(results("bert"), [StatusCode::Good; 6], "{endpoint}");
        assert_eq!(results("anna"), [DENIED; 6], "{endpoint}");
        // One user after the other over the same connection of the registry.
        assert_eq!(results("bert"), [StatusCode::Good; 6], "{endpoint}");
    }
    // The registry refuses by itself what its own table does not give.
    let mut carl = client(&registry.endpoint, "carl");
    let object = carl.find(&name).unwrap().node_id.node_id;
    let level = NodeId::string(object.namespace, "Level");
    assert_eq!(status(carl.write(&level, Variant::Double(50.0))), DENIED);
}

/// The registry reaches a Provider that has registered over `opc.tcp` there.
#[test]
fn a_provider_registers_as_an_engineer_and_is_reached_over_tcp() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    for (user, roles) in [
        ("anna", "operator,engineer"),
        ("bert", "operator,engineer"),
        ("carl", "operator"),
    ] {
        let _ = add_user(&sandbox, user, roles);
    }
    let name = sandbox.application("Press");
    let mut consumer = consumer(&sandbox, &registry);
    let elsewhere = sandbox.elsewhere();
    let press = |identity| press(&sandbox, &elsewhere, &name, &registry.endpoint, identity);
    let refused = press(user("carl"));
    let reason = || match refused.registry_state() {
        takt_app::RegistryState::NotRegistered { reason } => reason.unwrap_or_default(),
        _ => String::new(),
    };
    eventually("the reason is known", PATIENCE, || !reason().is_empty());
    assert!(reason().contains("needs the role engineer"), "{}", reason());
    drop(refused);
    let provider = press(user("bert"));
    wait_until_available(&mut consumer, &name);
    // The registry runs as the Unix user of the Provider: its Session has all roles there.
    let results = |user| try_all(&mut desk(&sandbox, &registry.endpoint, user), &name);
    assert_eq!(results("bert"), [StatusCode::Good; 6]);
    assert_eq!(results("anna"), [DENIED; 6]);
    // It is the same one after a restart, without a secret, and gone when it ends.
    drop(provider);
    eventually("it is not available", PATIENCE, || {
        crate::registry::available(&mut consumer, &name) == Some(false)
    });
    let _provider = press(user("bert"));
    wait_until_available(&mut consumer, &name);
    let state = sandbox.data_directory().join("state");
    assert!(!state.join(format!("{name}.secret")).exists());
}

/// The command has the options of the clients.
#[test]
fn the_command_registers_a_provider_as_an_engineer() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let _ = add_user(&sandbox, "bert", "engineer");
    let name = sandbox.application("Machine");
    let folder = sandbox.data_directory();
    // Applications of the host of the registry register over shared memory.
    let elsewhere = sandbox.elsewhere();
    let (pki, password) = (folder.join("pki"), folder.join("password"));
    let start = |user: &str| {
        let mut command = elsewhere.takt(&["provider", "machine", "--name", &name]);
        command
            .args(["--registry", &registry.endpoint, "--security", "encrypt"])
            .args(["--user", user, "--password-file"])
            .arg(&password)
            .arg("--certificates")
            .arg(&pki);
        takt_tests::Process::spawn("takt provider", &mut command)
    };
    let wrong = start("nobody");
    eventually("the reason and a remedy are named", PATIENCE, || {
        // Lines of the report are broken.
        let said = wrong.report();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        said.contains("name or password") && said.contains("`takt user list`")
    });
    drop(wrong);
    let _machine = start("bert");
    wait_until_available(&mut consumer(&sandbox, &registry), &name);
}
