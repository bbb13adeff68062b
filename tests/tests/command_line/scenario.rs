//! Scenarios: templates, checks, and what is said of mistakes.

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::plain;

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
        // What is there is not overwritten.
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
