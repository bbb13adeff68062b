//! Publishers and control loops in a machine of its own (Debian's kernel of User-Mode Linux), whose clock is set while they run.

use std::collections::HashMap;
use std::fs;
use std::net::UdpSocket;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime, clock_settime};
use takt_cell::Cell;
use takt_control::{ControlCycle, ControlLoop, ControlOptions, ControlReport, RealTimeOptions};
use takt_pubsub::configuration::from_toml;
use takt_rt::tai_offset;
use takt_tests::binary;
use takt_tests::clock_steps::STEPS;
use takt_ua::{NodeId, Variant};

use crate::{Outcome, ready_made};

const INTERVAL: Duration = Duration::from_millis(20);

/// Longest silence after a step, on a loaded machine. The shortest step back is longer.
const SILENCE: Duration = Duration::from_secs(15);

/// Port of the Publisher's messages.
const PORT: u16 = 4841;

/// Configuration of a Publisher that also is the one of a control loop.
fn configuration(port: u16) -> String {
    format!(
        r#"
        [[published_data_sets]]
        name = "Out"
        fields = [{{ name = "Out", data_type = "UInt64", published_variable = "ns=1;s=Out" }}]
        [[connections]]
        name = "UDP"
        publisher_id = 5
        address = "opc.udp://127.0.0.1:{port}"
        [[connections.writer_groups]]
        name = "Group"
        writer_group_id = 1
        publishing_interval = "20ms"
        header_layout = "UADP-Periodic-Fixed"
        uadp = {{ publishing_offset = ["2ms"] }}
        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 1
        data_set_name = "Out"
        "#
    )
}

/// Boots the machine, in which [`inside`] runs.
pub fn publishers_and_loops_follow_a_clock_that_is_set() -> Outcome {
    ready_made::boot("clock")
}

/// Runs in the machine.
pub fn inside(folder: &Path) {
    let file = folder.join("publisher.toml");
    fs::write(&file, configuration(PORT)).unwrap();
    let socket = UdpSocket::bind(("127.0.0.1", PORT)).unwrap();
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut publisher = Command::new(binary::takt())
        .arg("publish")
        .arg(&file)
        .arg("--simulate")
        .env("XDG_STATE_HOME", folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let (stop, cycles) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let control = control_loop(Arc::clone(&stop), Arc::clone(&cycles));

    let check = |step: &str, set: &dyn Fn()| messages(&socket, &cycles, (step, set));
    check("the start", &|| ());
    for step in STEPS {
        let shift = step.shift(now());
        check(step.name, &|| set_clock(shift));
        check("the right time again", &|| set_clock(-shift));
    }
    for offset in [37, 0] {
        check("another offset of TAI", &|| {
            tai_offset::set(offset).unwrap()
        });
    }

    stop.store(true, Ordering::Relaxed);
    let report = control.join().unwrap();
    let steps = 2 * STEPS.len() as u64 + 2;
    assert_eq!(report.clock_steps, steps, "{report:?}");
    assert!(report.overruns < report.cycles, "{report:?}");
    let id = rustix::process::Pid::from_child(&publisher);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(publisher.wait().unwrap().success());
    let log = fs::read_to_string(folder.join("log")).unwrap();
    let counted = format!("the clock was set {steps} times");
    for said in [
        &counted,
        // The clock goes on until it is set.
        "the clock was set 3600.0",
        "the clock was set 37.000 s forward",
    ] {
        assert!(log.contains(said), "no `{said}`: {log}");
    }
    ready_made::passed();
}

fn now() -> i64 {
    clock_gettime(ClockId::Realtime).tv_sec
}

/// Sets the clock by a number of seconds.
fn set_clock(seconds: i64) {
    let now = clock_gettime(ClockId::Realtime);
    let time = Timespec {
        tv_sec: now.tv_sec + seconds,
        ..now
    };
    clock_settime(ClockId::Realtime, time).unwrap();
}

/// Makes a step, and checks that both go on afterwards, and that nothing is sent in a burst.
fn messages(socket: &UdpSocket, cycles: &AtomicU64, (step, set): (&str, &dyn Fn())) {
    let (mut buffer, mut times) = ([0; 1500], Vec::new());
    // Messages that waited in the socket are no burst.
    socket.set_nonblocking(true).unwrap();
    while socket.recv(&mut buffer).is_ok() {}
    socket.set_nonblocking(false).unwrap();
    let before = cycles.load(Ordering::Relaxed);
    // The threads sleep between two cycles, not just behind a message.
    std::thread::sleep(INTERVAL / 2);
    let begin = Instant::now();
    set();
    while times.len() < 50 {
        let received = socket.recv(&mut buffer);
        assert!(received.is_ok(), "no message after {step}");
        times.push(begin.elapsed());
    }
    // A loaded machine delays some messages, but not most of them.
    let shortest = INTERVAL * 25;
    assert!(
        begin.elapsed() > shortest,
        "a burst after {step}: {times:?}"
    );
    while cycles.load(Ordering::Relaxed) < before + 20 {
        assert!(
            begin.elapsed() < 2 * SILENCE,
            "the loop is silent after {step}"
        );
        std::thread::sleep(INTERVAL);
    }
    println!("{step}: {:?}", begin.elapsed());
}

/// Runs a control loop until it is stopped.
fn control_loop(
    stop: Arc<AtomicBool>,
    cycles: Arc<AtomicU64>,
) -> std::thread::JoinHandle<ControlReport> {
    let configuration = from_toml(&configuration(PORT + 1)).unwrap().configuration;
    let output = Arc::new(Cell::of(&Variant::UInt64(0)));
    let mut source = HashMap::from([(NodeId::string(1, "Out"), output)]);
    let options = ControlOptions {
        real_time: RealTimeOptions {
            lock_memory: false,
            ..RealTimeOptions::default()
        },
        ..ControlOptions::default()
    };
    let control = ControlLoop::new(&configuration, &mut source, &mut HashMap::new(), options);
    let control = control.unwrap();
    std::thread::spawn(move || {
        let mut application = |_: &ControlCycle| {
            cycles.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        control.run(&mut application, &stop).unwrap()
    })
}
