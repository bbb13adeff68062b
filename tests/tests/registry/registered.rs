//! A registry that registers itself at another one.

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::{Registry, Sandbox};

use crate::{PATIENCE, eventually};

/// Returns the names of the servers that a registry knows.
fn known(sandbox: &Sandbox, endpoint: &str) -> Vec<String> {
    let rows = sandbox.rows(&["discover", endpoint]);
    let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
    rows.iter().map(name).collect()
}

/// Lets the owner of `elsewhere` trust the certificate of a registry of another user.
pub(crate) fn trust(elsewhere: &Sandbox, sandbox: &Sandbox, name: &str) {
    let own = sandbox.data_directory().join("pki/own/certs");
    let certificate = own.join(format!("{name}.der"));
    let folder = elsewhere.data_directory().join("pki");
    let (certificate, folder) = (certificate.to_str().unwrap(), folder.to_str().unwrap());
    let add = ["trust", "add", certificate, "--certificates", folder];
    let _ = elsewhere.run(&add).expect_success();
}

#[test]
fn a_registry_is_known_at_a_discovery_server_while_it_runs() {
    for security in ["auto", "encrypt"] {
        let (here, there) = (Sandbox::new(), Sandbox::new());
        let discovery = Registry::start(&there, &[]);
        let register = ["--register-at", &discovery.endpoint];
        let secured = ["--register-security", security];
        let mut registry = Registry::start(&here, &[register, secured].concat());
        if security == "encrypt" {
            // The first attempts are refused, by both sides.
            trust(&here, &there, &discovery.name);
            trust(&there, &here, &registry.name);
        }
        eventually("it is registered", PATIENCE, || {
            known(&there, &discovery.endpoint).contains(&registry.name)
        });
        let rows = there.rows(&["discover", &discovery.endpoint]);
        let row = rows.iter().find(|row| row["name"] == *registry.name);
        assert_eq!(
            row.unwrap()["discoveryUrls"],
            serde_json::json!([registry.endpoint])
        );
        registry.process.signal(Signal::INT);
        assert!(registry.process.wait(PATIENCE).success());
        let left = known(&there, &discovery.endpoint);
        assert_eq!(left, std::slice::from_ref(&discovery.name));
    }
}
