//! Servers without an endpoint over TCP: `--no-tcp`.

use std::path::Path;
use std::time::Instant;

use takt_tests::{Process, Sandbox};

use crate::command_line::PATIENCE;
use crate::command_line::mistakes::fails;

/// Returns the sockets of TCP that a process listens on, as lines of the kernel.
fn listens(process: u32) -> Vec<String> {
    let folder = Path::new("/proc").join(process.to_string());
    let opened = std::fs::read_dir(folder.join("fd")).unwrap();
    let opened = opened.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let opened: Vec<String> = opened
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    let tables = ["net/tcp", "net/tcp6"].map(|table| std::fs::read_to_string(folder.join(table)));
    let lines = tables.iter().flatten().flat_map(|table| table.lines());
    let is_own = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // State 0A is LISTEN.
        fields.get(3) == Some(&"0A")
            && opened.contains(&format!("socket:[{}]", fields.get(9).unwrap_or(&"")))
    };
    lines.filter(is_own).map(str::to_owned).collect()
}

fn serves(sandbox: &Sandbox, arguments: &[&str]) -> (Process, String) {
    let mut process = Process::spawn("takt", &mut sandbox.takt(arguments));
    let said = process.wait_for("its endpoints", PATIENCE, |line| line.contains(" serves "));
    (process, said)
}

#[test]
fn servers_without_tcp_listen_nowhere_and_are_used_over_shared_memory() {
    let sandbox = Sandbox::new();
    let (registry, machine) = (
        sandbox.application("Registry"),
        sandbox.application("Machine"),
    );
    let at_registry = format!("opc.iox2://{registry}");
    let data = sandbox.data_directory();
    let data = data.to_str().unwrap();
    let of_registry = ["registry", "--name", &registry, "--data", data];
    let of_machine = [
        "provider",
        "machine",
        "--name",
        &machine,
        "--registry",
        &at_registry,
    ];
    let (with_tcp, _) = serves(
        &sandbox,
        &[&of_registry[..], &["--endpoint", "opc.tcp://127.0.0.1:0"]].concat(),
    );
    assert_eq!(listens(with_tcp.id()).len(), 1);
    drop(with_tcp);

    let (of_registry, said) = serves(&sandbox, &[&of_registry[..], &["--no-tcp"]].concat());
    assert!(said.ends_with(&format!("serves {at_registry}")), "{said}");
    let (of_machine, said) = serves(&sandbox, &[&of_machine[..], &["--no-tcp"]].concat());
    assert!(!said.contains("opc.tcp"), "{said}");
    for process in [&of_registry, &of_machine] {
        assert_eq!(listens(process.id()), [""; 0]);
    }
    let path = format!("{machine}/Spindle/Override");
    let write = ["write", &at_registry, &path, "80"];
    let begin = Instant::now();
    while !sandbox.run(&write).status.success() {
        assert!(begin.elapsed() < PATIENCE, "{}", of_machine.report());
    }
    for endpoint in [&at_registry, &format!("opc.iox2://{machine}")] {
        let found = sandbox.run(&["discover", endpoint, "--endpoints"]);
        let found = found.expect_success();
        assert!(!found.contains("opc.tcp"), "{found}");
    }
}

#[test]
fn options_of_tcp_contradict_no_tcp() {
    let sandbox = Sandbox::new();
    for option in [
        &["--endpoint", "opc.tcp://127.0.0.1:0"][..],
        &["--trust-loopback"],
        &["--allow-none"],
        &["--reverse-connect", "opc.tcp://127.0.0.1:4841"],
    ] {
        for command in [&["registry"][..], &["provider", "machine"]] {
            fails(
                &sandbox,
                &[command, &["--no-tcp"], option].concat(),
                &["--no-tcp", option[0]],
            );
        }
    }
    fails(
        &sandbox,
        &["demo", "--no-tcp", "--trust-loopback"],
        &["--no-tcp"],
    );
}
