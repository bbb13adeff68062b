//! Runs a document: the commands of its fenced blocks, each compared with the output that the document shows.
//!
//! | block | what happens |
//! |---|---|
//! | `console` | each line after `$ ` is run, in one shell for all blocks; it must succeed and print the next lines |
//! | `console numbers` | the same, but each number of the output may be another one |
//! | `console background` | the block's one command is started and kept running; it must print the next lines |
//! | `console install` | nothing: the commands find the `takt` that is built already |
//! | `console skip` | nothing: the command cannot be run here, like fetching the repository |
//! | `LANGUAGE file=PATH` | the block becomes that file of the clone |
//!
//! In expected output, `…` stands for any text in its line, and a line that is only `…` for any number of lines. A
//! command continues on the next line after `\`.

mod clone;
mod expected;
mod shell;
mod steps;

use std::fs;
use std::path::Path;

use self::shell::Shell;
use self::steps::Step;
use crate::binary::repository;
use crate::sandbox::Sandbox;

/// Runs the document in `file`, a path below the repository, from a clean clone.
///
/// # Panics
/// If a command fails or prints something else.
pub fn run(file: &str) {
    let sandbox = Sandbox::new();
    let clone = clone::clean(&sandbox);
    run_in(&sandbox, &clone, file);
}

/// Runs the document in `file`, a path below the repository, whose commands need only `./run` and the program that it
/// builds: nothing is compiled.
///
/// # Panics
/// If a command fails or prints something else.
pub fn run_built(file: &str) {
    let sandbox = Sandbox::new();
    let folder = clone::built(&sandbox);
    run_in(&sandbox, &folder, file);
}

fn run_in(sandbox: &Sandbox, folder: &Path, file: &str) {
    let text = fs::read_to_string(repository().join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut shell = Shell::start(sandbox, folder);
    for step in steps::steps(&text) {
        match step {
            Step::Run { command, expected } => {
                let (status, output) = shell.run(&command);
                let output_text = output.join("\n");
                assert_eq!(
                    status, 0,
                    "{file}: `{command}` failed with {status}\n---- its output\n{output_text}"
                );
                assert!(
                    expected.is(&output),
                    "{file}: `{command}` should print\n{expected}\n---- but printed\n{output_text}"
                );
            }
            Step::Start { command, expected } => shell.start_background(file, &command, &expected),
            Step::Write { path, text } => {
                let path = folder.join(path);
                fs::create_dir_all(path.parent().expect("a file has a folder"))
                    .expect("a folder can be made");
                fs::write(&path, text).expect("a file can be written");
            }
        }
    }
    shell.end();
}
