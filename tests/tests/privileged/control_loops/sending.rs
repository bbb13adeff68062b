//! Messages for which the port has no room.

use std::fs::File;
use std::io::BufReader;

use rustix::process::Signal;
use serde_json::Value;
use takt_control::trace_file::TraceReader;
use takt_tests::Sandbox;
use takt_tests::network::HostPair as Network;

use super::ends::start;
use crate::control_loops::PATIENCE;

fn number(result: &Value, path: &str) -> u64 {
    let found = result.pointer(path).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number `{path}`: {result}"))
}

/// Runs both ends with this discipline at the Publisher, which sends far faster than the discipline does, also on a busy
/// machine.
fn through(discipline: &str) {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let words = format!("qdisc replace dev takt0 root {discipline}");
    network.first.run("tc", &words);
    let mut loopback = start(&network.second, &sandbox, "loopback", &["--json"]);
    let trace = sandbox.data_directory().join("publisher.trace");
    let file = trace.to_str().unwrap();
    let arguments = ["--json", "--cycles", "600", "--trace", file];
    let publisher = start(&network.first, &sandbox, "publish", &arguments);
    let published = publisher.finish(PATIENCE).expect_success();
    let published: Value = serde_json::from_str(&published).unwrap();
    loopback.signal(Signal::INT);
    let returned = loopback.finish(PATIENCE).expect_success();
    let returned: Value = serde_json::from_str(&returned).unwrap();

    // Each attempt has one fate.
    let without_room = number(&published, "/sendLosses/overflowed");
    let fates = number(&published, "/sent")
        + number(&published, "/notMade")
        + without_room
        + number(&published, "/sendLosses/discarded");
    assert_eq!(number(&published, "/attempts"), 600, "{published}");
    assert_eq!(fates, 600, "{published}");
    assert!(without_room > 0, "{published}");
    assert!(number(&published, "/sent") > 0, "{published}");
    assert_eq!(
        number(&published, "/sendErrors"),
        without_room,
        "{published}"
    );
    let received = number(&returned, "/received");
    assert!(received <= number(&published, "/sent"), "{returned}");

    let reader = TraceReader::new(BufReader::new(File::open(&trace).unwrap())).unwrap();
    let description = &reader.header().description;
    for (name, value) in [
        ("messages_to_send", 600),
        ("messages_sent", number(&published, "/sent")),
        ("messages_without_room", without_room),
    ] {
        let pair = (name.to_owned(), value.to_string());
        assert!(description.contains(&pair), "{pair:?}: {description:?}");
    }
}

/// The queue of the port is short: it drops frames (ENOBUFS).
pub fn a_message_that_the_port_drops_is_counted_once() {
    through("tbf rate 8kbit burst 1600 limit 3000");
}

/// The queue of the port is long: the buffer of the socket is full first (EAGAIN).
pub fn no_message_waits_for_a_newer_one() {
    through("tbf rate 8kbit burst 1600 limit 10000000");
}

/// Returns the number of messages that wait at a port which takes 100 ms for each, when the Publisher has ended.
fn waiting(arguments: &[&str]) -> u64 {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let words = "qdisc replace dev takt0 root tbf rate 8kbit burst 1600 limit 10000000";
    network.first.run("tc", words);
    let arguments = [&["--json", "--cycles", "600"], arguments].concat();
    let publisher = start(&network.first, &sandbox, "publish", &arguments);
    let published = publisher.finish(PATIENCE).expect_success();
    let text = network.first.run("tc", "-s qdisc show dev takt0");
    let published: Value = serde_json::from_str(&published).unwrap();
    let without_room = number(&published, "/sendLosses/overflowed");
    let attempts = number(&published, "/sent") + without_room;
    assert_eq!(attempts, 600, "{published}");
    frames_in(&text)
}

/// Returns the number of frames that wait in a queueing discipline, of which this is the output of `tc -s qdisc show`.
pub(super) fn frames_in(text: &str) -> u64 {
    let backlog = text.split("backlog ").nth(1);
    let frames = backlog.and_then(|it| it.split(' ').nth(1)?.strip_suffix('p'));
    frames
        .and_then(|it| it.parse().ok())
        .unwrap_or_else(|| panic!("{text}"))
}

/// A port that is far slower than the loop has a few messages, not all that the buffer of the system takes.
pub fn few_messages_wait_in_the_kernel() {
    let few = waiting(&[]);
    let many = waiting(&["--waiting", "60"]);
    eprintln!("{few} messages wait, {many} with --waiting 60");
    assert!((1..=9).contains(&few), "{few}");
    assert!((30..=90).contains(&many), "{many}");
}
