//! `takt demo`: a registry, two Providers and a Consumer, each a process of its own.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Arc, atomic::AtomicBool};
use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use serde_json::Value;
use takt_app::model::DEFAULT_REGISTRY;
use takt_demo::consumer::{ConsumerOptions, DemoError};
use takt_demo::{host, machine};
use takt_rt::child::{ChildError, ChildProcess, Ending};
use takt_rt::interrupt::Interrupt;
use takt_shm::Runtime;

use crate::arguments::DemoArguments;
use crate::{explain, output};

/// Longest time that the registry may take to start.
const START: Duration = Duration::from_secs(60);
/// Longest time that a process may take to end by itself before it is killed. A process that is just starting on a loaded machine
/// notices the request late, and a killed one leaves files behind.
const GRACE: Duration = Duration::from_secs(30);

/// A demonstration leaves nothing behind, so its applications get no certificates.
const NO_CERTIFICATE: &str = "--no-certificate";

pub fn run(arguments: &DemoArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let takt = std::env::current_exe().into_diagnostic()?;
    let data = tempfile::tempdir().into_diagnostic()?;
    let registry_endpoint = format!("opc.iox2://{DEFAULT_REGISTRY}");
    let endpoint = arguments.endpoint.to_string();
    let data_directory = data.path().to_string_lossy();
    let group = arguments.share.group.as_deref();
    expect_free_names(group)?;

    let mut serving = vec![NO_CERTIFICATE];
    if arguments.no_tcp {
        serving.push("--no-tcp");
    }
    if arguments.trust_loopback {
        serving.push("--trust-loopback");
    }
    let mut of_registry = vec!["registry", "--data", &data_directory];
    if !arguments.no_tcp {
        of_registry.extend(["--endpoint", &endpoint]);
    }
    of_registry.extend(&serving);
    if arguments.json {
        of_registry.push("--json");
    }
    let registry = start(&takt, "The registry", group, &of_registry)?;
    // The registry prints its endpoint or ends. With port 0, the port is not known before.
    let stop = interrupt.flag();
    let serves = match registry.line(START, &stop) {
        Ok(serves) => serves,
        Err(ChildError::Interrupted) => return Ok(()),
        Err(ChildError::Ended) => return Err(ended_early(registry.name())),
        Err(error) => return Err(failed(registry.name(), &error)),
    };
    let mut processes = vec![registry];
    for (name, provider) in [(host::NAME, "host"), (machine::NAME, "machine")] {
        let of_provider = [&["provider", provider], &serving[..]].concat();
        processes.push(start(&takt, name, group, &of_provider)?);
    }
    let endpoints = arguments.json.then(|| endpoints(&serves));
    if !arguments.json {
        output::line(match arguments.no_tcp {
            true => serves,
            false => format!("{serves}; any OPC UA client can look at it"),
        });
        output::line("");
    }

    let ended = watch(processes, Arc::clone(&stop));
    let options = ConsumerOptions {
        registry: &registry_endpoint,
        group,
        run_for: arguments.run_for,
        events: endpoints.as_deref(),
    };
    let consumer = takt_demo::consumer::run(&options, &stop);
    // The thread of `watch` waits for this, also after a Consumer that ended by itself.
    stop.store(true, Ordering::Relaxed);
    let died = ended
        .join()
        .map_err(|_| miette!("the watching thread failed"))?;
    match (died, consumer) {
        (Some(name), _) => Err(ended_early(&name)),
        // All other processes have ended, and no file is left behind.
        (None, Err(DemoError::Output(error))) => {
            drop(data);
            output::written(Err(error));
            Ok(())
        }
        // An interrupt ends the registry, too, perhaps during a request of the Consumer.
        (None, Err(DemoError::Client(error))) if !interrupt.is_set() => {
            Err(explain::client(&error))
        }
        (None, _) => {
            output::ended(arguments.json, DEFAULT_REGISTRY);
            Ok(())
        }
    }
}

/// Returns the endpoints in the line of a registry that is ready.
fn endpoints(ready: &str) -> Vec<String> {
    let event: Value = serde_json::from_str(ready).unwrap_or_default();
    let endpoints = event["endpoints"].as_array().into_iter().flatten();
    let texts = endpoints.filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Refuses to start beside applications with the same names: another demonstration, or a registry.
fn expect_free_names(group: Option<&str>) -> miette::Result<()> {
    let there = match group {
        Some(group) => Runtime::open_for_group(group, None).map(|runtime| runtime.applications()),
        None => takt_shm::applications(None),
    };
    // Without any application, there may be no directory yet; the registry explains other faults.
    let there = there.unwrap_or_default();
    let alive = there.iter().filter(|it| it.is_alive);
    // The registry first: its name tells most.
    let taken = [DEFAULT_REGISTRY, host::NAME, machine::NAME]
        .into_iter()
        .find_map(|name| alive.clone().find(|it| it.name.to_string() == name));
    let Some(taken) = taken else {
        return Ok(());
    };
    let process = taken
        .process
        .map(|process| format!(", process {process}"))
        .unwrap_or_default();
    let sharing = group.map_or_else(String::new, |group| format!(" --group {group}"));
    Err(explain::with_help(
        format!("{} runs already{process}", taken.name),
        format!(
            "It may belong to another demonstration: `takt ps{sharing}` shows all applications, and Ctrl-C ends a demonstration. A \
             second one needs a directory and a port of its own: \
             TAKT_RUNTIME_DIR=$(mktemp -d) takt demo --endpoint opc.tcp://127.0.0.1:4841"
        ),
    ))
}

fn ended_early(name: &str) -> miette::Report {
    explain::with_help(
        format!("{name} ended unexpectedly"),
        "Its own message is above. If the port is used by another program: --endpoint opc.tcp://127.0.0.1:4841",
    )
}

fn failed(name: &str, error: &ChildError) -> miette::Report {
    explain::with_help(
        format!("{name} {error}"),
        "`takt demo` starts this program again for the registry and each Provider.",
    )
}

fn start(
    takt: &Path,
    name: &str,
    group: Option<&str>,
    arguments: &[&str],
) -> miette::Result<ChildProcess> {
    let mut command = Command::new(takt);
    command
        .args(arguments)
        .args(group.map(|group| format!("--group={group}")));
    let process = ChildProcess::start(name, &mut command, Ending::Signal);
    let process = process.map_err(|error| failed(name, &error))?;
    Ok(process.with_grace(GRACE))
}

/// Sets `stop` when a process ends by itself, and returns its name. Once `stop` is set, it ends all processes, the newest first.
fn watch(
    mut processes: Vec<ChildProcess>,
    stop: Arc<AtomicBool>,
) -> std::thread::JoinHandle<Option<String>> {
    std::thread::spawn(move || {
        let mut died = None;
        while !stop.load(Ordering::Relaxed) {
            for process in &mut processes {
                if process.ended().is_some() {
                    died = Some(process.name().to_owned());
                    stop.store(true, Ordering::Relaxed);
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // All are asked before the first one is awaited, so that they end at the same time.
        for process in processes.iter_mut().rev() {
            process.ask_to_end();
        }
        while let Some(mut process) = processes.pop() {
            if !process.end() {
                tracing::warn!("{} did not end in time and was killed", process.name());
            }
        }
        died
    })
}
