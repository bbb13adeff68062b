//! A second model of each queueing discipline, as simple as its definition, beside the simulator: every frame at a random port leaves
//! at the same time, or is dropped at the same time for the same reason.

mod assist;
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

/// Returns 64 random ports of each kind, always the same, or as many others as `TAKT_SIMULATED_SCENARIOS` says: those of the seed
/// `PROPTEST_RNG_SEED`, or new ones.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let cases = std::env::var("TAKT_SIMULATED_SCENARIOS").ok();
    let cases = cases.map(|cases| cases.parse().unwrap());
    ProptestConfig {
        cases: cases.unwrap_or(64),
        failure_persistence: None,
        rng_seed: cases.map_or(RngSeed::Fixed(2026), |_| usual.rng_seed),
        ..usual
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

fn when_the_link_is_free(setup: &Setup) {
    let outcomes = |port: &Port, frames: &[Frame]| linux::outcomes(port, frames, 0);
    compare(setup, Model::Ieee, outcomes);
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
    fn etf_of_linux(setup in setup::etf(true)) {
        by_linux(&setup);
    }

    #[test]
    fn etf_when_the_link_is_free(setup in setup::etf(false)) {
        when_the_link_is_free(&setup);
    }

    #[test]
    fn etf_behind_gates_of_linux(setup in setup::timed_gates(false)) {
        by_linux(&setup);
    }

    #[test]
    fn etf_behind_gates_when_the_link_is_free(setup in setup::timed_gates(false)) {
        when_the_link_is_free(&setup);
    }

    #[test]
    fn txtime_assist_of_linux(setup in setup::timed_gates(true)) {
        by_linux(&setup);
    }

    #[test]
    fn txtime_assist_when_the_link_is_free(setup in setup::timed_gates(true)) {
        when_the_link_is_free(&setup);
    }

    #[test]
    fn gates_of_the_device(setup in setup::gated(false)) {
        by_linux(&setup.with_device_gates());
    }

    #[test]
    fn credit_based_shapers_behind_gates_of_the_device(setup in setup::gated(true)) {
        by_linux(&setup.with_device_gates());
    }

    #[test]
    fn etf_behind_gates_of_the_device(setup in setup::timed_gates(false)) {
        by_linux(&setup.with_device_gates());
    }

    #[test]
    fn fq_codel_of_linux(setup in setup::fq_codel()) {
        let outcomes = |port: &Port, frames: &[Frame]| fq_codel::outcomes(port, frames, setup.driver_queue);
        compare(&setup, Model::Linux, outcomes);
    }

    #[test]
    fn fq_codel_when_the_link_is_free(setup in setup::fq_codel()) {
        compare(&setup, Model::Ieee, |port, frames| fq_codel::outcomes(port, frames, 0));
    }
}

/// Fifty frames come at once, 400 us before their deadlines, and all take 617 us. In deadline mode, the device gets all of them with
/// offload, since its ring has the room of one with launch times; without, those that wait in etf at the deadline are dropped.
#[test]
fn deadlines_with_offload_are_kept_in_the_ring_of_the_device() {
    for (offload, most_sent) in [(true, 50), (false, 34)] {
        let applications = (0..50).map(|index| {
            format!(
                "[[applications]]\nname = \"a{index}\"\npublisher = \"a\"\nsubscriber = \"b\"\ncycle = \"1 ms\"\n\
                 offset = \"0 us\"\npayload = \"1500 B\"\npcp = 1\ntxtime = true\n"
            )
        });
        let text = format!(
            "version = 1\ndiscipline = \"d\"\n[disciplines.d]\nscheduler = \"mqprio\"\n\
             classes = [{{ name = \"A\", priorities = [1], queue = \"etf\", delta = \"0 us\", deadline_mode = true, \
             offload = {offload} }}, {{ name = \"B\" }}]\n[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
             [[links]]\nends = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\n{}",
            applications.collect::<String>()
        );
        let setup = Setup {
            text,
            seed: 1,
            driver_queue: 1,
        };
        by_linux(&setup);
        let scenario = Scenario::parse(&setup.text, "deadlines.toml").unwrap();
        let port = Port::new(&scenario);
        let (frames, _) = observed::simulate(&scenario, &port, Model::Linux, 1, 1);
        let cycles = frames.len() / 50;
        let outcomes = linux::outcomes(&port, &frames, 1);
        let sent = outcomes.values();
        let sent = sent.filter(|outcome| matches!(outcome, Outcome::Sent(_)));
        assert_eq!(sent.count(), most_sent * cycles, "offload {offload}");
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

/// The link becomes free at the time at which a timer fires: `A` passes `C`, whose frame was in the driver before.
#[test]
fn a_timer_fires_before_the_next_frame_is_chosen() {
    let text = r#"version = 1
        discipline = "d"
        [disciplines.d]
        scheduler = "taprio"
        classes = [{ name = "A", priorities = [2], queue = "etf" }, { name = "B", priorities = [1], queue = "etf" }, { name = "C", queue = "etf" }]
        txtime_assist = "2852789 ns"
        entries = [{ gates = ["A"], interval = "1542001 ns" }, { gates = ["B", "C"], interval = "2020017 ns" }, { gates = ["A", "B", "C"], interval = "2880017 ns" }, { gates = ["A", "B"], interval = "3487277 ns" }]
        guard_band = "1108017 ns"
        [[nodes]]
        name = "a"
        [[nodes]]
        name = "b"
        [[links]]
        ends = ["a", "b"]
        rate = "10 Mbit/s"
        [[cross_traffic]]
        name = "x0"
        from = "a"
        to = "b"
        payload = "99 B"
        rate = "2100013 bit/s"
        pcp = 2
        [[cross_traffic]]
        name = "x1"
        from = "a"
        to = "b"
        payload = "18 B"
        rate = "1600020 bit/s"
        pcp = 0
    "#;
    by_linux(&Setup {
        text: text.to_owned(),
        seed: 12_113_297_025_600_482_491,
        driver_queue: 1,
    });
}

/// More frames come at once than ETF keeps.
#[test]
fn a_thousand_frames_wait_for_their_txtimes() {
    let text = r#"version = 1
        discipline = "d"
        [disciplines.d]
        scheduler = "taprio"
        classes = [{ name = "A", queue = "etf" }]
        txtime_assist = "10 us"
        entries = [{ gates = ["A"], interval = "100 us" }, { gates = [], interval = "100 us" }]
        [[nodes]]
        name = "a"
        clock = { offset = "-3 us", drift = "100 ppm" }
        [[nodes]]
        name = "b"
        [[links]]
        ends = ["a", "b"]
        [[cross_traffic]]
        name = "x"
        from = "a"
        to = "b"
        payload = "46 B"
        rate = "1 Mbit/s"
        pattern = { burst = 1100 }
    "#;
    let setup = Setup {
        text: text.to_owned(),
        seed: 1,
        driver_queue: 1,
    };
    by_linux(&setup);
    when_the_link_is_free(&setup);
    let scenario = Scenario::parse(text, "burst.toml").unwrap();
    let port = Port::new(&scenario);
    let (_, ends) = observed::simulate(&scenario, &port, Model::Linux, 1, 1);
    let is_dropped = |end: &&Outcome| matches!(end, Outcome::Dropped(_, DropReason::QueueFull));
    assert_eq!(ends.values().filter(is_dropped).count(), 100);
}

/// Returns the reasons for which the simulator drops frames at random ports.
fn reasons(setups: impl Strategy<Value = Setup>, model: Model) -> BTreeSet<DropReason> {
    let mut runner = TestRunner::new(config());
    let mut reasons = BTreeSet::new();
    for _ in 0..32 {
        let setup = setups.new_tree(&mut runner).unwrap().current();
        let scenario = Scenario::parse(&setup.text, "random.toml").unwrap();
        let port = Port::new(&scenario);
        let (_, ends) = observed::simulate(&scenario, &port, model, 1, setup.seed);
        reasons.extend(ends.values().filter_map(|end| match end {
            Outcome::Dropped(_, reason) => Some(*reason),
            Outcome::Sent(_) => None,
        }));
    }
    reasons
}

#[test]
fn random_ports_drop_frames_for_every_reason() {
    use DropReason::{Codel, NoTxTime, NoWindow, QueueFull, TxTimeInvalid, TxTimeMissed};
    for model in [Model::Ieee, Model::Linux] {
        assert_eq!(reasons(setup::priority(true), model), [QueueFull].into());
        assert_eq!(reasons(setup::gated(true), model), [QueueFull].into());
        assert_eq!(reasons(setup::fq_codel(), model), [QueueFull, Codel].into());
        let of_etf = [QueueFull, NoTxTime, TxTimeInvalid, TxTimeMissed];
        assert_eq!(reasons(setup::etf(true), model), of_etf.into());
        // The kernel refuses a txtime of the application that is in no window, with and without txtime-assist.
        let mut of_gates = BTreeSet::from(of_etf);
        if model == Model::Linux {
            of_gates.insert(NoWindow);
        }
        assert_eq!(reasons(setup::timed_gates(false), model), of_gates);
        let assisted = [QueueFull, TxTimeInvalid, TxTimeMissed, NoWindow];
        assert_eq!(reasons(setup::timed_gates(true), model), assisted.into());
    }
}
