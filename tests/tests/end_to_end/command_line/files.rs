//! Files of a registry that are damaged, or of another kind: the start is refused with advice, and nothing is overwritten.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use takt_tests::{Registry, Sandbox, process};

use crate::command_line::{PATIENCE, plain};

const HISTORY: [&str; 2] = ["--history", "*/Level"];

/// Starts the registry of a sandbox, which is refused, and returns what it says.
fn refusal(sandbox: &Sandbox) -> String {
    let name = sandbox.application("Registry");
    let data = sandbox.data_directory();
    let arguments = [
        "registry",
        "--name",
        &name,
        "--endpoint",
        "opc.tcp://127.0.0.1:0",
        "--data",
    ];
    let mut command = sandbox.takt(&arguments);
    command.arg(data).args(HISTORY);
    let said = process::run("takt registry", &mut command, PATIENCE).expect_failure();
    let said = plain(&said);
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn files_that_are_damaged_or_swapped_are_refused_with_advice() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &HISTORY);
    registry.process.signal(Signal::INT);
    registry.process.wait(PATIENCE);
    let file = |name: &str| sandbox.data_directory().join(name);
    let (database, history) = (file("registry.redb"), file("history.redb"));
    let good = [&database, &history].map(|path| fs::read(path).unwrap());
    let restore = |path: &Path, bytes: &[u8]| {
        let _ = fs::remove_dir(path);
        fs::write(path, bytes).unwrap();
    };

    // Swapped.
    fs::write(&database, &good[1]).unwrap();
    fs::write(&history, &good[0]).unwrap();
    let said = refusal(&sandbox);
    assert!(
        said.contains("is a file of another kind, with the tables "),
        "{said}"
    );
    assert!(said.contains("move it away"), "{said}");
    restore(&database, &good[0]);
    let said = refusal(&sandbox);
    assert!(
        said.contains("is a file of another kind, with the tables "),
        "{said}"
    );
    assert!(said.contains("move it away"), "{said}");

    // Empty, damaged, truncated, no file.
    for bytes in [Vec::new(), vec![7; 20_000], good[1][..5000].to_vec()] {
        fs::write(&history, &bytes).unwrap();
        let said = refusal(&sandbox);
        assert!(said.contains("history.redb.damaged"), "{said}");
        assert_eq!(fs::metadata(&history).unwrap().len(), bytes.len() as u64);
    }
    for path in [&history, &database] {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
        let said = refusal(&sandbox);
        assert!(said.contains("is no file"), "{said}");
        restore(path, &good[usize::from(path == &history)]);
    }
    drop(Registry::start(&sandbox, &HISTORY));
}
