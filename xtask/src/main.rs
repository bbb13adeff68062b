//! Code generation and chores: `cargo xtask generate [--check] [STEP…]`, `cargo xtask interoperability [--check]`.
//!
//! The generated files are committed, so that building Takt does not need npm. `generate` rewrites them from the
//! pinned packages (see `sources`); `generate --check` writes nothing and fails if a committed file differs.
//! `interoperability` does the same with a document, from results of `./test interop`.

#![forbid(unsafe_code)]

mod error;
mod generate;
mod interoperability;
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
       cargo xtask interoperability [--check]

`generate` writes the generated files of Takt from the pinned npm packages. `interoperability` writes
docs/interoperability.md from the results of `./test interop`.

Steps, all of them if none is named:
  types         structures, views, enumerations, descriptions   crates/takt-ua/src/generated/
  identifiers   NodeIds of namespace 0                          crates/takt-ua/src/ids.rs
  status_codes  StatusCodes                                     crates/takt-ua/src/status_code/
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
    let result = match arguments.split_first() {
        Some((command, rest)) if command == "generate" => generate::run(rest),
        Some((command, rest)) if command == "interoperability" => interoperability::run(rest),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
