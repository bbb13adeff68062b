//! `takt lab inside`: what `takt lab run` has prepared, in the running kernel. The init of a machine of the lab starts it.

use miette::IntoDiagnostic;
use takt_lab::executor::Veth;
use takt_rt::interrupt::Interrupt;

use super::{advice, progress};
use crate::arguments::LabInsideArguments;

pub(super) fn run(arguments: &LabInsideArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let stop = interrupt.flag();
    let outcome = takt_lab::execute(&arguments.directory, &Veth, &mut progress::CaseLines, &stop);
    outcome.map(drop).map_err(|error| advice::explained(&error))
}
