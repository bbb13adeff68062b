//! `takt completions SHELL`

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::output;

pub fn run(shell: clap_complete::Shell) -> miette::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "takt", &mut script);
    output::bytes(&script);
    Ok(())
}
