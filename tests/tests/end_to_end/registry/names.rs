//! Limits of names: no client can take all names, or the name of a running application, and registration over TCP has
//! to be allowed.

use takt_app::serve::ServeOptions;
use takt_app::{Client, Identity, Variable, model};
use takt_tests::{Registry, Sandbox};
use takt_ua::structures::{DeleteNodesItem, DeleteNodesRequest};
use takt_ua::{NodeId, StatusCode};

use crate::registry::ownership::add_provider;
use crate::registry::{
    PATIENCE, available, client, client_as, consumer, eventually, tank, wait_until_available,
};

/// Returns a client with the identity of the Provider `name`.
fn claiming(sandbox: &Sandbox, endpoint: &str, name: &str) -> Client {
    let uri = model::provider_uri(name);
    client_as(sandbox, endpoint, &uri, Identity::Anonymous)
}

fn register(sandbox: &Sandbox, endpoint: &str, name: &str) -> StatusCode {
    add_provider(&mut claiming(sandbox, endpoint, name), name)
}

fn namespaces(sandbox: &Sandbox, registry: &Registry) -> Vec<String> {
    client(sandbox, &registry.endpoint)
        .namespace_array()
        .unwrap()
}

/// Registers a Provider and unregisters it: its namespace stays.
fn come_and_go(sandbox: &Sandbox, endpoint: &str, name: &str) -> StatusCode {
    let mut client = claiming(sandbox, endpoint, name);
    let added = add_provider(&mut client, name);
    if added.is_bad() {
        return added;
    }
    let object = client.find(name).unwrap().node_id.node_id;
    let response = client.call(DeleteNodesRequest {
        nodes_to_delete: vec![DeleteNodesItem {
            node_id: object,
            delete_target_references: true,
        }],
        ..DeleteNodesRequest::default()
    });
    response.unwrap().results[0]
}

#[test]
fn registration_over_tcp_needs_permission() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let before = namespaces(&sandbox, &registry);
    let denied = StatusCode::BadUserAccessDenied;
    let name = sandbox.application("Anonymous");
    for _ in 0..3 {
        assert_eq!(register(&sandbox, &registry.endpoint, &name), denied);
    }
    assert_eq!(namespaces(&sandbox, &registry), before);
    // A Provider of Takt names the missing option.
    let address = registry.endpoint.clone();
    let mut provider = sandbox.takt(&[
        "provider",
        "machine",
        "--name",
        &name,
        "--registry",
        &address,
    ]);
    let mut provider = takt_tests::Process::spawn("takt provider", &mut provider);
    let _ = provider.wait_for("its endpoints", PATIENCE, |line| line.contains(" serves "));
    let setting = "allow_tcp_registration";
    let log = |process: &takt_tests::Process| process.report();
    eventually("the Provider names the setting", PATIENCE, || {
        log(&provider).contains(setting)
    });
    eventually("the registry names the setting", PATIENCE, || {
        log(&registry.process).contains(setting)
    });
    provider.kill();
    // Over shared memory nothing changes, and over TCP all clients can read.
    let local = sandbox.application("Local");
    let _tank = tank(&sandbox, &local, &registry.shared_memory()).unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &local);
    let mut reader = client(&sandbox, &registry.endpoint);
    let level = reader.find(&format!("{local}/Level")).unwrap();
    assert_eq!(
        reader.read_good(&level.node_id.node_id).unwrap(),
        40.0.into()
    );

    // A Provider that registered while that was allowed is known, but has no more rights when it is not allowed.
    registry.process.kill();
    let endpoint = registry.endpoint.clone();
    registry = Registry::start_at(&sandbox, &endpoint, &["--allow-tcp-registration"]);
    let distant = sandbox.elsewhere();
    let remote = sandbox.application("Remote");
    let tank = tank(&distant, &remote, &registry.endpoint).unwrap();
    eventually("registered", PATIENCE, || tank.is_registered());
    registry.process.kill();
    let registry = Registry::start_at(&sandbox, &endpoint, &[]);
    eventually("refused", PATIENCE, || {
        log(&registry.process).contains(setting)
    });
    assert_eq!(available(&mut consumer, &remote), Some(false));
    assert!(!tank.is_registered());
    // It counts as not connected, so that it can be forgotten.
    let address = registry.shared_memory();
    let forget = ["registry", "forget", &remote, "--registry", &address];
    let _ = sandbox.run(&forget).expect_success();
    assert_eq!(available(&mut consumer, &remote), None);
}

#[test]
fn one_address_has_a_few_names_and_leaves_the_others() {
    let sandbox = Sandbox::new();
    let arguments = ["--allow-tcp-registration", "--max-providers", "3"];
    let mut registry = Registry::start(&sandbox, &arguments);
    let full = StatusCode::BadResourceUnavailable;
    let name = |number: u32| sandbox.application(&format!("Many{number}n"));
    for round in 0..2 {
        let known = namespaces(&sandbox, &registry);
        for number in 0..20 {
            let status = register(&sandbox, &registry.endpoint, &name(number));
            match (number, round) {
                (0..3, 0) => assert_eq!(status, StatusCode::Good, "{number}"),
                // Their sessions are gone, and no other client has their secrets.
                (0..3, _) => assert!(status.is_bad(), "{number}"),
                _ => assert_eq!(status, full, "{number}"),
            }
        }
        let now = namespaces(&sandbox, &registry).len();
        assert_eq!(now, known.len() + if round == 0 { 3 } else { 0 });
        // The same after a restart.
        registry.process.kill();
        registry = Registry::start_at(&sandbox, &registry.endpoint, &arguments);
    }
    // A Provider over shared memory has another budget.
    let local = sandbox.application("Local");
    let _tank = tank(&sandbox, &local, &registry.shared_memory()).unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &local);

    let address = registry.shared_memory();
    let forget = |name: &str| {
        let forget = ["registry", "forget", name, "--registry", &address];
        let _ = sandbox.run(&forget).expect_success();
    };
    for number in 0..3 {
        forget(&name(number));
    }
    // A user keeps the namespaces of unregistered Providers; there are twice as many namespaces as Providers.
    for number in 20..30 {
        let status = come_and_go(&sandbox, &registry.endpoint, &name(number));
        let expected = if number < 26 { StatusCode::Good } else { full };
        assert_eq!(status, expected, "{number}");
    }
    forget(&name(20));
    let status = come_and_go(&sandbox, &registry.endpoint, &name(30));
    assert_eq!(status, StatusCode::Good);
    assert_eq!(register(&sandbox, &registry.endpoint, &name(31)), full);
    // A forgotten Provider no longer exists.
    let again = ["registry", "forget", &name(20), "--registry", &address];
    let unknown = sandbox.run(&again).expect_failure();
    assert!(unknown.contains("knows no Provider"), "{unknown}");
}

#[test]
fn the_name_of_an_application_that_runs_is_not_taken() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--allow-tcp-registration"]);
    let name = sandbox.application("Running");
    let start = |registry: &str| {
        takt_app::Provider::builder(&name)
            .registry(registry)
            .serve(ServeOptions {
                runtime_directory: Some(sandbox.runtime_directory()),
                ..ServeOptions::default()
            })
            .variable(Variable::stored("Level", 1.0))
            .start()
            .unwrap()
    };
    // The application runs, and no registry knows it yet.
    let nowhere = format!("opc.iox2://{}", sandbox.application("Nowhere"));
    let running = start(&nowhere);
    let denied = StatusCode::BadUserAccessDenied;
    let before = namespaces(&sandbox, &registry);
    assert_eq!(register(&sandbox, &registry.endpoint, &name), denied);
    // The registry's own name, too.
    assert_eq!(
        register(&sandbox, &registry.endpoint, &registry.name),
        denied
    );
    assert_eq!(namespaces(&sandbox, &registry), before);
    drop(running);
    let mut consumer = consumer(&sandbox, &registry);
    let _running = start(&registry.shared_memory());
    wait_until_available(&mut consumer, &name);
    assert!(register(&sandbox, &registry.endpoint, &name).is_bad());
    // An unused name is free.
    let free = sandbox.application("Free");
    assert_eq!(
        register(&sandbox, &registry.endpoint, &free),
        StatusCode::Good
    );
}

#[test]
fn nodes_belong_to_a_provider_and_imitate_no_other() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Owner");
    let victim = sandbox.application("Victim");
    let mut owner = claiming(&sandbox, &registry.shared_memory(), &name);
    let before = namespaces(&sandbox, &registry);
    // A namespace is created with its Provider, not with other nodes.
    let node = takt_ua::ExpandedNodeId {
        node_id: NodeId::string(0, "Node"),
        namespace_uri: model::provider_uri(&name).as_str().into(),
        server_index: 0,
    };
    let objects = NodeId::from(takt_ua::ids::OBJECTS_FOLDER);
    let add = |owner: &mut Client, browse_name, node| {
        crate::registry::ownership::add_named(owner, objects.clone(), node, browse_name)
    };
    let plain = takt_ua::QualifiedName::new(0, "Node");
    let status = add(&mut owner, plain, node);
    assert_eq!(status, StatusCode::BadUserAccessDenied);
    assert_eq!(namespaces(&sandbox, &registry), before);

    // An Object below Objects would block the BrowseName of another Provider.
    assert_eq!(add_provider(&mut owner, &name), StatusCode::Good);
    let uri = model::provider_uri(&name);
    let own = owner.namespace_index(&uri).unwrap().unwrap();
    let of_model = owner
        .namespace_index(model::NAMESPACE_URI)
        .unwrap()
        .unwrap();
    for namespace in [of_model, own] {
        let like = takt_ua::QualifiedName::new(namespace, victim.as_str());
        let expected = match namespace == of_model {
            true => StatusCode::BadBrowseNameDuplicated,
            false => StatusCode::Good,
        };
        let node = NodeId::string(own, &format!("{namespace}")).into();
        assert_eq!(add(&mut owner, like, node), expected);
    }
    let _tank = tank(&sandbox, &victim, &registry.shared_memory()).unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &victim);
    let like = takt_ua::QualifiedName::new(0, victim.as_str());
    let status = add(&mut owner, like, NodeId::string(own, "Like").into());
    assert_eq!(status, StatusCode::BadBrowseNameDuplicated);
}
