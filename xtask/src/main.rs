//! Code generation and chores: `cargo xtask generate [--check] [STEP…]`.
//!
//! The generated files are committed, so that building Takt does not need npm. `generate` rewrites them from the
//! pinned packages (see `sources`); `generate --check` writes nothing and fails if a committed file differs.

#![forbid(unsafe_code)]

mod error;
mod generate;
mod model;
#[cfg(feature = "namespace0")]
mod namespace0;
mod output;
mod read;
mod sources;
mod write;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask generate [--check] [STEP...]

Writes the generated files of Takt from the pinned npm packages.

Steps, all of them if none is named:
  types         structures, views, enumerations, descriptions   crates/takt-ua/src/generated/
  identifiers   NodeIds of namespace 0                          crates/takt-ua/src/generated/
  status_codes  StatusCodes                                     crates/takt-ua/src/generated/
  namespace0    table of the nodes of namespace 0

Options:
  --check   write nothing; fail if a committed file differs from what would be written
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some((_, rest)) = arguments
        .split_first()
        .filter(|(command, _)| *command == "generate")
    else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let result = generate::run(rest);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
