//! Comparison of the SR-Server architecture of the paper `opcua-shared-memory-iceoryx2` (section 3) with classical OPC UA.
//! Section 7 of the paper leaves it open.
//!
//! * **SR-Server**: Providers register their nodes with the registry, over shared memory. A Consumer finds the nodes there, and
//!   reads them at the Providers.
//! * **Forwarded**: the same, but the Consumer does not know `InteractionVia`: it reads at the registry, which forwards.
//! * **Classical**: every Provider is an OPC UA server over `opc.tcp` with its own address space. A Consumer is a client of each:
//!   it connects to all of them, browses each, and reads. It is given the endpoints, because there is no directory.
//!
//! Both have the same Variables and use the same software. Many Providers share a process, each with its own threads, endpoints
//! and connections. A process for each Provider would add the same memory to both sides.

mod census;
mod classical;
mod consumer;
mod part;
mod providers;
mod reading;
mod resources;
mod row;
mod run;

use std::sync::atomic::AtomicBool;

pub(crate) use part::Part;
pub use row::Row;

use crate::error::{BenchError, check_interrupt};
use crate::programs;
use resources::Resources;
use run::Architecture;

/// Options of the comparison and of its output.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Numbers of Providers, each from 1 to 500.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_values_t = [1, 10, 50, 100], value_parser = clap::value_parser!(u16).range(1..=500))]
    pub providers: Vec<u16>,
    /// Consumers, each a process that discovers at the same time as the others.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=32))]
    pub consumers: u16,
    /// Print JSON, one object a row.
    #[arg(long)]
    pub json: bool,
}

/// Runs the comparison and passes each line of its result to `line`.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set. No process and no file is left behind.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    let consumers = usize::from(options.consumers);
    if let Some(most) = options
        .providers
        .iter()
        .max()
        .map(|most| usize::from(*most))
    {
        Resources::needed(most, consumers).check(most, Resources::available())?;
    }
    let program = programs::own()?;
    let mut report = takt_profile::results(line, options.json);
    for note in [
        format!(
            "Each Provider has {} Variables, its own endpoint, threads and connections; up to {} share a process, and \
             begin one after the other.",
            providers::VARIABLES,
            run::PROVIDERS_OF_A_PROCESS
        ),
        "Found: a Consumer has found the Variables of all Providers; read: it has read one of each as well.".to_owned(),
        "Bytes are those of the messages of services; in the SR-Server architecture Providers ask every 10 s whether the registry \
         answers."
            .to_owned(),
        "Forwarded: the Consumer reads at the registry, which asks the Provider.".to_owned(),
        "A Read: median of one after the other, and Reads per second with 32 at a time; of the slowest Consumer."
            .to_owned(),
        "Memory is the private memory of the processes plus their share of the memory that they have in common (PSS).".to_owned(),
    ] {
        report.note(&note);
    }
    report.line("");
    let layout = report.layout(&row::table());
    report.lines(layout.head());
    for providers in &options.providers {
        for architecture in [
            Architecture::Registry,
            Architecture::Forwarded,
            Architecture::Classical,
        ] {
            check_interrupt(interrupted)?;
            let row = run::run(
                &program,
                architecture,
                usize::from(*providers),
                consumers,
                interrupted,
            )?;
            report.lines(layout.row(row.cells()));
            report.row(&row)?;
        }
    }
    Ok(())
}
