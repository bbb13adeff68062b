//! Two containers that share only one mounted directory: each has its own mounts, its own /dev/shm, and its own IPC
//! and PID namespaces, as Compose sets them up for docs/compose/compose.yaml.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use takt_tests::process::{self, Process};
use takt_tests::sandbox::Sandbox;

use crate::groups::shared::{ANNA, BERT, Shared, User, set_mode, wait_for};

const START: Duration = Duration::from_secs(60);

/// Returns a `takt` command in a separate container, in which the directory `volume` of the host is at `mounted`.
fn in_container(shared: &Shared, number: u32, user: User, arguments: &[&str]) -> Command {
    // Each container mounts it in another place.
    let root = shared.path().join(format!("container{number}"));
    let group = shared.group_directory();
    let mounted = root.join(group.file_name().unwrap());
    if !mounted.exists() {
        fs::create_dir_all(&mounted).unwrap();
        set_mode(&root, 0o755);
    }
    let inner = shared.takt(user, arguments);
    // The shell stays process 1: it ends with `unshare`, and everything in the container with it. A process that
    // changes its user would not end (prctl PR_SET_PDEATHSIG).
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--ipc",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    command.args(["sh", "-ec"]);
    command.arg(
        "mount -t tmpfs -o mode=1777 none /dev/shm\n\
         mount --bind \"$1\" \"$2\"\n\
         mount -t tmpfs none \"$3\"\n\
         shift 3\n\
         touch /dev/shm/of-this-container\n\
         \"$@\"\n\
         exit $?",
    );
    // The directory's place on the host is hidden.
    command.arg("sh").args([&group, &mounted, &shared.root()]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir("/").envs(
        inner
            .get_envs()
            .filter_map(|(variable, value)| Some((variable, value?))),
    );
    command.env("TAKT_GROUP_ROOT", &root);
    command
}

pub fn two_containers_share_one_directory() {
    let shared = Shared::new();
    let registry = shared.application("Registry");
    let data = shared.path().join("data/container");
    let serve = [
        "registry",
        "--name",
        &registry,
        "--endpoint",
        "opc.tcp://127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ];
    let mut first = Process::spawn(
        "the registry's container",
        &mut in_container(&shared, 1, ANNA, &serve),
    );
    first.wait_for("its endpoints", START, |line| line.contains(" serves "));
    let provide = shared.machine_arguments();
    let provide = provide.each_ref().map(String::as_str);
    let mut second = Process::spawn(
        "the Provider's container",
        &mut in_container(&shared, 2, BERT, &provide),
    );
    second.wait_for("its endpoints", START, |line| line.contains(" serves "));

    // From the host, and from a third container.
    shared.wait_until_registered(ANNA);
    let machine = format!("opc.iox2://{}", shared.application("Machine"));
    let _ = shared.run(BERT, &["browse", &machine]).expect_success();
    let read = ["read", &machine, "Spindle/SpeedSetpoint"];
    let read = process::run(
        "a Consumer's container",
        &mut in_container(&shared, 3, ANNA, &read),
        START,
    );
    assert!(read.expect_success().starts_with("6000.0 "));
    // The lock and the socket show which applications run: processes of another container are invisible, but those of
    // a container are visible from the host.
    let there = |ps: &mut Command| {
        let rows = shared.rows(ps);
        let row = rows.into_iter().find(|row| row["endpoint"] == *machine);
        row.unwrap()
    };
    let from_outside = there(&mut shared.takt(ANNA, &["ps"]));
    assert!(
        from_outside["process"].as_u64().unwrap() > 1,
        "{from_outside}"
    );
    assert!(from_outside["memory"].is_u64(), "{from_outside}");
    // On a loaded machine it may not run in time, and is listed as not answering then.
    let from_beside = wait_for("an answer of the Machine", || {
        let row = there(&mut in_container(&shared, 3, ANNA, &["ps"]));
        row["clients"].is_u64().then_some(row)
    });
    assert!(from_beside["process"].is_null(), "{from_beside}");
    assert_eq!(from_beside["state"], "alive", "{from_beside}");
    let cleaned = shared.rows(&mut in_container(&shared, 3, ANNA, &["clean"]));
    assert_eq!(cleaned[0]["applications"], json!([]));
    // Nothing was in this machine's shared memory.
    assert!(!fs::exists("/dev/shm/of-this-container").unwrap());
    // A container that has ended leaves nothing behind.
    second.kill();
    wait_for("a dead Machine", || {
        let row = there(&mut in_container(&shared, 3, ANNA, &["ps"]));
        (row["state"] == "dead").then_some(())
    });
    let cleaned = shared.rows(&mut in_container(&shared, 3, ANNA, &["clean"]));
    assert_eq!(
        cleaned[0]["applications"],
        json!([shared.application("Machine")])
    );
    first.kill();
    wait_for("the end of all processes", || {
        (!is_running(&shared)).then_some(())
    });
}

/// Returns whether there is a process of this test's `takt`.
fn is_running(shared: &Shared) -> bool {
    let takt = shared.path().join("takt");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| fs::read_link(entry.path().join("exe")).ok())
        .any(|program| program == takt)
}

/// A container whose /dev/shm is too small: applications report that when they start, and shut down instead of ending
/// by SIGBUS.
pub fn a_full_dev_shm_is_reported() {
    let sandbox = Sandbox::new();
    for (kilobytes, starts) in [(64, false), (2048, false), (65536, true)] {
        let registry = sandbox.application("Full");
        let inner = sandbox.takt(&[
            "registry",
            "--name",
            &registry,
            "--endpoint",
            "opc.tcp://127.0.0.1:0",
        ]);
        let mut command = Command::new("unshare");
        command.args(["--mount", "--ipc", "--pid", "--fork", "--kill-child"]);
        command.args(["--mount-proc", "sh", "-ec"]);
        command.arg(format!(
            "mount -t tmpfs -o size={kilobytes}k none /dev/shm; \"$@\" & wait $!"
        ));
        command.arg("sh").arg(inner.get_program());
        command.args(inner.get_args());
        command.envs(
            inner
                .get_envs()
                .filter_map(|(variable, value)| Some((variable, value?))),
        );
        let mut application = Process::spawn("an application in a small /dev/shm", &mut command);
        if starts {
            application.wait_for("its endpoints", START, |line| line.contains(" serves "));
            application.kill();
            continue;
        }
        let finished = application.finish(START);
        assert_eq!(finished.status.code(), Some(1), "{finished:?}");
        let text = finished
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(text.contains("/dev/shm has "), "{finished:?}");
    }
}
