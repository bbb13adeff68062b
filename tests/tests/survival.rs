//! kill -9 of the registry, a Provider and a Consumer in turn, under a Consumer that reads all the time: no hang, no wrong
//! value, everything back within two seconds, and nothing left behind.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::time::{Duration, Instant};

use takt_app::{ClientError, ClientOptions, Consumer, Item};
use takt_tests::process::Process;
use takt_tests::sandbox::{Provider, Registry, Sandbox};
use takt_ua::{DataValue, StatusCode, Variant};

/// How often each is killed.
const ROUNDS: u32 = 50;

/// How soon everything must be back once a restarted process says that it serves: how long the start of a process takes
/// depends on what else the machine has to do.
const BACK: Duration = Duration::from_secs(2);

/// How long one Read may take before it counts as a hang: its own timeout, and what a busy machine adds.
const TIMEOUT: Duration = Duration::from_millis(500);
const HANG: Duration = Duration::from_secs(2);

/// What `Spindle/SpeedSetpoint` holds as long as nobody writes it.
const SETPOINT: f64 = 6_000.0;

fn consumer(sandbox: &Sandbox, registry: &str) -> Consumer {
    let options = ClientOptions {
        timeout: TIMEOUT,
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ClientOptions::named("Survival")
    };
    Consumer::connect(registry, options).unwrap()
}

/// A Read that neither hangs nor gives a wrong value; whether it worked.
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

/// Reads until it works again, which must be soon.
fn wait_until_back(consumer: &mut Consumer, item: &Item, since: Instant, what: &str) {
    loop {
        match read(consumer, item) {
            Ok(()) => return,
            Err(error) => assert!(
                since.elapsed() < BACK,
                "{what} is not back after {BACK:?}: {error}"
            ),
        }
    }
}

fn wait_until_available(consumer: &mut Consumer, name: &str, since: Instant, deadline: Duration) {
    loop {
        let providers = consumer.providers();
        if matches!(&providers, Ok(providers) if providers.iter().any(|p| p.name == name && p.available))
        {
            return;
        }
        assert!(
            since.elapsed() < deadline,
            "{name} is not available after {deadline:?}: {providers:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn kill_9_in_turn_leaves_nothing_wrong_and_nothing_behind() {
    let sandbox = Sandbox::new();
    let before = sandbox.left_behind();
    {
        let mut registry = Registry::start(&sandbox, &[]);
        let mut provider = Provider::start(&sandbox, &registry, "machine");
        let mut consumer = consumer(&sandbox, &registry.shared_memory());
        let start = Instant::now();
        wait_until_available(
            &mut consumer,
            &provider.name,
            start,
            Duration::from_secs(10),
        );
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
    // What a killed process leaves is removed by the next one that starts, once it is old enough to be nobody's work in
    // progress.
    let ended = Instant::now();
    while sandbox.left_behind() != before && ended.elapsed() < Duration::from_secs(10) {
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
    for _ in 0..ROUNDS {
        for _ in 0..20 {
            read(consumer, item).unwrap();
        }
        provider.process.kill();
        let killed = Instant::now();
        // While it is gone there are errors, and nothing else.
        assert!(read(consumer, item).is_err());
        assert!(killed.elapsed() < HANG);
        *provider = Provider::start(sandbox, registry, "machine");
        let restarted = Instant::now();
        wait_until_back(consumer, item, restarted, "the Provider");
    }
    wait_until_available(consumer, &provider.name, Instant::now(), BACK);
}

fn kill_registries(
    sandbox: &Sandbox,
    registry: &mut Registry,
    provider: &Provider,
    consumer: &mut Consumer,
    item: &Item,
) {
    let node = item.node_id.clone();
    for _ in 0..ROUNDS {
        registry.process.kill();
        // Those who know each other go on without one error.
        for _ in 0..50 {
            read(consumer, item).unwrap();
        }
        *registry = Registry::start_at(sandbox, &registry.endpoint, &[]);
        let restarted = Instant::now();
        while read(consumer, item).is_ok() {
            if matches!(consumer.providers(), Ok(providers) if providers.iter().any(|p| p.available))
            {
                break;
            }
            assert!(
                restarted.elapsed() < BACK,
                "the Provider is not registered again after {BACK:?}"
            );
        }
    }
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
        let line = watch.next_line(Duration::from_secs(10));
        assert!(line.contains("6000"), "{line}");
        watch.kill();
        read(consumer, item).unwrap();
    }
}
