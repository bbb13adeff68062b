//! A network namespace with the interfaces `takt0` and `takt1`, joined by a cable.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Runs a test on a thread in a new namespace.
pub fn run(test: fn()) {
    let thread = std::thread::spawn(move || {
        enter();
        plug();
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[allow(unsafe_code, reason = "the call is unsafe for sake of other flags")]
fn enter() {
    // SAFETY: only the network namespace is changed, which affects neither memory nor descriptors of other threads.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
    ip("link set lo up");
}

/// Creates the interfaces and switches them on.
pub fn plug() {
    ip("link add takt0 type veth peer name takt1");
    for (interface, address) in [("takt0", "10.84.75.1"), ("takt1", "10.84.75.2")] {
        ip(&format!("address add {address}/24 dev {interface}"));
        ip(&format!("link set {interface} up"));
    }
    let begin = Instant::now();
    while !run_program("ip", "link show takt0").contains("LOWER_UP") {
        assert!(begin.elapsed() < Duration::from_secs(5), "no carrier");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Removes both.
pub fn unplug() {
    ip("link delete takt0");
}

/// Makes `takt0` pass one message of 1000 bytes on, hold one more for a second, and take none while it holds one.
pub fn hold_messages() {
    run_program("tc", "qdisc replace dev takt0 root pfifo");
    run_program(
        "tc",
        "qdisc replace dev takt0 root tbf rate 8kbit burst 1600 limit 1600",
    );
}

/// Makes `takt0` pass its first 1600 bytes on, and then as many as the rate allows. It keeps everything else.
pub fn slow_down(rate: &str) {
    // Another kind drops what waits.
    run_program("tc", "qdisc replace dev takt0 root pfifo");
    let line = format!("qdisc replace dev takt0 root tbf rate {rate} burst 1600 limit 10000000");
    run_program("tc", &line);
}

/// Returns the number of frames that wait in the queueing discipline of `takt0`.
pub fn waiting() -> usize {
    let text = run_program("tc", "-s qdisc show dev takt0");
    let backlog = text.split("backlog ").nth(1);
    let frames = backlog.and_then(|it| it.split(' ').nth(1)?.strip_suffix('p'));
    frames
        .and_then(|it| it.parse().ok())
        .unwrap_or_else(|| panic!("{text}"))
}

/// Runs `ip` in the namespace of this thread.
pub fn ip(arguments: &str) {
    run_program("ip", arguments);
}

fn run_program(program: &str, arguments: &str) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{program} {arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
