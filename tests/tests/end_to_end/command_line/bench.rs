//! `takt bench` passes on to the program `takt-bench`, which is a script here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns a folder with nothing but `takt`, which does not find the real program beside itself.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The folder of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    // The program given may be in another file system.
    let (from, to) = (takt_tests::binary::takt(), folder.join("takt"));
    fs::hard_link(from, &to)
        .or_else(|_| fs::copy(from, &to).map(drop))
        .unwrap();
    folder
}

fn write_program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn takt(folder: &Path, path: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(folder.join("takt"));
    command.env("PATH", path).args(arguments).output().unwrap()
}

#[test]
fn arguments_and_exit_codes_are_those_of_the_program_beside_takt() {
    let folder = folder("beside");
    write_program(&folder.join("takt-bench"), "echo \"$@\"; exit 7");
    for (arguments, passed) in [
        (&["bench", "shm", "--json"][..], "shm --json"),
        (&["bench", "--help"], "--help"),
        (&["bench", "shm", "-v", "--help"], "shm -v --help"),
        (&["bench", "--version"], "--version"),
        (&["-vv", "bench", "shm"], "-v -v shm"),
        (&["bench"], ""),
    ] {
        let output = takt(&folder, "", arguments);
        assert_eq!(output.status.code(), Some(7), "{arguments:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.trim_end(), passed, "{arguments:?}");
    }
}

#[test]
fn signals_are_those_of_the_program() {
    let folder = folder("signal");
    write_program(&folder.join("takt-bench"), "kill -TERM $$");
    let output = takt(&folder, "", &["bench", "shm"]);
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn the_program_may_be_in_path() {
    let (folder, other) = (folder("without"), folder("elsewhere"));
    write_program(&other.join("takt-bench"), "echo found");
    let output = takt(&folder, other.to_str().unwrap(), &["bench", "shm"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "found\n");
}

#[test]
fn without_the_program_the_error_says_how_to_build_it() {
    let folder = folder("missing");
    let build = "cargo build --release -p takt-bench";
    let output = takt(&folder, "", &["bench", "shm", "--json"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(build), "{said}");
    // Help is no error, and says it too.
    for arguments in [
        &["bench", "--help"][..],
        &["bench", "-h"],
        &["help", "bench"],
    ] {
        let output = takt(&folder, "", arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(build), "{said}");
    }
}
