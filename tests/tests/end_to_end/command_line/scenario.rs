//! Scenarios: templates, checks, and error messages.

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::plain;

#[test]
fn every_template_is_written_and_checked() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    for (template, options) in [
        ("p2p", &["--qdisc", "fq_codel"][..]),
        (
            "bridged",
            &[
                "--qdisc",
                "etf",
                "--cycle",
                "1 ms",
                "--offset",
                "0 us",
                "--rate",
                "100 Mbit/s",
            ],
        ),
        (
            "line",
            &[
                "--hops",
                "7",
                "--rnc",
                "160",
                "--qdisc",
                "cbs",
                "--provisioning",
                "-3%",
                "--model",
                "paper",
            ],
        ),
        (
            "ring",
            &["--nodes", "6", "--qdisc", "mqprio", "--payload", "100"],
        ),
        ("star", &["--nodes", "5", "--qdisc", "taprio"]),
    ] {
        let path = folder.path().join(format!("{template}.toml"));
        let path = path.to_str().unwrap();
        let mut arguments = vec!["scenario", "new", template, "--output", path];
        arguments.extend(options);
        let _ = sandbox.run(&arguments).expect_success();
        let checked = sandbox.run(&["scenario", "check", path]).expect_success();
        assert!(checked.contains("1 application"), "{}", checked);
        // Existing files are not overwritten.
        let _ = sandbox.run(&arguments).expect_failure();
    }
    let line = std::fs::read_to_string(folder.path().join("line.toml")).unwrap();
    assert!(
        line.contains("provisioning = \"-3%\"") && line.contains("model = \"paper\""),
        "{line}"
    );
}

#[test]
fn shipped_scenarios_are_checked_and_the_schema_is_printed() {
    let sandbox = Sandbox::new();
    let line = repository().join("scenarios/line.toml");
    let checked = sandbox
        .run(&["scenario", "check", line.to_str().unwrap()])
        .expect_success();
    assert!(
        checked.contains("8 nodes, 7 links, 1 application, 0 flows of cross traffic, 56 variants")
    );
    let schema = sandbox.run(&["scenario", "schema"]).expect_success();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["topology"].is_object());
}

#[test]
fn all_mistakes_are_shown_where_they_are() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.toml");
    let text = "version = 1\n[topology]\nkind = \"p2p\"\n[[applications]]\nname = \"a\"\npublisher = \"hots1\"\nloopback = \"host2\"\n\
                cycle = \"1 ms\"\npayload = \"1600 B\"\n";
    std::fs::write(&path, text).unwrap();
    let finished = sandbox.run(&["scenario", "check", path.to_str().unwrap()]);
    let said = plain(&finished.expect_failure());
    for part in [
        "line 6, column 13",
        "did you mean `host1`?",
        "a payload of 1600 B does not fit",
        "docs/scenario.md",
    ] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
}

/// One file with a mistake does not hide the next one's.
#[test]
fn all_files_are_checked() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (wrong, missing, silent) = (place("wrong.toml"), place("no.toml"), place("silent.toml"));
    std::fs::write(
        &wrong,
        "version = 1\n[topology]\nkind = \"p2p\"\nlength = \"3 meter\"\n",
    )
    .unwrap();
    std::fs::write(&silent, "version = 1\n[topology]\nkind = \"p2p\"\n").unwrap();
    let line = repository().join("scenarios/line.toml");
    let finished = sandbox.run(&[
        "scenario",
        "check",
        &wrong,
        &missing,
        line.to_str().unwrap(),
    ]);
    assert!(
        finished.stdout.contains("56 variants"),
        "{}",
        finished.stdout
    );
    let said = plain(&finished.expect_failure());
    assert!(said.contains("did you mean \"3 m\"?"), "{said}");
    assert!(said.contains("cannot read"), "{said}");
    // A network in which nothing is sent is a scenario, but there is nothing to compute.
    let _ = sandbox
        .run(&["scenario", "check", &silent])
        .expect_success();
    for command in ["bounds", "simulate"] {
        let said = plain(&sandbox.run(&[command, &silent]).expect_failure());
        assert!(
            said.contains("neither applications nor cross traffic"),
            "{said}"
        );
    }
    // A line of a megabyte is not shown; its position is sufficient.
    let long = format!("version = 1\n{}", "x".repeat(1 << 20));
    std::fs::write(&silent, long).unwrap();
    let said = plain(
        &sandbox
            .run(&["scenario", "check", &silent])
            .expect_failure(),
    );
    assert!(
        said.contains("line 2, column 1048577") && said.len() < 1000,
        "{said}"
    );
    let ring = sandbox.run(&["scenario", "new", "ring", "--nodes", "2"]);
    let said = plain(&ring.expect_failure());
    assert!(said.contains("a ring has at least 3 bridges"), "{said}");
    let nowhere = sandbox.run(&["scenario", "new", "p2p", "--output", &place("no/x.toml")]);
    let said = plain(&nowhere.expect_failure());
    assert!(said.contains("Check that the directory exists"), "{said}");
}

/// A device that is always full behaves like a full disk.
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let sandbox = Sandbox::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = sandbox.takt(&["scenario", "schema"]);
    let finished = command.stdout(full).output().unwrap();
    assert_eq!(finished.status.code(), Some(1));
    let said = String::from_utf8_lossy(&finished.stderr);
    assert!(
        said.contains("cannot write to the standard output"),
        "{said}"
    );
}
