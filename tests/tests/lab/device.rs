//! The link device of the lab's kernel, by its own interface: frames, `tc` and `ip` in a machine that does nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use takt_lab::uml::KernelCache;
use takt_link::{
    FrameListener, FrameSender, HeardFrame, LaunchDrops, LaunchMode, LaunchTime, LinkOptions,
    Sender, open_sender,
};

use crate::{Outcome, ready_made};

/// Both ends of the cable.
const ENDS: [&str; 2] = ["port0", "port1"];

/// `taprio` with a class for each of two queues.
const CLASSES: &str =
    "taprio num_tc 2 map 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 flags 0x2";

/// Boots the machine, in which [`inside`] runs.
pub fn the_link_device_keeps_its_promises() -> Outcome {
    let kernel = KernelCache::of_environment().and_then(|cache| cache.built());
    let options = ["time-travel=inf-cpu", "ipv6.disable=1", "panic=-1"];
    ready_made::boot_kernel(&kernel.unwrap(), &options, "device")
}

/// Runs in the machine, whose time stands still while a thread works.
pub fn inside(_folder: &Path) {
    connect();
    senders_do_not_hear_themselves();
    unfit_frames_do_not_block_their_ring();
    launch_times_that_come_late_are_named();
    schedules_out_of_range_are_refused();
    launch_times_of_a_lost_link_are_named();
    connect();
    frames_of_a_lost_link_are_counted();
    ready_made::passed();
}

fn command(line: &str) -> (bool, String) {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().unwrap()).args(words).output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), text)
}

fn done(line: &str) {
    let (success, text) = command(line);
    assert!(success, "{line}: {text}");
}

/// Makes both ends of a cable of 100 Mbit/s, whose frames packet sockets get once more when they are sent.
fn connect() {
    for end in ENDS {
        done(&format!(
            "ip link add dev {end} numtxqueues 2 type takt_link"
        ));
        let file = format!("/sys/class/net/{end}/takt_link/configuration");
        let text = "link=1 rate=100000000 propagation=5 forwarding=0-0 ring=1 seed=1 taps=1";
        fs::write(file, text).unwrap();
    }
    for end in ENDS {
        done(&format!("ip link set dev {end} up"));
    }
    wait(100);
}

fn wait(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Waits until 1 ms after the beginning of a period.
fn wait_for_period(milliseconds: u64) {
    let now = clock_gettime(ClockId::Tai);
    let now = now.tv_sec.cast_unsigned() * 1000 + now.tv_nsec.cast_unsigned() / 1_000_000;
    wait(milliseconds - now % milliseconds + 1);
}

fn frame(length: usize) -> Vec<u8> {
    let mut frame = [&[0xFF; 6][..], &[2, 0, 0, 0, 0, 1], &[0x88, 0xB5]].concat();
    frame.resize(length, 0);
    frame
}

/// Returns the lengths of frames that come while the machine waits.
fn heard(listener: &mut FrameListener, milliseconds: u64) -> Vec<usize> {
    let mut lengths = Vec::new();
    let timeout = Duration::from_millis(milliseconds);
    let mut each = |frame: HeardFrame<'_>| {
        if frame.bytes.get(12..14) == Some(&[0x88, 0xB5]) {
            lengths.push(frame.length);
        }
    };
    while listener.listen(timeout, &mut each).unwrap() > 0 {}
    lengths
}

fn dropped() -> u64 {
    let file = format!("/sys/class/net/{}/statistics/tx_dropped", ENDS[0]);
    let text = fs::read_to_string(Path::new(&file)).unwrap();
    text.trim().parse().unwrap()
}

/// A socket that ignores sent frames gets none of the device either.
fn senders_do_not_hear_themselves() {
    let mut ignoring = FrameListener::open_received(ENDS[0]).unwrap();
    let mut all = FrameListener::open(ENDS[0], 1500).unwrap();
    let mut peer = FrameListener::open_received(ENDS[1]).unwrap();
    let mut sender = FrameSender::open(ENDS[0], 0).unwrap();
    assert_eq!(sender.send(&frame(100), 1).unwrap(), 1);
    assert_eq!(heard(&mut peer, 20), [100]);
    assert_eq!(
        heard(&mut all, 20),
        [100, 100],
        "at the driver and when it is sent"
    );
    assert_eq!(heard(&mut ignoring, 20), [0_usize; 0]);
}

/// Frames wait for their gate. The next schedule has no window that is long enough for them, but one for shorter frames behind them.
fn unfit_frames_do_not_block_their_ring() {
    let gates = |first: u32, second: u32| {
        done(&format!(
            "tc qdisc replace dev {} root handle 100: {CLASSES} base-time 0 sched-entry S 01 {first} sched-entry S 02 {second}",
            ENDS[0]
        ));
    };
    let mut peer = FrameListener::open_received(ENDS[1]).unwrap();
    let mut sender = FrameSender::open(ENDS[0], 1).unwrap();
    gates(10_000_000, 10_000_000);
    wait(100);
    wait_for_period(20);
    let before = dropped();
    assert_eq!(sender.send(&frame(1500), 3).unwrap(), 3);
    gates(1_980_000, 20_000);
    assert_eq!(heard(&mut peer, 50), [0_usize; 0]);
    assert_eq!(sender.send(&frame(60), 5).unwrap(), 5);
    assert_eq!(heard(&mut peer, 50), [60; 5]);
    assert_eq!(dropped(), before + 3);
    done(&format!("tc qdisc del dev {} root", ENDS[0]));
}

fn schedules_out_of_range_are_refused() {
    let refused = |settings: &str, reason: &str| {
        let (success, text) = command(&format!(
            "tc qdisc replace dev {} root handle 100: {CLASSES} {settings} sched-entry S 01 10000000 sched-entry S 02 10000000",
            ENDS[0]
        ));
        assert!(!success && text.contains(reason), "{settings}: {text}");
    };
    refused("base-time 9223372036854775000", "base_time");
    refused(
        "base-time 0 cycle-time-extension 1000",
        "cycle_time_extension",
    );
}

/// Message with a launch time.
const LAUNCHED: &str = "opc.eth://01-00-5E-00-54-01:5.3";

fn launching_sender() -> Box<dyn Sender> {
    let options = LinkOptions {
        interface: Some(ENDS[0].to_owned()),
        launch_times: Some(LaunchMode::Strict),
        ..LinkOptions::default()
    };
    open_sender(&LAUNCHED.parse().unwrap(), &options).unwrap()
}

/// Returns the time of CLOCK_TAI so many milliseconds ahead.
fn ahead(milliseconds: i64) -> LaunchTime {
    let now = clock_gettime(ClockId::Tai);
    let nanos = now.tv_sec * 1_000_000_000 + now.tv_nsec;
    LaunchTime::from_tai_nanos(nanos + milliseconds * 1_000_000)
}

/// Hands a message with a launch time to the kernel, which takes it.
fn launch(sender: &mut dyn Sender, time: LaunchTime) {
    let message = sender.reserve(60).unwrap();
    message.commit_at(Some(time)).unwrap();
    assert_eq!(sender.flush().unwrap(), 1);
}

/// Gives the messages a queue of their own. Below its parent, ETF gives the device a frame up to 20 ms before its launch time.
fn add_etf(parent: &str) {
    done(&format!(
        "tc qdisc add dev {} parent {parent} etf clockid CLOCK_TAI delta 20000000 offload",
        ENDS[0]
    ));
}

fn add_queues() {
    done(&format!(
        "tc qdisc add dev {} root handle 100: mqprio num_tc 2 map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0",
        ENDS[0]
    ));
}

/// A shaper above ETF holds a frame until its launch time has passed, because it takes it from ETF before: the device gets it late, drops
/// it and tells the sender so.
fn launch_times_that_come_late_are_named() {
    add_queues();
    // Room for one of both frames, and 30 ms and more until there is room for the next. The second shaper takes frames from ETF ahead.
    let shapers = [
        "parent 100:1 handle 101: tbf rate 8kbit burst 120 limit 10000",
        "parent 101:1 handle 102: tbf rate 1gbit burst 10000 limit 10000",
    ];
    for shaper in shapers {
        done(&format!("tc qdisc replace dev {} {shaper}", ENDS[0]));
    }
    add_etf("102:1");
    let mut peer = FrameListener::open_received(ENDS[1]).unwrap();
    let mut sender = launching_sender();
    let before = dropped();
    let late = ahead(31);
    launch(sender.as_mut(), ahead(30));
    launch(sender.as_mut(), late);
    let mut count = 0;
    while peer
        .listen(Duration::from_millis(200), &mut |_| count += 1)
        .unwrap()
        > 0
    {}
    assert_eq!(count, 1, "the first one leaves at its launch time");
    let drops = sender.launch_drops();
    let missed = LaunchDrops {
        missed: 1,
        last: Some(late),
        ..LaunchDrops::default()
    };
    assert_eq!(drops, missed);
    assert_eq!(
        dropped(),
        before + 1,
        "it is the device that has dropped it"
    );
    done(&format!("tc qdisc del dev {} root", ENDS[0]));
}

/// The other end is removed while messages wait in the device for their launch time.
fn launch_times_of_a_lost_link_are_named() {
    add_queues();
    add_etf("100:1");
    let mut sender = launching_sender();
    let before = dropped();
    let last = ahead(19);
    launch(sender.as_mut(), ahead(18));
    launch(sender.as_mut(), last);
    done(&format!("ip link del dev {}", ENDS[1]));
    let missed = LaunchDrops {
        missed: 2,
        last: Some(last),
        ..LaunchDrops::default()
    };
    assert_eq!(sender.launch_drops(), missed);
    assert_eq!(dropped(), before + 2);
    done(&format!("ip link set dev {} down", ENDS[0]));
    done(&format!("ip link del dev {}", ENDS[0]));
}

/// The other end is removed while frames wait for their gate.
fn frames_of_a_lost_link_are_counted() {
    done(&format!(
        "tc qdisc replace dev {} root handle 100: {CLASSES} base-time 0 sched-entry S 01 10000000 sched-entry S 02 10000000",
        ENDS[0]
    ));
    wait(100);
    wait_for_period(20);
    let before = dropped();
    let mut sender = FrameSender::open(ENDS[0], 1).unwrap();
    assert_eq!(sender.send(&frame(1500), 1).unwrap(), 1);
    done(&format!("ip link del dev {}", ENDS[1]));
    assert_eq!(dropped(), before + 1);
    done(&format!("ip link set dev {} down", ENDS[0]));
    done(&format!("ip link del dev {}", ENDS[0]));
}
