//! Any number in any field of a scenario file: the file gives an error or a scenario, and never ends the program.

use std::ops::Range;

use proptest::prelude::*;
use takt_scenario::{ScenarioError, ScenarioFile};

/// Numbers at the ends of types, and what is no number at all.
const EXTREMES: [&str; 18] = [
    "0",
    "1",
    "-1",
    "127",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
    "9223372036.854775807",
    "-9223372036.854775808",
    "0.000000001",
    "1e308",
    "-inf",
    "nan",
];

/// Units of quantities, each with the smallest unit of the same quantity: only there the whole range of a type is written.
const UNITS: [(&str, &str); 14] = [
    ("min", "ps"),
    ("ms", "ps"),
    ("us", "ps"),
    ("ns", "ps"),
    ("ps", "ps"),
    ("Gbit/s", "bit/s"),
    ("Mbit/s", "bit/s"),
    ("kbit/s", "bit/s"),
    ("bit/s", "bit/s"),
    ("ppm", "ppb"),
    ("m", "mm"),
    ("B", "B"),
    ("s", "ps"),
    ("%", ""),
];

/// A scenario with a number in nearly every field.
const EVERYTHING: &str = r#"
version = 1
name = "everything"
discipline = "shaped"

[topology]
kind = "line"
hops = 3
rate = "1 Gbit/s"
length = "10 m"
forwarding_delay = { least = "2 us", most = "4 us" }
shift_per_hop = "20 us"

[[nodes]]
name = "host1"
clock = { offset = "-20 us", drift = "1.5 ppm" }
wake_up_latency = { histogram = [["2 us", 3401], ["4 us", 7], ["9 us", 0]] }

[[nodes]]
name = "host2"
clock = { offset = "20 us", drift = "-20 ppb" }
wake_up_latency = { least = "1 us", most = "9 us" }

[[nodes]]
name = "bridge9"
kind = "bridge"
forwarding_delay = "3 us"

[[links]]
ends = ["bridge9", "bridge1"]
rate = "100 Mbit/s"
length = "1 m"

[disciplines.shaped]
scheduler = "mqprio"
classes = [
    { name = "A", priorities = [3], queue = "cbs", provisioning = "10%", hi_credit = "153 B", lo_credit = "-1503 B", limit = 100 },
    { name = "B", priorities = [2], queue = "cbs", provisioning = 0.5 },
    { name = "C", priorities = [1], queue = "cbs", idle_slope = "5 Mbit/s", send_slope = "900 Mbit/s", limit = "3000 B" },
    { name = "D" },
]

[disciplines.timed]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], queue = "etf", delta = "200 us" }, { name = "B" }]

[disciplines.gated]
scheduler = "taprio"
base_time = "5 us"
cycle_time = "250 us"
guard_band = "13 us"
classes = [{ name = "A", priorities = [3] }, { name = "B" }]
entries = [
    { gates = ["A"], interval = "50 us" },
    { gates = ["B"], interval = "190 us" },
    { gates = ["A", "B"], interval = "10 us" },
]

[disciplines.assisted]
scheduler = "taprio"
txtime_assist = "180 us"
classes = [{ name = "A", priorities = [3], queue = "etf", delta = "150 us" }, { name = "B", queue = "etf", delta = "150 us" }]
entries = [{ gates = ["A"], interval = "40 us" }, { gates = ["B"], interval = "60 us" }]

[disciplines.fair]
scheduler = "fq_codel"
limit = 10240
flows = 1024
quantum = "1514 B"
target = "5 ms"
interval = "100 ms"
memory_limit = "32 MiB"

[[ports]]
node = "host2"
discipline = "gated"
shift = "7 us"

[[ports]]
node = "bridge1"
to = "bridge2"
discipline = "fair"

[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "250 us"
offset = "100 us"
phases = { subscriber = 0.0, user = "30%", publisher = 0.6 }
fields = 3
vlan = 7
pcp = 3
txtime = true

[[applications]]
name = "second"
publisher = "host2"
subscriber = "host1"
cycle = "1 ms"
payload = "100 B"
pcp = 2

[[applications]]
name = "third"
publisher = "host1"
subscriber = "host2"
cycle = "2 ms"
repeated_node_count = 2
pcp = 1

[[cross_traffic]]
name = "x"
from = "host1"
to = "host2"
udp_payload = "1000 B"
rate = "10 Mbit/s"
pcp = 0
pattern = { burst = 3 }

[[cross_traffic]]
name = "y"
from = "host2"
to = "host1"
payload = "1000 B"
interval = "1 ms"
vlan = 2

[bounds]
lower_priority = "1542 B"

[simulation]
seed = 1
cycles = 10000
trim = 10

[[sweeps]]
parameter = "discipline"
values = ["shaped", "timed", "gated", "assisted", "fair"]

[[sweeps]]
parameter = "topology.hops"
values = [1, 2]
"#;

/// A number of a text, with its unit if it has one.
struct Number {
    place: Range<usize>,
    unit: Option<&'static str>,
}

/// Returns the numbers of a text outside names.
fn numbers(text: &str) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(|c: char| c.is_ascii_digit() || c == '-') {
        let begin = at + begin;
        let rest = &text[begin..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && !"-.".contains(c));
        let end = begin + end.unwrap_or(rest.len());
        at = end;
        let in_name = text[..begin].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if in_name || !text[begin..end].contains(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let behind = text[end..].trim_start_matches(' ');
        let start = text.len() - behind.len();
        let unit = behind.split('"').next().unwrap();
        let unit = match text[..begin].ends_with('"') {
            true => UNITS.iter().find(|(name, _)| *name == unit),
            false => None,
        };
        numbers.push(Number {
            place: begin..unit.map_or(end, |(name, _)| start + name.len()),
            unit: unit.map(|(_, smallest)| *smallest),
        });
    }
    numbers
}

/// Replaces numbers of a text, the last ones first.
fn replaced(text: &str, mut changes: Vec<(&Number, &str)>) -> String {
    changes.sort_by_key(|(number, _)| std::cmp::Reverse(number.place.start));
    // A second value for the same number would be written at a place that is no longer right.
    changes.dedup_by_key(|(number, _)| number.place.start);
    let mut text = text.to_owned();
    for (number, extreme) in changes {
        let value = match number.unit {
            Some("") | None => extreme.to_owned(),
            Some(unit) => format!("{extreme} {unit}"),
        };
        text.replace_range(number.place.clone(), &value);
    }
    text
}

/// Reads a scenario and its variants, and returns true if it is valid without its sweeps. Mistakes have places in the text.
fn read(text: &str) -> bool {
    let check = |error: ScenarioError| {
        for mistake in &error.mistakes {
            assert!(text.get(mistake.span.clone()).is_some(), "{mistake}");
        }
    };
    match ScenarioFile::parse(text, "extremes.toml") {
        Ok(file) => {
            if let Err(error) = file.variants() {
                check(error);
            }
            true
        }
        Err(error) => {
            check(error);
            false
        }
    }
}

#[test]
fn each_number_may_be_any() {
    assert!(
        read(EVERYTHING),
        "{:?}",
        ScenarioFile::parse(EVERYTHING, "x.toml").err()
    );
    let numbers = numbers(EVERYTHING);
    assert!(numbers.len() > 80, "{}", numbers.len());
    let mut valid = 0;
    for number in &numbers {
        for extreme in EXTREMES {
            valid += usize::from(read(&replaced(EVERYTHING, vec![(number, extreme)])));
        }
    }
    assert!(valid > 100, "{valid}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn several_numbers_may_be_any(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 2..6)) {
        let numbers = numbers(EVERYTHING);
        let changes = changes
            .iter()
            .map(|(number, extreme)| (number.get(&numbers), *extreme.get(&EXTREMES)));
        read(&replaced(EVERYTHING, changes.collect()));
    }
}
