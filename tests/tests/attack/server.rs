//! The servers that are attacked: the real binaries, some with less than usual.

use std::process::Command;
use std::time::Duration;

use takt_app::{Client, ClientOptions};
use takt_bench::attack::{Attack, Target};
use takt_tests::process::Process;
use takt_tests::{Registry, Sandbox, binary};

/// How long a server may take to begin, on a machine that has other things to do.
const START: Duration = Duration::from_secs(60);

/// Which server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Registry,
    Provider,
}

/// What it is started with: a line of shell before the command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limit(String);

impl Limit {
    /// What an attack on descriptors needs.
    pub(crate) fn of(attack: Attack) -> Self {
        match attack {
            Attack::ShmClients => Self("ulimit -n 256; ".to_owned()),
            _ => Self::default(),
        }
    }

    /// Returns a line of shell that ends with a semicolon.
    pub(crate) fn shell(line: String) -> Self {
        Self(line)
    }
}

/// A running server.
pub(crate) struct Server {
    pub(crate) process: Process,
    /// Of a Provider.
    _registry: Option<Registry>,
    target: Target,
}

/// More namespaces than the standard's, the server's own, the models', and those that one source of registrations may
/// have.
const NAMESPACES: usize = 64;

impl Server {
    /// Starts one, and for a Provider its registry.
    pub(crate) fn start(sandbox: &Sandbox, kind: Kind, limit: Limit) -> Self {
        let name = sandbox.application("Attacked");
        let data = sandbox.data_directory();
        let script = format!("{}exec \"$0\" \"$@\"", limit.0);
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(binary::takt());
        let mut registry = None;
        match kind {
            Kind::Registry => {
                command.args(["registry", "--endpoint", "opc.tcp://127.0.0.1:0"]);
                command.arg("--data").arg(data).args(allow_registration());
            }
            Kind::Provider => {
                let started = Registry::start(sandbox, &[]);
                command.args([
                    "provider",
                    "machine",
                    "--registry",
                    &started.shared_memory(),
                ]);
                registry = Some(started);
            }
        }
        command.args(["--name", &name]);
        sandbox.confine(&mut command);
        let mut process = Process::spawn("the attacked server", &mut command);
        let line = process.wait_for("its endpoints", START, |line| line.contains("opc.tcp://"));
        let word = line
            .split_whitespace()
            .find(|word| word.starts_with("opc.tcp://"));
        Self {
            process,
            _registry: registry,
            target: Target {
                opc_tcp: word.unwrap().trim_end_matches(',').to_owned(),
                opc_iox2: format!("opc.iox2://{name}"),
                runtime_directory: Some(sandbox.runtime_directory()),
            },
        }
    }

    pub(crate) fn target(&self) -> Target {
        self.target.clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Nobody has taken more names and namespaces than he may.
    pub(crate) fn has_names_left(&self) {
        let namespaces = self.client().namespace_array().unwrap();
        assert!(
            namespaces.len() <= NAMESPACES,
            "{} namespaces",
            namespaces.len()
        );
    }

    /// Returns a client of it, over TCP.
    pub(crate) fn client(&self) -> Client {
        let options = ClientOptions {
            timeout: START,
            ..ClientOptions::named("Attack")
        };
        Client::connect(&self.target.opc_tcp.parse().unwrap(), options).unwrap()
    }
}

/// Attacks over TCP register there, where a registry lets them.
fn allow_registration() -> Option<&'static str> {
    const OPTION: &str = "--allow-tcp-registration";
    let help = Command::new(binary::takt())
        .args(["registry", "--help"])
        .output();
    String::from_utf8_lossy(&help.unwrap().stdout)
        .contains(OPTION)
        .then_some(OPTION)
}
