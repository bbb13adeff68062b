//! A registry, a Provider, and both ends of secured PubSub, all with a clock that the test shifts.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_app::{Client, ClientOptions, DateTime, HistoryRange, NodeId};
use takt_tests::process::{Finished, Process, run};
use takt_tests::pubsub::ProtectedLine;
use takt_tests::shifted_clock::ShiftedClock;
use takt_tests::{Registry, Sandbox};

/// Time limit of required events, long enough for a loaded machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Variable of the Provider that changes.
const VARIABLE: &str = "ContextSwitches/Total";

/// Number of DataSetMessages that show that PubSub goes on.
const MESSAGES: usize = 5;

/// Names of the ends of PubSub.
pub(super) const ENDS: [&str; 2] = ["the-publisher", "the-subscriber"];

/// Way in which the ends get their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// They ask the registry over shared memory.
    Pulled,
    /// The registry calls them over `opc.tcp`.
    Pushed,
}

pub(super) struct Line {
    pub(super) sandbox: Sandbox,
    clock: ShiftedClock,
    shift: i64,
    keys: Keys,
    port: u16,
    endpoint: String,
    key_endpoints: [String; 2],
    registry: Option<Registry>,
    provider: Option<Process>,
    ends: Option<[Process; 2]>,
}

impl Line {
    /// Starts everything at a time in seconds from now; `None` without a C compiler.
    pub(super) fn start(shift: i64, keys: Keys) -> Option<Self> {
        let sandbox = Sandbox::new();
        let clock = ShiftedClock::new(&sandbox.data_directory())?;
        let address = || format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
        let mut line = Self {
            clock,
            shift: 0,
            keys,
            port: takt_ports::reserve(),
            endpoint: address(),
            key_endpoints: [address(), address()],
            registry: None,
            provider: None,
            ends: None,
            sandbox,
        };
        line.set_clock(shift);
        line.restart_registry();
        line.restart_provider();
        line.restart_ends();
        Some(line)
    }

    pub(super) fn set_clock(&mut self, shift: i64) {
        self.clock.shift(shift);
        self.shift = shift;
    }

    /// Returns the time of the shifted clock.
    fn now(&self) -> DateTime {
        DateTime(DateTime::now().0 + self.shift * 10_000_000)
    }

    pub(super) fn registry(&self) -> &Registry {
        self.registry.as_ref().unwrap()
    }

    fn provider_name(&self) -> String {
        self.sandbox.application("host")
    }

    pub(super) fn restart_registry(&mut self) {
        self.registry = None;
        let targets: Vec<String> = ENDS
            .iter()
            .zip(&self.key_endpoints)
            .map(|(name, endpoint)| format!("Plant=urn:takt:pubsub:{name}@{endpoint}"))
            .collect();
        let mut arguments = vec!["--endpoint", &self.endpoint, "--security-group", "Plant"];
        arguments.extend(["--history", "*", "--history-interval", "100ms"]);
        if self.keys == Keys::Pushed {
            for target in &targets {
                arguments.extend(["--push-target", target]);
            }
        }
        let clock = |command: &mut Command| self.clock.apply(command);
        self.registry = Some(Registry::start_in(&self.sandbox, &arguments, clock));
    }

    pub(super) fn restart_provider(&mut self) {
        self.provider = None;
        let (name, registry) = (self.provider_name(), self.registry().shared_memory());
        let arguments = ["provider", "host", "--name", &name, "--registry", &registry];
        let mut provider = self.spawn("provider", &arguments);
        provider.wait_for("its endpoint", PATIENCE, |line| line.contains("opc.tcp://"));
        self.provider = Some(provider);
    }

    pub(super) fn restart_ends(&mut self) {
        self.ends = None;
        let service = takt_app::model::registry_uri(&self.registry().name);
        let configuration = format!(
            "default_security_key_services = [{{ Server = {{ ApplicationUri = \"{service}\", ApplicationType = \"Client\" }} }}]"
        );
        let messages = ProtectedLine {
            address: format!("opc.udp://127.0.0.1:{}", self.port),
            interval: Duration::from_millis(50),
            head: &configuration,
        };
        let texts = [messages.publisher(None), messages.subscriber(None)];
        let commands = ["publish", "subscribe"];
        let registry = self.registry().shared_memory();
        let ends = [0, 1].map(|end| {
            let file = self
                .sandbox
                .data_directory()
                .join(format!("{}.toml", ENDS[end]));
            std::fs::write(&file, &texts[end]).unwrap();
            let mut arguments = vec![commands[end], file.to_str().unwrap()];
            arguments.push(["--simulate", "--json"][end]);
            match self.keys {
                Keys::Pulled => arguments.extend(["--keys", &registry]),
                Keys::Pushed => {
                    let endpoint = &self.key_endpoints[end];
                    arguments.extend(["--key-endpoint", endpoint, "--key-name", ENDS[end]]);
                }
            }
            self.spawn(ENDS[end], &arguments)
        });
        self.ends = Some(ends);
    }

    fn spawn(&self, name: &str, arguments: &[&str]) -> Process {
        let mut command = self.sandbox.takt(arguments);
        self.clock.apply(&mut command);
        Process::spawn(name, &mut command)
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, arguments: &[&str]) -> Finished {
        let mut command = self.sandbox.takt(arguments);
        self.clock.apply(&mut command);
        run("takt", &mut command, PATIENCE)
    }

    /// Reads over an encrypted channel.
    pub(super) fn read_encrypted(&self) -> Finished {
        let folder = self.sandbox.data_directory().join("pki");
        let read = ["read", &self.endpoint, "i=2258", "--security", "encrypt"];
        let folder = ["--certificates", folder.to_str().unwrap()];
        self.run(&[&read[..], &folder].concat())
    }

    /// Checks that values of the Provider are forwarded and recorded, with the time of the clock.
    pub(super) fn check_values(&self, when: &str) {
        let begin = self.now();
        let options = ClientOptions {
            timeout: PATIENCE,
            runtime_directory: Some(self.sandbox.runtime_directory()),
            ..ClientOptions::named("Client")
        };
        let endpoint = self.registry().shared_memory().parse().unwrap();
        let mut client = Client::connect(&endpoint, options).unwrap();
        let path = format!("{}/{VARIABLE}", self.provider_name());
        let node: NodeId = waited_for(when, || client.find(&path).ok()).node_id.node_id;
        let is_new = |time: Option<DateTime>| time.is_some_and(|time| time >= begin);
        waited_for(when, || {
            let value = client.read(&node).ok()?;
            (value.status_code().is_good() && is_new(value.source_timestamp)).then_some(())
        });
        let range = HistoryRange {
            start: Some(begin),
            end: Some(DateTime(begin.0 + 36_000_000_000)),
            ..HistoryRange::default()
        };
        waited_for(when, || {
            let values = client.history_raw(&node, range).ok()?;
            let mut good = values.iter().filter(|it| it.status_code().is_good());
            good.any(|it| is_new(it.source_timestamp)).then_some(())
        });
    }

    /// Checks that messages with valid keys come.
    pub(super) fn check_messages(&mut self, when: &str) {
        let [publisher, subscriber] = self.ends.as_mut().unwrap();
        while subscriber.try_line().is_some() {}
        let (begin, mut count) = (Instant::now(), 0);
        while count < MESSAGES {
            while let Some(line) = subscriber.try_line() {
                let row: Value = serde_json::from_str(&line).unwrap();
                count += usize::from(row["kind"] == "key frame");
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{when}: {}{}{}",
                publisher.report(),
                subscriber.report(),
                self.registry.as_mut().unwrap().process.report()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(super) fn waited_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
