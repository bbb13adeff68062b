//! Applications with several subscribers: a frame is on a link once, each way has its own bound, and no found delay is above it.

use std::collections::{BTreeMap, BTreeSet};

use crate::generator::{Drifts, Kind, is_gated, kept, kind, multicast, scenario};
use takt_calculus::{
    Extended, Rational, Realisation, ScenarioBounds, ScenarioBoundsError, scenario_bounds_with,
};
use takt_scenario::{Analysis, ApplicationIndex, BoundsModel, FlowSource, PortIndex, Scenario};
use takt_sim::{
    Message, MessageOutcome, Model, Observer, Passage, Random, RunOptions, Simulation, Time, search,
};

fn bounds(
    scenario: &Scenario,
    realisation: Realisation,
    analyses: &[Analysis],
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let sound = BoundsModel::Sound;
    scenario_bounds_with(scenario, sound, realisation, analyses, &mut |_, _| {})
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "multicast.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn ieee(scenario: &Scenario, cycles: u64) -> RunOptions {
    let mut options = RunOptions::new(scenario);
    options.model = Model::Ieee;
    options.simulation.cycles = cycles;
    options
}

/// A press, two bridges, two subscribers at the second one, and a camera whose pictures meet the messages on the link between the bridges.
/// All frames have 125 B on the wire: 10 us.
const PRESS: &str = r#"
version = 1
discipline = "priority"
nodes = [
    { name = "press" }, { name = "camera" }, { name = "near" }, { name = "robot" }, { name = "panel" },
    { name = "b1", kind = "bridge", forwarding_delay = "5 us" },
    { name = "b2", kind = "bridge", forwarding_delay = "7 us" },
]
links = [
    { ends = ["press", "b1"], rate = "100 Mbit/s" },
    { ends = ["camera", "b1"], rate = "100 Mbit/s" },
    { ends = ["near", "b1"], rate = "100 Mbit/s" },
    { ends = ["b1", "b2"], rate = "100 Mbit/s" },
    { ends = ["robot", "b2"], rate = "100 Mbit/s" },
    { ends = ["panel", "b2"], rate = "100 Mbit/s" },
]
[disciplines.priority]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3] }, { name = "rest" }]
[[applications]]
name = "state"
publisher = "press"
subscribers = ["robot", "panel", "near"]
cycle = "1 ms"
payload = "83 B"
"#;

fn press(more: &str) -> String {
    format!("{PRESS}{more}")
}

/// Passages and ends of messages.
#[derive(Default)]
struct Seen {
    passages: BTreeMap<(ApplicationIndex, u64, PortIndex), u32>,
    ends: BTreeMap<(FlowSource, u64), Vec<MessageOutcome>>,
}

impl Observer for Seen {
    fn message(&mut self, message: &Message) {
        let of = (message.source, message.counter);
        self.ends.entry(of).or_default().push(message.outcome);
    }

    fn passage(&mut self, passage: &Passage) {
        // The ways there and back of a loopback have different ports.
        if let Some(id) = passage.source.application() {
            let at = (id, passage.counter, passage.port);
            *self.passages.entry(at).or_default() += 1;
        }
    }
}

#[test]
fn each_way_has_the_delay_that_follows_by_hand() {
    let scenario = parse(&press(""));
    let results = Simulation::new(&scenario, ieee(&scenario, 10)).run(&mut ());
    let delays = results
        .flows
        .iter()
        .map(|flow| flow.one_way.delay.extremes.most().unwrap());
    // Three links and both bridges; the same; two links and the first bridge.
    let us = Time::microseconds;
    assert_eq!(delays.collect::<Vec<_>>(), [us(42), us(42), us(25)]);
    let counts = results.flows.iter().map(|flow| (flow.sent, flow.received));
    assert_eq!(counts.collect::<Vec<_>>(), [(10, 10); 3]);
    assert_eq!(results.applications[0].further.len(), 2);
    // Nothing else is on the links, so bounds are these delays.
    let analyses = [
        Analysis::TotalFlow,
        Analysis::TotalFlowShaped,
        Analysis::SeparateFlow,
        Analysis::PolynomialLinearProgram,
    ];
    let bounds = bounds(&scenario, Realisation::Ieee, &analyses).unwrap();
    let names: Vec<&str> = bounds.flows.iter().map(|flow| flow.name.as_str()).collect();
    let arrow = "\u{2192}";
    let expected = ["robot", "panel", "near"].map(|node| format!("state {arrow} {node}"));
    assert_eq!(names, expected);
    for (flow, us) in bounds.flows.iter().zip([42u32, 42, 25]) {
        let seconds = Extended::Finite(Rational::from_parts(us.into(), 1_000_000u32.into()));
        assert_eq!(flow.delay, seconds, "{}", flow.name);
        for (analysis, answer) in &flow.answers {
            assert_eq!(answer.as_ref(), Ok(&seconds), "{}: {analysis:?}", flow.name);
        }
    }
    // A queue is listed once, whatever number of branches passes it.
    assert_eq!(bounds.queues.len(), 5);
    let of_robot = &bounds.flows[0].queues;
    let of_panel = &bounds.flows[1].queues;
    assert_eq!(of_robot[..2], of_panel[..2]);
    assert_ne!(of_robot[2], of_panel[2]);
}

/// A second application over the shared link waits for one frame there, not for one of each subscriber.
#[test]
fn a_shared_link_is_charged_once() {
    let camera = r#"
[[applications]]
name = "picture"
publisher = "camera"
subscriber = "panel"
cycle = "1 ms"
payload = "83 B"
"#;
    let scenario = parse(&press(camera));
    let analyses = [
        Analysis::TotalFlow,
        Analysis::TotalFlowShaped,
        Analysis::SeparateFlow,
        Analysis::PolynomialLinearProgram,
    ];
    let bounds = bounds(&scenario, Realisation::Ieee, &analyses).unwrap();
    let of = |name: &str| {
        let flow = bounds.flows.iter().find(|flow| flow.name == name).unwrap();
        let seconds = flow.delay.finite().unwrap();
        (seconds * Rational::from(1_000_000)).to_f64().value()
    };
    // Alone it takes 42 us. It waits 10 us for the frame on the link between the bridges, and not again behind it by TFA++ and SFA:
    // both come over the same link. TFA alone would count it once more.
    assert_eq!(of("picture"), 52.0);
    assert_eq!(of("state \u{2192} near"), 25.0);
    let worst = search(
        &scenario,
        &ieee(&scenario, 16),
        &Default::default(),
        600,
        |_| true,
    );
    let found = worst
        .flows
        .iter()
        .map(|found| found.as_ref().unwrap().delay);
    let found: Vec<i64> = found.map(|delay| delay.as_nanoseconds()).collect();
    // Flows in the order of the scenario: robot, panel, near, picture.
    assert!(found[3] > 51_990 && found[3] <= 52_000, "{found:?}");
    assert!(found[0] > 51_990 && found[0] <= 52_000, "{found:?}");
    assert_eq!(found[2], 25_000);
}

/// The idleSlope of a shared port has room for one frame in each cycle.
#[test]
fn a_shaper_reserves_a_shared_frame_once() {
    let cbs = "{ name = \"A\", priorities = [3], queue = \"cbs\" }";
    let text = press("").replace("{ name = \"A\", priorities = [3] }", cbs);
    let scenario = parse(&text);
    for flow in scenario.flows() {
        for port in &flow.ports {
            let discipline = &scenario.ports[port.0].discipline;
            let shaper = discipline.classes[0].queue.shaper().unwrap();
            assert_eq!(shaper.idle_slope.bits_per_second(), 1_000_000, "{port:?}");
        }
    }
}

/// A drop before a fork is a loss for all subscribers behind it, and for no other one.
#[test]
fn a_lost_frame_is_lost_for_all_subscribers_behind() {
    let overload = r#"
[[cross_traffic]]
name = "one"
from = "camera"
to = "panel"
payload = "1000 B"
rate = "60 Mbit/s"
pcp = 3
[[cross_traffic]]
name = "other"
from = "near"
to = "robot"
payload = "1000 B"
rate = "60 Mbit/s"
pcp = 3
[[ports]]
node = "b1"
to = "b2"
discipline = "short"
[disciplines.short]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], limit = 10 }, { name = "rest" }]
"#;
    let scenario = parse(&press(overload));
    let mut seen = Seen::default();
    let results = Simulation::new(&scenario, ieee(&scenario, 500)).run(&mut seen);
    let [robot, panel, near] = &results.flows[..3] else {
        panic!("three branches")
    };
    assert!(robot.all_lost() > 10, "{}", robot.all_lost());
    assert_eq!(robot.lost, panel.lost);
    assert_eq!((near.all_lost(), near.received), (0, 500));
    for flow in [robot, panel] {
        assert_eq!((flow.sent, flow.received + flow.all_lost()), (500, 500));
    }
    assert!(seen.ends.values().all(|ends| ends.len() == 1));
    let counters = results.applications[0].all_counters();
    // Losses at the end of the run are behind the last counter.
    assert!(counters.missed <= 2 * robot.all_lost() && counters.missed > 0);
}

/// Each message passes each port of its tree once, and arrives at each subscriber once.
#[test]
fn random_trees_carry_each_message_once() {
    let mut random = Random::new(31, 0);
    let (mut compared, mut forks) = (0, 0);
    while compared < 60 {
        let text = scenario(Kind::Mqprio, false, Drifts::Own, &mut random);
        let text = multicast(&text, &mut random);
        let scenario = parse(&text);
        compared += 1;
        let mut options = ieee(&scenario, 20);
        options.model = [Model::Ieee, Model::Linux][compared % 2];
        let mut seen = Seen::default();
        let results = Simulation::new(&scenario, options).run(&mut seen);
        for (index, application) in scenario.applications.iter().enumerate() {
            let id = ApplicationIndex(index);
            let flows = scenario.flows().iter();
            let own = flows.filter(|flow| flow.source.application() == Some(id));
            let own: Vec<_> = own.collect();
            if application.receiver.loopback().is_some() {
                continue;
            }
            assert_eq!(own.len(), application.receiver.nodes().len());
            forks += own.len() - 1;
            let ports: BTreeSet<PortIndex> = own
                .iter()
                .flat_map(|flow| flow.ports.iter().copied())
                .collect();
            let owned: Vec<PortIndex> = own
                .iter()
                .flat_map(|flow| flow.own_ports().iter().copied())
                .collect();
            assert_eq!(owned.len(), ports.len(), "{text}");
            assert_eq!(owned.into_iter().collect::<BTreeSet<_>>(), ports, "{text}");
            let mut passages = seen.passages.iter().filter(|((of, ..), _)| *of == id);
            assert!(passages.all(|(_, count)| *count == 1), "{text}");
            for counter in 0..20 {
                let passed = seen.passages.keys();
                let passed = passed.filter(|(of, number, _)| (*of, *number) == (id, counter));
                let passed: BTreeSet<PortIndex> = passed.map(|(.., port)| *port).collect();
                assert_eq!(passed, ports, "{text}");
                for flow in &own {
                    let ends = seen.ends.get(&(flow.source, counter));
                    assert_eq!(ends, Some(&vec![MessageOutcome::Arrived]), "{text}");
                }
            }
        }
        for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
            if flow.source.application().is_some() {
                assert_eq!((statistics.sent, statistics.received), (20, 20), "{text}");
                let hops = statistics.hops.iter().map(|hop| hop.count);
                assert!(hops.eq(flow.ports.iter().map(|_| 20)), "{text}");
            }
        }
    }
    assert!(forks > 50, "{forks}");
}

/// The search for the worst case finds no delay above a bound, in the model of IEEE 802.1Q and in that of Linux.
#[test]
fn the_search_finds_no_delay_above_a_bound() {
    let software = Realisation::Software { driver_queue: 1 };
    let mut near = 0;
    let mut branches = 0;
    for (realisation, model, seed) in [
        (Realisation::Ieee, Model::Ieee, 41),
        (software, Model::Linux, 42),
    ] {
        let mut random = Random::new(seed, 0);
        let mut compared = 0;
        while compared < 18 {
            let (kind, etf) = kind(compared);
            let text = scenario(kind, etf, Drifts::Own, &mut random);
            let text = multicast(&text, &mut random);
            let Ok(scenario) = Scenario::parse(&text, "random.toml") else {
                continue;
            };
            let mut analyses = vec![Analysis::TotalFlowShaped, Analysis::Schedule];
            if !is_gated(&scenario) {
                analyses.push(Analysis::SeparateFlow);
            }
            // Linear programmes of many flows take long.
            if !is_gated(&scenario) && scenario.flows().len() < 8 {
                analyses.push(Analysis::PolynomialLinearProgram);
            }
            let bounds = match bounds(&scenario, realisation, &analyses) {
                Ok(bounds) => bounds,
                Err(ScenarioBoundsError::NotModelled { .. }) => {
                    compared += 1;
                    continue;
                }
                Err(error) => panic!("{error}\n{text}"),
            };
            compared += 1;
            let mut options = ieee(&scenario, 16);
            options.model = model;
            options.simulation.seed = random.bits();
            let tries = 20 * scenario.flows().len() as u64;
            let worst = search(
                &scenario,
                &options,
                &kept(&scenario, &bounds),
                tries,
                |_| true,
            );
            for (flow, found) in scenario.flows().iter().zip(&worst.flows) {
                let (Some(Extended::Finite(bound)), Some(found)) =
                    (bounds.of_way(flow.source), found)
                else {
                    continue;
                };
                let bound = (bound * Rational::from(1_000_000_000_000u64))
                    .to_f64()
                    .value();
                let delay = found.delay.as_picoseconds() as f64;
                let rounding = 4.0 * flow.ports.len() as f64;
                assert!(
                    delay <= bound + rounding,
                    "{realisation:?} {:?}: found {delay} ps, bound {bound} ps\n{text}",
                    flow.source
                );
                if flow.fork.is_some() {
                    branches += 1;
                    near += u32::from(bound < 1.5 * delay);
                }
            }
        }
    }
    eprintln!("{near} of {branches} bounds of branches are below 1.5 times the found delay");
    assert!(branches > 10, "{branches}");
    // Otherwise bounds would be so loose that the comparison shows nothing.
    assert!(2 * near > branches, "{near} of {branches}");
}

/// Without one of its subscribers, an application gives no other way a longer bound. Total Flow Analysis is monotonic; reservations of
/// shapers would follow from the flows, so disciplines are without them.
#[test]
fn a_branch_less_raises_no_bound() {
    let mut random = Random::new(51, 0);
    let (mut compared, mut lowered, mut same) = (0, 0u32, 0u32);
    while compared < 40 {
        let kind = [Kind::Mqprio, Kind::UnshapedAbove, Kind::FqCodel][compared % 3];
        let text = scenario(kind, false, Drifts::Own, &mut random);
        let text = multicast(&text, &mut random);
        let scenario = parse(&text);
        let mut lines: Vec<&str> = text.lines().collect();
        let several = |line: &&str| line.starts_with("subscribers = ") && line.contains(',');
        let Some(place) = lines.iter().position(several) else {
            continue;
        };
        compared += 1;
        let list = lines[place]
            .trim_start_matches("subscribers = [")
            .trim_end_matches(']');
        let mut nodes: Vec<&str> = list.split(", ").collect();
        let index = random.below(nodes.len() as u64);
        nodes.remove(usize::try_from(index).unwrap());
        let shorter = format!("subscribers = [{}]", nodes.join(", "));
        lines[place] = &shorter;
        let fewer = parse(&lines.join("\n"));
        for analysis in [Analysis::TotalFlow, Analysis::TotalFlowShaped] {
            let all = bounds(&scenario, Realisation::Ieee, &[analysis]).unwrap();
            let fewer_bounds = bounds(&fewer, Realisation::Ieee, &[analysis]).unwrap();
            // A way is known by its source's application or number, and by its end: the index of a branch may change.
            let way = |scenario: &Scenario, source: FlowSource| {
                let flow = scenario.flow(source).unwrap();
                let cross = source.application().is_none().then_some(source);
                (source.application(), cross, *flow.ports.last().unwrap())
            };
            for flow in fewer_bounds.flows {
                let wanted = way(&fewer, flow.source);
                let mut known = all.flows.iter();
                let known = known.find(|known| way(&scenario, known.source) == wanted);
                let before = &known.unwrap().delay;
                assert!(
                    flow.delay <= *before,
                    "{}: {:?} above {before:?}\n{text}",
                    flow.name,
                    flow.delay
                );
                match flow.delay < *before {
                    true => lowered += 1,
                    false => same += 1,
                }
            }
        }
    }
    eprintln!("{lowered} bounds are lower, {same} the same");
    assert!(lowered > 5 && same > 5, "{lowered}, {same}");
}
