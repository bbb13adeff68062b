//! The processes of the tests `attack` and `memory_group`: attackers, and a server with a large value that is attacked.
//!
//! ```text
//! takt-attacker process attack ASSIGNMENT
//! takt-attacker serve NAME
//! ```

use std::process::ExitCode;

use takt_rt::interrupt::Interrupt;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["process", takt_attack::ASSIGNMENT, assignment] => {
            takt_attack::carry_out(assignment).map_err(|error| error.to_string())
        }
        ["serve", name] => serve(name),
        _ => Err(format!("wrong arguments: {arguments:?}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(name: &str) -> Result<(), String> {
    let interrupt = Interrupt::install().map_err(|error| error.to_string())?;
    takt_attack::serve(name, &interrupt.flag(), |line| println!("{line}"))
        .map_err(|error| error.to_string())
}
