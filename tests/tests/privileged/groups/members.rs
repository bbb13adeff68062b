//! Access between members of a group.

use takt_app::serve::ServeOptions;
use takt_app::{Client, Endpoint, Provider, Variable};
use takt_ua::{NodeId, StatusCode, Variant};

use crate::groups::shared::{ANNA, BERT, CARL, GROUP, Shared, as_user};

pub fn members_use_data_of_each_other() {
    let shared = Shared::new();
    let _registry = shared.registry(ANNA);
    let _machine = shared.machine(BERT);
    shared.wait_until_registered(CARL);
    let machine = format!("opc.iox2://{}", shared.application("Machine"));
    let registry = format!("opc.iox2://{}", shared.application("Registry"));
    let path = format!("{}/Spindle/Override", shared.application("Machine"));
    // Through the registry, and at the Provider itself.
    let _ = shared
        .run(CARL, &["write", &registry, &path, "70"])
        .expect_success();
    let read = shared.run(ANNA, &["read", &machine, "Spindle/Override"]);
    assert!(read.expect_success().starts_with("70.0 "));
    let _ = shared
        .run(CARL, &["call", &machine, "Start"])
        .expect_success();
}

pub fn the_api_shares_within_a_group() {
    let shared = Shared::new();
    let name = shared.application("Mixer");
    let endpoint: Endpoint = format!("opc.iox2://{name}").parse().unwrap();
    let provider = as_user(BERT, || {
        let serve = ServeOptions {
            group: Some(GROUP.to_string()),
            runtime_directory: Some(shared.group_directory()),
            ..ServeOptions::default()
        };
        Provider::builder(&name)
            .variable(Variable::stored("Speed", 7.0))
            .without_registry()
            .serve(serve)
            .start()
            .unwrap()
    });
    let node = NodeId::string(1, "Speed");
    let value = as_user(ANNA, || {
        let mut client = Client::connect(&endpoint, shared.options()).unwrap();
        client.read(&node).unwrap().value
    });
    assert_eq!(value, Some(Variant::Double(7.0)));
    // A client that requires a certain user accepts no other.
    let with_server = |user: u32| {
        let mut options = shared.options();
        options.server_user = Some(user);
        as_user(CARL, || Client::connect(&endpoint, options).map(drop))
    };
    with_server(BERT.id).unwrap();
    let error = with_server(ANNA.id).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadUserAccessDenied);
    drop(provider);
    assert!(!shared.socket(&name).exists());
}

pub fn a_demonstration_runs_within_a_group() {
    let shared = Shared::new();
    let demo = shared.run(
        BERT,
        &["demo", "--for", "1s", "--endpoint", "opc.tcp://127.0.0.1:0"],
    );
    let said = demo.expect_success();
    assert!(said.contains("Spindle"), "{said}");
}
