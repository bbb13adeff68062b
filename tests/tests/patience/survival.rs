//! kill -9 of the registry, a Provider and a Consumer in turn, under a Consumer that reads all the time: no hang, no
//! wrong value, everything back within two seconds, and nothing left behind.
//!
//! On a loaded machine any step may be delayed: two seconds hold for at least half of the rounds, which a systematic
//! delay would break, and each round has a much longer limit.

use std::time::{Duration, Instant};

use takt_app::{ClientError, ClientOptions, Consumer, Item};
use takt_tests::process::Process;
use takt_tests::sandbox::{Provider, Registry, Sandbox};
use takt_ua::{DataValue, StatusCode, Variant};

/// Number of kills of each process.
const ROUNDS: u32 = 50;

/// Time limit for recovery after a restarted process reports that it serves, and for an error after a process has
/// ended.
const SOON: Duration = Duration::from_secs(2);

/// Timeout of a Read, which is also the time for which a missing peer is tried; and the time after which a Read
/// counts as a hang on a loaded machine.
const TIMEOUT: Duration = Duration::from_millis(500);
const HANG: Duration = Duration::from_secs(60);

/// Value of `Spindle/SpeedSetpoint` before the first Write.
const SETPOINT: f64 = 6_000.0;

fn consumer(sandbox: &Sandbox, registry: &str) -> Consumer {
    let options = ClientOptions {
        timeout: TIMEOUT,
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ClientOptions::named("Survival")
    };
    Consumer::connect(registry, options).unwrap()
}

/// Reads, and checks that the Read neither hangs nor returns a wrong value; returns whether it succeeded.
fn read(consumer: &mut Consumer, item: &Item) -> Result<(), ClientError> {
    let started = Instant::now();
    let result = consumer.read(item);
    assert!(
        started.elapsed() < HANG,
        "a Read took {:?}",
        started.elapsed()
    );
    let DataValue { value, status, .. } = result?;
    let status = status.unwrap_or(StatusCode::Good);
    if status.is_good() {
        assert_eq!(value, Some(Variant::Double(SETPOINT)), "a wrong value");
        Ok(())
    } else {
        Err(ClientError::Invalid(status.to_string()))
    }
}

/// Durations of a step in each round.
struct Rounds {
    what: &'static str,
    took: Vec<Duration>,
}

impl Rounds {
    fn new(what: &'static str) -> Self {
        Self {
            what,
            took: Vec::new(),
        }
    }

    fn add(&mut self, since: Instant) {
        self.took.push(since.elapsed());
    }

    fn assert_soon(mut self) {
        self.took.sort_unstable();
        let median = self.took[self.took.len() / 2];
        println!("{}: {median:?}, {:?} at most", self.what, self.took.last());
        assert!(median < SOON, "{}: {:?}", self.what, self.took);
    }
}

/// Reads until a Read succeeds again.
fn wait_until_back(consumer: &mut Consumer, item: &Item, since: Instant, what: &str) {
    loop {
        match read(consumer, item) {
            Ok(()) => return,
            Err(error) => assert!(
                since.elapsed() < HANG,
                "{what} is not back after {HANG:?}: {error}"
            ),
        }
    }
}

fn wait_until_available(consumer: &mut Consumer, name: &str) {
    let since = Instant::now();
    loop {
        let providers = consumer.providers();
        if matches!(&providers, Ok(providers) if providers.iter().any(|p| p.name == name && p.available))
        {
            return;
        }
        assert!(
            since.elapsed() < HANG,
            "{name} is not available after {HANG:?}: {providers:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn killing_each_process_in_turn_leaves_no_damage_and_no_files() {
    let sandbox = Sandbox::new();
    let before = sandbox.left_behind();
    {
        let mut registry = Registry::start(&sandbox, &[]);
        let mut provider = Provider::start(&sandbox, &registry, "machine");
        let mut consumer = consumer(&sandbox, &registry.shared_memory());
        wait_until_available(&mut consumer, &provider.name);
        let item = consumer
            .find(&format!("{}/Spindle/SpeedSetpoint", provider.name))
            .unwrap();
        assert!(item.endpoint().unwrap().is_shared_memory());
        let by_tcp = item.via("opc.tcp").unwrap();
        read(&mut consumer, &item).unwrap();
        read(&mut consumer, &by_tcp).unwrap();

        kill_providers(&sandbox, &registry, &mut provider, &mut consumer, &item);
        kill_registries(&sandbox, &mut registry, &provider, &mut consumer, &item);
        kill_consumers(&sandbox, &registry, &provider, &mut consumer, &item);
    }
    // The files of a killed process are removed by the next one that starts, once they are too old to belong to a
    // starting process.
    let ended = Instant::now();
    while sandbox.left_behind() != before && ended.elapsed() < HANG {
        std::thread::sleep(Duration::from_millis(500));
        takt_shm::clean_dead(Some(&sandbox.runtime_directory())).unwrap();
    }
    assert_eq!(sandbox.left_behind(), before);
}

fn kill_providers(
    sandbox: &Sandbox,
    registry: &Registry,
    provider: &mut Provider,
    consumer: &mut Consumer,
    item: &Item,
) {
    let mut errors = Rounds::new("an error once the Provider is gone");
    let mut returns = Rounds::new("good values once it is back");
    for _ in 0..ROUNDS {
        for _ in 0..20 {
            read(consumer, item).unwrap();
        }
        provider.process.kill();
        let killed = Instant::now();
        // While it is gone, every Read fails.
        assert!(read(consumer, item).is_err());
        errors.add(killed);
        *provider = Provider::start(sandbox, registry, "machine");
        let restarted = Instant::now();
        wait_until_back(consumer, item, restarted, "the Provider");
        returns.add(restarted);
    }
    errors.assert_soon();
    returns.assert_soon();
    wait_until_available(consumer, &provider.name);
}

fn kill_registries(
    sandbox: &Sandbox,
    registry: &mut Registry,
    provider: &Provider,
    consumer: &mut Consumer,
    item: &Item,
) {
    let node = item.node_id.clone();
    let mut returns = Rounds::new("the Provider is registered again");
    for _ in 0..ROUNDS {
        registry.process.kill();
        // Connected processes continue without an error.
        for _ in 0..50 {
            read(consumer, item).unwrap();
        }
        *registry = Registry::start_at(sandbox, &registry.endpoint, &[]);
        let restarted = Instant::now();
        loop {
            read(consumer, item).unwrap();
            if matches!(consumer.providers(), Ok(providers) if providers.iter().any(|p| p.available))
            {
                break;
            }
            assert!(
                restarted.elapsed() < HANG,
                "the Provider is not registered again after {HANG:?}"
            );
        }
        returns.add(restarted);
    }
    returns.assert_soon();
    let again = consumer
        .find(&format!("{}/Spindle/SpeedSetpoint", provider.name))
        .unwrap();
    assert_eq!(again.node_id, node, "the NodeId changed");
}

fn kill_consumers(
    sandbox: &Sandbox,
    registry: &Registry,
    provider: &Provider,
    consumer: &mut Consumer,
    item: &Item,
) {
    let path = format!("{}/Spindle/SpeedSetpoint", provider.name);
    let by_registry = registry.shared_memory();
    for _ in 0..ROUNDS {
        let mut watch = Process::spawn(
            "watch",
            &mut sandbox.takt(&["watch", &by_registry, &path, "--interval", "1ms"]),
        );
        let line = watch.next_line(HANG);
        assert!(line.contains("6000"), "{line}");
        watch.kill();
        read(consumer, item).unwrap();
    }
}
