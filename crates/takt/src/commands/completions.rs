//! `takt completions SHELL`

use clap::CommandFactory;

use crate::arguments::Arguments;

pub fn run(shell: clap_complete::Shell) -> miette::Result<()> {
    clap_complete::generate(
        shell,
        &mut Arguments::command(),
        "takt",
        &mut std::io::stdout(),
    );
    Ok(())
}
