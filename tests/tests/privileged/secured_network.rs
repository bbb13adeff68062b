//! Endpoints beyond the loopback interface, in a network namespace: secured ones only, and what anonymous clients and users may do,
//! at a Provider and through the registry.

use std::time::Duration;

use rustix::thread::{UnshareFlags, unshare_unsafe};
use takt_app::{Client, ClientOptions};
use takt_tests::network::{HostPair, NETWORKS, NamespaceHost};
use takt_tests::privileged::Test;
use takt_tests::{Process, Registry, Sandbox, process};
use takt_ua::structures::GetEndpointsRequest;

/// An address that is none of the loopback interface, although packets do not leave the host.
const ADDRESS: &str = "10.84.77.1";

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn tests() -> Vec<Test> {
    let needs = &["unshare", "--net", "true"];
    vec![
        Test {
            name: "anonymous_clients_from_elsewhere_only_read",
            needs: NETWORKS,
            run: anonymous_clients_from_elsewhere_only_read,
        },
        Test {
            name: "an_endpoint_without_a_certificate_is_not_opened",
            needs,
            run: || in_namespace(an_endpoint_without_a_certificate_is_not_opened),
        },
        Test {
            name: "an_endpoint_at_all_addresses_repeats_the_host_of_the_client",
            needs,
            run: || in_namespace(an_endpoint_at_all_addresses_repeats_the_host_of_the_client),
        },
        Test {
            name: "a_server_without_a_way_to_it_is_read_through_reverse_connect",
            needs: NETWORKS,
            run: a_server_without_a_way_to_it_is_read_through_reverse_connect,
        },
    ]
}

fn in_namespace(test: fn()) {
    let thread = std::thread::spawn(move || {
        enter();
        for arguments in [
            vec!["link", "set", "lo", "up"],
            vec!["address", "add", ADDRESS, "dev", "lo"],
        ] {
            let mut command = std::process::Command::new("ip");
            let _ = process::run("ip", command.args(arguments), PATIENCE).expect_success();
        }
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[allow(unsafe_code, reason = "the call is unsafe for sake of other flags")]
fn enter() {
    // SAFETY: only the network namespace is changed, which affects neither memory nor descriptors of other threads.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
}

/// Two hosts, joined by a cable: the servers are on one, the clients on the other one.
fn anonymous_clients_from_elsewhere_only_read() {
    let thread = std::thread::spawn(|| {
        let hosts = HostPair::new();
        let (plant, office) = (&hosts.first, &hosts.second);
        plant.run("ip", "link set lo up");
        plant.run("ip", &format!("address add {ADDRESS}/24 dev takt0"));
        office.run("ip", "address add 10.84.77.2/24 dev takt1");
        plant.entrance().enter();
        only_users_write_from(office);
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn only_users_write_from(office: &NamespaceHost) {
    let sandbox = Sandbox::new();
    let there = |arguments: &[&str]| {
        let arguments = takt_tests::sandbox::patient(arguments);
        process::run("takt", &mut office.takt(&sandbox, &arguments), PATIENCE)
    };
    let state = sandbox.data_directory().join("takt");
    let in_state = |name: &str| state.join(name).to_str().unwrap().to_owned();
    let (certificates, users) = (in_state("pki"), in_state("users"));
    let any_port = format!("opc.tcp://{ADDRESS}:0");
    let shared = ["--certificates", &certificates, "--users", &users];
    let registry = Registry::start_at(&sandbox, &any_port, &shared);
    let name = sandbox.application("machine");
    let provider = [
        "provider",
        "machine",
        "--name",
        &name,
        "--endpoint",
        &any_port,
    ];
    let at_registry = ["--registry", &registry.shared_memory()];
    let mut provider = Process::spawn(
        "takt provider",
        &mut sandbox.takt(&[&provider[..], &at_registry].concat()),
    );
    let said = provider.wait_for("its endpoints", PATIENCE, |line| {
        line.contains("opc.tcp://")
    });
    let endpoint = said.split(' ').next_back().unwrap().to_owned();
    let through = format!("{name}/Spindle/Override");
    let password = sandbox.data_directory().join("password");
    std::fs::write(&password, "hammer\n").unwrap();
    let password = password.to_str().unwrap();
    for role in ["operator", "observer"] {
        let add = [
            "user",
            "add",
            role,
            "--role",
            role,
            "--password-file",
            password,
        ];
        let _ = sandbox.run(&add).expect_success();
    }
    let as_user = |user| ["--user", user, "--password-file", password];

    for (endpoint, node) in [
        (&endpoint, "Spindle/Override"),
        (&registry.endpoint, &*through),
    ] {
        let read = ["read", endpoint, node];
        let write = ["write", endpoint, node, "80"];
        // The Provider is registered a moment later.
        let begin = std::time::Instant::now();
        while !there(&read).status.success() {
            assert!(
                begin.elapsed() < PATIENCE,
                "{}",
                there(&read).expect_failure()
            );
        }
        let none = there(&[&read[..], &["--security", "none"]].concat());
        let none = none.expect_failure();
        assert!(none.contains("secure endpoints only"), "{none}");
        let anonymous = there(&write).expect_failure();
        assert!(anonymous.contains("BadUserAccessDenied"), "{anonymous}");
        assert!(anonymous.contains("takt user add"), "{anonymous}");
        let observer = there(&[&write[..], &as_user("observer")].concat());
        let observer = observer.expect_failure();
        assert!(observer.contains("BadUserAccessDenied"), "{observer}");
        let operator = there(&[&write[..], &as_user("operator")].concat());
        assert!(operator.expect_success().contains("80"));
    }
    let call = ["call", &endpoint, "Start"];
    // On the host of the server, the kernel names the Unix user behind each address.
    for method in ["Start", "Stop"] {
        let _ = sandbox.run(&["call", &endpoint, method]).expect_success();
    }
    let anonymous = there(&call).expect_failure();
    assert!(anonymous.contains("BadUserAccessDenied"), "{anonymous}");
    let _ = there(&[&call[..], &as_user("operator")].concat()).expect_success();
    let _ = sandbox
        .run(&["user", "remove", "operator"])
        .expect_success();
    let removed = there(&[&call[..], &as_user("operator")].concat());
    let removed = removed.expect_failure();
    assert!(removed.contains("ActivateSession"), "{removed}");
}

fn an_endpoint_without_a_certificate_is_not_opened() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory().join("file");
    std::fs::write(&folder, "not a folder").unwrap();
    let any_port = format!("opc.tcp://{ADDRESS}:0");
    let name = sandbox.application("machine");
    let provider = [
        "provider",
        "machine",
        "--name",
        &name,
        "--endpoint",
        &any_port,
        "--certificates",
        folder.to_str().unwrap(),
    ];
    let refused = sandbox.run(&provider).expect_failure();
    assert!(refused.contains("reachable from the network"), "{refused}");
    let allowed = [&provider[..], &["--allow-none"]].concat();
    let mut allowed = Process::spawn("takt provider", &mut sandbox.takt(&allowed));
    let said = allowed.wait_for("its endpoints", PATIENCE, |line| {
        line.contains("opc.tcp://")
    });
    let endpoint = said.split(' ').next_back().unwrap();
    let read = ["read", endpoint, "Spindle/Override", "--security", "none"];
    let _ = sandbox.run(&read).expect_success();
}

fn an_endpoint_at_all_addresses_repeats_the_host_of_the_client() {
    let sandbox = Sandbox::new();
    let registry = Registry::start_at(&sandbox, "opc.tcp://0.0.0.0:0", &["--allow-none"]);
    let port = registry.endpoint.rsplit_once(':').unwrap().1;
    let loopback = format!("opc.tcp://127.0.0.1:{port}");
    let mut client = Client::new(&loopback.parse().unwrap(), ClientOptions::named("Client"));
    let mut announced = |requested: &str| {
        let get = GetEndpointsRequest {
            endpoint_url: requested.into(),
            ..GetEndpointsRequest::default()
        };
        let described = client.call(get).unwrap().endpoints.into_iter();
        let mut urls: Vec<String> = described
            .map(|one| one.endpoint_url.into_string())
            .collect();
        urls.retain(|url| url.starts_with("opc.tcp://"));
        urls.dedup();
        assert_eq!(urls.len(), 1, "{urls:?}");
        urls.remove(0)
    };
    for (requested, expected) in [
        // The client came by a router that changes the port.
        ("opc.tcp://plant.example:14840", "plant.example"),
        ("opc.tcp://[fd00::7]:14840", "[fd00::7]"),
        (&*loopback, "127.0.0.1"),
        ("", "127.0.0.1"),
    ] {
        assert_eq!(announced(requested), format!("opc.tcp://{expected}:{port}"));
    }
    // The name of this host stands for an address to which nobody can connect.
    let unusable = announced("opc.tcp://<b>");
    assert!(
        !unusable.contains("0.0.0.0") && !unusable.contains('<'),
        "{unusable}"
    );
}

/// Two hosts, joined by a cable. The server has its endpoint in a network to which the client has no route, so only the server can
/// open a connection.
fn a_server_without_a_way_to_it_is_read_through_reverse_connect() {
    const CLIENT: &str = "10.84.78.2:4841";
    let hosts = HostPair::new();
    let (plant, office) = (&hosts.first, &hosts.second);
    plant.run("ip", "link set lo up");
    plant.run("ip", &format!("address add {ADDRESS}/32 dev lo"));
    plant.run("ip", "address add 10.84.78.1/24 dev takt0");
    office.run("ip", "address add 10.84.78.2/24 dev takt1");

    let sandbox = Sandbox::new();
    let (data, name) = (sandbox.data_directory(), sandbox.application("Registry"));
    // Both trust the certificates of their common folder.
    let certificates = data.join("pki");
    let shared = ["--certificates", certificates.to_str().unwrap()];
    let endpoint = format!("opc.tcp://{ADDRESS}:0");
    let client = format!("opc.tcp://{CLIENT}");
    let registry = [
        "registry",
        "--name",
        &name,
        "--data",
        data.to_str().unwrap(),
        "--endpoint",
        &endpoint,
        "--reverse-connect",
        &client,
    ];
    let registry = [&registry[..], &shared].concat();
    let mut registry = Process::spawn("takt registry", &mut plant.takt(&sandbox, &registry));
    let said = registry.wait_for("its endpoint", PATIENCE, |line| line.contains("opc.tcp://"));
    let endpoint = said.split_whitespace().find(|word| word.contains(ADDRESS));
    let endpoint = endpoint.unwrap();

    let uri = plant.registry_uri(&name);
    let read = |more: &[&str]| {
        let read = ["read", endpoint, "i=2259", "--any-host"];
        let read = [&read[..], &shared, more].concat();
        process::run("takt read", &mut office.takt(&sandbox, &read), PATIENCE)
    };
    let refused = read(&["--timeout", "2s"]).expect_failure();
    assert!(refused.contains("unreachable"), "{refused}");
    let reversed = ["--listen", CLIENT, "--server-uri", &uri, "--timeout", "60s"];
    for security in ["Basic256Sha256,encrypt", "Basic256Sha256,sign"] {
        let shown = read(&[&reversed[..], &["--security", security]].concat());
        let shown = shown.expect_success();
        assert!(shown.starts_with("Running (0) "), "{security}: {shown}");
    }
    // Sessions without security are for the loopback interface.
    let open = read(&[&reversed[..], &["--security", "none"]].concat());
    let _ = open.expect_failure();
}
