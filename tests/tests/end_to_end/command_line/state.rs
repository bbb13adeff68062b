//! The state folder and the registry's database: errors are reported before anything is served, with the fix.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use takt_tests::{Provider, Registry, Sandbox, process};

use crate::command_line::mistakes::fails;
use crate::command_line::{PATIENCE, plain};

/// Runs a command that must fail without a panic, and returns its message.
fn refusal(command: &mut Command) -> String {
    let said = process::run("takt", command, PATIENCE).expect_failure();
    let said = plain(&said);
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn expect(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
}

/// Returns a database with a Provider in it, of a registry that has ended.
fn database(sandbox: &Sandbox) -> PathBuf {
    let mut registry = Registry::start(sandbox, &[]);
    let provider = Provider::start(sandbox, &registry, "machine");
    let available = format!("{}/Revision", provider.name);
    let address = registry.shared_memory();
    let deadline = std::time::Instant::now() + PATIENCE;
    while sandbox.run(&["read", &address, &available]).status.code() != Some(0) {
        assert!(std::time::Instant::now() < deadline, "never registered");
    }
    drop(provider);
    registry.process.signal(rustix::process::Signal::TERM);
    assert!(registry.process.wait(PATIENCE).success());
    sandbox.data_directory().join("registry.redb")
}

/// Starts a registry with the contents of `folder`; returns its message if it does not serve.
fn start_with(sandbox: &Sandbox, folder: &Path) -> Option<String> {
    // The registry that created the database.
    let name = sandbox.application("Registry");
    let folder = folder.to_str().unwrap();
    let endpoint = "opc.tcp://127.0.0.1:0";
    let arguments = [
        "registry",
        "--name",
        &name,
        "--endpoint",
        endpoint,
        "--data",
        folder,
    ];
    let mut registry = process::Process::spawn("takt registry", &mut sandbox.takt(&arguments));
    let deadline = std::time::Instant::now() + PATIENCE;
    while std::time::Instant::now() < deadline {
        if let Some(line) = registry.try_line() {
            assert!(line.contains(" serves "), "{line}");
            registry.kill();
            return None;
        }
        if registry.has_ended() {
            let said = registry.finish(PATIENCE).expect_failure();
            assert!(!said.contains("panicked"), "{said}");
            return Some(plain(&said));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("neither serves nor ends: {}", registry.report());
}

#[test]
fn a_damaged_database_is_reported_with_the_fix() {
    let sandbox = Sandbox::new();
    let file = database(&sandbox);
    let whole = fs::read(&file).unwrap();
    let folder = sandbox.data_directory().join("damaged");
    fs::create_dir(&folder).unwrap();
    let copy = folder.join("registry.redb");
    let check = |what: &str, bytes: &[u8]| {
        fs::write(&copy, bytes).unwrap();
        let said = start_with(&sandbox, &folder)?;
        let path = copy.to_str().unwrap();
        for part in [
            path,
            "damaged",
            "Restore a copy",
            "mv registry.redb",
            "empty",
        ] {
            assert!(said.contains(part), "{what}: no `{part}` in: {said}");
        }
        Some(())
    };
    // An undamaged database is served.
    assert_eq!(check("whole", &whole), None);
    // Zeros are detected in pages that are in use, and some pages are.
    let step = (whole.len() / 4096 / 12).max(1) * 4096;
    let mut refused = 0;
    for offset in (0..whole.len()).step_by(step) {
        let mut bytes = whole.clone();
        bytes[offset..offset + 4096].fill(0);
        refused += usize::from(check(&format!("zeroes at {offset}"), &bytes).is_some());
    }
    assert!(refused > 0);
    let half = &whole[..whole.len() / 2];
    assert!(check("truncated", half).is_some());
    assert!(check("text", b"this is no database").is_some());
    fs::write(&copy, "").unwrap();
    let said = start_with(&sandbox, &folder).expect("an empty file is no new database");
    expect(
        &said,
        &[copy.to_str().unwrap(), "empty", "0 bytes", "Restore a copy"],
    );
    assert_eq!(
        fs::metadata(&copy).unwrap().len(),
        0,
        "it is left as it was"
    );
    // The fix in the message.
    fs::rename(&copy, folder.join("registry.redb.damaged")).unwrap();
    assert_eq!(start_with(&sandbox, &folder), None);
}

#[test]
fn without_a_home_there_is_no_state_folder() {
    let sandbox = Sandbox::new();
    let any = "opc.tcp://127.0.0.1:0";
    let name = sandbox.application("Homeless");
    let registry = ["registry", "--name", &name, "--endpoint", any];
    let nowhere = "opc.tcp://127.0.0.1:9";
    let provider = [
        "provider",
        "machine",
        "--name",
        &name,
        "--registry",
        nowhere,
    ];
    for arguments in [&registry[..], &provider] {
        for unset in [None, Some("")] {
            let mut command = sandbox.takt(arguments);
            match unset {
                None => command.env_remove("XDG_STATE_HOME").env_remove("HOME"),
                Some(value) => command.env("XDG_STATE_HOME", value).env("HOME", value),
            };
            let said = refusal(&mut command);
            expect(
                &said,
                &["XDG_STATE_HOME", "HOME", "--data", "absolute path"],
            );
        }
        let mut command = sandbox.takt(arguments);
        command
            .env("XDG_STATE_HOME", "state")
            .current_dir(sandbox.data_directory());
        expect(
            &refusal(&mut command),
            &["XDG_STATE_HOME is state", "not an absolute path"],
        );
        assert!(!sandbox.data_directory().join("state").exists());
    }
    assert!(
        sandbox.left_behind().is_empty(),
        "{:?}",
        sandbox.left_behind()
    );
}

#[test]
fn a_state_folder_of_others_is_refused() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory().join("takt");
    fs::create_dir(&folder).unwrap();
    let any = "opc.tcp://127.0.0.1:0";
    let name = sandbox.application("Guest");
    let path = folder.to_str().unwrap();
    let nowhere = "opc.tcp://127.0.0.1:9";
    // XDG_STATE_HOME is the folder above.
    let by_default = ["registry", "--name", &name, "--endpoint", any];
    let named = [&by_default[..], &["--data", path]].concat();
    let provider = [
        "provider",
        "machine",
        "--name",
        &name,
        "--registry",
        nowhere,
    ];
    let all = [&by_default[..], &named, &provider];
    for mode in [0o777, 0o1777, 0o770] {
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        for arguments in all {
            let parts = [path, "written by others", "chmod go-w"];
            fails(&sandbox, arguments, &parts);
        }
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&folder, Some(12_345), None).unwrap();
        for arguments in all {
            fails(
                &sandbox,
                arguments,
                &[path, "belongs to user 12345", "sudo -u USER"],
            );
        }
        chown(&folder, Some(0), None).unwrap();
    } else {
        println!("skipped: only root can give a folder to another user");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    assert_eq!(start_with(&sandbox, &folder), None);
}
