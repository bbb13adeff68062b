//! Node of `takt bench nodes` as a program of its own.
//!
//! Hundreds of nodes run on one host. A process pays for the program that it is part of: the dynamic linker writes to each
//! page with relocations, and those pages are not shared. The nodes of other middleware are small programs, too.

use clap::Parser;
use takt_middleware::nodes::{NodeSetting, node};

/// Node of `takt bench nodes`, which starts and ends it.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    setting: NodeSetting,
}

fn main() {
    let Arguments { setting } = Arguments::parse();
    if let Err(error) = node(&setting) {
        eprintln!("takt-node: {error}");
        std::process::exit(1);
    }
}
