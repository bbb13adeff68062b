//! Messages that are not for this end: the loopback names them, instead of silence.

use std::time::{Duration, Instant};

use takt_tests::Sandbox;
use takt_tests::network::HostPair as Network;
use takt_tests::process::{Finished, Process};

use super::ends::start;
use crate::control_loops::PATIENCE;

/// Waits until the second host has received many frames, so that the first one publishes.
fn wait_for_messages(network: &Network) {
    let begin = Instant::now();
    loop {
        let shown = network.second.run("ip", "-j -s link show dev takt1");
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let packets = shown.pointer("/0/stats64/rx/packets");
        if packets.and_then(serde_json::Value::as_u64) > Some(50) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{shown}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a loopback beside a Publisher with these arguments, and returns the error of the loopback.
fn heard(arguments: &[&str], more: &[&str]) -> String {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let publisher = start(&network.first, &sandbox, "publish", arguments);
    wait_for_messages(&network);
    let arguments = [&["--for", "1500ms"], more].concat();
    let loopback = start(&network.second, &sandbox, "loopback", &arguments);
    let finished = loopback.finish(PATIENCE);
    drop(publisher);
    let error = finished.expect_failure();
    // Lines of the log are not wrapped.
    for line in error.lines().filter(|line| !line.contains(" WARN ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // Words may be on two lines.
    let words: Vec<&str> = error.split_whitespace().filter(|it| *it != "│").collect();
    words.join(" ")
}

fn has(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "no `{part}`: {error}");
    }
}

pub fn another_vlan_is_named() {
    let error = heard(&["--field", "applications.control.vlan=7"], &[]);
    has(
        &error,
        &[
            "no message came to 01-00-5E-00-54-01",
            "01-00-5E-00-54-01 in VLAN 7",
            "Publisher 1, WriterGroup 1",
        ],
    );
    let error = heard(&[], &["--field", "applications.control.vlan=7"]);
    has(&error, &["no message came to 01-00-5E-00-54-01 in VLAN 7"]);
}

pub fn another_group_of_ethernet_is_named() {
    let error = heard(&["--there", "opc.eth://01-00-5E-00-54-09:5.3"], &[]);
    has(&error, &["01-00-5E-00-54-09 in VLAN 5", "Publisher 1"]);
}

pub fn another_number_of_fields_is_no_torn_data() {
    for count in ["1", "2"] {
        let field = format!("applications.control.fields={count}");
        let error = heard(&["--field", &field], &[]);
        let expected = format!("than those of this scenario: {count}, not 3");
        has(&error, &[&expected, "same scenario"]);
        assert!(!error.contains("torn"), "{error}");
    }
    let error = heard(&["--field", "applications.control.fields=8"], &[]);
    has(
        &error,
        &[
            "no message was accepted",
            "the metadata has 3 fields",
            "same scenario",
        ],
    );
}

pub fn another_writer_group_is_named() {
    let finished = beside_a_stranger("opc.eth://01-00-5E-00-54-01:1.3");
    let error = finished.expect_failure();
    let words: Vec<&str> = error.split_whitespace().filter(|it| *it != "│").collect();
    has(
        &words.join(" "),
        &["messages came from 1/4/", "takes those of 1/1/1"],
    );
}

pub fn another_application_elsewhere_is_no_error() {
    let finished = beside_a_stranger("opc.eth://01-00-5E-00-54-09:5.3");
    let warnings = finished.stderr.clone();
    let shown = format!("{warnings}{}", finished.expect_success());
    has(&shown, &["no message came", "01-00-5E-00-54-09 in VLAN 5"]);
}

/// Runs a loopback beside a Publisher with another WriterGroup, to this address.
fn beside_a_stranger(address: &str) -> Finished {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let text = r#"
        [[published_data_sets]]
        name = "Counters"
        fields = [{ name = "Counter", data_type = "UInt64", published_variable = "ns=1;s=Counter" }]

        [[connections]]
        publisher_id = 1
        address = "ADDRESS"
        network_interface = "takt0"

        [[connections.writer_groups]]
        writer_group_id = 4
        publishing_interval = "2ms"
        header_layout = "UADP-Periodic-Fixed"

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 6
        data_set_name = "Counters"
    "#;
    let file = sandbox.data_directory().join("stranger.toml");
    std::fs::write(&file, text.replace("ADDRESS", address)).unwrap();
    let arguments = ["publish", file.to_str().unwrap(), "--simulate"];
    let mut command = network.first.takt(&sandbox, &arguments);
    let stranger = Process::spawn("takt publish", &mut command);
    wait_for_messages(&network);
    let loopback = start(&network.second, &sandbox, "loopback", &["--for", "1500ms"]);
    let finished = loopback.finish(PATIENCE);
    drop(stranger);
    finished
}
