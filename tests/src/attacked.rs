//! The servers that are attacked: the real binaries, some with lower limits than usual.

use std::process::Command;
use std::time::Duration;

use crate::process::Process;
use crate::{Registry, Sandbox, binary};
use takt_app::{Client, ClientOptions};
use takt_attack::{Attack, AttackObserver, AttackTarget};

/// Reads per second of each second client.
pub const RATE: u32 = 50;

/// Time limit of required events, long enough for a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Duration of each attack, if all attacks are carried out.
const ATTACK: Duration = Duration::from_millis(700);

/// Time limit for the start of a server, on a loaded machine.
const START: Duration = Duration::from_secs(60);

/// Kind of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `takt registry`.
    Registry,
    /// A server with a large value.
    Values,
    /// `takt provider machine`, with a registry of its own.
    Provider,
}

/// Shell line before the command that starts it.
#[derive(Debug, Clone, Default)]
pub struct Limit(String);

impl Limit {
    /// Limits for an attack on descriptors.
    #[must_use]
    pub fn of(attack: Attack) -> Self {
        match attack {
            Attack::ShmClients => Self("ulimit -n 256; ".to_owned()),
            _ => Self::default(),
        }
    }

    /// Runs a shell line before, which ends with a semicolon.
    #[must_use]
    pub fn shell(line: String) -> Self {
        Self(line)
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    /// Process of the server.
    pub process: Process,
    /// Registry of a Provider.
    _registry: Option<Registry>,
    target: AttackTarget,
}

/// Largest number of namespaces: the standard's, the server's own, those of the models, and those that one source of
/// registrations may have.
const NAMESPACES: usize = 64;

impl Server {
    /// Starts a server, and for a Provider its registry.
    ///
    /// # Panics
    /// If it does not begin to serve.
    #[must_use]
    pub fn start(sandbox: &Sandbox, kind: Kind, limit: Limit) -> Self {
        Self::start_with(sandbox, kind, limit, &[])
    }

    /// Starts a server with the limits and options that an attack needs.
    ///
    /// # Panics
    /// If it does not begin to serve.
    #[must_use]
    pub fn start_for(sandbox: &Sandbox, kind: Kind, attack: Attack) -> Self {
        let (mirrored, arguments) = match attack {
            Attack::HostileMirror => {
                let (port, arguments) = takt_attack::mirror_arguments();
                (Some(port), arguments)
            }
            Attack::Mdns => (None, vec!["--mdns".to_owned()]),
            _ => (None, Vec::new()),
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut server = Self::start_with(sandbox, kind, Limit::of(attack), &arguments);
        server.target.mirrored = mirrored;
        server
    }

    /// Starts a server with further arguments, and for a Provider its registry.
    ///
    /// # Panics
    /// If it does not begin to serve.
    #[must_use]
    pub fn start_with(sandbox: &Sandbox, kind: Kind, limit: Limit, arguments: &[&str]) -> Self {
        let name = sandbox.application("Attacked");
        let data = sandbox.data_directory();
        let script = format!("{}exec \"$0\" \"$@\"", limit.0);
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        match kind {
            Kind::Values => command.arg(binary::attacker()),
            Kind::Registry | Kind::Provider => command.arg(binary::takt()),
        };
        let mut registry = None;
        match kind {
            Kind::Registry => {
                command.args(["registry", "--endpoint", "opc.tcp://127.0.0.1:0"]);
                command.arg("--data").arg(data).args(allow_registration());
            }
            Kind::Values => {
                command.args(["serve", &name]);
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
        if kind != Kind::Values {
            command.args(["--name", &name]);
        }
        command.args(arguments);
        sandbox.confine(&mut command);
        let mut process = Process::spawn("the attacked server", &mut command);
        let line = process.wait_for("its endpoints", START, |line| line.contains("opc.tcp://"));
        let word = line
            .split_whitespace()
            .find(|word| word.starts_with("opc.tcp://"));
        Self {
            process,
            _registry: registry,
            target: AttackTarget {
                opc_tcp: word.unwrap().trim_end_matches(',').to_owned(),
                opc_iox2: format!("opc.iox2://{name}"),
                runtime_directory: Some(sandbox.runtime_directory()),
                certificates: Some(sandbox.data_directory().join("pki")),
                mirrored: None,
            },
        }
    }

    /// Returns its endpoints.
    #[must_use]
    pub fn target(&self) -> AttackTarget {
        self.target.clone()
    }

    /// Returns its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Checks that no client has taken more names and namespaces than allowed.
    ///
    /// # Panics
    /// If one has.
    pub fn has_names_left(&self) {
        let namespaces = self.client().namespace_array().unwrap();
        assert!(
            namespaces.len() <= NAMESPACES,
            "{} namespaces",
            namespaces.len()
        );
    }

    /// Carries out all attacks that need no server of their own, one after the other. The server and its clients have to survive each
    /// of them.
    ///
    /// # Panics
    /// If one of them does not survive.
    pub fn survives_all_attacks(&mut self) {
        let target = self.target();
        let clients = [&target.opc_tcp, &target.opc_iox2]
            .map(|endpoint| AttackObserver::start(&target, endpoint, RATE, false).unwrap());
        let all = Attack::ALL.iter();
        for attack in all.filter(|attack| !attack.needs_prepared_server()) {
            let under_way = attack.start(&binary::attacker(), &target, 2).unwrap();
            std::thread::sleep(ATTACK);
            let tally = under_way.finish().unwrap();
            for client in &clients {
                let served = client.catches_up(PATIENCE);
                assert!(
                    served && !self.process.has_ended(),
                    "{}: {tally:?}{}",
                    attack.name(),
                    self.process.report()
                );
                let seen = client.take();
                assert_eq!(seen.failures, [""; 0], "{}: {tally:?}", attack.name());
            }
        }
    }

    /// Returns a client of it, over TCP.
    ///
    /// # Panics
    /// If it cannot be reached.
    #[must_use]
    pub fn client(&self) -> Client {
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
