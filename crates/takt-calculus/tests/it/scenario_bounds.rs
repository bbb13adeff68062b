//! Bounds of scenario files: the paper's tables, and sound bounds.

use std::path::PathBuf;

use takt_calculus::{
    Extended, FlowBound, Frame, LineNetwork, Rational, Realisation, RoundTripModel, ScenarioBounds,
    scenario_bounds, scenario_bounds_with,
};
use takt_scenario::{Analysis, BoundsModel, Scenario, ScenarioFile, ScenarioVariant};

use crate::table_iv::TABLE_IV;

fn shipped(name: &str) -> Vec<ScenarioVariant> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let file = ScenarioFile::parse(&text, &path.to_string_lossy()).unwrap();
    file.variants().unwrap()
}

fn bounds_of(scenario: &Scenario, realisation: Realisation) -> ScenarioBounds {
    let (sound, analyses) = (BoundsModel::Sound, [Analysis::TotalFlow]);
    scenario_bounds_with(scenario, sound, realisation, &analyses, &mut |_, _| {}).unwrap()
}

fn bounds(scenario: &Scenario, model: BoundsModel) -> ScenarioBounds {
    scenario_bounds(scenario, model, &[Analysis::TotalFlow]).unwrap()
}

fn micros(delay: &Extended) -> Option<i64> {
    let delay = delay.finite()?.clone() * Rational::from(1_000_000);
    Some(i64::try_from(delay.floor()).unwrap())
}

#[test]
fn table_iv() {
    let found: Vec<Option<i64>> = shipped("line.toml")
        .iter()
        .map(|variant| {
            micros(&bounds(&variant.scenario, variant.scenario.bounds.model).flows[0].delay)
        })
        .collect();
    let expected: Vec<Option<i64>> = TABLE_IV.into_iter().flatten().map(Some).collect();
    assert_eq!(found, expected);
}

/// Fig. 6: bounds are infinite at −5 % from 617 B on, and at −3 % from 1193 B on. With one unit, they are always infinite if less
/// is reserved than is sent.
#[test]
fn infinite_bounds() {
    for variant in shipped("line-provisioning.toml") {
        let (share, size) = (
            variant.settings[0].1.as_str(),
            variant.scenario.flows()[0].frame.payload(),
        );
        let paper = bounds(&variant.scenario, BoundsModel::Paper);
        let expected = match share {
            "-5%" => size >= 617,
            "-3%" => size >= 1193,
            _ => false,
        };
        assert_eq!(
            paper.flows[0].delay == Extended::Infinity,
            expected,
            "{share}, {size} B"
        );
        let sound = bounds(&variant.scenario, BoundsModel::Sound);
        assert_eq!(
            sound.flows[0].delay == Extended::Infinity,
            share.starts_with('-'),
            "{share}, {size} B"
        );
        if let Some(infinite) = &sound.flows[0].infinite {
            assert_eq!(infinite.port, "host1 \u{2192} bridge1");
            assert!(
                infinite.reason.contains(if share == "-5%" {
                    "5.26 % too much"
                } else {
                    "3.09 % too much"
                }),
                "{infinite}"
            );
        }
    }
}

/// A line of shapers has an analysis of its own; whole frames and shaping make this one not worse.
#[test]
fn sound_bounds_are_those_of_a_line_or_less() {
    for variant in shipped("line.toml") {
        let flow = &variant.scenario.flows()[0];
        let hops = u32::try_from(flow.ports.len()).unwrap();
        let line = LineNetwork::new(hops, flow.frame, RoundTripModel::SOUND)
            .round_trip()
            .unwrap()
            .delay;
        let analyses = &Analysis::ALL;
        let found = scenario_bounds(&variant.scenario, BoundsModel::Sound, &analyses[..2]).unwrap();
        let least = &found.flows[0].delay;
        let said = format!(
            "{:?} {:?} {:?}",
            variant.settings,
            micros(least),
            micros(&line)
        );
        assert!(*least <= line, "{said}");
        // Frames meet no other, and nothing varies, so that they come back as regularly: one frame out, the loopback, one frame
        // back.
        if (hops, flow.frame.payload()) == (1, 59) {
            assert_eq!(micros(least), Some(575 + 1), "{said}");
        }
        assert_eq!(found.flows[0].queues.len(), 2 * flow.ports.len());
    }
}

#[test]
fn lower_priority_frames_count_if_the_scenario_allows_them() {
    let text = |lower: &str| {
        format!(
            "version = 1\ndiscipline = \"p\"\n[topology]\nkind = \"p2p\"\n[disciplines.p]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3] }}, \
         {{ name = \"B\" }}]\n[[applications]]\nname = \"a\"\npublisher = \"host1\"\nsubscriber = \"host2\"\ncycle = \"1 ms\"\npayload = \"59 B\"\n[bounds]\n{lower}"
        )
    };
    let delay = |lower: &str| {
        let file = ScenarioFile::parse(&text(lower), "test.toml").unwrap();
        bounds(file.scenario(), BoundsModel::Sound).flows[0]
            .delay
            .clone()
    };
    let nanos =
        |nanos: u32| Extended::Finite(Rational::from_parts(nanos.into(), 1_000_000_000u32.into()));
    assert_eq!(delay(""), nanos(808));
    assert_eq!(delay("lower_priority = \"1542 B\""), nanos(808 + 12_336));
    let frame = Frame::new(59).unwrap();
    assert_eq!(frame.physical() * 8, 808);
}

#[test]
fn every_shipped_scenario_has_bounds() {
    for (name, finite) in [
        ("e3", true),
        ("d", true),
        ("line-taprio", true),
        ("line-taprio-device", true),
        ("line-multiflow", true),
    ] {
        for variant in shipped(&format!("{name}.toml")) {
            let bounds = bounds(&variant.scenario, BoundsModel::Sound);
            let flow = &bounds.flows[0];
            assert_eq!(
                flow.delay.finite().is_some(),
                finite,
                "{name} {:?}: {:?}",
                variant.settings,
                flow.infinite
            );
            assert!(flow.jitter < flow.delay);
        }
    }
}

/// Fig. 8 of the paper measures 1 to 2.5 ms over seven hops. Without delays of bridges, the sound bounds are 586 to 746 µs, and the
/// assumption is named; with the measured delays they are above the figure.
#[test]
fn bounds_with_measured_delays_are_above_the_measurement() {
    for (name, range, is_assumed) in [
        ("line.toml", 586..747, true),
        ("line-delays.toml", 2_896..3_057, false),
    ] {
        let variants = shipped(name);
        let seven = variants.iter().filter(|it| it.settings[0].1 == "7");
        for (index, variant) in seven.enumerate() {
            let scenario = &variant.scenario;
            let analyses = &scenario.bounds.analyses;
            let bounds = scenario_bounds(scenario, BoundsModel::Sound, analyses).unwrap();
            let delay = micros(&bounds.flows[0].delay).unwrap();
            assert!(range.contains(&delay), "{name} {index}: {delay}");
            let mut assumptions = bounds.assumptions.iter();
            let is_named = assumptions.any(|it| it.contains("`forwarding_delay`"));
            assert_eq!(is_named, is_assumed, "{name}");
        }
    }
    // There is no bridge.
    let bounds = bounds(&shipped("e3.toml")[0].scenario, BoundsModel::Sound);
    let mut assumptions = bounds.assumptions.iter();
    assert!(!assumptions.any(|it| it.contains("`forwarding_delay`")));
}

/// A message is sent when the first window opens, and the window of each hop opens 20 µs later: the message leaves the third
/// after 40 µs. The loopback takes it in the same cycle, and sends it at the end of that cycle.
#[test]
fn a_schedule_is_known_where_clocks_agree() {
    let text = "version = 1\ndiscipline = \"gates\"\n[topology]\nkind = \"line\"\nhops = 3\nshift_per_hop = \"20 us\"\n\
        [disciplines.gates]\nscheduler = \"taprio\"\nclasses = [{ name = \"A\", priorities = [3] }, { name = \"B\" }]\n\
        entries = [{ gates = [\"A\"], interval = \"15 us\" }, { gates = [\"B\"], interval = \"235 us\" }]\n\
        [[applications]]\nname = \"control\"\npublisher = \"host1\"\nloopback = \"host2\"\ncycle = \"250 us\"\npayload = \"59 B\"\n";
    let mut scenario = ScenarioFile::parse(text, "test.toml")
        .unwrap()
        .scenario()
        .clone();
    let flow = |scenario: &Scenario, analyses: &[Analysis]| {
        scenario_bounds(scenario, BoundsModel::Sound, analyses)
            .unwrap()
            .flows[0]
            .clone()
    };
    let scheduled = flow(&scenario, &Analysis::ALL);
    assert_eq!(
        micros(&scheduled.delay),
        Some(250 + 40),
        "{:?}",
        scheduled.answers
    );
    // Each way is scheduled by itself: a frame leaves the third window 40 us after the first one opened.
    let bounds = scenario_bounds(&scenario, BoundsModel::Sound, &Analysis::ALL).unwrap();
    let ways = scenario.flows().iter();
    let ways: Vec<Option<i64>> = ways
        .map(|way| micros(bounds.of_way(way.source).unwrap()))
        .collect();
    assert_eq!(ways[0], Some(40), "{ways:?}");
    assert!(ways[1] < Some(250), "{ways:?}");
    let others = flow(
        &scenario,
        &[Analysis::TotalFlowShaped, Analysis::SeparateFlow],
    );
    assert!(
        micros(&others.delay) > Some(1000),
        "{:?}",
        micros(&others.delay)
    );
    scenario.nodes[0].clock.drift = "1 ppm".parse().unwrap();
    let drifting = flow(&scenario, &[Analysis::SeparateFlow, Analysis::Schedule]);
    assert_eq!(
        drifting.answers[1].1,
        Err("the clocks of nodes drift".to_owned())
    );
    assert_eq!(
        drifting.delay,
        flow(&scenario, &[Analysis::SeparateFlow]).delay
    );
}

/// A scenario with two hosts at a link, one port discipline, and one application in class `A` of it.
fn two_hosts(discipline: &str, application: &str) -> Scenario {
    let text = format!(
        "version = 1\ndiscipline = \"d\"\n[topology]\nkind = \"p2p\"\n[disciplines.d]\n{discipline}\n[[applications]]\nname = \"a\"\n\
         publisher = \"host1\"\nsubscriber = \"host2\"\ncycle = \"1 ms\"\npayload = \"58 B\"\n{application}"
    );
    let file = ScenarioFile::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    file.scenario().clone()
}

fn delay(scenario: &Scenario) -> Result<Option<Rational>, String> {
    let bounds = scenario_bounds(scenario, BoundsModel::Sound, &[Analysis::TotalFlow]);
    let delay = bounds.map_err(|error| error.to_string())?.flows[0]
        .delay
        .clone();
    Ok(delay.finite().cloned())
}

fn nanoseconds(nanoseconds: u32) -> Result<Option<Rational>, String> {
    Ok(Some(Rational::from_parts(
        nanoseconds.into(),
        1_000_000_000u32.into(),
    )))
}

/// A frame takes 800 ns. In the worst case it comes when it cannot begin any more. Gates of Linux close when the guard band begins.
#[test]
fn windows_with_guard_bands_and_with_txtimes() {
    let gates = |more: &str, queue: &str, entries: &str| {
        let classes = format!(
            "classes = [{{ name = \"A\", priorities = [3]{queue} }}, {{ name = \"B\"{queue} }}]"
        );
        delay(&two_hosts(
            &format!("scheduler = \"taprio\"\n{classes}\n{more}\nentries = [{entries}]"),
            "",
        ))
    };
    let entry = |gates: &str, us: u32| format!("{{ gates = [{gates}], interval = \"{us} us\" }}");
    let half = [entry("\"A\"", 50), entry("\"B\"", 50)].join(", ");
    assert_eq!(gates("", "", &half), nanoseconds(50_000 + 2 * 800));
    assert_eq!(
        gates("guard_band = \"500 ns\"", "", &half),
        nanoseconds(50_000 + 500 + 2 * 800)
    );
    assert_eq!(
        gates("guard_band = \"20 us\"", "", &half),
        nanoseconds(50_000 + 20_000 + 2 * 800)
    );
    // Gates that do not close between entries; a txtime is in one of them.
    let (etf, assist) = (", queue = \"etf\"", "txtime_assist = \"30 us\"");
    let parts = [entry("\"A\"", 1), entry("\"A\"", 1), entry("\"B\"", 98)].join(", ");
    assert_eq!(gates("", "", &parts), nanoseconds(98_000 + 2 * 800));
    assert_eq!(
        gates(assist, etf, &parts),
        nanoseconds(30_000 + 98_000 + 2 * 800)
    );
    let refused = |more: &str, queue: &str, entries: &str| gates(more, queue, entries).unwrap_err();
    let early = "host1 \u{2192} host2: frames of `A` would be sent before the times of txtime_assist: only etf with offload waits for these times";
    assert_eq!(refused(assist, "", &half), early);
    assert_eq!(
        refused(assist, ", queue = \"etf\", offload = false", &half),
        early
    );
    let scenario = two_hosts(
        &format!("scheduler = \"taprio\"\nclasses = [{{ name = \"A\"{etf} }}]\n{assist}\nentries = [{half}]").replace("\"B\"", ""),
        "txtime = true",
    );
    assert!(
        delay(&scenario)
            .unwrap_err()
            .contains("frames with their own txtimes below txtime_assist")
    );
}

/// A frame of 800 ns that just does not fit into its window any more waits for the closed gate, once.
#[test]
fn a_shaper_behind_gates_waits_for_the_gate_once() {
    let scenario = two_hosts(
        "scheduler = \"taprio\"\nclasses = [{ name = \"A\", priorities = [3], queue = \"cbs\", idle_slope = \"10 Mbit/s\" }, { name = \"B\" }]\n\
         entries = [{ gates = [\"A\"], interval = \"250 us\" }, { gates = [\"B\"], interval = \"250 us\" }]",
        "",
    );
    assert_eq!(delay(&scenario), nanoseconds(250_000 + 2 * 800));
}

#[test]
fn classes_that_share_txtimes_have_no_bounds() {
    let text = "version = 1\ndiscipline = \"d\"\n[topology]\nkind = \"p2p\"\n[disciplines.d]\nscheduler = \"taprio\"\ntxtime_assist = \"1 us\"\n\
        classes = [{ name = \"A\", priorities = [3], queue = \"etf\" }, { name = \"B\", queue = \"etf\" }]\n\
        entries = [{ gates = [\"A\", \"B\"], interval = \"50 us\" }]\n\
        [[cross_traffic]]\nname = \"x\"\nfrom = \"host1\"\nto = \"host2\"\npayload = \"100 B\"\ninterval = \"1 ms\"\n\
        [[cross_traffic]]\nname = \"y\"\nfrom = \"host1\"\nto = \"host2\"\npayload = \"100 B\"\ninterval = \"1 ms\"\npcp = 3\n";
    let scenario = ScenarioFile::parse(text, "test.toml").unwrap();
    assert_eq!(
        delay(scenario.scenario()).unwrap_err(),
        "host1 \u{2192} host2: class A and class B share a window: txtime-assist does not order their frames by priority"
    );
}

/// Threads that may be late by 10 µs make a message 400 µs before it is sent.
#[test]
fn etf_that_is_given_frames_in_time() {
    let etf = |queue: &str| {
        let mut scenario = two_hosts(
            &format!(
                "scheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3], queue = \"etf\", {queue} }}, {{ name = \"B\" }}]"
            ),
            "",
        );
        scenario.nodes[0].wake_up_latency =
            takt_scenario::Distribution::Constant("10 us".parse().unwrap());
        delay(&scenario)
    };
    assert_eq!(etf("delta = \"400 us\""), nanoseconds(800));
    assert_eq!(etf("delta = \"390 us\", offload = false"), nanoseconds(800));
    let refused = |queue: &str| etf(queue).unwrap_err();
    assert!(
        refused("delta = \"391 us\", offload = false").contains("sent late and in another order")
    );
    assert!(refused("delta = \"401 us\"").contains("frames that are dropped"));
    assert!(refused("deadline_mode = true").contains("in the order of deadlines"));
    let fifo = two_hosts("scheduler = \"fq_codel\"", "txtime = true");
    assert!(
        delay(&fifo)
            .unwrap_err()
            .contains("no etf holds them until then")
    );
}

/// Beside other traffic in bursts, a message waits for one full frame at each port with FQ_CoDel, even if the link is
/// overloaded: 101 and 1542 B on the wire at 1 Gbit/s, twice, and up to 47.3 µs in the bridge.
#[test]
fn a_flow_of_fq_codel_that_sends_little_waits_for_one_frame_of_another() {
    let one_way = (8 * (101 + 1542) * 2 + 47_300, 1_000_000_000u32);
    let one_way = Rational::from_parts(one_way.0.into(), one_way.1.into());
    let mut compared = 0;
    for variant in ["b.toml", "b-tcp.toml"].into_iter().flat_map(shipped) {
        let settings = [
            variant.settings[0].1.as_str(),
            variant.settings[1].1.as_str(),
        ];
        if settings[0] != "fq_codel" || settings[1] == "0 bit/s" {
            continue;
        }
        let source = variant.scenario.flows()[0].source;
        let ieee = bounds_of(&variant.scenario, Realisation::Ieee);
        let way = ieee.of_way(source).unwrap();
        assert_eq!(*way, Extended::Finite(one_way.clone()), "{settings:?}");
        // In Linux, frames that pass the queue come in addition.
        let bounds = bounds(&variant.scenario, BoundsModel::Sound);
        assert!(bounds.of_way(source).unwrap() >= way, "{settings:?}");
        assert_ne!(bounds.flows[0].delay, Extended::Infinity);
        assert!(
            bounds
                .assumptions
                .iter()
                .any(|text| text.contains("FQ_CoDel"))
        );
        compared += 1;
    }
    assert_eq!(compared, 8);
}

/// More flows than queues share queues, so that any frame may be sent last.
#[test]
fn flows_of_fq_codel_that_share_a_queue_wait_for_each_other() {
    let delay = |queues: &str, realisation| {
        let text = format!(
            "version = 1\ndiscipline = \"fair\"\n[disciplines.fair]\nscheduler = \"fq_codel\"\nflows = {queues}\n\
             [[nodes]]\nname = \"h0\"\n[[nodes]]\nname = \"h1\"\n\
             [[links]]\nends = [\"h0\", \"h1\"]\nrate = \"1 Gbit/s\"\n\
             [[applications]]\nname = \"control\"\npublisher = \"h0\"\nsubscriber = \"h1\"\n\
             cycle = \"1 ms\"\nfields = 3\n\
             [[cross_traffic]]\nname = \"bulk\"\nfrom = \"h0\"\nto = \"h1\"\n\
             payload = \"1500 B\"\nrate = \"100 Mbit/s\"\n\
             pattern = {{ burst = 10 }}\n"
        );
        let scenario = Scenario::parse(&text, "fair.toml").unwrap();
        let bounds = bounds_of(&scenario, realisation);
        let is_assumed = bounds
            .assumptions
            .iter()
            .any(|text| text.contains("FQ_CoDel"));
        (bounds.flows[0].delay.clone(), is_assumed)
    };
    let bits =
        |bits: u32| Extended::Finite(Rational::from_parts(bits.into(), 1_000_000_000u32.into()));
    let linux = Realisation::Linux { driver_queue: 1 };
    assert_eq!(
        delay("2", Realisation::Ieee),
        (bits(8 * (101 + 1542)), true)
    );
    // Three frames have passed the queue, and the fourth one has its turn.
    assert_eq!(delay("2", linux), (bits(8 * (101 + 4 * 1542)), true));
    assert_eq!(delay("1", linux), (bits(8 * (101 + 10 * 1542)), false));
}

/// Three hosts send to a fourth over a bridge, each a frame of 808 bit in a millisecond. Late threads make messages come together
/// only if they are late by a cycle. With leaky buckets each microsecond would count.
#[test]
fn lateness_below_a_cycle_makes_no_burst() {
    let delay = |late: &str| {
        let mut text = "version = 1\ndiscipline = \"p\"\n[disciplines.p]\nscheduler = \"mqprio\"\nclasses = [{ name = \"A\", priorities = [3] }, { name = \"B\" }]\n\
            [[nodes]]\nname = \"bridge\"\nkind = \"bridge\"\n"
            .to_owned();
        for host in 0..4 {
            text += &format!(
                "[[nodes]]\nname = \"h{host}\"\nwake_up_latency = {{ least = \"0 us\", most = \"{late}\" }}\n\
                [[links]]\nends = [\"h{host}\", \"bridge\"]\nrate = \"1 Gbit/s\"\n"
            );
        }
        for host in 0..3 {
            text += &format!(
                "[[applications]]\nname = \"a{host}\"\npublisher = \"h{host}\"\nsubscriber = \"h3\"\ncycle = \"1 ms\"\npayload = \"59 B\"\npcp = 3\n"
            );
        }
        let file = ScenarioFile::parse(&text, "test.toml").unwrap();
        bounds(file.scenario(), BoundsModel::Sound).flows[0]
            .delay
            .clone()
    };
    let nanos =
        |nanos: u32| Extended::Finite(Rational::from_parts(nanos.into(), 1_000_000_000u32.into()));
    assert_eq!(delay("0 us"), nanos(808 * (1 + 3)));
    assert_eq!(delay("990 us"), nanos(990_000 + 808 * (1 + 3)));
    assert_eq!(delay("1 ms"), nanos(1_000_000 + 808 * (2 + 6)));
}

/// Bounds of one message in each cycle over one bridge, with shapers. `publisher` and `bridge` are fields of these nodes, `class`
/// fields of the shaped class.
fn shaped_line(publisher: &str, bridge: &str, class: &str) -> FlowBound {
    let text = format!(
        r#"version = 1
        discipline = "cbs"
        nodes = [{{ name = "a"{publisher} }}, {{ name = "b", kind = "bridge"{bridge} }}, {{ name = "c" }}]
        links = [{{ ends = ["a", "b"] }}, {{ ends = ["b", "c"] }}]
        [disciplines.cbs]
        scheduler = "mqprio"
        classes = [{{ name = "A", priorities = [3], queue = "cbs"{class} }}, {{ name = "rest" }}]
        [[applications]]
        name = "control"
        publisher = "a"
        subscriber = "c"
        cycle = "250 us"
        repeated_node_count = 2
        "#
    );
    let scenario = Scenario::parse(&text, "shaped.toml").unwrap();
    let bounds = scenario_bounds(&scenario, BoundsModel::Sound, &[Analysis::TotalFlow]);
    bounds.unwrap().flows.remove(0)
}

/// A Publisher whose clock is 100 ppm fast sends 100 ppm more than an idleSlope of one frame in each cycle carries, and a bridge
/// with a slow clock shapes to less.
#[test]
fn clocks_that_drift_count() {
    let (none, fast, slow) = (
        "",
        ", clock = { drift = \"100 ppm\" }",
        ", clock = { drift = \"-100 ppm\" }",
    );
    let delay = |publisher, bridge, class| shaped_line(publisher, bridge, class).delay;
    assert!(delay(none, none, none).finite().is_some());
    // The Publisher's own port has the same clock as its cycle.
    let infinite = shaped_line(fast, none, none);
    assert_eq!(infinite.delay, Extended::Infinity);
    assert!(infinite.infinite.unwrap().port.starts_with('b'));
    assert_eq!(delay(none, slow, none), Extended::Infinity);
    assert!(delay(fast, fast, none).finite().is_some());
    assert!(delay(slow, none, none).finite().is_some());
    let enough = ", provisioning = \"1%\"";
    assert!(delay(fast, slow, enough).finite().is_some());
}

/// A sendSlope above the rest of the link's rate makes a shaper slower: an idleSlope `R` carries `R C / (R + S)`, here less than
/// one message in each cycle needs at first.
#[test]
fn a_send_slope_of_the_file_counts() {
    let delay = |class| shaped_line("", "", class).delay;
    assert_eq!(delay(", send_slope = \"1 Gbit/s\""), Extended::Infinity);
    // The usual slopes are 10 and 990 Mbit/s; 10 and 1990 carry half, which still suffices for 3.2 Mbit/s.
    let usual = delay(", idle_slope = \"10 Mbit/s\"");
    assert_eq!(
        delay(", idle_slope = \"10 Mbit/s\", send_slope = \"990 Mbit/s\""),
        usual
    );
    let slower = delay(", idle_slope = \"10 Mbit/s\", send_slope = \"1990 Mbit/s\"");
    assert_eq!(slower, delay(", idle_slope = \"5 Mbit/s\""));
}

/// Control traffic without a shaper above a shaped class: it reduces the rate of the shaped class by its own, down to nothing.
#[test]
fn a_shaper_below_a_class_without_one_has_a_bound() {
    let bounds = |control: &str, slope: &str| {
        let text = format!(
            r#"version = 1
            discipline = "stack"
            nodes = [{{ name = "a" }}, {{ name = "c" }}]
            links = [{{ ends = ["a", "c"] }}]
            [disciplines.stack]
            scheduler = "mqprio"
            classes = [
                {{ name = "control", priorities = [5] }},
                {{ name = "A", priorities = [3], queue = "cbs", idle_slope = "{slope}" }},
                {{ name = "rest" }},
            ]
            [[applications]]
            name = "stream"
            publisher = "a"
            subscriber = "c"
            cycle = "250 us"
            repeated_node_count = 2
            [[cross_traffic]]
            name = "control"
            from = "a"
            to = "c"
            payload = "1482 B"
            pcp = 5
            rate = "{control}"
            pattern = {{ burst = 2 }}
            "#
        );
        let scenario = Scenario::parse(&text, "stack.toml").unwrap();
        scenario_bounds(&scenario, BoundsModel::Sound, &[Analysis::TotalFlowShaped]).unwrap()
    };
    let delay = |control, slope| {
        let delay = bounds(control, slope).flows[0].delay.clone();
        delay
            .finite()
            .map(|delay| (delay * Rational::from(1_000_000_000)).to_f64().value())
    };
    // The delay covers at least two frames of 1524 B, and one of 101 B.
    let shaped = delay("100 Mbit/s", "50 Mbit/s").unwrap();
    assert!(shaped >= 2.0 * 12_192.0 + 808.0, "{shaped}");
    assert!(shaped < 100_000.0, "{shaped}");
    assert!(delay("600 Mbit/s", "50 Mbit/s").unwrap() > shaped);
    assert_eq!(delay("1.2 Gbit/s", "50 Mbit/s"), None);
    let overloaded = bounds("1.2 Gbit/s", "50 Mbit/s");
    let classes = overloaded.flows.iter().map(|flow| {
        let why = flow.infinite.as_ref().unwrap();
        why.class.as_str()
    });
    assert_eq!(classes.collect::<Vec<_>>(), ["A", "control"]);
}

/// Behind an overloaded port, arrivals are limited by the port's output.
#[test]
fn the_reason_names_the_port_that_is_overloaded() {
    let text = r#"version = 1
        discipline = "fifo"
        nodes = [{ name = "a" }, { name = "b", kind = "bridge" }, { name = "c", kind = "bridge" }, { name = "d" }]
        links = [
            { ends = ["a", "b"], rate = "1 Gbit/s" },
            { ends = ["b", "c"], rate = "900 Mbit/s" },
            { ends = ["c", "d"], rate = "800 Mbit/s" },
        ]
        [disciplines.fifo]
        scheduler = "mqprio"
        classes = [{ name = "all" }]
        [[cross_traffic]]
        name = "too much"
        from = "a"
        to = "d"
        payload = "1482 B"
        rate = "1200 Mbit/s"
        "#;
    let scenario = Scenario::parse(text, "overload.toml").unwrap();
    let bounds = scenario_bounds(&scenario, BoundsModel::Sound, &[Analysis::TotalFlowShaped]);
    let bounds = bounds.unwrap();
    let reason = |queue: usize| {
        bounds.queues[queue]
            .infinite
            .as_ref()
            .unwrap()
            .reason
            .clone()
    };
    assert!(reason(0).starts_with("1200 Mbit/s arrive"), "{}", reason(0));
    assert!(reason(1).starts_with("1000 Mbit/s arrive"), "{}", reason(1));
    assert!(reason(2).starts_with("900 Mbit/s arrive"), "{}", reason(2));
}

/// The progress of analyses is reported once before each flow.
#[test]
fn progress_is_reported_for_each_flow() {
    let scenario = &shipped("line-multiflow.toml")[0].scenario;
    let mut reported = Vec::new();
    let mut progress = |flow, of| reported.push((flow, of));
    let bounds = scenario_bounds_with(
        scenario,
        BoundsModel::Sound,
        Realisation::default(),
        &[Analysis::TotalFlow],
        &mut progress,
    );
    let flows = bounds.unwrap().flows.len();
    let expected: Vec<_> = (0..flows).map(|flow| (flow, flows)).collect();
    assert_eq!(reported, expected);
}

/// Errors contain the file's names of classes.
#[test]
fn errors_have_the_names_of_the_file() {
    let text = r#"version = 1
        discipline = "cbs"
        nodes = [{ name = "a" }, { name = "b" }]
        links = [{ ends = ["a", "b"] }]
        [disciplines.cbs]
        scheduler = "mqprio"
        classes = [
            { name = "unused", priorities = [7] },
            { name = "audio", priorities = [3], queue = "cbs", lo_credit = "-1 B" },
            { name = "rest" },
        ]
        [[applications]]
        name = "stream"
        publisher = "a"
        subscriber = "b"
        cycle = "250 us"
        repeated_node_count = 2
        "#;
    let file = ScenarioFile::parse(text, "names.toml").unwrap();
    let variant = &file.variants().unwrap()[0];
    let error = scenario_bounds(
        &variant.scenario,
        BoundsModel::Sound,
        &[Analysis::TotalFlow],
    );
    let error = error.unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("a \u{2192} b: class audio: credit of "),
        "{said}"
    );
    let in_file = file.error_at(variant, error.part().unwrap(), said);
    let mistake = &in_file.mistakes[0];
    assert_eq!(mistake.line, 9);
    assert_eq!(&text[mistake.span.clone()], "\"audio\"");
    assert!(
        in_file
            .to_string()
            .starts_with("names.toml: line 9, column 22: a \u{2192} b: class audio: credit of "),
        "{in_file}"
    );
}

/// An error of the calculus in a swept variant has a line and the swept value.
#[test]
fn errors_have_the_line_of_the_class_and_the_swept_value() {
    let text = r#"version = 1
        discipline = "d"
        [topology]
        kind = "p2p"
        [disciplines.d]
        scheduler = "mqprio"
        classes = [{ name = "A", priorities = [3], queue = "etf" }, { name = "B" }]
        [[applications]]
        name = "a"
        publisher = "host1"
        subscriber = "host2"
        cycle = "1 ms"
        payload = "58 B"
        [[sweeps]]
        parameter = "disciplines.d.classes.A.delta"
        values = ["400 us", "401 us"]
        "#;
    let file = ScenarioFile::parse(text, "etf.toml").unwrap();
    let variants = file.variants().unwrap();
    let bounds = |variant: &ScenarioVariant| {
        scenario_bounds(
            &variant.scenario,
            BoundsModel::Sound,
            &[Analysis::TotalFlow],
        )
    };
    assert!(bounds(&variants[0]).is_ok());
    let error = bounds(&variants[1]).unwrap_err();
    let in_file = file.error_at(&variants[1], error.part().unwrap(), error.to_string());
    let mistake = &in_file.mistakes[0];
    assert_eq!(mistake.line, 7);
    assert_eq!(
        mistake.help.as_deref(),
        Some("with disciplines.d.classes.A.delta = 401 us")
    );
}
