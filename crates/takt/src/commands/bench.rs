//! `takt bench`: passes on to the program `takt-bench`.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::CommandFactory;

use crate::arguments::{Arguments, BenchArguments};
use crate::{explain, output};

/// Name of the program.
const PROGRAM: &str = "takt-bench";

/// Becomes the program: its process id, signals and exit code are those of this command. Returns only if that fails.
pub(super) fn run(arguments: &BenchArguments, verbose: u8) -> miette::Result<()> {
    let mut command = Command::new(program());
    command
        .args((0..verbose).map(|_| "-v"))
        .args(&arguments.arguments);
    let error = command.exec();
    if error.kind() != ErrorKind::NotFound {
        let error = format!("cannot start {PROGRAM}: {error}");
        return Err(explain::with_help(
            error,
            "Is it a program for this machine that this user may run?",
        ));
    }
    if arguments.ask_for_help() {
        return help();
    }
    Err(explain::with_help(
        format!("there is no program `{PROGRAM}`, neither beside `takt` nor in PATH"),
        "In the repository, `cargo build --release -p takt-bench` builds it. Then run `target/release/takt-bench` in place of `takt bench`, \
         or put it beside `takt` or into a folder of PATH.",
    ))
}

/// Returns the program beside this one, or its name alone, which is looked for in PATH.
fn program() -> PathBuf {
    let own = std::env::current_exe().ok();
    // The program beside this one is of the same build; PATH may have another version.
    let beside = own.map(|own| own.with_file_name(PROGRAM));
    let beside = beside.filter(|path| path.is_file());
    beside.unwrap_or_else(|| PROGRAM.into())
}

/// Prints the help of this command, which says how to build the program.
fn help() -> miette::Result<()> {
    let mut all = Arguments::command();
    all.build();
    if let Some(bench) = all.find_subcommand_mut("bench") {
        output::lines(bench.render_long_help().to_string().lines());
    }
    Ok(())
}
