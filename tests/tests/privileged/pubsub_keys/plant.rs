//! Two hosts with a key service, a Publisher and a Subscriber.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use takt_tests::network::{HostPair, NamespaceHost};
use takt_tests::pubsub::ProtectedLine;
use takt_tests::{Process, Sandbox};

use crate::pubsub_keys::PATIENCE;

/// KeyLifetime of the SecurityGroup.
pub const LIFETIME: Duration = Duration::from_secs(3);

/// Endpoint of the key service.
pub const SERVICE: &str = "opc.tcp://10.84.79.1:4840";

/// Address of the messages.
pub const MESSAGES: &str = "opc.udp://239.255.84.79:4841";

/// Interval of the messages.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// The two hosts. The registry and the Publisher are on the first one.
pub struct Plant {
    pub network: HostPair,
    pub here: Sandbox,
    pub there: Sandbox,
}

impl Plant {
    pub fn new() -> Self {
        let network = HostPair::new();
        for (host, number) in [(&network.first, 1), (&network.second, 2)] {
            let interface = host.interface;
            host.run("ip", "link set lo up");
            host.run(
                "ip",
                &format!("address add 10.84.79.{number}/24 dev {interface}"),
            );
        }
        let here = Sandbox::new();
        let there = here.elsewhere();
        Self {
            network,
            here,
            there,
        }
    }

    /// ApplicationName of the registry.
    pub fn registry_name(&self) -> String {
        self.here.application("Registry")
    }

    /// Starts the registry, whose database stays on the first host. Waits until it serves.
    pub fn registry(&self, arguments: &[&str]) -> Process {
        let (name, data) = (self.registry_name(), self.here.data_directory());
        let lifetime = format!("{}s", LIFETIME.as_secs());
        let common = [
            "registry",
            "--endpoint",
            SERVICE,
            "--name",
            &name,
            "--data",
            text(&data),
            "--key-lifetime",
            &lifetime,
        ];
        let all = [&common[..], arguments].concat();
        let mut command = self.network.first.takt(&self.here, &all);
        let mut registry = Process::spawn("takt registry", &mut command);
        registry.wait_for("its endpoint", PATIENCE, |line| line.contains(SERVICE));
        registry
    }

    /// Starts the Publisher. `configuration` is the beginning of its configuration.
    pub fn publisher(&self, configuration: &str, arguments: &[&str]) -> Process {
        let file = self.here.data_directory().join("publisher.toml");
        let interface = Some(self.network.first.interface);
        let file_text = messages(configuration).publisher(interface);
        std::fs::write(&file, file_text).unwrap();
        let common = ["publish", text(&file), "--simulate"];
        let all = [&common[..], arguments].concat();
        start(&self.network.first, &self.here, &all)
    }

    /// Starts the Subscriber. `configuration` is the beginning of its configuration.
    pub fn subscriber(&self, configuration: &str, arguments: &[&str]) -> Process {
        let file = self.there.data_directory().join("subscriber.toml");
        let interface = Some(self.network.second.interface);
        let file_text = messages(configuration).subscriber(interface);
        std::fs::write(&file, file_text).unwrap();
        let common = ["subscribe", text(&file), "--json"];
        let all = [&common[..], arguments].concat();
        start(&self.network.second, &self.there, &all)
    }

    /// Returns the folder of certificates of the registry.
    pub fn registry_certificates(&self) -> PathBuf {
        self.here.data_directory().join("pki")
    }

    /// Makes the registry and the applications of both hosts that have this name trust each other.
    pub fn trust(&self, names: [&str; 2]) {
        let folder = self.registry_certificates();
        let name = self.registry_name();
        let registry = folder.join(format!("own/certs/{name}.der"));
        for (sandbox, name) in [&self.here, &self.there].into_iter().zip(names) {
            let own = sandbox
                .data_directory()
                .join(format!("takt/pki/own/certs/{name}.der"));
            let add = ["trust", "add", text(&registry)];
            let _ = sandbox.run(&add).expect_success();
            let add = ["trust", "add", text(&own), "--certificates", text(&folder)];
            let _ = sandbox.run(&add).expect_success();
        }
    }
}

fn messages(head: &str) -> ProtectedLine<'_> {
    ProtectedLine {
        address: MESSAGES.to_owned(),
        interval: INTERVAL,
        head,
    }
}

fn start(host: &NamespaceHost, sandbox: &Sandbox, arguments: &[&str]) -> Process {
    let name = format!("takt {}", arguments.first().unwrap());
    Process::spawn(&name, &mut host.takt(sandbox, arguments))
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// DataSetMessages that the Subscriber has accepted.
#[derive(Debug, Default)]
pub struct Accepted {
    /// Their number.
    pub count: u64,
    /// Number of messages between them that did not arrive or were refused.
    pub missing: u64,
}

impl Accepted {
    /// Takes the lines that the Subscriber has printed.
    pub fn take(&mut self, subscriber: &mut Process) {
        while let Some(line) = subscriber.try_line() {
            let row: Value = serde_json::from_str(&line).unwrap();
            if row["kind"] == "key frame" {
                self.count += 1;
                self.missing += row["missing"].as_u64().unwrap();
            }
        }
    }
}
