//! Random scenarios: lines of bridges with hosts, all queueing disciplines, several applications and cross traffic.

use std::fmt::Write;

use takt_calculus::ScenarioBounds;
use takt_scenario::{FlowSource, Scenario, Scheduler};
use takt_sim::{KeptPhases, Random};

pub(crate) fn pick<'a, T>(random: &mut Random, values: &'a [T]) -> &'a T {
    &values[usize::try_from(random.below(values.len() as u64)).unwrap()]
}

/// Discipline of all ports, or of those of bridges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    FqCodel,
    Mqprio,
    Cbs,
    /// A Credit-Based Shaper below a class that has none.
    UnshapedAbove,
    Taprio,
    /// Scheduled traffic above a Credit-Based Shaper, with windows of its own or shared ones.
    ScheduledAbove,
    /// Scheduled traffic with Credit-Based Shapers behind the gates.
    ShapedTaprio,
    TxtimeAssist,
}

pub(crate) const KINDS: [Kind; 9] = [
    Kind::FqCodel,
    Kind::Mqprio,
    Kind::Cbs,
    Kind::UnshapedAbove,
    Kind::ScheduledAbove,
    Kind::Taprio,
    Kind::Taprio,
    Kind::ShapedTaprio,
    Kind::TxtimeAssist,
];

/// Returns a discipline of this kind, without its heading.
fn discipline(kind: Kind, random: &mut Random) -> String {
    let rest = "{ name = \"rest\" }]";
    match kind {
        Kind::FqCodel => "scheduler = \"fq_codel\"\n".to_owned(),
        Kind::Mqprio => format!(
            "scheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3] }}, {{ name = \"B\", priorities = [2] }}, {rest}\n"
        ),
        Kind::Cbs => {
            let second = *pick(
                random,
                &[
                    "",
                    "{ name = \"B\", priorities = [2], queue = \"cbs\", provisioning = \"20%\"SEND }, ",
                ],
            );
            let second = second.replace("SEND", send_slope(random));
            let slope = send_slope(random);
            format!(
                "scheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3], queue = \"cbs\", provisioning = \"10%\"{slope} }}, {second}{rest}\n"
            )
        }
        Kind::UnshapedAbove => {
            let (first, second) = *pick(random, &[(2, 3), (3, 2)]);
            let (slope, send) = (pick(random, &[80, 200, 400]), send_slope(random));
            format!(
                "scheduler = \"mqprio\"\nclasses = [{{ name = \"control\", priorities = [{first}] }}, \
                 {{ name = \"A\", priorities = [{second}], queue = \"cbs\", idle_slope = \"{slope} Mbit/s\"{send} }}, {rest}\n"
            )
        }
        Kind::ScheduledAbove => {
            let (slope, send) = (pick(random, &[200, 400, 600]), send_slope(random));
            let gates = [
                "\"control\"",
                "\"A\", \"rest\"",
                "\"control\", \"A\"",
                "\"A\"",
                "\"rest\"",
            ];
            let gates = entries(random, &gates);
            format!(
                "scheduler = \"taprio\"\nclasses = [{{ name = \"control\", priorities = [3] }}, \
                 {{ name = \"A\", priorities = [2], queue = \"cbs\", idle_slope = \"{slope} Mbit/s\"{send} }}, {rest}\n{gates}"
            )
        }
        Kind::Taprio => {
            let guard_band = pick(random, &[0, 0, 5, 15, 30]);
            let gates = entries(random, &["\"A\"", "\"rest\"", "\"A\", \"rest\"", ""]);
            format!(
                "scheduler = \"taprio\"\nclasses = [{{ name = \"A\", priorities = [3] }}, {rest}\nguard_band = \"{guard_band} us\"\n{gates}"
            )
        }
        Kind::ShapedTaprio => {
            let (guard_band, slope) = (pick(random, &[0, 5, 15]), pick(random, &[100, 300, 600]));
            let send = send_slope(random);
            let second = *pick(
                random,
                &[
                    "",
                    "{ name = \"B\", priorities = [2], queue = \"cbs\", idle_slope = \"250 Mbit/s\"SEND }, ",
                ],
            );
            let second = second.replace("SEND", send_slope(random));
            let gates = [
                "\"A\"",
                "\"rest\"",
                "\"A\", \"rest\"",
                "\"A\", \"B\"",
                "\"A\", \"B\", \"rest\"",
            ];
            let gates = gates.map(|gates| {
                if second.is_empty() {
                    gates.replace(", \"B\"", "")
                } else {
                    gates
                        .replace("\"rest\"", "\"B\", \"rest\"")
                        .replace("\"B\", \"B\"", "\"B\"")
                }
            });
            let gates = entries(random, &gates.each_ref().map(String::as_str));
            format!(
                "scheduler = \"taprio\"\nclasses = [{{ name = \"A\", priorities = [3], queue = \"cbs\", idle_slope = \"{slope} Mbit/s\"{send} }}, {second}{rest}\n\
                 guard_band = \"{guard_band} us\"\n{gates}"
            )
        }
        Kind::TxtimeAssist => {
            let (delay, guard_band) = (pick(random, &[0, 20, 150]), pick(random, &[0, 0, 15]));
            let gates = entries(random, &["\"A\"", "\"rest\"", ""]);
            format!(
                "scheduler = \"taprio\"\nclasses = [{{ name = \"A\", priorities = [3], queue = \"etf\" }}, {{ name = \"rest\", queue = \"etf\" }}]\n\
                 txtime_assist = \"{delay} us\"\nguard_band = \"{guard_band} us\"\n{gates}"
            )
        }
    }
}

/// Returns gates for 125 or 250 µs.
fn entries(random: &mut Random, gates: &[&str]) -> String {
    let cycle = *pick(random, &[125, 125, 250]);
    let entry = |index: u64, random: &mut Random| {
        let gates = match index {
            // These two open the gates of all classes: without a window for its frames, a scenario is refused.
            0 | 1 => gates[usize::try_from(index).unwrap()],
            _ => *pick(random, gates),
        };
        let interval = pick(random, &[16, 20, 31, 47, 62]);
        format!("{{ gates = [{gates}], interval = \"{interval} us\" }}")
    };
    let entries: Vec<String> = (0..2 + random.below(4))
        .map(|index| entry(index, random))
        .collect();
    format!(
        "cycle_time = \"{cycle} us\"\nentries = [{}]\n",
        entries.join(", ")
    )
}

/// Drifts of the clocks of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drifts {
    /// Each clock has a drift of its own.
    Own,
    /// All clocks have the drift of the first one.
    Alike,
}

/// Clocks of the nodes of a scenario.
struct Clocks {
    /// Greatest offset in nanoseconds, ahead or behind.
    offset: u64,
    /// Greatest drift in ppb, in either direction.
    drift: u64,
    drifts: Drifts,
    first: Option<i64>,
}

impl Clocks {
    /// Makes clocks that are all right, or that drift: slightly, or so much that twenty cycles show it.
    fn new(drifts: Drifts, random: &mut Random) -> Self {
        // Where all clocks agree, there are schedules to keep.
        let (offset, drift) = match random.below(3) {
            0 => (0, 0),
            1 => (500_000, 100_000),
            _ => (1_000_000, 150_000_000),
        };
        Self {
            offset,
            drift,
            drifts,
            first: None,
        }
    }

    /// Returns the clock of the next node.
    fn draw(&mut self, random: &mut Random) -> String {
        let (offset, own) = (within(self.offset, random), within(self.drift, random));
        let first = *self.first.get_or_insert(own);
        let drift = match self.drifts {
            Drifts::Own => own,
            Drifts::Alike => first,
        };
        format!("clock = {{ offset = \"{offset} ns\", drift = \"{drift} ppb\" }}")
    }
}

/// Returns a number from `-most` to `most`.
fn within(most: u64, random: &mut Random) -> i64 {
    let value = i64::try_from(random.below(most + 1)).unwrap();
    if random.below(2) == 0 { value } else { -value }
}

/// Returns the field of a shaper with a sendSlope of its own, or nothing.
fn send_slope(random: &mut Random) -> &'static str {
    pick::<&str>(
        random,
        &[
            "",
            "",
            ", send_slope = \"990 Mbit/s\"",
            ", send_slope = \"2 Gbit/s\"",
            ", send_slope = \"700 Mbit/s\"",
        ],
    )
}

/// Returns bridges in a line with hosts at some of them. Hosts may have ETF, if bridges have no gates.
pub(crate) fn scenario(kind: Kind, etf: bool, drifts: Drifts, random: &mut Random) -> String {
    let mut text = String::new();
    let usual = discipline(kind, random);
    writeln!(
        text,
        "version = 1\ndiscipline = \"d\"\n[disciplines.d]\n{usual}"
    )
    .unwrap();
    if etf {
        let (delta, offload) = (pick(random, &[0, 10, 60, 100]), random.below(2) == 0);
        writeln!(text, "[disciplines.etf]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3], queue = \"etf\", delta = \"{delta} us\", offload = {offload} }}, {{ name = \"rest\" }}]").unwrap();
    }
    if random.below(2) == 0 {
        text += "[bounds]\nlower_priority = \"1542 B\"\n";
    }
    let mut clocks = Clocks::new(drifts, random);
    let bridges = 1 + random.below(3);
    for bridge in 0..bridges {
        let most = pick(random, &[0, 900, 5000]);
        let clock = clocks.draw(random);
        writeln!(text, "[[nodes]]\nname = \"b{bridge}\"\nkind = \"bridge\"\n{clock}\nforwarding_delay = {{ least = \"0 ns\", most = \"{most} ns\" }}").unwrap();
        if bridge > 0 {
            let length = random.below(100);
            writeln!(text, "[[links]]\nends = [\"b{}\", \"b{bridge}\"]\nrate = \"1 Gbit/s\"\nlength = \"{length} m\"", bridge - 1).unwrap();
        }
    }
    let hosts = 2 + random.below(3);
    for host in 0..hosts {
        let bridge = if host == 0 { 0 } else { random.below(bridges) };
        let late = pick(random, &[0, 0, 20, 90]);
        let clock = clocks.draw(random);
        writeln!(text, "[[nodes]]\nname = \"h{host}\"\n{clock}\nwake_up_latency = {{ least = \"0 us\", most = \"{late} us\" }}").unwrap();
        if etf {
            writeln!(text, "[[ports]]\nnode = \"h{host}\"\ndiscipline = \"etf\"").unwrap();
        }
        writeln!(
            text,
            "[[links]]\nends = [\"h{host}\", \"b{bridge}\"]\nrate = \"1 Gbit/s\""
        )
        .unwrap();
    }
    let pair = |random: &mut Random| {
        let from = random.below(hosts);
        (from, (from + 1 + random.below(hosts - 1)) % hosts)
    };
    for application in 0..1 + random.below(3) {
        let (from, to) = pair(random);
        let receiver = pick(random, &["loopback", "loopback", "subscriber"]);
        let (cycle, offset) = (pick(random, &[250, 400, 500]), pick(random, &[0, 50, 150]));
        let (count, pcp) = (pick(random, &[2, 32, 160]), pick(random, &[3, 3, 2]));
        writeln!(text, "[[applications]]\nname = \"a{application}\"\npublisher = \"h{from}\"\n{receiver} = \"h{to}\"\ncycle = \"{cycle} us\"\noffset = \"{offset} us\"\nrepeated_node_count = {count}\npcp = {pcp}").unwrap();
    }
    for traffic in 0..random.below(3) {
        let (from, to) = pair(random);
        let pattern = pick(random, &["\"constant\"", "{ burst = 2 }", "{ burst = 5 }"]);
        let (payload, rate, pcp) = (
            pick(random, &[100, 700, 1500]),
            pick(random, &[30, 100, 200]),
            pick(random, &[0, 0, 2]),
        );
        writeln!(text, "[[cross_traffic]]\nname = \"x{traffic}\"\nfrom = \"h{from}\"\nto = \"h{to}\"\npayload = \"{payload} B\"\nrate = \"{rate} Mbit/s\"\npattern = {pattern}\npcp = {pcp}").unwrap();
    }
    text
}

/// Changes a scenario so that applications have several subscribers: random hosts and bridges, and two more hosts at the first bridge.
/// Messages of some applications have security with its processor time.
pub(crate) fn multicast(text: &str, random: &mut Random) -> String {
    let mut text = format!("{text}\n");
    for host in ["m0", "m1"] {
        writeln!(
            text,
            "[[nodes]]\nname = \"{host}\"\n[[links]]\nends = [\"{host}\", \"b0\"]\nrate = \"1 Gbit/s\""
        )
        .unwrap();
    }
    let named = |line: &str| {
        let name = line.strip_prefix("name = \"")?.strip_suffix('"')?;
        name.starts_with(['h', 'b', 'm']).then(|| name.to_owned())
    };
    let nodes: Vec<String> = text.lines().filter_map(named).collect();
    let mut changed = String::new();
    let mut publisher = "";
    for line in text.lines() {
        publisher = line.strip_prefix("publisher = ").unwrap_or(publisher);
        let is_receiver = line.starts_with("loopback = ") || line.starts_with("subscriber = ");
        if line.starts_with("repeated_node_count") && random.below(3) == 0 {
            let mode = pick(random, &["Sign", "SignAndEncrypt"]);
            let (protect, verify) = (random.below(20), random.below(20));
            writeln!(changed, "security = {{ mode = \"{mode}\", protect = \"{protect} us\", verify = \"{verify} us\" }}").unwrap();
            // The longest message has no room for security.
            changed += &line.replace("160", "150");
            changed += "\n";
        } else if is_receiver && random.below(4) > 0 {
            let mut others: Vec<String> = nodes.iter().map(|name| format!("\"{name}\"")).collect();
            others.retain(|name| name != publisher);
            let count = 1 + random.below(4.min(others.len() as u64));
            let chosen = (0..count).map(|_| {
                let index = random.below(others.len() as u64);
                others.remove(usize::try_from(index).unwrap())
            });
            let chosen: Vec<String> = chosen.collect();
            writeln!(changed, "subscribers = [{}]", chosen.join(", ")).unwrap();
        } else {
            changed += line;
            changed += "\n";
        }
    }
    changed
}

/// Returns the delays whose bounds hold only for the phases of the scenario.
pub(crate) fn kept(scenario: &Scenario, bounds: &ScenarioBounds) -> KeptPhases {
    let round_trips = bounds.flows.iter().filter(|bound| bound.needs_phases);
    let round_trips = round_trips.filter_map(|bound| match bound.source {
        FlowSource::Publish(id) if bound.round_trip => Some(id),
        _ => None,
    });
    let ways = scenario.flows().iter().map(|flow| flow.source);
    KeptPhases {
        round_trips: round_trips.collect(),
        flows: ways.filter(|way| bounds.way_needs_phases(*way)).collect(),
    }
}

/// Returns true if the scenario has gates.
pub(crate) fn is_gated(scenario: &Scenario) -> bool {
    let mut ports = scenario.ports.iter();
    ports.any(|port| matches!(port.discipline.scheduler, Scheduler::Taprio(_)))
}

/// Returns the kind of the scenario with this number, and whether its hosts have ETF: each kind comes in turn.
pub(crate) fn kind(number: u64) -> (Kind, bool) {
    let turn = usize::try_from(number).unwrap();
    let kind = KINDS[turn % KINDS.len()];
    let etf = matches!(kind, Kind::FqCodel | Kind::Mqprio | Kind::Cbs)
        && (turn / KINDS.len()).is_multiple_of(3);
    (kind, etf)
}
