//! Faults on the secured channels of a registry to other applications: a Provider that registers, a server that it mirrors, and
//! an application to which it pushes keys.

use takt_app::{Client, ClientError, Consumer, KeyReceiver};
use takt_tests::shifted_clock::ShiftedClock;
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::{NodeId, StatusCode, Variant};

use crate::registry::clock::{DAY, FIFTY_YEARS};
use crate::registry::push_targets::{TARGET, press, token, wait_for_keys};
use crate::registry::registered::trust;
use crate::registry::{PATIENCE, available, client, consumer, eventually};

/// Name of the push target.
const PRESS: &str = "Press";

/// A registry, and three applications that have certificates of their own.
struct Links {
    here: Sandbox,
    there: Sandbox,
    /// Place of the mirrored server.
    cell: Sandbox,
    clock: Option<ShiftedClock>,
    registry: Registry,
    provider: Provider,
    mirrored: Provider,
    press: KeyReceiver,
}

/// Starts a Provider that has secured endpoints, and registers on a secured channel.
fn provider(sandbox: &Sandbox, registry: &str, endpoint: &str) -> Provider {
    let pki = sandbox.data_directory().join("pki");
    let certificates = ["--certificates", pki.to_str().unwrap()];
    let options = ["--security", "encrypt", "--endpoint", endpoint];
    let options = [&options[..], &certificates].concat();
    Provider::start_with_options(sandbox, registry, "machine", &options)
}

impl Links {
    /// Starts all applications; only the registry has the clock.
    fn start(clock: Option<ShiftedClock>) -> Self {
        let (here, there, cell) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
        // All start again at their ports.
        let own = || format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
        let mirrored = provider(&cell, "opc.iox2://Nobody", &own());
        let press = press(&there, &here.application("Registry"));
        let registry = Self::registry(&here, &own(), &mirrored, &press, clock.as_ref());
        let provider = provider(&there, &registry.endpoint, &own());
        let links = Self {
            here,
            there,
            cell,
            clock,
            registry,
            provider,
            mirrored,
            press,
        };
        links.trust_each_other();
        links
    }

    fn registry(
        here: &Sandbox,
        endpoint: &str,
        mirrored: &Provider,
        press: &KeyReceiver,
        clock: Option<&ShiftedClock>,
    ) -> Registry {
        let mirror = format!("Cell={}", mirrored.endpoint);
        let target = format!("Plant={TARGET}@{}", press.endpoint().unwrap());
        let options = [
            "--endpoint",
            endpoint,
            "--allow-tcp-registration",
            "--mirror",
            &mirror,
            "--mirror-security",
            "encrypt",
            "--security-group",
            "Plant",
            "--push-target",
            &target,
        ];
        Registry::start_in(here, &options, |command| {
            if let Some(clock) = clock {
                clock.apply(command);
            }
        })
    }

    /// Lets each side trust the present certificates of the other one.
    fn trust_each_other(&self) {
        for (other, names) in [
            (&self.there, vec![self.provider.name.as_str(), PRESS]),
            (&self.cell, vec![self.mirrored.name.as_str()]),
        ] {
            trust(other, &self.here, &self.registry.name);
            for name in names {
                trust(&self.here, other, name);
            }
        }
    }

    fn consumer(&self) -> Consumer {
        consumer(&self.here, &self.registry)
    }

    fn client(&self) -> Client {
        client(&self.here, &self.registry.shared_memory())
    }

    /// Makes new keys, which are pushed at once.
    fn rotate(&self) {
        let group = NodeId::string(1, "SecurityGroups/Plant");
        let rotate = NodeId::string(1, "SecurityGroups.ForceKeyRotation/Plant");
        let rotated = self.client().call_method(&group, &rotate, Vec::new());
        rotated.unwrap();
    }

    /// Writes a Variable of the mirrored server.
    fn write_mirrored(&self) -> Result<(), ClientError> {
        self.write(&format!("Cell/{}", self.mirrored.name))
    }

    /// Writes a Variable of the Provider, on the channel of the registry to it.
    fn write_provider(&self) -> Result<(), ClientError> {
        self.write(&self.provider.name)
    }

    fn write(&self, machine: &str) -> Result<(), ClientError> {
        let mut client = self.client();
        let setpoint = client.find(&format!("{machine}/Spindle/SpeedSetpoint"))?;
        client.write(&setpoint.node_id.node_id, 1000.0.into())
    }

    fn is_mirror_available(&self) -> bool {
        let mut client = self.client();
        let found = client.find("Cell/Available");
        let read = found.and_then(|found| client.read_good(&found.node_id.node_id));
        read.is_ok_and(|value| value == Variant::from(true))
    }

    /// Waits until the mirror and the Provider are available, and until new keys are pushed.
    fn wait_for_all(&self) {
        let mut consumer = self.consumer();
        eventually("the Provider is registered", PATIENCE, || {
            available(&mut consumer, &self.provider.name) == Some(true)
        });
        // It is available at once when it has registered. The registry opens its channel to the Provider later.
        eventually("the Provider works", PATIENCE, || {
            self.write_provider().is_ok()
                && available(&mut consumer, &self.provider.name) == Some(true)
        });
        eventually("the mirror works", PATIENCE, || {
            self.write_mirrored().is_ok()
        });
        let _ = token(&self.press);
        self.rotate();
        let _ = wait_for_keys(&self.press);
    }

    /// Kills the Provider and the mirrored server, and starts them again at their endpoints.
    fn restart_servers(&mut self) {
        self.provider.process.kill();
        self.mirrored.process.kill();
        let mut consumer = self.consumer();
        eventually("the registry knows that they are gone", PATIENCE, || {
            available(&mut consumer, &self.provider.name) == Some(false)
                && !self.is_mirror_available()
        });
        let refused = self.write_mirrored().unwrap_err();
        assert_eq!(refused.status_code(), StatusCode::BadNoCommunication);
        let registry = self.registry.endpoint.as_str();
        self.provider = provider(&self.there, registry, &self.provider.endpoint);
        self.mirrored = provider(&self.cell, "opc.iox2://Nobody", &self.mirrored.endpoint);
    }
}

#[test]
fn links_return_when_the_clock_of_the_registry_is_right_again() {
    let clock_directory = Sandbox::new();
    let Some(clock) = ShiftedClock::new(&clock_directory.data_directory()) else {
        return;
    };
    let mut links = Links::start(Some(clock));
    let shift = |links: &Links, seconds: i64| links.clock.as_ref().unwrap().shift(seconds);
    links.wait_for_all();
    shift(&links, DAY);
    links.wait_for_all();

    // The certificates are expired for the registry. Open channels go on, each push needs a new one.
    shift(&links, FIFTY_YEARS);
    links.write_mirrored().unwrap();
    links.write_provider().unwrap();
    let mut consumer = links.consumer();
    assert_eq!(available(&mut consumer, &links.provider.name), Some(true));
    links.rotate();
    eventually("a push fails", PATIENCE, || {
        let report = links.registry.process.report();
        report.contains("cannot be pushed") && report.contains("expired")
    });
    assert_eq!(token(&links.press), None);

    // New channels are refused, in both directions.
    links.restart_servers();
    let mut client = links.client();
    let problem = client.find("Cell/Problem").unwrap().node_id.node_id;
    eventually("the mirror names the reason", PATIENCE, || {
        let problem = client.read_good(&problem).unwrap().to_string();
        problem.contains("expired")
    });
    let provider = &links.provider.process;
    eventually("the Provider names the reason", PATIENCE, || {
        provider.report().contains("BadCertificateTimeInvalid")
    });
    assert!(!links.is_mirror_available());

    shift(&links, 0);
    links.wait_for_all();
}

#[test]
fn links_go_on_when_the_certificates_of_all_applications_are_replaced() {
    let mut links = Links::start(None);
    links.wait_for_all();
    for (sandbox, name) in [
        (&links.here, links.registry.name.as_str()),
        (&links.there, &links.provider.name),
        (&links.there, PRESS),
        (&links.cell, &links.mirrored.name),
    ] {
        let pki = sandbox.data_directory().join("pki");
        let renew = ["trust", "renew", name, "--certificates"];
        let renew = [&renew[..], &[pki.to_str().unwrap()]].concat();
        let _ = sandbox.run(&renew).expect_success();
        // Open channels do not need the new certificates; a push does. The registry closes a channel to a Provider that
        // it does not use for 30 seconds, and new keys take long on a busy machine.
        links.write_mirrored().unwrap();
        links.write_provider().unwrap();
    }
    let mut consumer = links.consumer();
    assert_eq!(available(&mut consumer, &links.provider.name), Some(true));
    links.trust_each_other();
    links.wait_for_all();

    // Now all channels are new, and then those of a new process of the registry.
    links.restart_servers();
    links.wait_for_all();
    links.registry.process.kill();
    let endpoint = &links.registry.endpoint;
    links.registry = Links::registry(&links.here, endpoint, &links.mirrored, &links.press, None);
    links.wait_for_all();
}
