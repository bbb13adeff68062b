//! Launch times and times of reception of a PubSub configuration.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::network::{HostPair as Network, NamespaceHost as Host};
use takt_tests::process::{Process, run};

use super::launch::other_tc;
use super::sending::frames_in;
use crate::control_loops::PATIENCE;

/// ETF at the root of an interface.
const ETF: &str = r#"[{"kind":"etf","handle":"101:","root":true,"options":{"clockid":"TAI","delta":200000,"offload":"off","deadline_mode":"off","skip_sock_check":"off"}}]"#;

/// Writes the configuration of a group with these keys, and of its reader.
fn configuration(sandbox: &Sandbox, host: &Host, connection: &str, group: &str) -> String {
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Numbers"
        fields = [{{ name = "Number", data_type = "UInt64", published_variable = "ns=1;s=Number" }}]

        [[connections]]
        name = "Line"
        publisher_id = 9
        address = "opc.eth://01-00-5E-00-00-09:1.3"
        network_interface = "{interface}"
        {connection}

        [[connections.writer_groups]]
        name = "Fast"
        writer_group_id = 1
        publishing_interval = "5ms"
        header_layout = "UADP-Periodic-Fixed"
        {group}

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 1
        data_set_name = "Numbers"

        [[connections.reader_groups]]
        [[connections.reader_groups.data_set_readers]]
        publisher_id = 9
        writer_group_id = 1
        data_set_writer_id = 1
        header_layout = "UADP-Periodic-Fixed"
        uadp = {{ network_message_number = 1 }}
        fields = [{{ name = "Number", data_type = "UInt64" }}]
        "#,
        interface = host.interface
    );
    let file = sandbox
        .data_directory()
        .join(format!("{}.toml", host.interface));
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

pub fn a_group_has_launch_times_only_at_a_port_that_keeps_them() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let host = &network.first;
    let start = |group: &str, more: &[&str], qdiscs: Option<&str>| {
        let file = configuration(&sandbox, host, "", group);
        let base = ["publish", &file, "--simulate", "--for", "200ms"];
        let mut command = host.takt(&sandbox, &[&base, more].concat());
        if let Some(qdiscs) = qdiscs {
            let path = std::env::var("PATH").unwrap_or_default();
            let directory = other_tc(&sandbox, qdiscs);
            command.env("PATH", format!("{}:{path}", directory.display()));
        }
        run("takt publish", &mut command, PATIENCE)
    };
    let launched = "launch_times = \"strict\"";
    let error = start(launched, &[], None).expect_failure();
    for part in [
        "takt0 has no ETF",
        "parent 100:1 handle 101: etf",
        "--force",
    ] {
        assert!(error.contains(part), "no `{part}`: {error}");
    }
    let forced = start(launched, &["--force", "--json"], None).expect_success();
    assert!(forced.contains("has no ETF"), "{forced}");
    // A group without launch times has no fault of another one.
    let forced: Value = serde_json::from_str(forced.lines().last().unwrap()).unwrap();
    assert_eq!(
        forced["launchFaults"].as_array().unwrap().len(),
        1,
        "{forced}"
    );
    let second = r#"launch_times = "strict"

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 2
        data_set_name = "Numbers"

        [[connections.writer_groups]]
        name = "Slow"
        writer_group_id = 2
        publishing_interval = "50ms"
    "#;
    let two = start(second, &["--force", "--json"], None).expect_success();
    let results = two
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let faults: Vec<_> = results
        .filter_map(|it| Some(it.get("launchFaults")?.as_array()?.len()))
        .collect();
    assert_eq!(faults, [1, 0], "{two}");
    let kept = start(launched, &["--json"], Some(ETF)).expect_success();
    let last: Value = serde_json::from_str(kept.lines().last().unwrap()).unwrap();
    assert_eq!(last["launchFaults"], serde_json::json!([]), "{kept}");
    assert!(last["networkMessages"].as_u64() > Some(0), "{kept}");
    let other_mode = start("launch_times = \"deadline\"", &[], Some(ETF)).expect_failure();
    assert!(other_mode.contains("not in deadline mode"), "{other_mode}");
    let property = r#"group_properties = [{ key = "0:LaunchTimes", value = "strict" }]"#;
    let error = start(property, &[], None).expect_failure();
    assert!(error.contains("takt0 has no ETF"), "{error}");
    // Made at the SamplingOffset, 100 us before the PublishingOffset, and ETF needs 200 us.
    let short =
        "launch_times = \"strict\"\nuadp = { sampling_offset = 1.0, publishing_offset = [1.1] }";
    let error = start(short, &[], Some(ETF)).expect_failure();
    assert!(error.contains("made 100 us before"), "{error}");
    let error = start("launch_times = \"late\"", &[], Some(ETF)).expect_failure();
    assert!(error.contains("launch_times"), "{error}");
    let error = start("", &["--force"], None).expect_failure();
    assert!(error.contains("no message has one"), "{error}");
}

/// A port that takes 0.1 s for each message has a few of them, if each replaces the one before and the group is a real-time one.
pub fn few_messages_of_a_real_time_group_wait_in_the_kernel() {
    let waiting = |group: &str, more: &[&str]| {
        let (network, sandbox) = (Network::new(), Sandbox::new());
        let host = &network.first;
        let words = "qdisc replace dev takt0 root tbf rate 8kbit burst 1600 limit 10000000";
        host.run("tc", words);
        let file = configuration(&sandbox, host, "", group);
        let base = ["publish", &file, "--simulate", "--for", "1s", "--json"];
        let mut command = host.takt(&sandbox, &[&base, more].concat());
        let printed = run("takt publish", &mut command, PATIENCE).expect_success();
        let result: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        let without_room = result["losses"]["overflowed"].as_u64();
        let waiting = frames_in(&host.run("tc", "-s qdisc show dev takt0"));
        (waiting, without_room.unwrap_or(0), printed)
    };
    for (group, more) in [
        ("", &["--priority", "10"][..]),
        ("launch_times = \"strict\"", &["--force"]),
        ("", &["--waiting", "2"]),
    ] {
        let (waiting, without_room, printed) = waiting(group, more);
        eprintln!("{group} {more:?}: {waiting} wait, {without_room} had no room");
        assert!(waiting <= 9, "{group} {more:?}: {waiting}, {printed}");
        assert!(without_room > 30, "{group} {more:?}: {printed}");
    }
    // Other groups have the room of the system.
    let (waiting, without_room, printed) = waiting("", &[]);
    assert!(waiting > 30, "{waiting}, {printed}");
    assert_eq!(without_room, 0, "{printed}");
}

pub fn received_messages_have_the_time_of_the_kernel() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let file = configuration(&sandbox, &network.first, "", "");
    let mut command = network
        .first
        .takt(&sandbox, &["publish", &file, "--simulate"]);
    let publisher = Process::spawn("takt publish", &mut command);
    for (connection, clock) in [
        ("receive_times = \"software\"", Some("software")),
        // The network card has no clock: the time is that of the kernel.
        ("receive_times = \"hardware\"", Some("software")),
        ("", None),
    ] {
        let file = configuration(&sandbox, &network.second, connection, "");
        let mut command = network
            .second
            .takt(&sandbox, &["subscribe", &file, "--json"]);
        let mut subscriber = Process::spawn("takt subscribe", &mut command);
        let line = subscriber.wait_for("a time", PATIENCE, |line| {
            line.contains("key frame") && (clock.is_none() || line.contains("linkClock\":\""))
        });
        let row: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(row["linkClock"].as_str(), clock, "{line}");
        if clock.is_some() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let nanos = row["linkTimeNs"].as_i64().unwrap();
            let age = now.as_nanos() as i64 - nanos;
            assert!((0..60_000_000_000).contains(&age), "{line}");
        }
    }
    drop(publisher);
}
