//! `takt demo`: a registry, two Providers and a Consumer, each a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, atomic::AtomicBool};
use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use takt_app::model::DEFAULT_REGISTRY;
use takt_demo::consumer::DemoError;
use takt_demo::processes::Process;
use takt_demo::{host, machine};

use crate::arguments::DemoArguments;
use crate::interrupt::{END_WITH_PARENT, Interrupt};
use crate::{explain, output};

pub fn run(arguments: &DemoArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install()?;
    let takt = std::env::current_exe().into_diagnostic()?;
    let data = tempfile::tempdir().into_diagnostic()?;
    let registry_endpoint = format!("opc.iox2://{DEFAULT_REGISTRY}");
    let endpoint = arguments.endpoint.to_string();
    let data_directory = data.path().to_string_lossy();
    let group = arguments.share.group.as_deref();

    let mut registry = start(
        &takt,
        "The registry",
        Stdio::piped(),
        group,
        &[
            "registry",
            "--endpoint",
            &endpoint,
            "--data",
            &data_directory,
        ],
    )?;
    // The registry prints its endpoint or ends. With port 0, the port is not known before.
    let serves = registry.first_line().into_diagnostic()?;
    if serves.is_empty() {
        return Err(ended_early(registry.name()));
    }
    let mut processes = vec![registry];
    for (name, provider) in [(host::NAME, "host"), (machine::NAME, "machine")] {
        processes.push(start(
            &takt,
            name,
            Stdio::null(),
            group,
            &["provider", provider],
        )?);
    }
    output::line(format_args!("{serves}; any OPC UA client can look at it\n"));

    let stop = interrupt.flag();
    let ended = watch(processes, Arc::clone(&stop));
    let consumer = takt_demo::consumer::run(&registry_endpoint, group, arguments.run_for, &stop);
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
        (None, Err(DemoError::Client(error))) if !interrupt.is_set() => {
            Err(explain::client(&error))
        }
        (None, _) => Ok(()),
    }
}

fn ended_early(name: &str) -> miette::Report {
    explain::with_help(
        format!("{name} ended before its time"),
        "Its own message is above. Is another demonstration running? \
         Another port: --endpoint opc.tcp://127.0.0.1:4841",
    )
}

fn start(
    takt: &Path,
    name: &str,
    output: Stdio,
    group: Option<&str>,
    arguments: &[&str],
) -> miette::Result<Process> {
    let mut command = Command::new(takt);
    command
        .args(arguments)
        .args(group.map(|group| format!("--group={group}")))
        .env(END_WITH_PARENT, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(output);
    // Ctrl-C on the terminal is for the demonstration. It ends the others in order.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Process::start(name, &mut command).into_diagnostic()
}

/// Sets `stop` when a process ends by itself, and returns its name. Once `stop` is set, it ends all processes, the newest first.
fn watch(
    mut processes: Vec<Process>,
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
        for process in processes.iter_mut().rev() {
            process.ask_to_end();
        }
        while processes.pop().is_some() {}
        died
    })
}
