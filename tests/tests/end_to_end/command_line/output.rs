//! Commands whose output is not read, and the depth of `takt browse`.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt;
use std::process::{Output, Stdio};

use takt_app::serve::{ServeOptions, Serving};
use takt_services::Server;
use takt_tests::Sandbox;
use takt_tests::binary::repository;
use takt_ua::NodeId;

/// SIGPIPE, which ends a Unix tool when its reader has closed the pipe.
const SIGPIPE: i32 = 13;

/// Returns every kind of command that prints without a server.
fn printing() -> Vec<Vec<String>> {
    let file = |path: &str| repository().join(path).display().to_string();
    let line = file("scenarios/line.toml");
    let configuration = file("examples/pubsub/publisher.toml");
    let commands: [&[&str]; 15] = [
        &["--version"],
        &["--help"],
        &["help", "browse"],
        &["browse", "--help"],
        &["subscribe", "--version"],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["pubsub", "dissector"],
        &["pubsub", "config", "check", &configuration],
        &[
            "pubsub",
            "config",
            "convert",
            &configuration,
            "-",
            "--to",
            "toml",
        ],
        &["scenario", "schema"],
        &["scenario", "check", &line],
        &["bounds", &line],
        &["simulate", &line, "--messages", "5"],
        &["clean"],
    ];
    let owned = |command: &[&str]| command.iter().map(|part| (*part).to_owned()).collect();
    commands.into_iter().map(owned).collect()
}

fn run(sandbox: &Sandbox, command: &[String], stdout: Stdio) -> Output {
    let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut command = sandbox.takt(&arguments);
    command
        .stdin(Stdio::null())
        .stdout(stdout)
        .output()
        .unwrap()
}

#[test]
fn a_command_whose_reader_went_away_ends_in_silence() {
    let sandbox = Sandbox::new();
    for command in printing() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = run(&sandbox, &command, writer.into());
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(
            ended.status.signal(),
            Some(SIGPIPE),
            "{command:?}: {ended:?}"
        );
        assert_eq!(said, "", "{command:?}");
    }
}

#[test]
fn a_command_whose_output_cannot_be_written_fails() {
    let sandbox = Sandbox::new();
    for command in printing() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = run(&sandbox, &command, full.into());
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{command:?}: {ended:?}");
        assert!(
            said.contains("cannot write to the standard output"),
            "{said}"
        );
    }
}

#[test]
fn mistakes_whose_explanation_cannot_be_written_are_still_mistakes() {
    let sandbox = Sandbox::new();
    let missing = ["scenario", "check", "/no/such/file", "/nor/this"];
    let commands: [(&[&str], i32); 3] = [
        (&missing, 1),
        (&["no-such-command"], 2),
        (&["-vv", "read", "opc.tcp://127.0.0.1:9", "i=1"], 1),
    ];
    for (command, status) in commands {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut takt = sandbox.takt(command);
        let ended = takt.stdin(Stdio::null()).stderr(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(status), "{command:?}: {ended:?}");
    }
}

#[test]
fn a_demonstration_whose_reader_went_away_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let endpoint = ["--endpoint", "opc.tcp://127.0.0.1:0"];
    let mut demo = sandbox.takt(&[&["demo", "--for", "60s"], &endpoint[..]].concat());
    let demo = demo.stdin(Stdio::null()).stdout(writer);
    let child = demo.stderr(Stdio::piped()).spawn().unwrap();
    // The command itself keeps the other end.
    *demo = std::process::Command::new("true");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(reader));
    for _ in 0..3 {
        lines.next().unwrap().unwrap();
    }
    drop(lines);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.signal(), Some(SIGPIPE), "{ended:?}");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert_eq!(sandbox.left_behind(), Vec::<String>::new());
}

/// Nodes of a chain, each the parent of the next one.
const CHAIN: u32 = 8_000;

fn link(number: u32) -> NodeId {
    NodeId::numeric(1, number)
}

#[test]
fn browse_follows_a_long_chain_of_nodes() {
    let sandbox = Sandbox::new();
    let server = Server::builder("Chain", "urn:takt:chain").build().unwrap();
    let space = server.address_space();
    for number in 0..CHAIN {
        let node = space.add_object("N").node_id(link(number));
        let node = match number {
            0 => node,
            _ => node.component_of(link(number - 1)),
        };
        node.add().unwrap();
    }
    let serve = ServeOptions {
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ServeOptions::default()
    };
    let endpoints = ["opc.tcp://127.0.0.1:0".parse().unwrap()];
    let serving = Serving::start(&server, &endpoints, serve).unwrap();
    let endpoint = serving.endpoints()[0].to_string();
    let start = link(0).to_string();
    let depth = (CHAIN + 10).to_string();
    // As JSON, because indents of this many levels would be most of the output.
    let rows = sandbox.rows(&["browse", &endpoint, &start, "--depth", &depth]);
    let chain = rows
        .iter()
        .filter(|row| row["browseName"] == "1:N" || row["browseName"] == "N");
    let chain: Vec<_> = chain.map(|row| row["nodeId"].as_str().unwrap()).collect();
    let expected: Vec<String> = (1..CHAIN).map(|number| link(number).to_string()).collect();
    assert_eq!(chain, expected);

    // A part of it, drawn.
    let drawn = sandbox.run(&["browse", &endpoint, &start, "--depth", "3"]);
    let rows = [
        "└─ N  Object  ns=1;i=1",
        "   └─ N  Object  ns=1;i=2",
        "      └─ N  Object  ns=1;i=3",
    ];
    assert_eq!(drawn.expect_success().lines().collect::<Vec<_>>(), rows);
}
