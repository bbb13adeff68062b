//! Servers that have nothing to do sleep: what they are woken for is counted by the kernel (proc(5), `voluntary_ctxt_switches`).

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Endpoint, Provider, Variable};
use takt_tests::{Registry, Sandbox};

/// Longer than any interval at which a server used to look whether there is something to do.
const WATCHED: Duration = Duration::from_secs(3);

/// How often each thread of a process has given up its processor, by name and thread id.
fn switches(process: u32) -> BTreeMap<(String, String), u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    tasks
        .map(|task| {
            let task = task.unwrap();
            let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap();
            let status = read("status");
            let count = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
                .unwrap();
            let id = task.file_name().into_string().unwrap();
            (
                (read("comm").trim().to_owned(), id),
                count.trim().parse().unwrap(),
            )
        })
        .collect()
}

/// How often threads with one of these names woke within [`WATCHED`]; all threads, if none is named.
fn wake_ups(process: u32, names: &[&str]) -> u64 {
    let before = switches(process);
    std::thread::sleep(WATCHED);
    let after = switches(process);
    let is_meant = |name: &str| names.is_empty() || names.contains(&name);
    let of_thread = |(thread, count): (&(String, String), &u64)| {
        count - before.get(thread).copied().unwrap_or_default()
    };
    after
        .iter()
        .filter(|((name, _), _)| is_meant(name))
        .map(of_thread)
        .sum()
}

/// Waits until nothing happens any more that was begun before.
fn settle(process: u32) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut before = switches(process);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = switches(process);
        if now == before {
            return;
        }
        assert!(Instant::now() < deadline, "it never comes to rest");
        before = now;
    }
}

fn connect(sandbox: &Sandbox, endpoint: &str) -> Client {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let options = ClientOptions {
        runtime_directory: Some(sandbox.runtime_directory()),
        timeout: Duration::from_secs(10),
        ..ClientOptions::named("Idle")
    };
    Client::connect(&endpoint, options).unwrap()
}

/// Whoever connects is given a time to open a channel, and a Session one to be used: each transport and the Sessions have an alarm for
/// that, which goes off once even if everything was done in time. For Sessions it is set again, eight times within their timeout,
/// which is a minute here.
const ALARMS: u64 = 3;

#[test]
fn an_idle_server_sleeps() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let process = registry.process.id();
    settle(process);
    assert_eq!(wake_ups(process, &[]), 0, "without clients");

    let endpoints = [registry.shared_memory(), registry.endpoint.clone()];
    let clients = endpoints.iter().cycle().take(16);
    let clients: Vec<Client> = clients
        .map(|endpoint| connect(&sandbox, endpoint))
        .collect();
    settle(process);
    assert!(
        wake_ups(process, &[]) <= ALARMS,
        "with clients that are idle"
    );
    drop(clients);
    settle(process);
    assert!(wake_ups(process, &[]) <= ALARMS, "when they have gone");
}

/// A Provider and its registry notice each other's death without asking whether the other one lives.
#[test]
fn an_idle_provider_sleeps_and_so_does_its_registry() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Sleeper");
    let provider = Provider::builder(&name)
        .variable(Variable::stored("Speed", 1.0))
        .registry(registry.shared_memory())
        .state_directory(sandbox.data_directory())
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        })
        .start()
        .unwrap();
    let eventually = |what: &str, is_so: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !is_so() {
            assert!(Instant::now() < deadline, "never {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    eventually("registered", &|| provider.is_registered());
    let process = registry.process.id();
    settle(process);
    // Every ten seconds it asks whether the registry answers.
    let ours = wake_ups(std::process::id(), &["serve", "registration"]);
    assert!(ours <= ALARMS + 2, "{ours}");
    let theirs = wake_ups(process, &[]);
    assert!(theirs <= ALARMS + 2, "{theirs}");

    let killed = Instant::now();
    registry.process.kill();
    eventually("alone", &|| !provider.is_registered());
    assert!(
        killed.elapsed() < Duration::from_secs(3),
        "{:?}",
        killed.elapsed()
    );
    let begun = Instant::now();
    drop(provider);
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
}
