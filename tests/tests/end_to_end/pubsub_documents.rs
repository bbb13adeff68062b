//! Every command for PubSub that the documents show works.

use std::fs;
use std::path::Path;
use std::time::Duration;

use takt_tests::binary::repository;
use takt_tests::{Process, Registry, Sandbox, process};

/// Time limit of a command, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the commands `takt publish`, `takt subscribe` and `takt pubsub` in the blocks of a document, without comments.
fn commands(document: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let lines = text.lines().map(|line| line.trim_start_matches("$ "));
    let commands = lines.filter_map(|line| {
        let (command, _) = line.split_once('#').unwrap_or((line, ""));
        let arguments = command.trim().strip_prefix("takt ")?;
        let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        let shown = ["publish", "subscribe", "pubsub"];
        let first = arguments.first()?;
        shown.contains(&first.as_str()).then_some(arguments)
    });
    commands.collect()
}

/// Copies the examples, because a command writes a file beside them.
fn copy_examples(folder: &Path) {
    for example in fs::read_dir(repository().join("examples/pubsub")).unwrap() {
        let example = example.unwrap();
        fs::copy(example.path(), folder.join(example.file_name())).unwrap();
    }
}

#[test]
fn the_commands_of_the_reference_work() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let registry = registry.shared_memory();
    let machine = [
        "provider",
        "machine",
        "--name",
        "Machine",
        "--registry",
        &registry,
    ];
    let mut machine = Process::spawn("takt provider machine", &mut sandbox.takt(&machine));
    machine.wait_for("its endpoints", PATIENCE, |line| line.contains("serves"));
    let folder = tempfile::tempdir().unwrap();
    copy_examples(folder.path());
    let commands = commands("docs/pubsub.md");
    let from = |command: &Vec<String>| command.contains(&"--from".to_owned());
    assert!(commands.len() >= 8 && commands.iter().any(from));
    for command in &commands {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if arguments[0] != "pubsub" {
            arguments.extend(["--for", "1s"]);
        }
        let mut running = sandbox.takt(&arguments);
        running.current_dir(folder.path());
        let name = format!("takt {}", command.join(" "));
        let finished = process::run(&name, &mut running, PATIENCE);
        let errors = finished.stderr.clone();
        let shown = finished.expect_success();
        assert!(!errors.contains("WARN"), "{name}: {errors}");
        if arguments[0] == "publish" {
            assert!(shown.contains("  Operational  "), "{name}: {shown}");
            assert!(shown.contains("  0 errors  "), "{name}: {shown}");
        }
    }
}
