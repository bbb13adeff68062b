//! Ownership of names.

use std::io::ErrorKind;

use takt_app::{Client, ClientError, Endpoint};

use crate::groups::shared::{ANNA, BERT, CARL, DORA, Shared, as_user, set_mode, wait_for};
use crate::groups::socket;

pub fn a_stranger_cannot_take_a_name() {
    let shared = Shared::new();
    let name = shared.application("Machine");
    let error = as_user(DORA, || socket::listen(&shared.socket(&name))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    // This holds even if a user outside of the group could listen there, as root can.
    let _squatter = socket::listen(&shared.socket(&name)).unwrap();
    set_mode(&shared.socket(&name), 0o666);
    let endpoint: Endpoint = format!("opc.iox2://{name}").parse().unwrap();
    let error = as_user(ANNA, || Client::connect(&endpoint, shared.options()).err()).unwrap();
    assert!(matches!(error, ClientError::AccessDenied { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("belongs to a user without access"),
        "{error}"
    );
}

pub fn a_living_name_is_taken_a_dead_one_is_free() {
    let shared = Shared::new();
    let mut first = shared.machine(ANNA);
    let arguments = shared.machine_arguments();
    let arguments = arguments.each_ref().map(String::as_str);
    let said = shared.fails(BERT, &arguments);
    assert!(said.contains("another application is running"), "{said}");
    assert!(said.contains(&first.id().to_string()), "{said}");
    first.kill();
    // The remaining files belong to another user, and do not block other applications.
    assert!(shared.socket(&shared.application("Machine")).exists());
    let _second = shared.machine(BERT);
    let machine = format!("opc.iox2://{}", shared.application("Machine"));
    let read = shared.run(CARL, &["read", &machine, "Spindle/SpeedSetpoint"]);
    assert!(read.expect_success().starts_with("6000.0 "));
}

pub fn a_sticky_directory_keeps_names_for_their_users() {
    let shared = Shared::with_mode(0o3770);
    let name = shared.application("Machine");
    let mut first = shared.machine(ANNA);
    let removed = as_user(BERT, || std::fs::remove_file(shared.socket(&name)));
    assert_eq!(removed.unwrap_err().kind(), ErrorKind::PermissionDenied);
    first.kill();
    let arguments = shared.machine_arguments();
    let said = shared.fails(BERT, &arguments.each_ref().map(String::as_str));
    assert!(said.contains("belongs to another user"), "{said}");
    let _again = shared.machine(ANNA);
    let machine = format!("opc.iox2://{name}");
    let _ = shared
        .run(BERT, &["read", &machine, "Spindle/Speed"])
        .expect_success();
}

pub fn the_registry_knows_a_provider_by_its_user() {
    let shared = Shared::new();
    let _registry = shared.registry(ANNA);
    let mut first = shared.machine(BERT);
    shared.wait_until_registered(ANNA);
    first.kill();
    // Another member may use the name, but it is not that Provider: the registry neither accepts its requests nor
    // forwards to it.
    let impostor = shared.machine(CARL);
    let registry = format!("opc.iox2://{}", shared.application("Registry"));
    let path = format!("{}/Spindle/Override", shared.application("Machine"));
    wait_for("the registry's refusal", || {
        impostor.report().contains("not registered").then_some(())
    });
    let said = shared.fails(ANNA, &["write", &registry, &path, "70"]);
    assert!(said.contains("BadNoCommunication"), "{said}");
    drop(impostor);
    let _first = shared.machine(BERT);
    shared.wait_until_registered(ANNA);
}
