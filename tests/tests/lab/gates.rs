//! Gates that stop, in a machine with Debian's kernel of User-Mode Linux.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use takt_link::FrameSender;
use takt_tests::binary;

use crate::ready_made;

/// Frames of both classes pass these gates in each millisecond.
const OPTIONS: [&str; 8] = [
    "--discipline",
    "taprio",
    "--cycle",
    "1ms",
    "--window",
    "300us",
    "--offload",
    "none",
];

/// Runs a program that must succeed.
fn succeed(program: &str, words: &str) -> String {
    let output = Command::new(program).args(words.split(' ')).output();
    let output = output.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let failed = text(&output.stderr);
    assert!(output.status.success(), "{program} {words}: {failed}");
    text(&output.stdout)
}

fn tsn(command: &str, interface: &str) -> Output {
    let takt = Command::new(binary::takt())
        .args(["tsn", command, "--interface", interface])
        .args(OPTIONS)
        .output();
    takt.unwrap()
}

/// Applies the plan, and checks that the gates move.
fn apply(interface: &str) {
    let output = tsn("apply", interface);
    assert!(output.status.success(), "{output:?}");
    expect_moving(interface);
}

fn expect_moving(interface: &str) {
    let output = tsn("verify", interface);
    assert!(output.status.success(), "{interface}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("as planned"), "{text}");
}

fn expect_frozen(interface: &str, after: &str) {
    let output = tsn("verify", interface);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{interface}, {after}: {text}");
    assert!(
        text.contains("state of the gates is frozen"),
        "{after}: {text}"
    );
}

/// Returns the number of frames that have left the interface.
fn sent(interface: &str) -> u64 {
    let path = format!("/sys/class/net/{interface}/statistics/tx_packets");
    fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// Sends a frame of each class, and waits for both to leave.
fn passes(interface: &str) -> bool {
    let before = sent(interface);
    // An EtherType for local experiments (IEEE 802, 9.2.4).
    let mut frame = [[0xFF; 6], [2, 0, 0, 0, 0, 1]].concat();
    frame.extend([0x88, 0xB5]);
    frame.resize(60, 0);
    for priority in [0, 7] {
        let mut sender = FrameSender::open(interface, priority).unwrap();
        assert_eq!(sender.send(&frame, 1).unwrap(), 1);
    }
    let begin = Instant::now();
    while sent(interface) < before + 2 {
        if begin.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Runs in the machine.
pub fn inside(_folder: &Path) {
    takt_lab::uml::load_modules().unwrap();
    for (interface, peer) in [("v0", "v1"), ("w0", "w1")] {
        succeed(
            "ip",
            &format!("link add {interface} numtxqueues 4 type veth peer name {peer}"),
        );
        for device in [interface, peer] {
            succeed("ip", &format!("link set {device} up"));
        }
        apply(interface);
    }
    let shown = succeed("tc", "-j -d qdisc show dev v0");
    assert!(passes("v0"), "the gates let frames pass");

    succeed("ip", "link set v0 down");
    succeed("ip", "link set v0 up");
    // `tc` sees no difference, and no frame passes.
    assert_eq!(succeed("tc", "-j -d qdisc show dev v0"), shown);
    assert!(!passes("v0"), "frames pass gates that are frozen");
    // Both interfaces have the same gate times, and one timer is left.
    expect_frozen("v0", "its link went down and up");
    succeed("tc", "qdisc del dev w0 root");
    expect_frozen("v0", "the other interface has no gates");
    apply("v0");
    assert!(passes("v0"), "the gates move again");

    succeed("ip", "link set v1 down");
    succeed("ip", "link set v1 up");
    expect_frozen("v0", "the other end of its link went down and up");
    apply("v0");
    let child = "qdisc replace dev v0 parent 100:1 handle 101: pfifo limit 1000";
    succeed("tc", child);
    expect_frozen("v0", "a child was attached");
    apply("v0");
    ready_made::passed();
}
