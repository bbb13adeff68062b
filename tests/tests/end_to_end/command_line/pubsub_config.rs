//! `takt pubsub config`: conversion of files in both directions, and errors of wrong ones.

use std::fs;
use std::path::Path;

use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::plain;

fn example(name: &str) -> String {
    let path = repository().join("examples/pubsub").join(name);
    path.to_str().unwrap().to_owned()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn configurations_are_converted_there_and_back() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let config = |arguments: &[&str]| sandbox.run(&[&["pubsub", "config"], arguments].concat());
    for name in ["publisher", "subscriber"] {
        let example = example(&format!("{name}.toml"));
        let checked = config(&["check", &example]).expect_success();
        assert_eq!(checked, "nothing is wrong");
        let binary = path(folder.path(), &format!("{name}.uabinary"));
        let text = path(folder.path(), &format!("{name}.toml"));
        let again = path(folder.path(), "again");
        let _ = config(&["convert", &example, &binary]).expect_success();
        let _ = config(&["convert", &binary, &text]).expect_success();
        let _ = config(&["convert", &text, &again, "--to", "binary", "--force"]).expect_success();
        let bytes = fs::read(&binary).unwrap();
        assert!(bytes.starts_with(&[0x01, 0, 0x3E, 0x3C]), "{bytes:?}");
        assert_eq!(fs::read(&again).unwrap(), bytes, "{name}");
        let printed = config(&["convert", &again, "-"]).expect_success();
        assert_eq!(printed, fs::read_to_string(&text).unwrap().trim_end());
    }
}

#[test]
fn files_are_overwritten_only_with_force() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let target = path(folder.path(), "there.toml");
    fs::write(&target, "mine").unwrap();
    let arguments = [
        "pubsub",
        "config",
        "convert",
        &example("publisher.toml"),
        &target,
    ];
    let refused = plain(&sandbox.run(&arguments).expect_failure());
    assert!(
        refused.contains("exists") && refused.contains("--force"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    let _ = sandbox
        .run(&[&arguments[..], &["--force"]].concat())
        .expect_success();
    assert!(fs::read_to_string(&target).unwrap().contains("Spindle"));
}

#[test]
fn mistakes_are_shown_in_the_file() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(example("publisher.toml")).unwrap();
    let binary = path(folder.path(), "good.bin");
    let _ = sandbox
        .run(&[
            "pubsub",
            "config",
            "convert",
            &example("publisher.toml"),
            &binary,
        ])
        .expect_success();
    let damaged = &fs::read(&binary).unwrap()[..100];
    for (name, content, parts) in [
        (
            "type.toml",
            good.replace("\"Double\"", "\"Real\"").into_bytes(),
            ["type.toml:8", "'Real'", "docs/pubsub.md"],
        ),
        (
            "key.toml",
            good.replace("keep_alive_time", "keepalive").into_bytes(),
            ["unknown field", "keepalive", "keep_alive_time"],
        ),
        (
            "set.toml",
            good.replace("data_set_name = \"Spindle\"", "data_set_name = \"X\"")
                .into_bytes(),
            ["UDP/Fast/Spindle", "PublishedDataSet 'X'", "docs"],
        ),
        ("cut.bin", damaged.to_vec(), ["cut.bin", "decoded", "byte"]),
        (
            "xml.bin",
            b"<a/>".to_vec(),
            ["xml.bin", "XML", "--from toml"],
        ),
        (
            "no.txt",
            vec![0x80, 0x81],
            ["no.txt", "UTF-8", "--from binary"],
        ),
        (
            "wide.txt",
            vec![0xFF, 0xFE],
            ["wide.txt", "UTF-16", "iconv"],
        ),
    ] {
        let file = path(folder.path(), name);
        fs::write(&file, content).unwrap();
        let said = plain(
            &sandbox
                .run(&["pubsub", "config", "check", &file])
                .expect_failure(),
        );
        for part in parts {
            assert!(said.contains(part), "{name}: no `{part}` in: {said}");
        }
    }
    let said = plain(
        &sandbox
            .run(&["pubsub", "config", "check", "/nowhere.toml"])
            .expect_failure(),
    );
    assert!(said.contains("/nowhere.toml"), "{said}");
}
