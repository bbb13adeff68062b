//! Windows as long as a frame takes by the clock of its node: the frame passes at once, and a shorter window is refused.

use takt_scenario::Scenario;
use takt_sim::{Model, RunOptions, Simulation, Time};

/// Bytes on the wire of a frame with a payload of 59 B.
const WIRE: u128 = 101;

/// One message every 250 µs whose class has a window of so many picoseconds before each 50 µs, at a rate in Mbit/s and by a clock
/// with a drift in ppb.
fn text(window: u128, rate: u128, drift: i64) -> String {
    format!(
        r#"version = 1
        discipline = "gates"
        [disciplines.gates]
        scheduler = "taprio"
        classes = [{{ name = "A", priorities = [3] }}, {{ name = "rest" }}]
        entries = [{{ gates = ["A"], interval = "{window} ps" }}, {{ gates = ["rest"], interval = "50 us" }}]
        [[nodes]]
        name = "a"
        clock = {{ drift = "{drift} ppb", offset = "3 us" }}
        [[nodes]]
        name = "b"
        [[links]]
        ends = ["a", "b"]
        rate = "{rate} Mbit/s"
        [[applications]]
        name = "control"
        publisher = "a"
        subscriber = "b"
        cycle = "250 us"
        payload = "59 B"
        pcp = 3
        "#
    )
}

/// Returns the shortest window that a frame needs: its time on the link by the clock, what that clock may skip when the gate
/// opens, and a picosecond, because Linux sends no frame that ends when its gate closes.
fn needed(rate: u128, drift: i64) -> u128 {
    let billion = 1_000_000_000;
    let takes = (WIRE * 8_000_000).div_ceil(rate);
    let gained = u128::from(drift.max(0).unsigned_abs());
    (takes * (billion + gained)).div_ceil(billion) + gained.div_ceil(billion) + 1
}

#[test]
fn a_frame_that_is_accepted_does_not_wait_for_a_longer_window() {
    let drifts = [
        0,
        1,
        100_000,
        3_000_001,
        200_000_000,
        -1,
        -100_000,
        -200_000_000,
    ];
    for (rate, drift) in [1000, 300]
        .into_iter()
        .flat_map(|rate| drifts.map(|drift| (rate, drift)))
    {
        let needed = needed(rate, drift);
        let accepted = text(needed, rate, drift);
        let scenario = Scenario::parse(&accepted, "test.toml")
            .unwrap_or_else(|error| panic!("{error:?}\n{accepted}"));
        for model in [Model::Ieee, Model::Linux] {
            let mut options = RunOptions::new(&scenario);
            options.simulation.cycles = 200;
            options.model = model;
            let results = Simulation::new(&scenario, options).run(&mut ());
            let delay = results.flows[0].one_way.delay.extremes;
            assert_eq!(delay.count, 200, "{model:?}, drift {drift}");
            // The gate opens once in each cycle of 51 to 53 µs by the clock.
            let longest = delay.most().unwrap();
            assert!(
                longest < Time::microseconds(70),
                "{model:?}, drift {drift}: {longest:?}"
            );
        }
        assert!(Scenario::parse(&text(needed - 1, rate, drift), "test.toml").is_err());
    }
}

#[test]
fn the_message_names_the_drift() {
    let error = Scenario::parse(&text(808_000, 1000, 100_000), "test.toml").unwrap_err();
    let [mistake] = error.mistakes.as_slice() else {
        panic!("{error:?}")
    };
    assert_eq!(
        mistake.to_string(),
        "line 3, column 22: a frame of `control`, 101 B on the wire, needs more than 808.082 ns at 1 Gbit/s by a clock that gains 100 ppm, \
         but no window of class `A` is longer than 808 ns"
    );
}
