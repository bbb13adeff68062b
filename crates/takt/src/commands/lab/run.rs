//! `takt lab run SCENARIO`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use takt_lab::executor::{Veth, missing_disciplines, required_disciplines};
use takt_lab::host::{HostFiles, host_facts};
use takt_lab::run_directory::RunDescription;
use takt_lab::{Backend, LabError, PreparedRun, RunRequest};
use takt_rt::interrupt::Interrupt;

use super::{advice, events, progress, table, uml};
use crate::arguments::{LabBackend, LabRunArguments};
use crate::{explain, output, scenario_file};

pub(super) fn run(arguments: &LabRunArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    // Mistakes in the file are shown with their places.
    let (file, text) = scenario_file::read(&arguments.scenario)?;
    scenario_file::with_settings(&file, &text, &arguments.settings)?;
    let explained = |error: LabError| match &error {
        LabError::Scenario(error) => explain::scenario(&text, error),
        _ => advice::explained(&error),
    };
    let backend = match arguments.backend {
        LabBackend::Netns => Backend::Netns,
        LabBackend::Uml => Backend::Uml,
        LabBackend::UmlReady => Backend::UmlReady,
    };
    let prepared = PreparedRun::new(&RunRequest {
        scenario: &file,
        text: &text,
        settings: &arguments.settings,
        messages: arguments.messages,
        backend,
        disciplines: !arguments.without_disciplines,
    });
    let mut prepared = prepared.map_err(explained)?;
    // A missing kernel or discipline shows before there is a directory, so the next try can take the same name.
    let machine = match arguments.backend {
        LabBackend::Uml => Some(uml::built_machine()?),
        LabBackend::UmlReady => Some(uml::ready_made_machine()?),
        LabBackend::Netns => {
            check_kernel(&prepared, arguments).map_err(explained)?;
            None
        }
    };
    // A machine of User-Mode Linux has the processor of this host, and a kernel of its own.
    let facts = host_facts(&HostFiles::of_this_host()).into_iter();
    for (name, value) in facts {
        let is_own = machine.is_none() || !name.contains("kernel");
        let name = if is_own {
            name
        } else {
            format!("outer {name}")
        };
        prepared.note(&name, value);
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    prepared.note("processors", processors.to_string());
    prepared.note("takt", env!("CARGO_PKG_VERSION"));
    let directory = directory(arguments, &file.scenario().name);
    prepared.write(&directory).map_err(explained)?;
    let name = &file.scenario().name;
    let cases = prepared.scenarios().len();
    output::tell(
        arguments.json,
        || events::started(name, &backend.to_string(), &directory, cases),
        format_args!("{name} on {backend}, in {}", directory.display()),
    );
    if arguments.without_disciplines && !arguments.json {
        output::line(
            "without queueing disciplines: times are not comparable with bounds and simulations",
        );
    }
    let stop = interrupt.flag();
    let mut cases = events::CaseEvents::new(&directory);
    match (machine, arguments.json) {
        (Some(machine), false) => {
            uml::execute(&machine, &directory, &mut |line| output::line(line), &stop)?;
        }
        // A line for people comes at the beginning of each case, when the results of the one before are there.
        (Some(machine), true) => {
            uml::execute(&machine, &directory, &mut |_| cases.print_new(), &stop)?;
        }
        (None, false) => {
            let mut observer = progress::CaseLines;
            takt_lab::execute(&directory, &Veth, &mut observer, &stop).map_err(explained)?;
        }
        (None, true) => {
            takt_lab::execute(&directory, &Veth, &mut cases, &stop).map_err(explained)?;
        }
    }
    if arguments.json {
        cases.print_new();
    }
    finish(&directory, arguments.json)
}

/// Checks that the kernel of this host has the disciplines of all cases, before anything is built.
fn check_kernel(prepared: &PreparedRun, arguments: &LabRunArguments) -> Result<(), LabError> {
    let mut required = BTreeMap::new();
    if !arguments.without_disciplines {
        for scenario in prepared.scenarios() {
            required.extend(required_disciplines(scenario)?);
        }
    }
    let missing = missing_disciplines(required)?;
    match missing.is_empty() {
        true => Ok(()),
        false => {
            let missing = missing.into_iter().map(str::to_owned);
            Err(LabError::MissingDisciplines(missing.collect()))
        }
    }
}

/// Returns the directory of the run: the given one, or the first free name.
fn directory(arguments: &LabRunArguments, scenario: &str) -> PathBuf {
    if let Some(directory) = &arguments.directory {
        return directory.clone();
    }
    // The name of a scenario may have characters that are special in paths and shells.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = scenario
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    let numbered = |number: usize| match number {
        1 => PathBuf::from(format!("lab-{name}")),
        _ => PathBuf::from(format!("lab-{name}-{number}")),
    };
    let mut names = (1..).map(numbered);
    names
        .find(|path| !path.exists())
        .unwrap_or_else(|| numbered(1))
}

/// Prints the results of a run.
fn finish(directory: &Path, json: bool) -> miette::Result<()> {
    let description = RunDescription::read(directory).into_diagnostic()?;
    let failed = description.cases.iter();
    let failed = failed.filter(|case| case.failure.is_some()).count();
    match json {
        true => output::line(events::ended(directory, failed)),
        false => table::print(directory, &description),
    }
    if failed > 0 {
        let count = description.cases.len();
        return Err(explain::with_help(
            format!("{failed} of {count} cases failed"),
            format!("{}/run.json has the reason of each.", directory.display()),
        ));
    }
    Ok(())
}
