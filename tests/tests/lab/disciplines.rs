//! Queueing disciplines of the kernel of the backend `uml`, as Takt configures them: each does what its scenario says, seen from the
//! captures alone. The simulator takes no part; `agreement` compares with it.

use std::collections::BTreeMap;

use takt_control::TracePoint;

use crate::case::SandboxedRun;
use crate::recorded::{self, RecordedCase, number};

const MICROSECOND: i128 = 1_000;
const CYCLE: i128 = 1_000 * MICROSECOND;
/// Time of one byte at 100 Mbit/s, in nanoseconds.
const BYTE: i128 = 80;
/// Bytes on the wire besides Ethernet's headers with their tag and the payload: preamble, check sequence, interframe gap.
const OVERHEAD: i128 = 24;
/// Bytes of Ethernet's headers with a tag.
const HEADERS: i128 = 18;
/// First UDP port of cross traffic.
const FIRST_PORT: u16 = 40_000;

/// Sender of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sender {
    /// Application, with the counter of the message.
    Application(u64),
    /// Flow of cross traffic, by its index.
    Cross(usize),
}

/// Frame that host2 has received.
#[derive(Debug, Clone, Copy)]
struct Frame {
    sender: Sender,
    /// Time of its first bit at the sender, in nanoseconds since the beginning.
    start: i128,
    /// Time of its last bit with the interframe gap.
    end: i128,
}

/// Run of one application and two flows of cross traffic at most, from host1 to host2, over a cable of 100 Mbit/s.
struct Observed {
    frames: Vec<Frame>,
    /// Times at which the thread hands a message to the kernel, by counter.
    handed_over: BTreeMap<u64, i128>,
    recorded: RecordedCase,
}

/// Payload of the application in bytes: headers of 32 bytes and eight fields of 9 bytes.
const MESSAGE: i128 = 104;

/// Time on the wire of a frame with this payload, in nanoseconds.
fn wire_time(payload: i128) -> i128 {
    (payload + HEADERS + OVERHEAD) * BYTE
}

/// Flow of cross traffic: payload in bytes, rate in Mbit/s, PCP.
struct Load(i128, u32, u8);

/// Runs an application (PCP 6) with these additional lines beside cross traffic.
fn observe(discipline: &str, application: &str, loads: &[Load], messages: u64) -> Observed {
    let mut text = format!(
        r#"
version = 1
name = "discipline"
discipline = "chosen"
topology = {{ kind = "p2p", rate = "100 Mbit/s" }}
{discipline}
[[nodes]]
name = "host2"
wake_up_latency = "1 us"
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "{MESSAGE} B"
vlan = 5
{application}
"#
    );
    for (index, Load(payload, rate, pcp)) in loads.iter().enumerate() {
        text += &format!(
            "[[cross_traffic]]\nname = \"load{index}\"\nfrom = \"host1\"\nto = \"host2\"\npayload = \"{payload} B\"\n\
             rate = \"{rate} Mbit/s\"\nvlan = 5\npcp = {pcp}\n"
        );
    }
    let run = SandboxedRun::new(&text);
    let count = messages.to_string();
    let _ = run
        .finish(&["--backend", "uml", "--messages", &count])
        .expect_success();
    let recorded = recorded::cases(&run.directory).remove(0);
    let beginning = i128::from(recorded.record["beginning_nanos"].as_i64().unwrap());
    let offset = i128::from(recorded.record["tai_offset_seconds"].as_i64().unwrap());
    let trace = recorded.trace(&recorded.case["applications"][0]["publisher_trace"]);
    let handed_over = trace[&TracePoint::T1].iter();
    Observed {
        frames: frames(&recorded, beginning - offset * 1_000_000_000, loads),
        handed_over: handed_over
            .map(|(counter, nanos)| (*counter, i128::from(*nanos) - beginning))
            .collect(),
        recorded,
    }
}

/// Returns the frames to host2 in the capture at its port.
fn frames(recorded: &RecordedCase, beginning: i128, loads: &[Load]) -> Vec<Frame> {
    let bytes = std::fs::read(recorded.directory.join("host2-to-host1.pcapng")).unwrap();
    let (packets, damage) = takt_capture::packets(&bytes);
    assert_eq!(damage, None);
    let mut frames = Vec::new();
    for packet in packets {
        let number = |at: usize| u16::from_be_bytes([packet.bytes[at], packet.bytes[at + 1]]);
        let (sender, payload) = match number(16) {
            // The answers of the loopback have the second address.
            0xB62C if packet.bytes[5] == 2 => continue,
            // The first field is a Variant with a UInt64 behind the headers.
            0xB62C => {
                let counter = u64::from_le_bytes(*packet.bytes[18 + 33..].first_chunk().unwrap());
                (Sender::Application(counter), MESSAGE)
            }
            // UDP.
            0x0800 => {
                let index = usize::from(number(18 + 20) - FIRST_PORT);
                (Sender::Cross(index), loads[index].0)
            }
            other => panic!("EtherType {other:04x}"),
        };
        let time = packet.time.unwrap().duration_since(std::time::UNIX_EPOCH);
        let end = i128::try_from(time.unwrap().as_nanos()).unwrap() - beginning;
        frames.push(Frame {
            sender,
            start: end - wire_time(payload),
            end,
        });
    }
    assert!(!frames.is_empty());
    frames
}

impl Observed {
    /// Returns the first frame of each message.
    fn messages(&self) -> BTreeMap<u64, Frame> {
        let mut messages = BTreeMap::new();
        for frame in &self.frames {
            if let Sender::Application(counter) = frame.sender {
                messages.entry(counter).or_insert(*frame);
            }
        }
        messages
    }

    /// Returns the bytes of a flow of cross traffic between two times, as queueing disciplines count them.
    fn bytes(&self, index: usize, loads: &[Load], from: i128, to: i128) -> i128 {
        let of_flow = self.frames.iter().filter(|frame| {
            frame.sender == Sender::Cross(index) && (from..to).contains(&frame.start)
        });
        of_flow.count() as i128 * (loads[index].0 + HEADERS)
    }
}

fn classes(queue: &str) -> String {
    format!(
        "[disciplines.chosen]\nscheduler = \"mqprio\"\n\
         classes = [{{ name = \"A\", priorities = [6]{queue} }}, {{ name = \"BE\" }}]\n"
    )
}

/// Messages of the runs with ETF.
const MESSAGES: u64 = 600;

/// A message leaves at its launch time minus `delta`, or at once if that has passed, and is lost if its launch time has passed.
pub fn etf_releases_and_drops() {
    const DELTA: i128 = 200 * MICROSECOND;
    const OFFSET: i128 = 100 * MICROSECOND;
    const PUBLISH: i128 = 600 * MICROSECOND;
    let nodes =
        "[[nodes]]\nname = \"host1\"\nwake_up_latency = { least = \"1 us\", most = \"590 us\" }\n";
    let queue = ", queue = \"etf\", delta = \"200 us\", offload = false";
    let observed = observe(
        &format!("{}{nodes}", classes(queue)),
        "pcp = 6\noffset = \"100 us\"\ntxtime = true\n",
        &[],
        MESSAGES,
    );
    let messages = observed.messages();
    let (mut waited, mut at_once, mut dropped) = (0, 0, 0);
    for (counter, handed_over) in &observed.handed_over {
        let cycle = (handed_over - PUBLISH).div_euclid(CYCLE);
        let launch = (cycle + 1) * CYCLE + OFFSET;
        let Some(frame) = messages.get(counter) else {
            assert!(
                *handed_over + MICROSECOND >= launch,
                "message {counter} is lost: handed over {handed_over}, launch {launch}"
            );
            dropped += 1;
            continue;
        };
        assert!(
            *handed_over <= launch,
            "message {counter} left after its launch time {launch}: {frame:?}"
        );
        let expected = (launch - DELTA).max(*handed_over);
        assert!(
            (frame.start - expected).abs() <= MICROSECOND,
            "message {counter}: handed over {handed_over}, launch {launch}: {frame:?}"
        );
        match expected > *handed_over {
            true => waited += 1,
            false => at_once += 1,
        }
    }
    // The trace has no message that the kernel refused.
    dropped += MESSAGES - observed.handed_over.len() as u64;
    println!("etf: {waited} waited, {at_once} left at once, {dropped} lost");
    assert!(
        waited > 50 && at_once > 50 && dropped > 20,
        "{waited} {at_once} {dropped}"
    );
    let end = observed.recorded.end("control", "publisher");
    let counted = ["launch_refused", "launch_invalid", "launch_missed"];
    let counted: u64 = counted.iter().map(|name| number(end, name)).sum();
    assert_eq!(counted, dropped, "the error queue reports each loss: {end}");
}

/// With offload, a message leaves at its launch time, or when the frame that is being sent then has been sent. Best effort leaves meanwhile.
pub fn etf_of_the_device_keeps_launch_times() {
    const OFFSET: i128 = 100 * MICROSECOND;
    const PUBLISH: i128 = 600 * MICROSECOND;
    const PAYLOAD: i128 = 1500;
    let nodes =
        "[[nodes]]\nname = \"host1\"\nwake_up_latency = { least = \"1 us\", most = \"590 us\" }\n";
    let queue = ", queue = \"etf\", delta = \"200 us\"";
    let loads = [Load(PAYLOAD, 60, 1)];
    let observed = observe(
        &format!("{}{nodes}", classes(queue)),
        "pcp = 6\noffset = \"100 us\"\ntxtime = true\n",
        &loads,
        MESSAGES,
    );
    let messages = observed.messages();
    let (mut on_time, mut blocked, mut dropped) = (0, 0, 0);
    for (counter, handed_over) in &observed.handed_over {
        let cycle = (handed_over - PUBLISH).div_euclid(CYCLE);
        let launch = (cycle + 1) * CYCLE + OFFSET;
        let Some(frame) = messages.get(counter) else {
            assert!(
                *handed_over + MICROSECOND >= launch,
                "message {counter} is lost: handed over {handed_over}, launch {launch}"
            );
            dropped += 1;
            continue;
        };
        // Captures have whole nanoseconds, and the kernel reads its clock once or twice until a frame is there.
        let late = frame.start - launch;
        assert!(
            (0..wire_time(PAYLOAD) + 10).contains(&late),
            "message {counter}, {late} ns after its launch time {launch}: {frame:?}"
        );
        match late < 10 {
            true => on_time += 1,
            false => blocked += 1,
        }
    }
    // The trace has no message that the kernel refused.
    dropped += MESSAGES - observed.handed_over.len() as u64;
    println!("etf of the device: {on_time} on time, {blocked} behind a frame, {dropped} lost");
    assert!(
        on_time > 100 && blocked > 100 && dropped > 20,
        "{on_time} {blocked} {dropped}"
    );
    let end = observed.recorded.end("control", "publisher");
    let counted = ["launch_refused", "launch_invalid", "launch_missed"];
    let counted: u64 = counted.iter().map(|name| number(end, name)).sum();
    assert_eq!(counted, dropped, "the error queue reports each loss: {end}");
}

/// Frames of a run with windows of 400 us for messages and 600 us for best effort.
struct Windows {
    observed: Observed,
    /// Frames that do not begin and end in a window of their class.
    outside: Vec<(i128, i128)>,
    /// Messages that begin when a window does.
    messages_at_opening: u32,
    /// Windows of best effort that begin with a frame.
    openings: std::collections::BTreeSet<i128>,
}

impl Windows {
    /// Runs 500 messages beside best effort of so many Mbit/s. `opening` has the times after the beginning of a window at which its first
    /// frame may begin.
    fn observe(offload: bool, best_effort: u32, opening: std::ops::RangeInclusive<i128>) -> Self {
        const WINDOW: i128 = 400 * MICROSECOND;
        let gates = format!(
            "[disciplines.chosen]\nscheduler = \"taprio\"\noffload = {offload}\n\
             classes = [{{ name = \"A\", priorities = [6] }}, {{ name = \"BE\" }}]\n\
             entries = [{{ gates = [\"A\"], interval = \"400 us\" }}, {{ gates = [\"BE\"], interval = \"600 us\" }}]\n\
             [[nodes]]\nname = \"host1\"\nwake_up_latency = {{ least = \"1 us\", most = \"390 us\" }}\n"
        );
        let loads = [Load(1000, best_effort, 1)];
        let mut windows = Self {
            observed: observe(&gates, "pcp = 6\nimmediate = true\n", &loads, 500),
            outside: Vec::new(),
            messages_at_opening: 0,
            openings: std::collections::BTreeSet::new(),
        };
        for frame in &windows.observed.frames {
            let (from, to) = match frame.sender {
                Sender::Application(_) => (0, WINDOW),
                Sender::Cross(_) => (WINDOW, CYCLE),
            };
            let cycle = (frame.start + MICROSECOND).div_euclid(CYCLE);
            let (start, end) = (frame.start - cycle * CYCLE, frame.end - cycle * CYCLE);
            if start < from - MICROSECOND || end > to + MICROSECOND {
                windows.outside.push((start, end));
            }
            if opening.contains(&(start - from)) {
                match frame.sender {
                    Sender::Application(_) => windows.messages_at_opening += 1,
                    Sender::Cross(_) => {
                        windows.openings.insert(cycle);
                    }
                }
            }
        }
        println!(
            "taprio, offload {offload}: {} messages and {} best effort frames at the opening, {} of {} frames outside",
            windows.messages_at_opening,
            windows.openings.len(),
            windows.outside.len(),
            windows.observed.frames.len()
        );
        windows
    }

    /// Messages handed over in the other class's window wait. The queue of best effort is never empty.
    fn check(&self) {
        assert!(self.outside.is_empty(), "{:?}", self.outside);
        assert!(self.messages_at_opening > 200);
        assert!(self.openings.len() > 400);
        assert_eq!(self.observed.messages().len(), 500);
    }
}

/// A frame begins and ends in a window of its class, and a frame that waits begins when its window does.
pub fn taprio_windows() {
    Windows::observe(false, 55, -MICROSECOND..=MICROSECOND).check();
}

/// The same with gates of the device, to the nanosecond, and with more frames of best effort than fit into its windows.
pub fn taprio_windows_of_the_device() {
    let device = Windows::observe(true, 70, 0..=10);
    assert_eq!(device.observed.recorded.record["has_offloads"], true);
    device.check();
}

/// A class with more frames than its idleSlope permits sends at the idleSlope, whatever the load of the class below.
pub fn cbs_keeps_its_idle_slope() {
    // The kernel counts frames without check sequence, preamble and gap.
    const PAYLOAD: i128 = 1000;
    let idle_slope = 20_000_000.0;
    for below in [1, 100] {
        let loads = [Load(PAYLOAD, 45, 6), Load(1500, below, 1)];
        let observed = observe(
            &classes(", queue = \"cbs\", idle_slope = \"20 Mbit/s\""),
            "pcp = 1\nimmediate = true\n",
            &loads,
            600,
        );
        let (from, to) = (100 * CYCLE, 600 * CYCLE);
        let bytes = observed.bytes(0, &loads, from, to);
        let rate = bytes as f64 * 8.0 / ((to - from) as f64 / 1e9);
        println!("cbs beside {below} Mbit/s: {rate:.0} bit/s");
        assert!(
            (rate / idle_slope - 1.0).abs() < 0.02,
            "{rate} bit/s beside {below} Mbit/s"
        );
    }
}

/// A message of the upper class waits for one frame of the lower class at most; the lower class gets what is left.
pub fn mqprio_order() {
    let loads = [Load(1500, 120, 1)];
    let observed = observe(&classes(""), "pcp = 6\nimmediate = true\n", &loads, 400);
    let messages = observed.messages();
    assert_eq!(messages.len(), 400);
    let mut longest = 0;
    for (counter, frame) in &messages {
        let wait = frame.start - observed.handed_over[counter];
        longest = longest.max(wait);
        assert!(
            wait <= wire_time(1500) + MICROSECOND,
            "message {counter} waits {wait} ns"
        );
    }
    println!("mqprio: longest wait of a message {longest} ns");
    assert!(
        longest > wire_time(1500) / 2,
        "the link was free: {longest}"
    );
    let (from, to) = (50 * CYCLE, 400 * CYCLE);
    let sent = observed.bytes(0, &loads, from, to) * (1500 + HEADERS + OVERHEAD) / (1500 + HEADERS);
    let left = (to - from) / BYTE - 350 * (MESSAGE + HEADERS + OVERHEAD);
    assert!(
        (sent - left).abs() * 200 < left,
        "{sent} bytes of best effort, {left} were left"
    );

    // The other way round: a message of the lower class never passes a frame of the upper one.
    let loads = [Load(1500, 120, 6)];
    let observed = observe(&classes(""), "pcp = 1\nimmediate = true\n", &loads, 400);
    let upper = observed.frames.iter();
    let upper = upper.filter(|frame| frame.sender == Sender::Cross(0));
    let last = upper.map(|frame| frame.start).max().unwrap();
    let early: Vec<u64> = observed
        .messages()
        .iter()
        .filter(|it| it.1.start < last)
        .map(|it| *it.0)
        .collect();
    assert!(last > 350 * CYCLE, "{last}");
    assert!(early.iter().all(|counter| *counter <= 2), "{early:?}");
}

/// Two flows with frames of different length and more load than there is room get the same number of bytes, and a message of a thin
/// flow passes both.
pub fn fq_codel_fairness() {
    let loads = [Load(1500, 80, 1), Load(500, 80, 1)];
    let discipline = "[disciplines.chosen]\nscheduler = \"fq_codel\"\n";
    let observed = observe(discipline, "pcp = 1\nimmediate = true\n", &loads, 600);
    let (from, to) = (100 * CYCLE, 600 * CYCLE);
    let [first, second] = [0, 1].map(|index| observed.bytes(index, &loads, from, to));
    println!("fq_codel: {first} and {second} bytes");
    assert!(
        (first - second).abs() * 50 < first,
        "{first} and {second} bytes"
    );
    let messages = observed.messages();
    assert_eq!(messages.len(), 600);
    let waits = messages.iter();
    let waits = waits.map(|(counter, frame)| frame.start - observed.handed_over[counter]);
    let longest = waits.max().unwrap();
    println!("fq_codel: longest wait of a message {longest} ns");
    // One frame is sent, and one waits in the driver.
    assert!(longest <= 2 * wire_time(1500) + MICROSECOND, "{longest}");
}
