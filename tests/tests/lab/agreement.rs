//! Agreement of the simulator's Linux model with the kernel of the backend `uml`: the same messages are lost, and all others arrive at
//! the same time, up to 10 ns for each hop.

use std::collections::BTreeMap;

use takt_scenario::{ApplicationIndex, FlowSource, PortIndex, Scenario};
use takt_sim::{Loopback, Message, MessageOutcome, Observer, Passage, RunOptions, Simulation};

use crate::case::SandboxedRun;
use crate::recorded::{self, RecordedCase};

/// Allowed difference for each hop, in nanoseconds. Each reading of a clock takes 1 ns in the lab, and none in the simulation.
const TOLERANCE: i128 = 10;

/// Messages of the application.
const MESSAGES: u64 = 400;

/// Messages that are compared. Cross traffic of the simulation ends with the last message, that of the lab a little later, and the last
/// answers are on their way then.
const COMPARED: u64 = MESSAGES - 2;

/// Network of all cases: a line of two bridges at 100 Mbit/s, so that frames queue, and wake-up latencies of a few microseconds. A message
/// has headers of 32 bytes and eight fields of 9 bytes, so that it has exactly the length that the scenario names.
fn scenario(discipline: &str, application: &str) -> String {
    format!(
        r#"
version = 1
name = "agreement"
discipline = "chosen"
topology = {{ kind = "line", hops = 3, rate = "100 Mbit/s" }}
{discipline}
[[nodes]]
name = "host1"
wake_up_latency = {{ least = "3 us", most = "9 us" }}
[[nodes]]
name = "host2"
wake_up_latency = {{ least = "3 us", most = "9 us" }}
[[nodes]]
name = "bridge1"
forwarding_delay = {{ least = "2 us", most = "7 us" }}
[[nodes]]
name = "bridge2"
forwarding_delay = "3 us"
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "104 B"
vlan = 5
pcp = 6
{application}
[[cross_traffic]]
name = "camera"
from = "host1"
to = "host2"
payload = "1200 B"
rate = "40 Mbit/s"
pattern = "poisson"
vlan = 5
pcp = 1
[[cross_traffic]]
name = "files"
from = "host2"
to = "host1"
payload = "1500 B"
rate = "30 Mbit/s"
pattern = {{ burst = 5 }}
vlan = 5
pcp = 0
"#
    )
}

/// Beginning of a discipline with gates.
const GATES: &str = "[disciplines.chosen]\nscheduler = \"taprio\"\n\
     entries = [{ gates = [\"A\"], interval = \"400 us\" }, { gates = [\"BE\"], interval = \"600 us\" }]\n";

/// Bridges without launch times.
const PLAIN: &str = "[disciplines.plain]\nscheduler = \"mqprio\"\nclasses = [{ name = \"A\", priorities = [6] }, { name = \"BE\" }]\n\
     [[ports]]\nnode = \"bridge1\"\ndiscipline = \"plain\"\n[[ports]]\nnode = \"bridge2\"\ndiscipline = \"plain\"\n";

/// Scenario of a discipline with this name.
fn scenario_of(name: &str) -> String {
    let classes = |queue: &str| {
        format!(
            "[disciplines.chosen]\nscheduler = \"mqprio\"\n\
             classes = [{{ name = \"A\", priorities = [6]{queue} }}, {{ name = \"BE\" }}]\n"
        )
    };
    let offset = "offset = \"150 us\"\n";
    match name {
        "fq_codel" => scenario("[disciplines.chosen]\nscheduler = \"fq_codel\"\n", offset),
        "mqprio" => scenario(&classes(""), offset),
        "cbs" => scenario(
            &classes(", queue = \"cbs\", provisioning = \"20%\""),
            offset,
        ),
        "etf" | "etf_offload" => scenario(
            &format!(
                "{}{PLAIN}",
                classes(&format!(
                    ", queue = \"etf\", delta = \"300 us\", offload = {}",
                    name == "etf_offload"
                ))
            ),
            "offset = \"150 us\"\ntxtime = true\n",
        ),
        "assist" => scenario(
            &format!(
                "{GATES}txtime_assist = \"350 us\"\n\
                 classes = [{{ name = \"A\", priorities = [6], queue = \"etf\", delta = \"300 us\" }}, {{ name = \"BE\" }}]\n{PLAIN}"
            ),
            offset,
        ),
        "taprio_offload" => scenario(
            &format!(
                "{GATES}offload = true\nclasses = [{{ name = \"A\", priorities = [6] }}, {{ name = \"BE\" }}]\n"
            ),
            offset,
        ),
        _ => scenario(
            &format!(
                "{GATES}classes = [{{ name = \"A\", priorities = [6] }}, {{ name = \"BE\" }}]\n"
            ),
            offset,
        ),
    }
}

/// Times at which messages of a flow arrive at its end, by counter, in nanoseconds since the beginning.
type Arrivals = BTreeMap<u64, i128>;

/// Records arrivals of both ways.
struct Recorder {
    last: [PortIndex; 2],
    arrivals: [Arrivals; 2],
    lost: BTreeMap<u64, MessageOutcome>,
}

/// Returns 0 for the way to the loopback, and 1 for the way back.
fn way(source: FlowSource) -> Option<usize> {
    match source {
        FlowSource::Publish(ApplicationIndex(0)) => Some(0),
        FlowSource::Return(ApplicationIndex(0)) => Some(1),
        _ => None,
    }
}

impl Observer for Recorder {
    fn message(&mut self, message: &Message) {
        if way(message.source).is_some() && message.outcome != MessageOutcome::Arrived {
            self.lost.insert(message.counter + 1, message.outcome);
        }
    }

    fn passage(&mut self, passage: &Passage) {
        if let Some(way) = way(passage.source)
            && passage.port == self.last[way]
            && passage.counter < COMPARED
        {
            let nanos = i128::from(passage.arrived.as_picoseconds()) / 1000;
            // Counters of the applications begin with 1.
            let of_way = &mut self.arrivals[way];
            of_way.entry(passage.counter + 1).or_insert(nanos);
        }
    }
}

/// Returns the arrivals in a capture, by counter: the first one of each.
fn captured(recorded: &RecordedCase, file: &str, destination: u8) -> Arrivals {
    let beginning = recorded.record["beginning_nanos"].as_i64().unwrap();
    let offset = recorded.record["tai_offset_seconds"].as_i64().unwrap();
    let beginning = i128::from(beginning) - i128::from(offset) * 1_000_000_000;
    let mut arrivals = Arrivals::new();
    for frame in recorded.capture(file) {
        if frame.destination[5] != destination {
            continue;
        }
        // The first field is a Variant with a UInt64 behind headers of 32 bytes.
        assert_eq!(frame.payload[32], 9, "{:02x?}", frame.payload);
        let counter = u64::from_le_bytes(*frame.payload[33..].first_chunk().unwrap());
        let time = i128::try_from(frame.nanos).unwrap() - beginning;
        if (1..=COMPARED).contains(&counter) {
            arrivals.entry(counter).or_insert(time);
        }
    }
    arrivals
}

/// Compares a run with a simulation.
pub fn compare(name: &str) {
    let text = scenario_of(name);
    let scenario = Scenario::parse(&text, "agreement.toml");
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let run = SandboxedRun::new(&text);
    let messages = MESSAGES.to_string();
    let _ = run
        .finish(&["--backend", "uml", "--messages", &messages])
        .expect_success();
    let cases = recorded::cases(&run.directory);
    let [recorded] = cases.as_slice() else {
        panic!("{} cases", cases.len());
    };

    let flow = |wanted| {
        let mut flows = scenario.flows().iter();
        flows.find(|flow| way(flow.source) == Some(wanted)).unwrap()
    };
    let last = [0, 1].map(|way| *flow(way).ports.last().unwrap());
    let mut options = RunOptions::new(&scenario);
    options.simulation.cycles = MESSAGES;
    options.simulation.trim = 0;
    options.loopback = Loopback::Latest;
    let mut recorder = Recorder {
        last,
        arrivals: Default::default(),
        lost: BTreeMap::new(),
    };
    let _ = Simulation::new(&scenario, options).run(&mut recorder);

    for (way, file, destination) in [
        (0, "host2-to-bridge2.pcapng", 1),
        (1, "host1-to-bridge1.pcapng", 2),
    ] {
        let hops = flow(way).ports.len() as i128;
        let kernel = captured(recorded, file, destination);
        let simulated = &recorder.arrivals[way];
        let only = |one: &Arrivals, other: &Arrivals| -> Vec<u64> {
            one.keys()
                .filter(|counter| !other.contains_key(counter))
                .copied()
                .collect()
        };
        let (unseen, unexpected) = (only(simulated, &kernel), only(&kernel, simulated));
        let differences: Vec<(u64, i128)> = kernel
            .iter()
            .filter_map(|(counter, time)| Some((*counter, time - simulated.get(counter)?)))
            .collect();
        let greatest = differences.iter().map(|it| it.1.abs()).max().unwrap_or(0);
        println!(
            "{name}, way {way}: {} messages, greatest difference {greatest} ns, lost in the simulation {}",
            differences.len(),
            recorder.lost.len(),
        );
        let far: Vec<&(u64, i128)> = differences
            .iter()
            .filter(|it| it.1.abs() > TOLERANCE * hops)
            .take(10)
            .collect();
        assert!(
            unseen.is_empty() && unexpected.is_empty(),
            "{name}, way {way}: only simulated {unseen:?}, only in the kernel {unexpected:?}"
        );
        assert!(
            far.is_empty(),
            "{name}, way {way}: counter and difference in ns {far:?}"
        );
        // The loopback overwrites some messages, in both.
        assert!(kernel.len() as u64 > MESSAGES / 2, "{}", kernel.len());
    }
}
