//! Applying, verifying and clearing against a kernel that records commands, has the faults of Linux, and kills at any
//! place.

use crate::fake_kernel::{FakeKernel, FakeQdisc};
use crate::network::{DISCIPLINES, plan};
use proptest::prelude::*;
use takt_scenario::{Duration, PortIndex, Rate, Scenario};
use takt_tsn::{
    ApplyError, ApplyOutcome, ClearOutcome, SavedStateError, SavedStates, SystemFault, apply,
    clear, verify,
};
use takt_tsn::{
    HardwareOffload, KernelVersion, PlanOptions, PortInput, PriorityPreset, StandaloneDiscipline,
    StandalonePort, plan_port,
};

fn earlier() -> FakeKernel {
    let mut kernel = FakeKernel {
        clsact: true,
        ..FakeKernel::default()
    };
    let words = "num_tc 2 map 1 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 queues 1@0 3@1 hw 0";
    let qdisc = |handle: &str, kind: &str, words: &str| FakeQdisc {
        overhead: "0".to_owned(),
        handle: handle.to_owned(),
        kind: kind.to_owned(),
        words: words.split_whitespace().map(str::to_owned).collect(),
    };
    kernel
        .qdiscs
        .insert("root".to_owned(), qdisc("1:", "mqprio", words));
    kernel
        .qdiscs
        .insert("1:1".to_owned(), qdisc("8001:", "pfifo", "limit 7"));
    kernel
}

fn states() -> (tempfile::TempDir, SavedStates) {
    let directory = tempfile::tempdir().unwrap();
    let states = SavedStates::new(directory.path());
    (directory, states)
}

#[test]
fn applied_is_what_the_plan_says_and_a_second_time_nothing_changes() {
    for discipline in DISCIPLINES {
        for port in [0, 1, 2] {
            let (_directory, states) = states();
            let mut kernel = FakeKernel::default();
            let plan = plan(discipline, port);
            assert_eq!(
                apply(&plan, &mut kernel, &states).unwrap(),
                ApplyOutcome::Applied,
                "{discipline}"
            );
            assert!(!kernel.frozen, "{discipline}: gates do not move");
            assert_eq!(verify(&plan, &mut kernel).unwrap().differences, []);
            let changes = kernel.log.len();
            assert_eq!(
                apply(&plan, &mut kernel, &states).unwrap(),
                ApplyOutcome::Unchanged
            );
            let again = usize::from(
                matches!(discipline, "taprio" | "assist") && plan.discipline == discipline,
            );
            assert_eq!(
                kernel.log.len() - changes,
                again,
                "{discipline}: only gates start again"
            );
            assert_eq!(
                clear("eth0", &mut kernel, &states).unwrap(),
                ClearOutcome::Restored
            );
            assert_eq!(
                kernel.configuration(),
                FakeKernel::default().configuration()
            );
            assert_eq!(
                clear("eth0", &mut kernel, &states).unwrap(),
                ClearOutcome::Nothing
            );
        }
    }
}

#[test]
fn a_bridge_marks_received_frames_and_a_host_writes_tags() {
    let (_directory, states) = states();
    let mut bridge = FakeKernel::default();
    apply(&plan("cbs", 2), &mut bridge, &states).unwrap();
    assert_eq!(bridge.filters.iter().copied().collect::<Vec<u8>>(), [3]);
    assert!(
        bridge
            .log
            .contains(&"bridge vlan add dev eth0 vid 5".to_owned())
            || bridge.vlans.is_empty()
    );
    clear("eth0", &mut bridge, &states).unwrap();
    let mut host = FakeKernel::default();
    apply(&plan("cbs", 0), &mut host, &states).unwrap();
    assert_eq!(host.vlans.iter().collect::<Vec<_>>(), ["eth0.5"]);
    assert!(host.filters.is_empty() && !host.clsact);
}

#[test]
fn every_plan_follows_every_other_one() {
    let (_directory, states) = states();
    let mut kernel = earlier();
    for first in DISCIPLINES {
        for second in DISCIPLINES {
            for name in [first, second] {
                apply(&plan(name, 0), &mut kernel, &states).unwrap();
                assert_eq!(
                    verify(&plan(name, 0), &mut kernel).unwrap().differences,
                    [],
                    "{first}, {second}"
                );
                assert!(!kernel.frozen, "{first}, {second}");
            }
        }
    }
    clear("eth0", &mut kernel, &states).unwrap();
    assert_eq!(
        kernel.configuration(),
        earlier().configuration(),
        "the state from before the first plan"
    );
}

#[test]
fn after_a_kill_at_any_place_the_earlier_state_is_restored() {
    for discipline in DISCIPLINES {
        let plan = plan(discipline, 2);
        let mut complete = earlier();
        let (_directory, states_of_all) = states();
        apply(&plan, &mut complete, &states_of_all).unwrap();
        let changes = complete.log.len();
        assert!(changes >= 2, "{discipline}: {:?}", complete.log);
        for place in 0..changes {
            let (_directory, states) = states();
            let mut kernel = earlier();
            kernel.changes_left = Some(place);
            assert!(apply(&plan, &mut kernel, &states).is_err());
            // The process that restores is killed once as well.
            kernel.changes_left = Some(1);
            let _ = clear("eth0", &mut kernel, &states);
            kernel.changes_left = None;
            clear("eth0", &mut kernel, &states).unwrap();
            assert_eq!(
                kernel.configuration(),
                earlier().configuration(),
                "{discipline}, killed at {place}"
            );
        }
    }
}

#[test]
fn a_kernel_without_a_discipline_is_as_before() {
    for (discipline, kind) in [
        ("taprio", "taprio"),
        ("cbs", "cbs"),
        ("assist", "etf"),
        ("fq", "fq_codel"),
    ] {
        let (_directory, states) = states();
        let mut kernel = earlier();
        kernel.missing = vec![kind];
        let error = apply(&plan(discipline, 0), &mut kernel, &states).unwrap_err();
        let ApplyError::Restored(SystemFault::NoDiscipline { kind: named }) = &error else {
            panic!("{error:?}");
        };
        assert_eq!(named, kind);
        assert_eq!(kernel.configuration(), earlier().configuration());
        assert_eq!(
            clear("eth0", &mut kernel, &states).unwrap(),
            ClearOutcome::Nothing
        );
    }
}

#[test]
fn a_kernel_without_flower_is_as_before() {
    let (_directory, states) = states();
    let mut kernel = earlier();
    kernel.no_flower = true;
    let error = apply(&plan("mqprio", 2), &mut kernel, &states).unwrap_err();
    assert!(
        matches!(error, ApplyError::Restored(SystemFault::NoFilter { .. })),
        "{error:?}"
    );
    assert_eq!(kernel.configuration(), earlier().configuration());
}

#[test]
fn a_parameter_that_the_kernel_does_not_keep_is_found() {
    let (_directory, states) = states();
    let mut kernel = earlier();
    kernel.ignores = Some("hicredit");
    let error = apply(&plan("cbs", 0), &mut kernel, &states).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the kernel took the plan, but holds something else: cbs 101: hicredit is 77, planned is 5"
    );
    assert_eq!(kernel.configuration(), earlier().configuration());
}

/// An interface that is half configured is named as that, with both reasons, and `clear` restores it later.
#[test]
fn an_error_names_the_first_reason_if_nothing_can_be_restored() {
    let mut named = 0;
    for changes in 1..40 {
        let (_directory, states) = states();
        let mut kernel = earlier();
        kernel.ignores = Some("hicredit");
        kernel.changes_left = Some(changes);
        let error = apply(&plan("cbs", 0), &mut kernel, &states).unwrap_err();
        let text = error.to_string();
        if let ApplyError::NotRestored { .. } = error {
            assert!(text.contains("only a part of the disciplines"), "{text}");
            named += u32::from(text.contains("hicredit is 77, planned is 5"));
        }
        kernel.changes_left = None;
        let _ = clear("eth0", &mut kernel, &states);
        assert_eq!(
            kernel.configuration(),
            earlier().configuration(),
            "{changes}"
        );
    }
    assert!(named > 0);
}

#[test]
fn an_interface_that_cannot_be_restored_is_not_touched() {
    let (_directory, states) = states();
    let mut kernel = FakeKernel::default();
    let foreign = FakeQdisc {
        overhead: "0".to_owned(),
        handle: "1:".to_owned(),
        kind: "htb".to_owned(),
        words: Vec::new(),
    };
    kernel.qdiscs.insert("root".to_owned(), foreign);
    let error = apply(&plan("cbs", 0), &mut kernel, &states).unwrap_err();
    let ApplyError::SavedState(SavedStateError::NotRestorable { kind }) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(kind, "htb");
    assert_eq!(kernel.log, [""; 0]);
}

#[test]
fn verify_tells_what_another_program_changed() {
    let (_directory, states) = states();
    let mut kernel = FakeKernel::default();
    let plan = plan("assist", 2);
    apply(&plan, &mut kernel, &states).unwrap();
    let etf = kernel.qdiscs.get_mut("100:1").unwrap();
    etf.words = ["clockid", "CLOCK_TAI", "delta", "100000"]
        .map(str::to_owned)
        .to_vec();
    kernel.filters.clear();
    let found: Vec<String> = verify(&plan, &mut kernel)
        .unwrap()
        .differences
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        [
            "etf 101: delta is 100000, planned is 200000",
            "etf 101: skip_sock_check is false, planned is true",
            "filters for received frames: vlan_prio is nothing, planned is 3",
        ]
    );
    kernel.qdiscs.clear();
    let found = verify(&plan, &mut kernel).unwrap().differences;
    assert_eq!(
        found.first().unwrap().to_string(),
        "root is noqueue 0:, planned is taprio 100:"
    );
}

#[test]
fn verify_warns_of_gates_that_are_closed_for_ptp() {
    let (_directory, states) = states();
    let mut kernel = FakeKernel::default();
    let plan = plan("taprio", 0);
    apply(&plan, &mut kernel, &states).unwrap();
    assert_eq!(verify(&plan, &mut kernel).unwrap().warnings, []);
    let root = kernel.qdiscs.get_mut("root").unwrap();
    for word in root.words.iter_mut().filter(|word| word.as_str() == "02") {
        *word = "00".to_owned();
    }
    let warnings = verify(&plan, &mut kernel).unwrap().warnings;
    assert_eq!(warnings.len(), 2);
    assert!(
        warnings[0]
            .to_string()
            .starts_with("no gate is open for PTP"),
        "{}",
        warnings[0]
    );
}

#[test]
fn a_plan_warns_of_gates_that_are_open_together() {
    let text = r#"
        version = 1
        discipline = "gates"
        topology = { kind = "p2p", rate = "1 Gbit/s" }
        [disciplines.gates]
        scheduler = "taprio"
        classes = [{ name = "A", priorities = [3] }, { name = "BE" }]
        entries = [{ gates = ["A"], interval = "40 us" }, { gates = ["A", "BE"], interval = "60 us" }]
    "#;
    let scenario = Scenario::parse(text, "shared.toml").unwrap();
    let input = PortInput::of_scenario(&scenario, PortIndex(0)).unwrap();
    let warnings = |offload, kernel: Option<(u16, u16)>| -> Vec<String> {
        let kernel = kernel.map(|(major, minor)| KernelVersion { major, minor });
        let options = PlanOptions {
            offload,
            kernel,
            ..PlanOptions::default()
        };
        let plan = plan_port(&input, &options).unwrap();
        plan.warnings.iter().map(ToString::to_string).collect()
    };
    let said = warnings(HardwareOffload::None, None);
    assert!(
        said[0].starts_with("the gates of `A` and `BE` are open together"),
        "{said:?}"
    );
    assert_eq!(warnings(HardwareOffload::None, Some((6, 12))).len(), 1);
    assert!(warnings(HardwareOffload::None, Some((6, 1))).is_empty());
    let offloaded = warnings(HardwareOffload::Full, None);
    assert!(!offloaded.iter().any(|it| it.contains("together")));
}

fn any_discipline() -> impl Strategy<Value = StandaloneDiscipline> {
    let micros = |micros: u64| Duration(micros * 1_000_000);
    prop_oneof![
        proptest::sample::select(takt_scenario::disciplines().collect::<Vec<_>>())
            .prop_filter("gates need entries", |discipline| discipline.name
                != "taprio")
            .prop_map(StandaloneDiscipline::Usual),
        (1u64..900_000_000).prop_map(|rate| StandaloneDiscipline::Cbs {
            idle_slope: Rate(rate)
        }),
        (0u64..1000).prop_map(move |delta| StandaloneDiscipline::Etf {
            delta: micros(delta)
        }),
        (
            1u64..10_000,
            0u64..10_000,
            0u64..1_000_000,
            proptest::option::of(1u64..1000)
        )
            .prop_map(
                move |(cycle, window, base, assist)| StandaloneDiscipline::Taprio {
                    cycle: micros(cycle),
                    window: micros(window),
                    base_time: micros(base),
                    txtime_assist: assist.map(|delay| (micros(delay), micros(delay / 2))),
                }
            ),
    ]
}

proptest! {
    #[test]
    fn any_port_is_applied_and_cleared(
        discipline in any_discipline(),
        classes in 1u8..=8,
        more_queues in 0u16..8,
    ) {
        let port = StandalonePort {
            interface: "eth0".to_owned(),
            rate: Rate(1_000_000_000),
            classes: PriorityPreset::Ieee8021q(classes),
            discipline,
        };
        let options = PlanOptions { queues: Some(u16::from(classes) + more_queues), ..PlanOptions::default() };
        let plan = plan_port(&port.input(), &options).unwrap();
        let (_directory, states) = states();
        let mut kernel = earlier();
        apply(&plan, &mut kernel, &states).unwrap();
        prop_assert!(!kernel.frozen);
        prop_assert_eq!(verify(&plan, &mut kernel).unwrap().differences, []);
        clear("eth0", &mut kernel, &states).unwrap();
        prop_assert_eq!(kernel.configuration(), earlier().configuration());
    }
}
