//! The servers that are attacked: the real binaries, some with lower limits than usual.

use std::process::Command;
use std::time::Duration;

use takt_app::{Client, ClientOptions};
use takt_bench::attack::{Attack, Target};
use takt_tests::process::Process;
use takt_tests::{Registry, Sandbox, binary};

/// Time limit for the start of a server, on a loaded machine.
const START: Duration = Duration::from_secs(60);

/// Kind of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Registry,
    Provider,
}

/// Shell line before the command that starts it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limit(String);

impl Limit {
    /// Limits for an attack on descriptors.
    pub(crate) fn of(attack: Attack) -> Self {
        match attack {
            Attack::ShmClients => Self("ulimit -n 256; ".to_owned()),
            _ => Self::default(),
        }
    }

    /// Returns a shell line that ends with a semicolon.
    pub(crate) fn shell(line: String) -> Self {
        Self(line)
    }
}

/// A running server.
pub(crate) struct Server {
    pub(crate) process: Process,
    /// Registry of a Provider.
    _registry: Option<Registry>,
    target: Target,
}

/// Largest number of namespaces: the standard's, the server's own, those of the models, and those that one source of
/// registrations may have.
const NAMESPACES: usize = 64;

impl Server {
    /// Starts a server, and for a Provider its registry.
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

    /// Checks that no client has taken more names and namespaces than allowed.
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

/// Attacks over TCP register at this registry if it allows registrations.
fn allow_registration() -> Option<&'static str> {
    const OPTION: &str = "--allow-tcp-registration";
    let help = Command::new(binary::takt())
        .args(["registry", "--help"])
        .output();
    String::from_utf8_lossy(&help.unwrap().stdout)
        .contains(OPTION)
        .then_some(OPTION)
}
