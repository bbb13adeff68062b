//! The host in the URLs of GetEndpoints, FindServers and CreateSession, and in the certificate.

use rustix::process::Signal;
use takt_app::Identity;
use takt_tests::{Process, Registry, Sandbox};
use takt_ua::structures::{CreateSessionRequest, FindServersRequest, GetEndpointsRequest};
use takt_ua::{ByteString, UaString};

use crate::registry::{PATIENCE, client_as, consumer, wait_until_available};

/// Returns the distinct `opc.tcp` URLs in the answers of the three services to a client that names `requested`.
fn announced(sandbox: &Sandbox, endpoint: &str, requested: &str) -> Vec<String> {
    let mut client = client_as(sandbox, endpoint, "", Identity::Anonymous);
    let endpoint_url = || UaString::from(requested);
    let found = client
        .call(FindServersRequest {
            endpoint_url: endpoint_url(),
            ..FindServersRequest::default()
        })
        .unwrap();
    let got = client
        .call(GetEndpointsRequest {
            endpoint_url: endpoint_url(),
            ..GetEndpointsRequest::default()
        })
        .unwrap();
    let created = client
        .call(CreateSessionRequest {
            endpoint_url: endpoint_url(),
            client_nonce: ByteString::from(&[7_u8; 32]),
            ..CreateSessionRequest::default()
        })
        .unwrap();
    let servers = found.servers.iter().flat_map(|one| &one.discovery_urls);
    let endpoints = got.endpoints.iter().chain(&created.server_endpoints);
    let described = endpoints.flat_map(|one| {
        let discovery = &one.server.discovery_urls;
        std::iter::once(&one.endpoint_url).chain(discovery)
    });
    let mut urls: Vec<String> = servers
        .chain(described)
        .map(|url| url.as_str().to_owned())
        .filter(|url| url.starts_with("opc.tcp://"))
        .collect();
    assert!(urls.len() > 10, "secured endpoints too: {urls:?}");
    urls.sort();
    urls.dedup();
    urls
}

fn port(endpoint: &str) -> &str {
    endpoint.rsplit_once(':').unwrap().1
}

/// Ends a registry; returns its name and what it logged.
fn end(mut registry: Registry) -> (String, String) {
    registry.process.signal(Signal::TERM);
    let finished = registry.process.finish(PATIENCE);
    assert!(finished.status.success(), "{}", finished.stderr);
    (registry.name, finished.stderr)
}

#[test]
fn urls_and_certificate_have_the_advertised_host() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--advertise", "plant.example"]);
    let port = port(&registry.endpoint);
    let expected = format!("opc.tcp://plant.example:{port}");
    for requested in [
        &*registry.endpoint,
        &format!("opc.tcp://localhost:{port}"),
        "opc.tcp://<other>:4840",
        "",
    ] {
        let urls = announced(&sandbox, &registry.endpoint, requested);
        assert_eq!(urls, [&*expected], "{requested}");
    }
    // The endpoints that a client is told about do not hinder it.
    let encrypted = [
        "read",
        &registry.endpoint,
        "i=2258",
        "--security",
        "encrypt",
    ];
    let folder = sandbox.data_directory().join("pki");
    let folder = folder.to_str().unwrap();
    let _ = sandbox
        .run(&[&encrypted[..], &["--certificates", folder]].concat())
        .expect_success();
    let (name, log) = end(registry);
    assert!(!log.contains("advertised host"), "{log}");
    let certificate = format!("{folder}/own/certs/{name}.der");
    let show = || {
        sandbox
            .run(&["trust", "show", &certificate])
            .expect_success()
    };
    assert!(show().contains("plant.example"), "{}", show());

    // The certificate exists already.
    let other = ["--advertise", "[fd00::7]:14840"];
    let registry = Registry::start(&sandbox, &other);
    let urls = announced(&sandbox, &registry.endpoint, &registry.endpoint);
    assert_eq!(urls, ["opc.tcp://[fd00::7]:14840"]);
    let (_, log) = end(registry);
    // The registry has certificates in a folder of its own.
    let remedy = format!("`takt trust renew {name} --host fd00::7 --certificates {folder}`");
    for part in [&remedy, "fd00::7", folder] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let remedy = [
        "trust",
        "renew",
        &name,
        "--host",
        "fd00::7",
        "--certificates",
        folder,
    ];
    let _ = sandbox.run(&remedy).expect_success();
    assert!(show().contains("fd00::7"), "{}", show());
    let (_, log) = end(Registry::start(&sandbox, &other));
    assert!(!log.contains("advertised host"), "{log}");
}

#[test]
fn without_an_advertised_host_each_client_gets_its_own() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let own = &*registry.endpoint;
    let port = port(own);
    let localhost = format!("opc.tcp://localhost:{port}");
    for (requested, expected) in [
        (own, own),
        (&*localhost, &*localhost),
        // Another port than that of this server, and URLs that are not repeated.
        ("opc.tcp://plant:1", own),
        ("opc.tcp://a b:4840", own),
        (&format!("opc.tcp://<b>:{port}"), own),
        (&format!("opc.tcp://localhost\n:{port}"), own),
        (&format!("http://localhost:{port}"), own),
        ("", own),
    ] {
        let urls = announced(&sandbox, own, requested);
        assert_eq!(urls, [expected], "{requested:?}");
    }
}

#[test]
fn the_registry_names_the_advertised_host_of_a_provider() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("machine");
    let arguments = [
        "provider",
        "machine",
        "--name",
        &name,
        "--registry",
        &registry.shared_memory(),
        "--advertise",
        "plant.example:14840",
    ];
    let mut provider = Process::spawn("takt provider", &mut sandbox.takt(&arguments));
    let said = provider.wait_for("its endpoints", PATIENCE, |line| {
        line.contains("opc.tcp://")
    });
    assert!(said.contains("opc.tcp://127.0.0.1:"), "{said}");
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);
    let providers = consumer.providers().unwrap();
    let entry = providers.iter().find(|one| one.name == name).unwrap();
    let urls: Vec<String> = entry.endpoints.iter().map(ToString::to_string).collect();
    let expected = "opc.tcp://plant.example:14840".to_owned();
    assert!(urls.contains(&expected), "{urls:?}");
}

#[test]
fn an_advertised_text_that_is_no_host_is_refused() {
    let sandbox = Sandbox::new();
    for wrong in ["opc.tcp://plant", "plant/line", "0.0.0.0", "::1", "plant:0"] {
        let refused = sandbox.run(&["registry", "--advertise", wrong]);
        let refused = refused.expect_failure();
        assert!(refused.contains("HOST:PORT"), "{refused}");
    }
}
