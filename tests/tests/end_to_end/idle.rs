//! Idle servers sleep: the kernel counts how often they are woken (proc(5), `voluntary_ctxt_switches`).

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Endpoint, Provider, Variable};
use takt_tests::{Registry, Sandbox};

/// Duration of the measurement, longer than any polling interval of previous versions of the servers.
const WATCHED: Duration = Duration::from_secs(3);

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time limit for noticing the end of a process, and for the end of a thread.
const SOON: Duration = Duration::from_secs(3);

/// Returns the number of voluntary context switches of each thread with one of these names (all, if none is given),
/// by name and thread id.
fn switches(process: u32, names: &[&str]) -> BTreeMap<(String, String), u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    tasks
        .filter_map(|task| {
            let task = task.unwrap();
            // A thread may end while it is inspected.
            let read = |file: &str| fs::read_to_string(task.path().join(file)).ok();
            let (name, status) = (read("comm")?, read("status")?);
            let count = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            let id = task.file_name().into_string().unwrap();
            Some(((name.trim().to_owned(), id), count.trim().parse().unwrap()))
        })
        .filter(|((name, _), _)| names.is_empty() || names.contains(&name.as_str()))
        .collect()
}

/// Returns the number of wake-ups of threads with one of these names within [`WATCHED`]; of all threads, if none is
/// given.
fn wake_ups(process: u32, names: &[&str]) -> u64 {
    let before = switches(process, names);
    std::thread::sleep(WATCHED);
    let of_thread = |(thread, count): (&(String, String), &u64)| {
        count - before.get(thread).copied().unwrap_or_default()
    };
    switches(process, names).iter().map(of_thread).sum()
}

/// Asserts that threads with one of these names (all, if none is given) wake at most this often within [`WATCHED`].
/// Other activity of the machine, such as reading a page from disk, wakes them too and only increases the number: the
/// minimum of several measurements is caused by the program.
fn assert_sleeps(process: u32, names: &[&str], at_most: u64, when: &str) {
    let mut counted = Vec::new();
    while counted.len() < 6 {
        settle(process, names);
        let count = wake_ups(process, names);
        if count <= at_most {
            return;
        }
        counted.push(count);
    }
    panic!("{when}: woken {counted:?} times within {WATCHED:?}");
}

/// Waits until earlier activity has ended.
fn settle(process: u32, names: &[&str]) {
    let deadline = Instant::now() + PATIENCE;
    let mut before = switches(process, names);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = switches(process, names);
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
        timeout: PATIENCE,
        ..ClientOptions::named("Idle")
    };
    Client::connect(&endpoint, options).unwrap()
}

/// A connection has a deadline for opening a channel, and a Session one for being used: each transport and the
/// Sessions have an alarm for that, which goes off once even if the deadlines are met. The one for Sessions is set
/// again eight times within their timeout, which is a minute here.
const ALARMS: u64 = 3;

#[test]
fn an_idle_server_sleeps() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let process = registry.process.id();
    assert_sleeps(process, &[], 0, "without clients");

    let endpoints = [registry.shared_memory(), registry.endpoint.clone()];
    let clients = endpoints.iter().cycle().take(16);
    let clients: Vec<Client> = clients
        .map(|endpoint| connect(&sandbox, endpoint))
        .collect();
    assert_sleeps(process, &[], ALARMS, "with clients that are idle");
    drop(clients);
    assert_sleeps(process, &[], ALARMS, "when they have gone");
}

fn start_provider(sandbox: &Sandbox, registry: &Registry) -> Provider {
    Provider::builder(sandbox.application("Sleeper"))
        .variable(Variable::stored("Speed", 1.0))
        .registry(registry.shared_memory())
        .historized_events()
        .state_directory(sandbox.data_directory())
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        })
        .start()
        .unwrap()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A Provider and its registry notice each other's end without polling. Other Providers of this process would be counted.
#[test]
fn an_idle_provider_sleeps_and_so_does_its_registry() {
    takt_malloc::alone(|| {
        let sandbox = Sandbox::new();
        let mut registry = Registry::start(&sandbox, &[]);
        let mut provider = start_provider(&sandbox, &registry);
        eventually("registered", || provider.is_registered());
        // Every ten seconds it checks that the registry responds.
        let (ours, theirs) = (std::process::id(), registry.process.id());
        let threads = ["serve", "registration", "history", "history reader"];
        assert_sleeps(ours, &threads, ALARMS + 2, "the Provider");
        assert_sleeps(theirs, &[], ALARMS + 2, "its registry");

        // On a loaded machine either may be delayed, so they have several attempts.
        let mut took = Vec::new();
        loop {
            let killed = Instant::now();
            registry.process.kill();
            eventually("alone", || !provider.is_registered());
            let noticed = killed.elapsed();
            let begun = Instant::now();
            drop(provider);
            let ended = begun.elapsed();
            if noticed < SOON && ended < SOON {
                break;
            }
            took.push((noticed, ended));
            assert!(
                took.len() < 5,
                "a death noticed, a Provider ended: {took:?}"
            );
            registry = Registry::start(&sandbox, &[]);
            provider = start_provider(&sandbox, &registry);
            eventually("registered", || provider.is_registered());
        }
    });
}
