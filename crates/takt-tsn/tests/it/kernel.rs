//! Applying, verifying and clearing on the kernel of this machine, in a network namespace of its own with a veth
//! interface. It needs root. A discipline that the kernel lacks must be reported as such, with the earlier state
//! restored; with the environment variable `TAKT_TSN_KERNEL=complete`, a missing discipline is a failure.

use crate::network::{DISCIPLINES, plan};
use takt_tsn::{
    ApplyError, ApplyOutcome, ClearOutcome, Executor, KernelQdisc, SavedStates, ShellCommand,
    SystemExecutor, SystemFault, apply, clear, interface_facts, kernel_state, verify,
};

/// A network namespace that is removed at the end.
struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = SystemExecutor::default().run(&ShellCommand::ip(format!("netns del {}", self.0)));
    }
}

/// Makes a namespace with the interface `eth0`; `None` if this user may not.
fn namespace() -> Option<(Namespace, SystemExecutor)> {
    let name = format!("takt-tsn-{}", std::process::id());
    let mut system = SystemExecutor::default();
    let made = system
        .run(&ShellCommand::ip(format!("netns add {name}")))
        .ok()?;
    if !made.success {
        eprintln!("skipped: no network namespace: {}", made.stderr.trim());
        return None;
    }
    let namespace = Namespace(name.clone());
    let commands = [
        format!("-n {name} link add eth0 numtxqueues 4 numrxqueues 4 type veth peer name peer0"),
        format!("-n {name} link set eth0 up"),
        format!("-n {name} link set peer0 up"),
    ];
    for command in commands {
        let result = system.run(&ShellCommand::ip(command)).unwrap();
        assert!(result.success, "{}", result.stderr);
    }
    let namespace_system = SystemExecutor {
        namespace: Some(name),
    };
    Some((namespace, namespace_system))
}

/// Returns the disciplines that someone attached, without counters.
fn attached(system: &mut SystemExecutor) -> Vec<KernelQdisc> {
    let (state, _) = kernel_state(system, "eth0").unwrap();
    let mut attached: Vec<KernelQdisc> = state
        .qdiscs
        .into_iter()
        .filter(|qdisc| !qdisc.is_default())
        .collect();
    attached
        .iter_mut()
        .for_each(|qdisc| qdisc.counters = Default::default());
    attached
}

#[test]
fn plans_on_this_kernel() {
    let Some((_namespace, mut system)) = namespace() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let states = SavedStates::new(directory.path());
    let facts = interface_facts(&mut system, "eth0").unwrap();
    assert_eq!((facts.transmit_queues, facts.is_up), (4, true));
    assert_eq!(
        facts.speed.map(|speed| speed.0),
        Some(10_000_000_000),
        "a veth"
    );
    let earlier = ShellCommand::tc("qdisc replace dev eth0 root handle 1: pfifo limit 7");
    assert!(system.run(&earlier).unwrap().success);
    let before = attached(&mut system);
    assert_eq!(before.len(), 1);
    let is_complete = std::env::var("TAKT_TSN_KERNEL").is_ok_and(|value| value == "complete");
    let mut tried = 0;
    for discipline in DISCIPLINES {
        for port in [0, 2] {
            let mut plan = plan(discipline, port);
            // Most kernels of containers have no VLAN interfaces.
            plan.vlan_interfaces = is_complete;
            match apply(&plan, &mut system, &states) {
                Ok(outcome) => {
                    // fq_codel has no classes, so both ports have the same plan.
                    let is_same = discipline == "fq" && port == 2;
                    assert_eq!(outcome == ApplyOutcome::Unchanged, is_same, "{discipline}");
                    assert_eq!(
                        verify(&plan, &mut system).unwrap().differences,
                        [],
                        "{discipline}"
                    );
                    assert_eq!(
                        apply(&plan, &mut system, &states).unwrap(),
                        ApplyOutcome::Unchanged,
                        "{discipline}"
                    );
                    assert_eq!(
                        verify(&plan, &mut system).unwrap().differences,
                        [],
                        "{discipline}"
                    );
                    eprintln!("{discipline}, {}: applied", plan.port);
                    tried += 1;
                    // The next plan follows this one directly for every second port.
                    if port == 2 {
                        assert_eq!(
                            clear("eth0", &mut system, &states).unwrap(),
                            ClearOutcome::Restored
                        );
                        assert_eq!(attached(&mut system), before, "{discipline}");
                    }
                }
                Err(ApplyError::Restored(SystemFault::NoDiscipline { kind })) if !is_complete => {
                    eprintln!("{discipline}, {}: this kernel has no {kind}", plan.port);
                    assert_eq!(attached(&mut system), before, "{discipline}");
                }
                Err(ApplyError::Restored(SystemFault::NoFilter { message })) if !is_complete => {
                    eprintln!("{discipline}, {}: {message}", plan.port);
                    assert_eq!(attached(&mut system), before, "{discipline}");
                }
                Err(error) => panic!("{discipline}: {error}"),
            }
        }
    }
    if is_complete {
        assert_eq!(tried, 12);
    }
    clear("eth0", &mut system, &states).unwrap();
    assert_eq!(attached(&mut system), before);
}

#[test]
fn an_interface_that_does_not_exist() {
    let fault = interface_facts(&mut SystemExecutor::default(), "takt-none").unwrap_err();
    assert!(matches!(fault, SystemFault::NoInterface { .. }), "{fault}");
}
