//! Ports with Credit-Based Shapers: each class gets its reserved rate, independently of other traffic and of clock errors.

use takt_scenario::Scenario;
use takt_sim::{Model, Results, RunOptions, Simulation, Time};

/// Two messages of 59 B every 250 µs in a class with a shaper, and best effort of 600 Mbit/s in frames of 46 B.
fn run(model: Model, offset: i64) -> Results {
    let applications = ["one", "two"].map(|name| {
        format!(
            "[[applications]]\nname = \"{name}\"\npublisher = \"a\"\nsubscriber = \"b\"\ncycle = \"250 us\"\n\
             repeated_node_count = 2\npcp = 3\n"
        )
    });
    let text = format!(
        r#"version = 1
        discipline = "cbs"
        links = [{{ ends = ["a", "b"] }}]
        [disciplines.cbs]
        scheduler = "mqprio"
        classes = [{{ name = "A", priorities = [3], queue = "cbs" }}, {{ name = "rest" }}]
        [[nodes]]
        name = "a"
        clock = {{ offset = "{offset} us" }}
        [[nodes]]
        name = "b"
        [[cross_traffic]]
        name = "best effort"
        from = "a"
        to = "b"
        payload = "46 B"
        rate = "600 Mbit/s"
        {}"#,
        applications.concat()
    );
    let scenario =
        Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let mut options = RunOptions::new(&scenario);
    options.simulation.cycles = 400;
    options.model = model;
    Simulation::new(&scenario, options).run(&mut ())
}

#[test]
fn best_effort_does_not_starve_a_shaped_class() {
    for model in [Model::Linux, Model::Ieee] {
        let results = run(model, 0);
        for flow in &results.flows[..2] {
            assert!(flow.lost.is_empty(), "{model:?}: {:?}", flow.lost);
            let longest = flow.one_way.delay.extremes.most().unwrap();
            assert!(longest < Time::microseconds(250), "{model:?}: {longest:?}");
        }
    }
}

#[test]
fn a_clock_that_is_behind_delays_nothing() {
    for model in [Model::Linux, Model::Ieee] {
        let delays = |offset| {
            let results = run(model, offset);
            results.flows[0].one_way.delay.extremes.most().unwrap()
        };
        // The offset is a multiple of the cycle, so that messages come as without it.
        let (behind, right) = (delays(-10_000), delays(0));
        assert_eq!(behind, right, "{model:?}");
    }
}
