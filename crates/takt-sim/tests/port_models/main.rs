//! A second model of each queueing discipline, as simple as its definition, beside the simulator: every frame at a random port leaves
//! at the same time, or is dropped at the same time for the same reason.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod clock;
mod fq_codel;
mod ieee;
mod linux;
mod observed;
mod port;
mod qdisc;
mod setup;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use takt_scenario::Scenario;
use takt_sim::Model;
use takt_sim::discipline::DropReason;

use observed::Outcomes;
use port::{Frame, Outcome, Port};
use setup::Setup;

/// Returns 64 random ports of each kind, always the same, or as many others as `TAKT_SIMULATED_SCENARIOS` says.
fn config() -> ProptestConfig {
    let cases = std::env::var("TAKT_SIMULATED_SCENARIOS").ok();
    let cases = cases.map(|cases| cases.parse().unwrap());
    ProptestConfig {
        cases: cases.unwrap_or(64),
        failure_persistence: None,
        rng_seed: cases.map_or(RngSeed::Fixed(2026), |_| RngSeed::Random),
        ..ProptestConfig::default()
    }
}

fn by_the_standard(setup: &Setup) {
    compare(setup, Model::Ieee, ieee::outcomes);
}

fn by_linux(setup: &Setup) {
    let outcomes =
        |port: &Port, frames: &[Frame]| linux::outcomes(port, frames, setup.driver_queue);
    compare(setup, Model::Linux, outcomes);
}

/// Compares the simulator with a model.
fn compare(setup: &Setup, model: Model, outcomes: impl Fn(&Port, &[Frame]) -> Outcomes) {
    let scenario = Scenario::parse(&setup.text, "random.toml")
        .unwrap_or_else(|error| panic!("{error:?}\n{}", setup.text));
    let port = Port::new(&scenario);
    let (frames, simulated) =
        observed::simulate(&scenario, &port, model, setup.driver_queue, setup.seed);
    let expected = outcomes(&port, &frames);
    for (position, frame) in frames.iter().enumerate() {
        let (simulated, expected) = (simulated.get(&frame.id), expected.get(&frame.id));
        assert_eq!(
            simulated,
            expected,
            "frame {position} of {} (simulated, model): {frame:?}\n{}",
            frames.len(),
            setup.text
        );
    }
    assert_eq!(simulated.len(), expected.len());
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn strict_priority_by_the_standard(setup in setup::priority(false)) {
        by_the_standard(&setup);
    }

    #[test]
    fn credit_based_shapers_by_the_standard(setup in setup::priority(true)) {
        by_the_standard(&setup);
    }

    #[test]
    fn gates_by_the_standard(setup in setup::gated(false)) {
        by_the_standard(&setup);
    }

    #[test]
    fn credit_based_shapers_behind_gates_by_the_standard(setup in setup::gated(true)) {
        by_the_standard(&setup);
    }

    #[test]
    fn strict_priority_of_linux(setup in setup::priority(false)) {
        by_linux(&setup);
    }

    #[test]
    fn credit_based_shapers_of_linux(setup in setup::priority(true)) {
        by_linux(&setup);
    }

    #[test]
    fn gates_of_linux(setup in setup::gated(false)) {
        by_linux(&setup);
    }

    #[test]
    fn credit_based_shapers_behind_gates_of_linux(setup in setup::gated(true)) {
        by_linux(&setup);
    }

    #[test]
    fn etf_of_linux(setup in setup::etf()) {
        by_linux(&setup);
    }

    #[test]
    fn fq_codel_of_linux(setup in setup::fq_codel()) {
        let outcomes = |port: &Port, frames: &[Frame]| fq_codel::outcomes(port, frames, setup.driver_queue);
        compare(&setup, Model::Linux, outcomes);
    }

    #[test]
    fn txtime_assist_of_linux(setup in setup::txtime_assist()) {
        by_linux(&setup);
    }
}

/// The driver has room for a class whose queue is empty and whose credit is negative: `sch_cbs` counts whole bytes then as well.
#[test]
fn credit_of_an_empty_queue_counts_when_the_driver_has_room() {
    let text = r#"version = 1
        discipline = "d"
        [disciplines.d]
        scheduler = "mqprio"
        classes = [{ name = "A", priorities = [2] }, { name = "B", priorities = [1], queue = "cbs", idle_slope = "13000 kbit/s", send_slope = "160000 kbit/s" }, { name = "C" }]

        [[nodes]]
        name = "a"
        [[nodes]]
        name = "b"
        [[links]]
        ends = ["a", "b"]
        rate = "100 Mbit/s"
        [[cross_traffic]]
        name = "x0"
        from = "a"
        to = "b"
        payload = "52 B"
        rate = "9000000 bit/s"
        pattern = "constant"
        pcp = 1
        [[cross_traffic]]
        name = "x1"
        from = "a"
        to = "b"
        payload = "1012 B"
        rate = "52000007 bit/s"
        pattern = "poisson"
        pcp = 1
        [[cross_traffic]]
        name = "x2"
        from = "a"
        to = "b"
        payload = "106 B"
        rate = "35000014 bit/s"
        pattern = { burst = 5 }
        pcp = 0
    "#;
    by_linux(&Setup {
        text: text.to_owned(),
        seed: 118_309_880_312_974_924,
        driver_queue: 1,
    });
}

/// Returns the reasons for which the simulator drops frames at random ports.
fn reasons(setups: impl Strategy<Value = Setup>) -> BTreeSet<DropReason> {
    let mut runner = TestRunner::new(config());
    let mut reasons = BTreeSet::new();
    for _ in 0..32 {
        let setup = setups.new_tree(&mut runner).unwrap().current();
        let scenario = Scenario::parse(&setup.text, "random.toml").unwrap();
        let port = Port::new(&scenario);
        let (_, ends) = observed::simulate(&scenario, &port, Model::Linux, 1, setup.seed);
        reasons.extend(ends.values().filter_map(|end| match end {
            Outcome::Dropped(_, reason) => Some(*reason),
            Outcome::Sent(_) => None,
        }));
    }
    reasons
}

#[test]
fn random_ports_drop_frames_for_every_reason() {
    use DropReason::{Codel, NoTxTime, QueueFull, TxTimeInvalid, TxTimeMissed};
    assert_eq!(reasons(setup::priority(true)), [QueueFull].into());
    assert_eq!(reasons(setup::gated(true)), [QueueFull].into());
    assert_eq!(reasons(setup::fq_codel()), [QueueFull, Codel].into());
    let of_etf = [QueueFull, NoTxTime, TxTimeInvalid, TxTimeMissed];
    assert_eq!(reasons(setup::etf()), of_etf.into());
}
