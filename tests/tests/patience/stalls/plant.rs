//! A registry with a mirror, a Provider, relays in front of both, and the followers of a case.

use std::time::{Duration, Instant};

use takt_app::{Client, ClientOptions, Consumer, DataValue, NodeId, StatusCode, Variant};
use takt_tests::shifted_clock::ShiftedClock;
use takt_tests::{Provider, Registry, Sandbox};

use super::case::{Disturbance, LIMIT, Side};
use super::client_process;
use super::followers::{Follower, Nodes};
use super::receiver::{self, Receiver};
use super::relay::Relay;

pub(super) const CONSTANT: &str = "Spindle/SpeedSetpoint";
/// Variable that changes for a long time: a spindle that turns becomes warmer.
const CHANGING: &str = "Spindle/Temperature";

/// Timeout of requests.
const TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct Plant {
    registry: Option<Registry>,
    provider: Option<Provider>,
    /// Relays in front of the registry and the Provider.
    to_registry: Relay,
    pub(super) to_provider: Relay,
    pub(super) provider_name: String,
    pub(super) registry_name: String,
    pub(super) sandbox: Sandbox,
    /// Clock of the registry and of the Publisher.
    pub(super) clock: Option<ShiftedClock>,
}

impl Plant {
    pub(super) fn start() -> Self {
        Self::start_by(|_| None)
    }

    /// Starts a plant with a clock that can be shifted, if there is a C compiler.
    pub(super) fn start_with_clock() -> Self {
        Self::start_by(|sandbox| ShiftedClock::new(&sandbox.data_directory()))
    }

    fn start_by(clock: impl FnOnce(&Sandbox) -> Option<ShiftedClock>) -> Self {
        let sandbox = Sandbox::new();
        let (to_registry, to_provider) = (Relay::start(), Relay::start());
        let mut plant = Self {
            registry: None,
            provider: None,
            to_registry,
            to_provider,
            provider_name: sandbox.application("machine"),
            registry_name: sandbox.application("Registry"),
            clock: clock(&sandbox),
            sandbox,
        };
        plant.start_registry();
        plant.start_provider();
        plant
    }

    fn start_registry(&mut self) {
        let mirror = format!("Copy={}", self.to_provider.endpoint);
        let history = ["--history", "*/Spindle/*", "--history-interval", "100ms"];
        let arguments = ["--endpoint", "opc.tcp://127.0.0.1:0", "--mirror", &mirror];
        let arguments = [&arguments[..], &history].concat();
        let registry = Registry::start_in(&self.sandbox, &arguments, |command| {
            if let Some(clock) = &self.clock {
                clock.apply(command);
            }
        });
        self.to_registry.set_server(&registry.endpoint);
        self.registry = Some(registry);
    }

    fn start_provider(&mut self) {
        let registry = format!("opc.iox2://{}", self.registry_name);
        let provider = Provider::start_with(&self.sandbox, &registry, "machine");
        self.to_provider.set_server(&provider.endpoint);
        self.provider = Some(provider);
        // The value that changes does so while the spindle turns.
        let mut client = self.client();
        let own = NodeId::string(1, self.provider_name.as_str());
        let start = NodeId::string(1, "Start");
        let object = client
            .find(&self.provider_name)
            .map_or(own, |found| found.node_id.node_id);
        client.call_method(&object, &start, Vec::new()).unwrap();
    }

    pub(super) fn options(&self) -> ClientOptions {
        ClientOptions {
            timeout: TIMEOUT,
            runtime_directory: Some(self.sandbox.runtime_directory()),
            ..ClientOptions::named("Follower")
        }
    }

    /// Returns a client of the Provider itself.
    fn client(&self) -> Client {
        let endpoint = format!("opc.iox2://{}", self.provider_name);
        let options = ClientOptions {
            timeout: LIMIT,
            ..self.options()
        };
        Client::connect(&endpoint.parse().unwrap(), options).unwrap()
    }

    /// Returns a client that reads the constant value at the Provider.
    pub(super) fn direct(&self) -> Direct {
        Direct(self.client())
    }

    /// Changes the constant value.
    pub(super) fn change(&self) {
        let value = Variant::Double(4_321.0);
        let node = NodeId::string(1, CONSTANT);
        self.client().write(&node, value).unwrap();
    }

    /// Starts all followers.
    pub(super) fn followers(&self) -> Vec<Follower> {
        let options = self.options();
        let own = Nodes {
            constant: NodeId::string(1, CONSTANT),
            changing: NodeId::string(1, CHANGING),
        };
        let by_memory = format!("opc.iox2://{}", self.provider_name);
        let registry = format!("opc.iox2://{}", self.registry_name);
        let mut found = Vec::new();
        let ways = [
            ("memory", by_memory.as_str(), registry.as_str()),
            (
                "TCP",
                self.to_provider.endpoint.as_str(),
                self.to_registry.endpoint.as_str(),
            ),
        ];
        let (forwarded, mirrored) = (self.nodes(&self.provider_name), self.nodes_of_mirror());
        for (way, provider, registry) in ways {
            let name = |kind: &str| format!("{kind} over {way}");
            found.push(Follower::mirror(&name("Mirror"), provider, &own, &options));
            found.push(Follower::client(
                &name("Subscription"),
                provider,
                &own,
                &options,
            ));
            found.push(Follower::client(
                &name("forwarded"),
                registry,
                &forwarded,
                &options,
            ));
            found.push(Follower::client(
                &name("mirrored"),
                registry,
                &mirrored,
                &options,
            ));
            let nodes = client_process::texts([&own.constant, &own.changing]);
            let [constant, changing] = [&nodes[0], &nodes[1]];
            let watch = [provider, constant, changing, "--json", "--timeout", "2s"];
            let watch = self.sandbox.takt(&[&["watch"], &watch[..]].concat());
            found.push(Follower::rows(&name("watch"), watch, nodes.clone()));
        }
        let (_, provider, registry) = ways[1];
        let by_tcp = [
            ("async", provider, &own),
            ("async, forwarded", registry, &forwarded),
        ];
        for (name, endpoint, nodes) in by_tcp {
            let nodes = client_process::texts([&nodes.constant, &nodes.changing]);
            let nodes = [nodes[0].as_str(), nodes[1].as_str()];
            found.push(self.process(name, ("async", endpoint), nodes));
        }
        let paths = [CONSTANT, CHANGING].map(|path| format!("{}/{path}", self.provider_name));
        let paths = [paths[0].as_str(), paths[1].as_str()];
        let consumer = ("consumer", ways[0].2);
        found.push(self.process("Consumer in a process", consumer, paths));
        found.push(self.consumer());
        // Each message has all values, or one message in a second.
        found.push(self.publisher("publish over memory", &by_memory, 1));
        found.push(self.publisher("publish over TCP", provider, 20));
        found
    }

    /// Starts a follower in a process of its own.
    fn process(&self, name: &str, (kind, endpoint): (&str, &str), nodes: [&str; 2]) -> Follower {
        let mut command = client_process::command(kind, endpoint, nodes);
        self.sandbox.confine(&mut command);
        Follower::rows(name, command, client_process::ROWS.map(str::to_owned))
    }

    /// Starts a Publisher of the Provider's values, and a receiver.
    fn publisher(&self, name: &str, from: &str, key_frame_count: u32) -> Follower {
        let port = takt_ports::reserve();
        let file = self.sandbox.data_directory().join(format!("{port}.toml"));
        let variables = [CONSTANT, CHANGING];
        let text = receiver::publisher(&self.provider_name, variables, (port, key_frame_count));
        std::fs::write(&file, text).unwrap();
        let arguments = [
            "publish",
            file.to_str().unwrap(),
            "--from",
            from,
            "--timeout",
            "2s",
        ];
        let receiver = Receiver::start(port);
        Follower::publisher(name, self.sandbox.takt(&arguments), receiver)
    }

    fn consumer(&self) -> Follower {
        let registry = format!("opc.iox2://{}", self.registry_name);
        // Sixteen others are set up at the same time.
        let mut consumer = waited_for(|| Consumer::connect(&registry, self.options()).ok());
        let items = [CONSTANT, CHANGING].map(|path| {
            let path = format!("{}/{path}", self.provider_name);
            let item = waited_for(|| consumer.find(&path).ok().filter(|it| it.endpoint().is_ok()));
            (item, Default::default())
        });
        let subscription = waited_for(|| consumer.subscribe(&items, Default::default()).ok());
        Follower::subscription("Consumer", subscription, [1, 2])
    }

    fn nodes_of_mirror(&self) -> Nodes {
        self.nodes(&format!("Copy/{}", self.provider_name))
    }

    /// Returns the nodes below a path at the registry, which may not be there yet.
    pub(super) fn nodes(&self, path: &str) -> Nodes {
        let endpoint = format!("opc.iox2://{}", self.registry_name);
        let options = ClientOptions {
            timeout: LIMIT,
            ..self.options()
        };
        let mut client = Client::connect(&endpoint.parse().unwrap(), options).unwrap();
        let mut node = |name: &str| {
            let path = format!("{path}/{name}");
            waited_for(|| client.find(&path).ok()).node_id.node_id
        };
        Nodes {
            constant: node(CONSTANT),
            changing: node(CHANGING),
        }
    }

    pub(super) fn begin(
        &mut self,
        disturbance: Disturbance,
        side: Side,
        followers: &mut [Follower],
    ) {
        let stop = rustix::process::Signal::STOP;
        match (disturbance, side) {
            (Disturbance::Stall, Side::Clients) => signal(followers, stop),
            (Disturbance::Stall, Side::Provider) => self.provider().process.signal(stop),
            (Disturbance::Stall, Side::Registry) => self.registry().process.signal(stop),
            (Disturbance::Cut, _) => self.set_cut(true),
            (Disturbance::Restart, Side::Clients) => {
                signal(followers, rustix::process::Signal::KILL)
            }
            (Disturbance::Restart, Side::Registry) => self.registry().process.kill(),
            (Disturbance::Restart, _) => self.provider().process.kill(),
        }
    }

    pub(super) fn end(&mut self, disturbance: Disturbance, side: Side, followers: &mut [Follower]) {
        let go_on = rustix::process::Signal::CONT;
        match (disturbance, side) {
            (Disturbance::Stall, Side::Clients) => signal(followers, go_on),
            (Disturbance::Stall, Side::Provider) => self.provider().process.signal(go_on),
            (Disturbance::Stall, Side::Registry) => self.registry().process.signal(go_on),
            (Disturbance::Cut, _) => self.set_cut(false),
            (Disturbance::Restart, Side::Clients) => {
                followers.iter_mut().for_each(Follower::restart)
            }
            (Disturbance::Restart, Side::Registry) => self.start_registry(),
            (Disturbance::Restart, _) => self.start_provider(),
        }
    }

    fn set_cut(&self, is_cut: bool) {
        self.to_registry.set_cut(is_cut);
        self.to_provider.set_cut(is_cut);
    }

    fn provider(&mut self) -> &mut Provider {
        self.provider.as_mut().unwrap()
    }

    fn registry(&mut self) -> &mut Registry {
        self.registry.as_mut().unwrap()
    }
}

/// A client of the Provider itself.
pub(super) struct Direct(Client);

impl Direct {
    /// Reads the constant value.
    pub(super) fn read(&mut self) -> Option<Variant> {
        let read: DataValue = self.0.read(&NodeId::string(1, CONSTANT)).unwrap();
        assert_eq!(read.status_code(), StatusCode::Good);
        read.value
    }
}

fn signal(followers: &mut [Follower], signal: rustix::process::Signal) {
    followers.iter_mut().for_each(|it| it.signal(signal));
}

pub(super) fn waited_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < LIMIT, "it does not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}
