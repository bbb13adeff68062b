//! The worst that can be found.

use takt_scenario::{ApplicationId, FlowSource, Receiver, Variant};
use takt_sim::{Found, Options, Worst};

use super::{heading, json, model_name, table};
use crate::arguments::SimulateArguments;
use crate::interrupt::Interrupt;
use crate::output;

/// Cycles of each try, if the scenario does not have fewer.
pub(super) const CYCLES: u64 = 48;

pub(super) fn run(arguments: &SimulateArguments, variant: &Variant, options: &Options) -> miette::Result<()> {
    let interrupt = Interrupt::install()?;
    let worst = takt_sim::search(&variant.scenario, options, arguments.tries, |_| !interrupt.is_set());
    if arguments.json {
        output::line(as_json(variant, options, &worst));
    } else {
        print(variant, options, &worst);
    }
    Ok(())
}
