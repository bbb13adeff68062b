//! `takt scenario schema`.

use crate::arguments::SchemaArguments;

pub(super) fn run(arguments: &SchemaArguments) -> miette::Result<()> {
    let schema = match arguments.network {
        true => takt_scenario::plant_schema(),
        false => takt_scenario::schema(),
    };
    crate::output::lines(format!("{schema:#}").lines());
    Ok(())
}
