//! Private memory that the address space of a Provider takes, beside that of the reduced server of the paper.

use std::path::Path;

use takt_app::serve::ServeOptions;
use takt_app::{Provider, Unit, Variable};

/// Number of Providers of each kind.
const PROVIDERS: u64 = 8;

/// Number of Variables of each Provider.
const VARIABLES: u32 = 20;

/// Memory in KiB that one Provider may take for the types of the model, and the nodes that the reduced server lacks.
const ALLOWED: u64 = 128;

/// Returns the memory in KiB that is not mapped from a file, or was changed after mapping.
fn private_memory() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let mut lines = rollup.lines();
    let line = lines.find(|line| line.starts_with("Anonymous:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn start(directory: &Path, name: &str, is_reduced: bool) -> Provider {
    let mut builder = Provider::builder(name)
        .without_registry()
        .serve(ServeOptions {
            runtime_directory: Some(directory.to_path_buf()),
            ..ServeOptions::default()
        });
    for number in 0..VARIABLES {
        let variable = Variable::stored(format!("Axis/Value{number}"), 0.5);
        builder = builder.variable(variable.unit(Unit::PERCENT).range(0.0..1.0));
    }
    match is_reduced {
        true => builder.reduced().start().unwrap(),
        false => builder.start().unwrap(),
    }
}

#[test]
fn a_provider_takes_little_more_memory_than_a_reduced_one() {
    takt_malloc::alone(|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut running = Vec::new();
        // Static data is made by the first one.
        running.push(start(directory.path(), "First", false));
        let mut memory_of = |kind: &str, is_reduced: bool| {
            let before = private_memory();
            for number in 0..PROVIDERS {
                let name = format!("{kind}{number}");
                running.push(start(directory.path(), &name, is_reduced));
            }
            (private_memory() - before) / PROVIDERS
        };
        let reduced = memory_of("Reduced", true);
        let complete = memory_of("Complete", false);
        println!("reduced {reduced} KiB, complete {complete} KiB");
        assert!(
            complete <= reduced + ALLOWED,
            "reduced {reduced} KiB, complete {complete} KiB"
        );
    });
}
