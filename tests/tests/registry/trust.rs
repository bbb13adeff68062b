//! Trust that ends while a channel is open.

use takt_tests::{Process, Registry, Sandbox};

use crate::PATIENCE;

#[test]
fn a_client_that_is_rejected_loses_its_open_channel() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let folder = sandbox.data_directory().join("pki");
    let certificate = folder.join(format!("own/certs/{}.der", registry.name));
    let folder = folder.to_str().unwrap();
    // Another user, who has certificates of its own.
    let elsewhere = sandbox.elsewhere();
    let trust = ["trust", "add", certificate.to_str().unwrap()];
    let _ = elsewhere.run(&trust).expect_success();
    let read = [
        "read",
        &registry.endpoint,
        "i=2258",
        "--security",
        "encrypt",
    ];
    let _ = elsewhere.run(&read).expect_failure();
    let listed = sandbox.rows(&["trust", "list", "--certificates", folder]);
    let rejected = listed.iter().find(|row| row["folder"] == "rejected");
    let thumbprint = rejected.unwrap()["thumbprint"].as_str().unwrap().to_owned();
    let change = |what| {
        let change = ["trust", what, &thumbprint, "--certificates", folder];
        let _ = sandbox.run(&change).expect_success();
    };
    change("add");

    // The lifetime of its token is an hour.
    let watch = [
        "watch",
        &registry.endpoint,
        "i=2258",
        "--security",
        "encrypt",
        "--for",
        "10min",
        "--timeout",
        "5s",
    ];
    let mut watch = Process::spawn("takt watch", &mut elsewhere.takt(&watch));
    for _ in 0..2 {
        let _ = watch.next_line(PATIENCE);
    }
    change("reject");
    let ended = watch.finish(PATIENCE);
    assert!(!ended.status.success(), "{}", ended.stdout);
    let refused = elsewhere.run(&read).expect_failure();
    assert!(refused.contains("BadSecurityChecksFailed"), "{refused}");
}
