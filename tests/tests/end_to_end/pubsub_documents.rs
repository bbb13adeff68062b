//! Every command for PubSub that the documents show works.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
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

/// A pipe has its content once, so a command reads it once.
#[test]
fn a_configuration_may_come_through_a_pipe() {
    let sandbox = Sandbox::new();
    let example = repository().join("examples/pubsub/publisher.toml");
    for input in ["/dev/stdin", "-"] {
        let mut piped = Command::new("cat")
            .arg(&example)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut command = sandbox.takt(&["publish", input, "--simulate", "--for", "300ms"]);
        let output = command
            .stdin(piped.stdout.take().unwrap())
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{input}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(shown.contains("  Operational  "), "{input}: {shown}");
        piped.wait().unwrap();
    }
    let far = ["publish", "-", "--for", "9999999999999999999s"];
    let said = sandbox.run(&far).expect_failure();
    assert!(
        said.contains("too long") && !said.contains("panicked"),
        "{said}"
    );
}

/// Runs a command with a changed copy of an example; returns its error output, without frames, if it failed.
fn refused(sandbox: &Sandbox, command: &[&str], example: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(repository().join("examples/pubsub").join(example)).unwrap();
    assert!(text.contains(from), "{text}");
    let path = sandbox.data_directory().join("changed.toml");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let run = sandbox.run(&[command, &[path.to_str().unwrap()]].concat());
    let said = run.expect_failure();
    assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
    let words = said.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// Mistakes that the documents name are refused by the check, and before anything starts.
#[test]
fn nothing_starts_with_a_mistake() {
    let sandbox = Sandbox::new();
    let check = ["pubsub", "config", "check"].as_slice();
    for (command, example, from, to, parts) in [
        (
            ["publish", "--simulate"].as_slice(),
            "publisher.toml",
            "keep_alive_time = \"1s\"",
            "security_group_id = \"Plant\"",
            [
                "[[connections.writer_groups]]",
                "UDP/Fast",
                "security_mode: is missing",
            ],
        ),
        (
            &["publish", "--simulate"],
            "publisher.toml",
            "name = \"Load\"",
            "name = \"Speed\"",
            ["[[published_data_sets.fields]]", "Spindle/Speed", "name:"],
        ),
        (
            &["subscribe"],
            "subscriber.toml",
            "ns=1;s=Spindle/Load",
            "ns=7;s=Spindle/Load",
            ["data_set_readers]]", "UDP/Fast/Spindle", "namespace index"],
        ),
        (
            &["publish", "--simulate"],
            "publisher.toml",
            "name = \"Fast\"",
            "name = \"\\u001B]0;x\\u0007\"",
            [
                "[[connections.writer_groups]]",
                "UDP/\\u{1b}]0;x\\u{7}",
                "control characters",
            ],
        ),
    ] {
        for command in [check, command] {
            let said = refused(&sandbox, command, example, from, to);
            for part in parts {
                assert!(said.contains(part), "{command:?}: no `{part}` in: {said}");
            }
        }
    }
}
