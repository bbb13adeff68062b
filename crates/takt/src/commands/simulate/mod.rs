//! `takt simulate`: what happens in a scenario, event by event, or the worst that can be found.

mod adversarial;
mod csv;
mod json;
mod table;

use takt_scenario::{Scenario, SimulationOptions, Variant};
use takt_sim::{Loopback, Model, Options, Simulation};

use crate::arguments::{SimulateArguments, SimulationLoopback, SimulationModel};
use crate::interrupt::Interrupt;
use crate::{output, scenario_file};

pub fn run(arguments: &SimulateArguments) -> miette::Result<()> {
    let variants = scenario_file::variants(&arguments.scenario)?;
    let mut csv = arguments
        .csv
        .as_deref()
        .map(|path| csv::Messages::create(path, arguments.hops))
        .transpose()?;
    let mut interrupt = None;
    for (index, variant) in variants.iter().enumerate() {
        if index > 0 && !arguments.json {
            output::line("");
        }
        let options = options(arguments, &variant.scenario);
        if arguments.adversarial {
            let interrupt = match &interrupt {
                Some(interrupt) => interrupt,
                None => interrupt.insert(Interrupt::install()?),
            };
            adversarial::run(
                arguments.tries,
                arguments.json,
                variant,
                &options,
                interrupt,
            );
            if interrupt.is_set() {
                break;
            }
            continue;
        }
        let simulation = Simulation::new(&variant.scenario, options.clone());
        let results = match &mut csv {
            Some(csv) => {
                let results = simulation.run(&mut csv.of(variant));
                csv.check()?;
                results
            }
            None => simulation.run(&mut ()),
        };
        if arguments.json {
            output::line(json::results(variant, &options, &results));
        } else {
            table::print(variant, &options, &results);
        }
    }
    csv.map_or(Ok(()), csv::Messages::finish)
}

fn options(arguments: &SimulateArguments, scenario: &Scenario) -> Options {
    let SimulationOptions { seed, cycles, trim } = scenario.simulation;
    let cycles = arguments.messages.unwrap_or(if arguments.adversarial {
        // Longer is slower, not worse: what is in the way is soon all there.
        cycles.min(adversarial::CYCLES)
    } else {
        cycles
    });
    let mut options = Options::new(scenario);
    options.simulation = SimulationOptions {
        seed: arguments.seed.unwrap_or(seed),
        cycles,
        // A search wants all messages.
        trim: if arguments.adversarial || trim * 2 >= cycles {
            0
        } else {
            trim
        },
    };
    options.duration = arguments.duration.map(Into::into);
    options.model = match arguments.model {
        Some(SimulationModel::Linux) => Model::Linux,
        Some(SimulationModel::Ieee) => Model::Ieee,
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

/// What is simulated, in one line.
fn heading(variant: &Variant) -> String {
    let settings = variant
        .settings
        .iter()
        .map(|(parameter, value)| format!(", {parameter} = {value}"));
    format!("{}{}", variant.scenario.name, settings.collect::<String>())
}

fn model_name(model: Model) -> &'static str {
    match model {
        Model::Linux => "linux",
        Model::Ieee => "ieee",
    }
}
