//! A registry that registers itself at another one.

use rustix::process::Signal;
use serde_json::Value;
use takt_app::ClientOptions;
use takt_app::client::DiscoveryClient;
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::RegisteredServer;
use takt_ua::{LocalizedText, StatusCode};

use crate::registry::{PATIENCE, consumer, eventually, wait_until_available};

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

/// An ApplicationUri stands for one server in the list.
#[test]
fn the_registry_and_its_providers_are_listed_once() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    wait_until_available(&mut consumer(&sandbox, &registry), &machine.name);
    let rows = || sandbox.rows(&["discover", &registry.endpoint]);
    let before = rows();
    let uri = |name: &str| {
        let row = before.iter().find(|row| row["name"] == name).unwrap();
        row["applicationUri"].as_str().unwrap().to_owned()
    };
    let endpoint = registry.endpoint.parse().unwrap();
    let mut client = DiscoveryClient::connect(&endpoint, &ClientOptions::named("test")).unwrap();
    let mut register = |uri: &str, url: &str| {
        let server = RegisteredServer {
            server_uri: uri.into(),
            server_names: vec![LocalizedText::from("Other")],
            server_type: ApplicationType::Server,
            discovery_urls: vec![url.into()],
            is_online: true,
            ..RegisteredServer::default()
        };
        let registered = client.register(&server, None);
        registered.map_or_else(|error| error.status_code(), |()| StatusCode::Good)
    };
    let url = "opc.tcp://127.0.0.1:9";
    let own = register(&uri(&registry.name), url);
    assert_eq!(own, StatusCode::BadServerUriInvalid);
    assert_eq!(register(&uri(&machine.name), url), StatusCode::Good);
    assert_eq!(rows(), before);
    assert_eq!(
        register("urn:other", "foo"),
        StatusCode::BadDiscoveryUrlMissing
    );
    assert_eq!(register("urn:other", url), StatusCode::Good);
    assert_eq!(rows().len(), before.len() + 1);
}

/// The DiscoveryUrls of a server may name a host that is not known here, although its address has just worked.
#[test]
fn endpoints_are_asked_at_the_url_that_worked() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--advertise", "plc.invalid"]);
    let shown = sandbox
        .run(&["discover", &registry.endpoint, "--endpoints"])
        .expect_success();
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let asked = lines.iter().position(|line| *line == registry.endpoint);
    let first = asked.and_then(|place| lines.get(place + 1));
    assert!(first == Some(&"without security"), "{shown}");
    assert!(shown.contains("plc.invalid"), "{shown}");
}
