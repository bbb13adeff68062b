//! Discovery between two hosts: FindServers, registrations, and announcements by mDNS.
//!
//! The hosts are network namespaces, which vanish with the processes that hold them.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_app::client::DiscoveryClient;
use takt_app::{ClientError, ClientOptions};
use takt_attack::Usage;
use takt_tests::network::{HostPair, NETWORKS, NamespaceHost};
use takt_tests::privileged::Test;
use takt_tests::{Process, Sandbox, process};
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::{MdnsDiscoveryConfiguration, RegisteredServer};
use takt_ua::{LocalizedText, StatusCode};

const PATIENCE: Duration = Duration::from_secs(60);

/// Addresses of the hosts.
const FIRST: &str = "10.84.79.1";
const SECOND: &str = "10.84.79.2";

pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test {
            name: "servers_are_found_on_the_host_and_on_the_network",
            needs: NETWORKS,
            run: servers_are_found_on_the_host_and_on_the_network,
        },
        Test {
            name: "servers_at_one_address_are_announced_there",
            needs: NETWORKS,
            run: servers_at_one_address_are_announced_there,
        },
        Test {
            name: "a_flood_of_announcements_keeps_no_client_out",
            needs: NETWORKS,
            run: a_flood_of_announcements_keeps_no_client_out,
        },
    ]
}

/// A host with a folder for its applications.
struct Host<'a> {
    host: &'a NamespaceHost,
    sandbox: Sandbox,
}

impl<'a> Host<'a> {
    fn new(host: &'a NamespaceHost, address: &str) -> Self {
        host.run("ip", "link set lo up");
        host.run(
            "ip",
            &format!("address add {address}/24 dev {}", host.interface),
        );
        Self {
            host,
            sandbox: Sandbox::new(),
        }
    }

    /// Starts an application, and waits until it serves.
    fn serve(&self, arguments: &[&str]) -> Process {
        let mut command = self.host.takt(&self.sandbox, arguments);
        let mut process = Process::spawn(arguments[0], &mut command);
        process.wait_for("its endpoints", PATIENCE, |line| line.contains(" serves "));
        process
    }

    /// Runs `takt discover --json`, and returns its rows.
    fn discover(&self, arguments: &[&str]) -> Vec<Value> {
        let mut all = vec!["discover", "--json"];
        all.extend(arguments);
        let mut command = self.host.takt(&self.sandbox, &all);
        let output = process::run("takt discover", &mut command, PATIENCE).expect_success();
        let rows = output.lines();
        rows.map(|row| serde_json::from_str(row).unwrap()).collect()
    }

    /// Listens to the network until `is_there` holds for the rows.
    fn wait_for_network(&self, what: &str, is_there: impl Fn(&[Value]) -> bool) {
        let begin = Instant::now();
        loop {
            let rows = self.discover(&["--network", "--wait", "1500ms"]);
            if is_there(&rows) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{what}: {rows:?}");
        }
    }

    /// Runs `work` with a connection from here.
    fn connected<R: Send>(
        &self,
        endpoint: &str,
        work: impl FnOnce(&mut DiscoveryClient) -> R + Send,
    ) -> R {
        let entrance = self.host.entrance();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                entrance.enter();
                let options = ClientOptions {
                    timeout: PATIENCE,
                    ..ClientOptions::named("Test")
                };
                let endpoint = endpoint.parse().unwrap();
                let mut client = DiscoveryClient::connect(&endpoint, &options).unwrap();
                work(&mut client)
            });
            thread.join().unwrap()
        })
    }
}

fn has(rows: &[Value], name: &str, url: &str) -> bool {
    rows.iter()
        .any(|row| row["name"] == name && row["discoveryUrl"] == url)
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}

fn foreign() -> RegisteredServer {
    foreign_at("Oven", &format!("opc.tcp://{FIRST}:4899"))
}

fn foreign_at(name: &str, url: &str) -> RegisteredServer {
    RegisteredServer {
        server_uri: format!("urn:foreign:{name}").as_str().into(),
        product_uri: "urn:foreign".into(),
        server_names: vec![LocalizedText::from(name)],
        server_type: ApplicationType::Server,
        discovery_urls: vec![url.into()],
        is_online: true,
        ..RegisteredServer::default()
    }
}

fn servers_are_found_on_the_host_and_on_the_network() {
    let hosts = HostPair::new();
    let first = Host::new(&hosts.first, FIRST);
    let second = Host::new(&hosts.second, SECOND);
    let everywhere = "opc.tcp://0.0.0.0:4840";
    let registry = first.serve(&["registry", "--endpoint", everywhere, "--mdns"]);
    let provider = [
        "provider",
        "machine",
        "--endpoint",
        "opc.tcp://0.0.0.0:4850",
    ];
    let mut provider = first.serve(&provider);
    let desk = [
        "registry",
        "--endpoint",
        everywhere,
        "--name",
        "Desk",
        "--mdns",
    ];
    let desk = second.serve(&desk);

    // On the network.
    let registry_url = format!("opc.tcp://{FIRST}:4840");
    let machine_url = format!("opc.tcp://{FIRST}:4850");
    second.wait_for_network("the servers of the other host", |rows| {
        has(rows, "SemanticRegistryServer on takt0", &registry_url)
            && has(rows, "Machine on takt0", &machine_url)
    });
    let found = second.connected("opc.tcp://127.0.0.1:4840", |client| {
        let begin = Instant::now();
        loop {
            let found = client.servers_on_network().unwrap();
            let is_there = |name: &str| {
                let mut all = found.iter();
                all.any(|server| server.server_name.as_str() == name)
            };
            if is_there("Machine on takt0") && is_there("Desk on takt1") {
                return found;
            }
            assert!(begin.elapsed() < PATIENCE, "{found:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let machine = found
        .iter()
        .find(|one| one.discovery_url.as_str() == machine_url);
    let machine = machine.unwrap();
    assert_eq!(machine.server_capabilities[0].as_str(), "DA");
    let lds = found
        .iter()
        .find(|one| one.discovery_url.as_str() == registry_url);
    let lds = &lds.unwrap().server_capabilities;
    let lds: Vec<&str> = lds.iter().map(|one| one.as_str()).collect();
    assert_eq!(lds, ["LDS", "DA", "AC"]);
    assert!(
        found
            .windows(2)
            .all(|pair| pair[0].record_id < pair[1].record_id)
    );

    // On the host, as seen from both.
    let seen = second.discover(&[&registry_url]);
    assert_eq!(names(&seen), ["SemanticRegistryServer", "Machine"]);
    assert_eq!(seen[1]["discoveryUrls"], serde_json::json!([machine_url]));
    assert_eq!(seen[1]["applicationUri"], "urn:takt:provider:Machine");
    let own = first.discover(&[]);
    assert_eq!(names(&own), ["SemanticRegistryServer", "Machine"]);
    let urls = own[1]["discoveryUrls"].as_array().unwrap();
    assert!(
        urls.contains(&Value::from("opc.iox2://Machine")),
        "{urls:?}"
    );

    // A foreign server registers on its host, and not from elsewhere.
    let refused = second.connected(&registry_url, |client| client.register(&foreign(), None));
    let Err(ClientError::Service { status, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(status, StatusCode::BadSecurityModeInsufficient);
    let mdns = MdnsDiscoveryConfiguration {
        mdns_server_name: "Oven 3".into(),
        server_capabilities: vec!["DA".into(), "HD".into()],
    };
    first.connected("opc.tcp://127.0.0.1:4840", |client| {
        client.register(&foreign(), Some(&mdns)).unwrap();
    });
    // One on the loopback interface is for this host only, and one at all addresses is at the address of this host.
    let lathe = foreign_at("Lathe", "opc.tcp://127.0.0.1:4898");
    let saw = foreign_at("Saw", "opc.tcp://0.0.0.0:4897");
    first.connected("opc.tcp://127.0.0.1:4840", |client| {
        client.register(&lathe, None).unwrap();
        client.register(&saw, None).unwrap();
    });
    let own = first.discover(&[]);
    assert!(names(&own).contains(&"Lathe"), "{own:?}");
    let seen = second.discover(&[&registry_url]);
    let expected = ["SemanticRegistryServer", "Machine", "Oven", "Saw"];
    assert_eq!(names(&seen), expected);
    let saw_url = format!("opc.tcp://{FIRST}:4897");
    assert_eq!(seen[3]["discoveryUrls"], serde_json::json!([saw_url]));
    second.wait_for_network("the foreign servers", |rows| {
        assert!(!names(rows).contains(&"Lathe on takt0"), "{rows:?}");
        has(rows, "Oven 3", &format!("opc.tcp://{FIRST}:4899"))
            && has(rows, "Saw on takt0", &saw_url)
    });
    first.connected("opc.tcp://127.0.0.1:4840", |client| {
        for server in [foreign(), lathe, saw] {
            let ended = RegisteredServer {
                is_online: false,
                ..server
            };
            client.register(&ended, None).unwrap();
        }
    });

    // A server behind a gateway is not announced: at the addresses of this host it would not be found.
    let gate = [
        "provider",
        "host",
        "--name",
        "Gate",
        "--endpoint",
        "opc.tcp://0.0.0.0:4860",
        "--advertise",
        "plant.example:14860",
    ];
    let gate = first.serve(&gate);

    // Servers that end are withdrawn.
    provider.signal(Signal::INT);
    let _ = provider.finish(PATIENCE);
    second.wait_for_network("the end of two servers", |rows| {
        let names = names(rows);
        names.contains(&"SemanticRegistryServer on takt0")
            && !names.contains(&"Machine on takt0")
            && !names.contains(&"Oven 3")
    });
    second.wait_for_network("the registry alone", |rows| {
        assert!(!names(rows).contains(&"Gate on takt0"), "{rows:?}");
        names(rows).contains(&"SemanticRegistryServer on takt0")
    });
    let seen = second.discover(&[&registry_url]);
    assert_eq!(names(&seen), ["SemanticRegistryServer", "Gate"]);
    let gate_url = "opc.tcp://plant.example:14860";
    assert_eq!(seen[1]["discoveryUrls"], serde_json::json!([gate_url]));
    for mut process in [registry, desk, gate] {
        process.signal(Signal::INT);
        let _ = process.finish(PATIENCE);
    }
}

/// A host has three addresses, and two of its servers listen at one address each, which is not the first one.
fn servers_at_one_address_are_announced_there() {
    let hosts = HostPair::new();
    let first = Host::new(&hosts.first, FIRST);
    let second = Host::new(&hosts.second, SECOND);
    for (host, number) in [(&hosts.first, 1), (&hosts.second, 2)] {
        let interface = &host.interface;
        let v4 = format!("address add 10.84.80.{number}/24 dev {interface}");
        let v6 = format!("address add fd84::{number}/64 dev {interface} nodad");
        host.run("ip", &v4);
        host.run("ip", &v6);
    }
    let registry_url = "opc.tcp://10.84.80.1:4840";
    let registry = first.serve(&["registry", "--endpoint", registry_url, "--mdns"]);
    let saw_url = "opc.tcp://[fd84::1]:4860";
    let saw = first.serve(&["provider", "host", "--name", "Saw", "--endpoint", saw_url]);
    second.wait_for_network("the servers of the other host", |rows| {
        let at_others = |row: &&Value| {
            ![registry_url, saw_url].contains(&row["discoveryUrl"].as_str().unwrap())
        };
        assert_eq!(rows.iter().find(at_others), None);
        has(rows, "SemanticRegistryServer on takt0", registry_url)
            && has(rows, "Saw on takt0", saw_url)
    });
    for mut process in [registry, saw] {
        process.signal(Signal::INT);
        let _ = process.finish(PATIENCE);
    }
}

/// Returns a DNS name.
fn dns_name(labels: &[&str]) -> Vec<u8> {
    let label = |label: &&str| {
        let length = u8::try_from(label.len()).unwrap();
        [&[length], label.as_bytes()].concat()
    };
    let labels = labels.iter().flat_map(label);
    labels.chain([0]).collect()
}

/// Returns a message that announces a server: PTR, SRV, TXT and A (RFC 6762, RFC 6763).
fn announced(number: u32) -> Vec<u8> {
    let name = format!("Flood{number}");
    let service = ["_opcua-tcp", "_tcp", "local"];
    let instance = dns_name(&[&[name.as_str()], &service[..]].concat());
    let host = dns_name(&["flood", "local"]);
    let record = |name: &[u8], kind: u8, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap().to_be_bytes();
        [name, &[0, kind, 0, 1, 0, 0, 0, 120], &length, data].concat()
    };
    let mut message = vec![0, 0, 0x84, 0, 0, 0, 0, 4, 0, 0, 0, 0];
    message.extend(record(&dns_name(&service), 12, &instance));
    let port = 4840_u16.to_be_bytes();
    message.extend(record(&instance, 33, &[&[0; 4], &port[..], &host].concat()));
    message.extend(record(&instance, 16, b"\x06path=/\x07caps=DA"));
    message.extend(record(&host, 1, &[10, 84, 79, 2]));
    message
}

/// A host sends thousands of announcements, and messages that are none, to a registry whose clients go on.
fn a_flood_of_announcements_keeps_no_client_out() {
    /// Messages, one half of which are damaged.
    const MESSAGES: u32 = 10_000;
    /// Bytes by which the registry may grow.
    const MEMORY: u64 = 32 << 20;
    let hosts = HostPair::new();
    let first = Host::new(&hosts.first, FIRST);
    let second = Host::new(&hosts.second, SECOND);
    let endpoint = "opc.tcp://127.0.0.1:4840";
    let registry = first.serve(&["registry", "--endpoint", endpoint, "--mdns"]);
    let resident = || Usage::of(registry.id()).unwrap().resident;
    let before = resident();
    let entrance = second.host.entrance();
    let flood = std::thread::spawn(move || {
        entrance.enter();
        let socket = UdpSocket::bind((SECOND, 5353)).unwrap();
        for number in 0..MESSAGES {
            let mut message = announced(number);
            if number % 2 == 0 {
                let at = number as usize % message.len();
                message[at] ^= 0xC0;
                message.truncate(message.len() - at / 2);
            }
            // A full queue of the interface is no failure.
            let _ = socket.send_to(&message, ("224.0.0.251", 5353));
            if number % 100 == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let found = first.connected(endpoint, |client| {
        while !flood.is_finished() {
            let begin = Instant::now();
            let _ = client.servers_on_network().unwrap();
            let took = begin.elapsed();
            assert!(took < Duration::from_secs(5), "an answer took {took:?}");
        }
        client.servers_on_network().unwrap()
    });
    flood.join().unwrap();
    // There were more than the registry keeps.
    assert!((100..=1_000).contains(&found.len()), "{}", found.len());
    let grown = resident().saturating_sub(before);
    assert!(grown < MEMORY, "it has grown by {grown} bytes");
    let own = first.discover(&[]);
    assert_eq!(names(&own), ["SemanticRegistryServer"]);
}
