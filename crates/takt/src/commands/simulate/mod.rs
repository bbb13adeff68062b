//! `takt simulate`: the simulation of a scenario, event by event, or the search for its worst case.

mod adversarial;
mod csv;
mod json;
mod names;
mod table;

use miette::IntoDiagnostic;
use takt_figures::Report;
use takt_rt::interrupt::Interrupt;
use takt_scenario::{Scenario, SimulationOptions};
use takt_sim::{Loopback, Model, RunOptions, Simulation};

use crate::arguments::{SimulateArguments, SimulationLoopback, SimulationModel};
use crate::{explain, output, scenario_file};

pub fn run(arguments: &SimulateArguments) -> miette::Result<()> {
    let variants = scenario_file::variants(&arguments.scenario, &arguments.settings)?;
    let mut csv = arguments
        .csv
        .as_deref()
        .map(|path| csv::Messages::create(path, arguments.hops))
        .transpose()?;
    let mut interrupt = None;
    let mut above = Vec::new();
    let mut report = Report::new(output::line, arguments.json);
    for (index, variant) in variants.iter().enumerate() {
        if index > 0 {
            report.line("");
        }
        let options = options(arguments, &variant.scenario);
        if arguments.adversarial {
            // Only a search has results to print after an interrupt. An interrupt ends a plain simulation at once.
            let interrupt = match &interrupt {
                Some(interrupt) => interrupt,
                None => interrupt.insert(Interrupt::install().into_diagnostic()?),
            };
            let found =
                adversarial::run(arguments.tries, variant, &options, interrupt, &mut report)?;
            let heading = names::heading(variant);
            above.extend(found.into_iter().map(|it| format!("{heading}: {it}")));
            if interrupt.is_set() {
                // The results so far are printed. The exit status tells a shell that they are incomplete.
                let left = variants.len() - index - 1;
                return Err(miette::miette!(
                    "interrupted: the search was cut short, and {left} combinations of swept values are left out"
                ));
            }
            continue;
        }
        let simulation = Simulation::new(&variant.scenario, options.clone());
        let results = match &mut csv {
            Some(csv) => {
                let results = simulation.run(&mut csv.of(variant));
                // A full disk ends the command before the next combination is simulated.
                csv.check()?;
                results
            }
            None => simulation.run(&mut ()),
        };
        if arguments.json {
            let row = json::results(variant, &options, &results);
            report.row(&row).into_diagnostic()?;
        }
        table::print(variant, &options, &results, &mut report);
    }
    csv.map_or(Ok(()), csv::Messages::finish)?;
    match above.as_slice() {
        [] => Ok(()),
        above => Err(explain::with_help(
            format!("found delays are above their bounds\n{}", above.join("\n")),
            "Either the simulated disciplines break an assumption of the bounds (printed above), or the bound is wrong: \
             please report the scenario.",
        )),
    }
}

fn options(arguments: &SimulateArguments, scenario: &Scenario) -> RunOptions {
    let SimulationOptions { seed, cycles, .. } = scenario.simulation;
    let cycles = arguments.messages.unwrap_or(if arguments.adversarial {
        // A longer search is slower and finds nothing worse, because all interfering frames are soon in the way.
        cycles.min(adversarial::CYCLES)
    } else {
        cycles
    });
    let mut options = RunOptions::new(scenario).with_cycles(cycles);
    options.simulation.seed = arguments.seed.unwrap_or(seed);
    if arguments.adversarial {
        // A search needs all messages.
        options.simulation.trim = 0;
    }
    options.duration = arguments.duration.map(Into::into);
    options.model = match arguments.model {
        Some(SimulationModel::Linux) => Model::Linux,
        Some(SimulationModel::Ieee) => Model::Ieee,
        // The bounds assume shapers and gates of IEEE 802.1Q.
        None if arguments.adversarial => Model::Ieee,
        None => Model::Linux,
    };
    options.loopback = match arguments.loopback {
        SimulationLoopback::All => Loopback::All,
        SimulationLoopback::Latest => Loopback::Latest,
    };
    options.driver_queue = arguments.driver_queue.into();
    options
}
