//! Gates and shapers of Linux in software: found delays stay below their bounds, bounds are near them, and where there is no bound the
//! delay grows with the length of the run.

use takt_calculus::{Extended, Rational, Realisation, ScenarioBounds, scenario_bounds_with};
use takt_scenario::{Analysis, BoundsModel, FlowSource, Scenario};
use takt_sim::{Adversary, Model, RunOptions, Simulation, Time, search};

fn bounds(scenario: &Scenario, driver_queue: u32) -> ScenarioBounds {
    let software = Realisation::Software { driver_queue };
    let (sound, analyses) = (BoundsModel::Sound, [Analysis::TotalFlowShaped]);
    scenario_bounds_with(scenario, sound, software, &analyses, &mut |_, _| {}).unwrap()
}

fn options(scenario: &Scenario, driver_queue: u32, cycles: u64) -> RunOptions {
    let mut options = RunOptions::new(scenario);
    options.model = Model::Linux;
    options.driver_queue = driver_queue as usize;
    options.simulation.cycles = cycles;
    options
}

/// Returns the bound of the first flow in picoseconds.
fn bound(bounds: &ScenarioBounds, source: FlowSource) -> Option<f64> {
    let Some(Extended::Finite(delay)) = bounds.of_way(source) else {
        return None;
    };
    let picoseconds = delay * Rational::from(1_000_000_000_000u64);
    Some(picoseconds.to_f64().value())
}

/// Searches the longest delay of the first flow, and returns its bound divided by it.
fn attacked(text: &str, driver_queue: u32) -> f64 {
    let scenario = Scenario::parse(text, "software.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let bounds = bounds(&scenario, driver_queue);
    let options = options(&scenario, driver_queue, 48);
    let worst = search(&scenario, &options, &Default::default(), 600, |_| true);
    let mut first = None;
    for (flow, found) in scenario.flows().iter().zip(&worst.flows) {
        let (Some(bound), Some(found)) = (bound(&bounds, flow.source), found) else {
            continue;
        };
        let ratio = bound / found.delay.as_picoseconds() as f64;
        assert!(ratio > 0.999_999, "{:?}: {ratio}\n{text}", flow.source);
        first.get_or_insert(ratio);
    }
    first.unwrap_or_else(|| panic!("no bound: {:?}\n{text}", bounds.flows[0].infinite))
}

/// Windows of two classes in a cycle of 400 us, and bursts of the other class at 1 Gbit/s.
fn gates(window: u32, burst: u32) -> String {
    let rest = 400 - window;
    // The interval is that of single frames.
    let interval = 400 / burst;
    format!(
        r#"
version = 1
discipline = "gates"
topology = {{ kind = "p2p", rate = "1 Gbit/s" }}
[disciplines.gates]
scheduler = "taprio"
classes = [{{ name = "A", priorities = [3] }}, {{ name = "rest" }}]
entries = [
    {{ gates = ["A"], interval = "{window} us" }},
    {{ gates = ["rest"], interval = "{rest} us" }},
]
[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "400 us"
payload = "59 B"
pcp = 3
[[cross_traffic]]
name = "x"
from = "host1"
to = "host2"
payload = "1500 B"
interval = "{interval} us"
pattern = {{ burst = {burst} }}
"#
    )
}

/// Up to eleven frames of the other class have passed their gate when the window begins.
#[test]
fn frames_in_the_driver_take_a_part_of_each_window() {
    for driver_queue in [1, 2] {
        let ratio = attacked(&gates(200, 20), driver_queue);
        eprintln!("windows of 200 us, driver of {driver_queue}: bound / found {ratio:.3}");
        assert!(ratio < 2.5, "{ratio}");
    }
}

/// No frame of the other class is before a frame when its window begins, whatever the driver has.
#[test]
fn gates_of_the_device_keep_each_window_whole() {
    let kernel = "scheduler = \"taprio\"\n";
    let device = gates(200, 20).replace(kernel, &format!("{kernel}offload = true\n"));
    for driver_queue in [1, 2] {
        let ratio = attacked(&device, driver_queue);
        eprintln!("gates of the device, driver of {driver_queue}: bound / found {ratio:.3}");
        assert!(ratio < 1.01, "{ratio}");
    }
}

/// Windows of two classes in a cycle of 400 us: frames of the highest one have launch times, all at the end of a window. The device keeps
/// up to 64 of them until then, and sends them in the windows of the other class.
fn launches(offload: bool) -> String {
    let applications = (0..60).map(|index| {
        format!(
            "[[applications]]\nname = \"timed{index}\"\npublisher = \"host1\"\nsubscriber = \"host2\"\ncycle = \"8 ms\"\n\
             offset = \"380 us\"\npayload = \"1500 B\"\npcp = 3\ntxtime = true\n"
        )
    });
    let applications: String = applications.collect();
    format!(
        r#"
version = 1
discipline = "gates"
topology = {{ kind = "p2p", rate = "1 Gbit/s" }}
[disciplines.gates]
scheduler = "taprio"
classes = [
    {{ name = "timed", priorities = [3], queue = "etf", delta = "3 ms", offload = {offload}, skip_sock_check = true }},
    {{ name = "A", priorities = [2] }},
]
entries = [
    {{ gates = ["A"], interval = "200 us" }},
    {{ gates = ["timed"], interval = "200 us" }},
]
[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "400 us"
payload = "59 B"
pcp = 2
{applications}
"#
    )
}

/// The bound that would count only the frames of `--driver-queue` does not hold.
#[test]
fn launch_times_of_others_behind_gates_have_a_reason_instead_of_a_bound() {
    let [kept, released] = [true, false].map(|offload| {
        Scenario::parse(&launches(offload), "launches.toml").unwrap_or_else(|e| panic!("{e}"))
    });
    let control = kept.flows()[0].source;
    let few = bound(&bounds(&released, 1), control).expect("few frames are in the driver");
    let results = Simulation::new(&kept, options(&kept, 1, 100)).run(&mut ());
    let found = results.flows[0].one_way.delay.extremes.most().unwrap();
    let found = found.as_picoseconds() as f64;
    eprintln!("behind launch times: found {found}, bound without them {few}");
    assert!(found > 1.2 * few, "{found} {few}");
    let kept = bounds(&kept, 1);
    assert_eq!(bound(&kept, control), None);
    let reason = kept.flows[0].infinite.as_ref().unwrap().to_string();
    assert!(
        reason.contains("keeps frames of timed until their launch times"),
        "{reason}"
    );
}

#[test]
fn a_class_without_others_loses_nothing() {
    let text = gates(100, 1);
    let end = text.find("[[cross_traffic]]").unwrap();
    let ratio = attacked(&text[..end], 1);
    assert!(ratio < 1.05, "{ratio}");
}

/// The gate closes when the guard band begins: the last frame must end before it. A frame takes as long as the guard band.
#[test]
fn a_frame_ends_before_the_guard_band() {
    let alone = gates(100, 1).replace("payload = \"59 B\"", "payload = \"1500 B\"");
    let alone = &alone[..alone.find("[[cross_traffic]]").unwrap()];
    for guard_band in [6, 12, 13, 30] {
        let band = format!("guard_band = \"{guard_band} us\"\nentries");
        let text = alone.replace("entries", &band);
        let ratio = attacked(&text, 1);
        assert!(ratio < 1.001, "{guard_band} us: {ratio}");
        // The frame comes when it just cannot end before the guard band, and waits until its window begins again.
        let scenario = Scenario::parse(&text, "guard.toml").unwrap();
        let bounds = bounds(&scenario, 1);
        let least = 300.0 + f64::from(guard_band) + 2.0 * 12.336;
        let bound = bound(&bounds, scenario.flows()[0].source).unwrap() / 1e6;
        assert!((least..least + 0.1).contains(&bound), "{bound} {least}");
        // With frames of another class in the driver.
        let others = gates(200, 20).replace("entries", &band);
        attacked(&others, 1);
    }
}

/// The traffic outside the scenario is simulated as cross traffic in the other window, of which the bound knows only `lower_priority`.
#[test]
fn frames_outside_the_scenario_wait_in_the_driver_too() {
    let with = gates(200, 20);
    let alone = &with[..with.find("[[cross_traffic]]").unwrap()];
    let unknown = format!("{alone}[bounds]\nlower_priority = \"1542 B\"\n");
    for driver_queue in [1, 2] {
        let parse = |text: &str| Scenario::parse(text, "outside.toml").unwrap();
        let (known, unknown) = (parse(&with), parse(&unknown));
        let source = unknown.flows()[0].source;
        let sound = bounds(&unknown, driver_queue);
        assert_eq!(
            sound.of_way(source),
            bounds(&known, driver_queue).of_way(source)
        );
        let options = options(&known, driver_queue, 48);
        let worst = search(&known, &options, &Default::default(), 600, |_| true);
        let found = worst.flows[0].as_ref().unwrap().delay;
        let ratio = bound(&sound, source).unwrap() / found.as_picoseconds() as f64;
        assert!(ratio > 0.999_999, "driver of {driver_queue}: {ratio}");
    }
}

/// Each window is full of frames that passed the gate of the other class just before it closed: the class never sends.
#[test]
fn short_windows_have_no_bound_and_a_delay_that_grows() {
    let text = gates(90, 20);
    let scenario = Scenario::parse(&text, "short.toml").unwrap();
    let bounds = bounds(&scenario, 1);
    let control = &bounds.flows[0];
    assert_eq!(control.delay, Extended::Infinity);
    let reason = control.infinite.as_ref().unwrap().to_string();
    assert!(
        reason.contains("up to 135.696 \u{b5}s of each of its windows"),
        "{reason}"
    );
    // If the gate is still open 86 us after a burst began, nine more frames pass it: they hold the queue for 99 us.
    let grows = |cycles| {
        let mut longest = Time::ZERO;
        for phase in 0..50 {
            let mut options = options(&scenario, 1, cycles);
            options.adversary = Some(Adversary {
                publishers: vec![Time::ZERO],
                loopbacks: vec![Time::ZERO],
                cross_traffic: vec![Time::microseconds(phase * 8)],
                ..Adversary::default()
            });
            let results = Simulation::new(&scenario, options).run(&mut ());
            let most = results.flows[0].one_way.delay.extremes.most();
            longest = longest.max(most.unwrap_or(Time::ZERO));
        }
        longest
    };
    let (short, long) = (grows(20), grows(80));
    eprintln!("windows of 90 us: {short:?} in 20 cycles, {long:?} in 80");
    assert!(
        long.as_picoseconds() > 3 * short.as_picoseconds(),
        "{short:?} {long:?}"
    );
}

#[test]
fn shared_windows_have_a_reason_instead_of_a_bound() {
    let text = gates(100, 1).replace("gates = [\"rest\"]", "gates = [\"A\", \"rest\"]");
    let scenario = Scenario::parse(&text, "shared.toml").unwrap();
    let bounds = bounds(&scenario, 1);
    let reason = bounds.flows[0].infinite.as_ref().unwrap().to_string();
    assert!(
        reason.contains("open together with that of rest"),
        "{reason}"
    );
}

/// Shaped classes of these idleSlopes in Mbit/s above best effort.
fn shapers(classes: &str, payload: u32, cycle: u32) -> String {
    format!(
        r#"
version = 1
discipline = "cbs"
topology = {{ kind = "p2p", rate = "1 Gbit/s" }}
[disciplines.cbs]
scheduler = "mqprio"
classes = [{classes}, {{ name = "rest" }}]
[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "{cycle} us"
payload = "{payload} B"
pcp = 3
[[applications]]
name = "other"
publisher = "host1"
subscriber = "host2"
cycle = "{cycle} us"
payload = "{payload} B"
pcp = 3
[[cross_traffic]]
name = "x"
from = "host1"
to = "host2"
payload = "1500 B"
rate = "300 Mbit/s"
"#
    )
}

#[test]
fn the_highest_shaper_is_never_later_than_that_of_the_standard() {
    for (payload, cycle, driver_queue) in [(59, 250, 1), (400, 125, 1), (1000, 125, 2), (59, 50, 3)]
    {
        let classes = "{ name = \"A\", priorities = [3], queue = \"cbs\", provisioning = \"0%\" }";
        let text = shapers(classes, payload, cycle);
        let ratio = attacked(&text, driver_queue);
        eprintln!("{payload} B in {cycle} us, driver of {driver_queue}: bound / found {ratio:.3}");
        assert!(ratio < 1.7, "{payload} B in {cycle} us: {ratio}");
    }
}

#[test]
fn a_shaper_below_another_class_has_a_reason_instead_of_a_bound() {
    let classes = "{ name = \"B\", priorities = [2] }, { name = \"A\", priorities = [3], queue = \"cbs\", provisioning = \"0%\" }";
    let text = shapers(classes, 400, 125).replacen("pcp = 3", "pcp = 2", 1);
    let scenario = Scenario::parse(&text, "below.toml").unwrap();
    let bounds = bounds(&scenario, 1);
    let reason = bounds.flows[1].infinite.as_ref().unwrap().to_string();
    assert!(
        reason.contains("each time at which it waits for B"),
        "{reason}"
    );
}

/// Ports of a bridge get frames without their VLAN tag, which Linux then does not count. Of frames of 88 B, it counts 60 B.
#[test]
fn a_tag_outside_of_the_data_is_not_counted() {
    let text = |slope: u32, payload: u32| {
        let class = format!(
            "{{ name = \"A\", priorities = [3], queue = \"cbs\", idle_slope = \"{slope} Mbit/s\" }}"
        );
        shapers(&class, payload, 1000)
    };
    let infinite = |text: &str| {
        let scenario = Scenario::parse(text, "tagged.toml").unwrap();
        let bounds = bounds(&scenario, 1);
        bounds.flows[0].infinite.as_ref().map(ToString::to_string)
    };
    // Frames of 704 bits at 38 Mbit/s are 12.0 us apart, less than a frame below, which takes 12.336 us; with the tag they are 12.84.
    let reason = infinite(&text(38, 46)).expect("a bound for frames that come too close");
    assert!(reason.contains("closer together"), "{reason}");
    assert_eq!(infinite(&text(36, 46)), None);
    // Padding is not counted either.
    assert!(infinite(&text(36, 10)).is_some());
}
