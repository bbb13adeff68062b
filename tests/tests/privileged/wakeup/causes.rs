//! Causes that are made on purpose are named.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt};
use takt_rt::affinity;
use takt_rt::clock::monotonic_nanos;
use takt_rt::cyclic::Cycle;
use takt_rt::priority::{self, Policy};
use takt_wakeup::trace::event::{KernelName, KernelPriority, Vector};
use takt_wakeup::{Cause, LateKind, WhileLate};

use super::disturbance::{
    Measured, Span, assert_named, cores, disturbed, main_cause, measure, spin,
};

/// Time of a measurement.
const TIME: Duration = Duration::from_secs(2);

/// Interval of the measured thread.
const INTERVAL: Duration = Duration::from_micros(500);

/// Number of receivers of one packet: handing it to all of them takes the softirq some hundred microseconds.
const RECEIVERS: usize = 700;

/// Name of a thread that keeps a core busy.
const BUSY: &str = "a busy thread";

/// Packets of the test with the softirq.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 84, 75, 1);

fn plain(limit: u64) -> Measured {
    Measured {
        interval: INTERVAL,
        limit,
        work: Box::new(|_| {}),
    }
}

/// Repeats a disturbance with pauses, and returns its spans.
fn repeated(pause: Duration, mut disturb: impl FnMut() -> Span) -> Vec<Span> {
    let begin = Instant::now();
    let mut spans = Vec::new();
    while begin.elapsed() < TIME {
        spans.push(disturb());
        std::thread::sleep(pause);
    }
    spans
}

/// Runs a function on a thread of this name, on the core of the measured thread.
fn on_its_core<T: Send + 'static>(
    name: &str,
    policy: Policy,
    run: impl FnOnce() -> T + Send + 'static,
) -> T {
    let builder = std::thread::Builder::new().name(name.to_owned());
    let thread = builder.spawn(move || {
        affinity::pin(cores().0).unwrap();
        priority::set(policy).unwrap();
        run()
    });
    thread.unwrap().join().unwrap()
}

pub(super) fn a_thread_of_higher_priority_is_named() {
    let (late, spans) = measure(plain(100_000), || {
        on_its_core("a disturber", Policy::Fifo(90), || {
            repeated(Duration::from_micros(2300), || {
                spin(Duration::from_micros(400))
            })
        })
    });
    let late = disturbed(&late, LateKind::WakeUp, &spans);
    assert_named(
        &late,
        main_cause(|cause| match cause {
            Cause::Thread(thread) => {
                thread.name == KernelName::new(b"a disturber")
                    && thread.priority == KernelPriority(9)
            }
            _ => false,
        }),
    );
}

/// Measures a thread that is busy in each fortieth cycle, and returns the overruns that this causes, with their main causes.
fn assert_overruns(mut busy: impl FnMut() + Send + 'static, is_it: impl Fn(&Cause) -> bool) {
    let spans = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&spans);
    let mut last = 0;
    let work = move |cycle: &Cycle| {
        if cycle.number < last + 40 {
            return;
        }
        last = cycle.number;
        let begin = monotonic_nanos();
        busy();
        noted.lock().unwrap().push((begin, monotonic_nanos()));
    };
    let measured = Measured {
        work: Box::new(work),
        ..plain(u64::MAX)
    };
    let (late, ()) = measure(measured, || std::thread::sleep(TIME));
    let late = disturbed(&late, LateKind::Overrun, &spans.lock().unwrap());
    assert_named(&late, main_cause(is_it));
}

pub(super) fn own_code_is_named() {
    let busy = || {
        spin(Duration::from_micros(1200));
    };
    assert_overruns(busy, |cause| *cause == Cause::OwnCode);
}

pub(super) fn a_long_system_call_is_named() {
    let mut file = File::open("/dev/urandom").unwrap();
    // Some milliseconds.
    let mut bytes = vec![1; 1 << 20];
    let busy = move || assert!(file.read(&mut bytes).unwrap() > 0);
    assert_overruns(busy, |cause| cause.name().as_deref() == Some("read"));
}

pub(super) fn page_faults_are_named() {
    let busy = || {
        // So much memory is always mapped anew, and its pages have faults. The ring must hold the events of all of them.
        let mut memory = vec![0_u8; 40 << 20];
        let pages = memory.iter_mut().step_by(4096).take(1000);
        pages.for_each(|byte| *byte = 1);
        std::hint::black_box(&memory);
    };
    assert_overruns(busy, |cause| *cause == Cause::PageFault);
}

/// Opens a receiver of the group. All have the same port.
fn receiver(port: u16) -> UdpSocket {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).unwrap();
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    bind(&socket, &SocketAddrV4::new(GROUP, port)).unwrap();
    let socket = UdpSocket::from(socket);
    socket
        .join_multicast_v4(&GROUP, &Ipv4Addr::LOCALHOST)
        .unwrap();
    socket
}

pub(super) fn a_softirq_is_named() {
    let port = takt_ports::reserve();
    let receivers: Vec<UdpSocket> = (0..RECEIVERS).map(|_| receiver(port)).collect();
    let (late, spans) = measure(plain(60_000), || {
        // The lowest priority, so that others without one do not keep it from sending.
        on_its_core("a sender", Policy::Fifo(1), move || {
            let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            repeated(Duration::from_micros(700), || {
                let begin = monotonic_nanos();
                sender.send_to(b"to all", (GROUP, port)).unwrap();
                (begin, monotonic_nanos())
            })
        })
    });
    drop(receivers);
    let late = disturbed(&late, LateKind::WakeUp, &spans);
    let network =
        |cause: &Cause| cause.kind() == "softirq" && cause.name().as_deref() == Some("NET_RX");
    assert_named(&late, |it| {
        it.shares.iter().any(|share| network(&share.cause))
    });
}

pub(super) fn calls_of_other_processors_are_named() {
    let (core, other) = cores();
    if core == other {
        println!("skipped: there is one processor only");
        return;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // The measured core always runs this process, so that each barrier reaches it. The time is too short for the kernel to take
    // the processor away from priorities.
    let (late, spans) = measure(plain(0), move || {
        let busy = std::thread::Builder::new().name(BUSY.to_owned());
        let busy = busy.spawn(move || {
            affinity::pin(core).unwrap();
            priority::set(Policy::Fifo(1)).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let caller = std::thread::spawn(move || {
            affinity::pin(other).unwrap();
            priority::set(Policy::Fifo(1)).unwrap();
            let begin = Instant::now();
            let mut spans = Vec::new();
            while begin.elapsed() < Duration::from_millis(600) {
                let begin = monotonic_nanos();
                barrier();
                spans.push((begin, monotonic_nanos()));
                // The recorder runs here meanwhile, and must have room for the events of the calls.
                std::thread::sleep(Duration::from_micros(50));
            }
            spans
        });
        let spans = caller.join();
        stop.store(true, Ordering::Relaxed);
        busy.unwrap().join().unwrap();
        spans.unwrap()
    });
    // While the kernel gives the core to threads of other processes, it does not call it.
    let is_busy = |cause: &Cause| {
        let thread = cause.thread();
        thread.is_none_or(|it| it.name == KernelName::new(BUSY.as_bytes()))
    };
    // The call was handled between its beginning and its end.
    let contains = |begin, end| spans.iter().any(|span| begin <= span.0 && span.1 <= end);
    let late: Vec<_> = late
        .into_iter()
        .filter(|it| contains(it.interval.begin, it.interval.end))
        .filter(|it| it.shares.iter().all(|share| is_busy(&share.cause)))
        .collect();
    assert_named(&late, |it| {
        it.shares.iter().any(|share| {
            matches!(
                share.cause,
                Cause::Vector(Vector::CallFunction | Vector::CallFunctionSingle)
            )
        })
    });
    let timers = late.iter().flat_map(|it| &it.shares);
    let idle = timers.filter(|it| matches!(it.cause, Cause::TimerLate(WhileLate::Idle(_))));
    assert_eq!(idle.count(), 0, "the processor was never idle");
}

/// Makes all processors that run this process execute a memory barrier.
fn barrier() {
    // Registration is needed once, and harmless later.
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::PrivateExpedited)
        .or_else(|_| {
            membarrier(MembarrierCommand::RegisterPrivateExpedited)?;
            membarrier(MembarrierCommand::PrivateExpedited)
        })
        .unwrap();
}
