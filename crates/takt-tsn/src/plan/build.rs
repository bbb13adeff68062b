//! The plan of a port: a pure function of the port and the options.

use takt_scenario::{Discipline, PortIndex, Rate, Scenario, Taprio};

use super::checks::warnings;
use super::error::PlanError;
use super::gates::{entries, nanoseconds};
use super::input::PortInput;
use super::limits::check;
use super::options::PlanOptions;
use super::port_plan::{PlannedClass, PortPlan};
use super::shaper::shaper;
use crate::derivation::Derivation;
use crate::interface_name::is_interface_name;
use crate::qdisc::{
    ClassMap, GateMode, GateSchedule, Qdisc, QdiscHandle, QdiscKind, QdiscParent,
    SOCKET_PRIORITIES, WIRE_OVERHEAD,
};

/// Name of a bridge, unless an option has another one.
const BRIDGE: &str = "bridge0";
/// Handle of the root.
const ROOT: QdiscHandle = QdiscHandle(0x100);
/// Greatest number of transmit queues of a class: each has handles of its own.
const MOST_QUEUES: u16 = 1024;

/// Returns the handle of the discipline of a class at one of its queues, both from 0: 0x101 for the first class, 0x121 at its second
/// queue. Classes have four bits.
fn class_handle(class: u16, queue: u16) -> QdiscHandle {
    let number = (queue << 5).saturating_add(class).saturating_add(1);
    QdiscHandle(ROOT.0.saturating_add(number))
}

/// Returns the handle of the queue below the shaper of a class: 0x111 for the first class.
fn shaped_handle(class: u16, queue: u16) -> QdiscHandle {
    QdiscHandle(class_handle(class, queue).0.saturating_add(0x10))
}

/// Returns the plans of all ports of a scenario, in their order. Interfaces are `eth0`, `eth1` and so on at each node.
///
/// # Errors
/// A port that Linux cannot have.
pub fn plan_scenario(
    scenario: &Scenario,
    options: &PlanOptions,
) -> Result<Vec<PortPlan>, PlanError> {
    let ports = (0..scenario.ports.len()).map(PortIndex);
    let inputs = ports.filter_map(|port| PortInput::of_scenario(scenario, port));
    inputs.map(|input| plan_port(&input, options)).collect()
}

/// Returns the plan of a port.
///
/// # Errors
/// A name that is no interface, times that Linux cannot keep, more reserved than the interface sends, too few queues.
pub fn plan_port(input: &PortInput, options: &PlanOptions) -> Result<PortPlan, PlanError> {
    if !is_interface_name(&input.interface) {
        return Err(PlanError::InterfaceName(input.interface.clone()));
    }
    let bridge = options.bridge.as_deref().unwrap_or(BRIDGE);
    if !is_interface_name(bridge) {
        return Err(PlanError::InterfaceName(bridge.to_owned()));
    }
    let speed = options.speed.unwrap_or(input.rate);
    let mut derivations = Vec::new();
    let (tree, classes) = match QdiscKind::without_classes(&input.discipline.scheduler) {
        Some((kind, origins)) => {
            derivations.extend(origins);
            let classes = vec![everything(&kind)];
            (vec![at_root(kind)], classes)
        }
        None => classful(input, speed, options, &mut derivations)?,
    };
    check(&tree, input, speed, options)?;
    if !input.marked.is_empty() {
        let origin =
            "the kernel forgets the priority of a received frame: the filter sets it from the PCP";
        derivations.push(Derivation::new("skbedit priority", origin));
    }
    Ok(PortPlan {
        port: input.name(),
        node: input.node.clone(),
        kind: input.kind,
        interface: input.interface.clone(),
        speed,
        discipline: input.discipline.name.clone(),
        classes,
        tree,
        marked: input.marked.clone(),
        vlans: input.vlans.clone(),
        groups: input.groups.clone(),
        bridge: bridge.to_owned(),
        vlan_interfaces: options.vlan_interfaces,
        derivations,
        warnings: warnings(input, options, speed),
    })
}

fn at_root(kind: QdiscKind) -> Qdisc {
    Qdisc {
        handle: ROOT,
        parent: QdiscParent::Root,
        kind,
    }
}

fn everything(kind: &QdiscKind) -> PlannedClass {
    PlannedClass {
        name: "all".to_owned(),
        priorities: (0..8).collect(),
        queues: 0..1,
        queue: kind.name(),
    }
}

/// Returns the tree of a discipline with classes: mqprio, or taprio if there is a schedule.
fn classful(
    input: &PortInput,
    speed: Rate,
    options: &PlanOptions,
    derivations: &mut Vec<Derivation>,
) -> Result<(Vec<Qdisc>, Vec<PlannedClass>), PlanError> {
    let map = class_map(&input.discipline, options)?;
    derive_map(&map, derivations);
    // Linux computes by the speed of the interface, which may be another one than the scenario's.
    let discipline = match speed == input.rate {
        true => input.discipline.clone(),
        false => input.discipline.at_interface(speed),
    };
    let root = match discipline.scheduler.gates() {
        None => QdiscKind::Mqprio(map.clone()),
        Some(taprio) => QdiscKind::Taprio(schedule(taprio, map.clone(), options, derivations)?),
    };
    let mut tree = vec![at_root(root)];
    let mut classes = Vec::new();
    for (number, class) in discipline.classes.iter().enumerate() {
        let first = map.first_queue(number);
        let behind = first + map.queues.get(number).copied().unwrap_or(0);
        let (queue, origin) = QdiscKind::of_queue(&class.queue, &class.name, options.offload);
        let shaper = shaper(input, (&discipline, speed), number, options)?;
        let (kind, below) = match shaper {
            Some((numbers, origins)) => {
                derivations.extend(origins);
                (QdiscKind::Cbs(numbers), Some(queue))
            }
            None => (queue, None),
        };
        derivations.push(origin);
        classes.push(PlannedClass {
            name: class.name.clone(),
            priorities: class.priorities.clone(),
            queues: first..behind,
            queue: kind.name(),
        });
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        // Several queues of a class need a discipline each.
        for (extra, queue) in (first..behind).enumerate() {
            let extra = u16::try_from(extra).unwrap_or(u16::MAX);
            let handle = class_handle(number, extra);
            tree.push(Qdisc {
                handle,
                parent: QdiscParent::Class(ROOT, queue + 1),
                kind: kind.clone(),
            });
            if let Some(below) = &below {
                tree.push(Qdisc {
                    handle: shaped_handle(number, extra),
                    parent: QdiscParent::Class(handle, 1),
                    kind: below.clone(),
                });
            }
        }
    }
    Ok((tree, classes))
}

fn class_map(discipline: &Discipline, options: &PlanOptions) -> Result<ClassMap, PlanError> {
    let count = discipline.classes.len();
    let mut queues = vec![1u16; count];
    if let Some(available) = options.queues {
        let needed = u16::try_from(count).unwrap_or(u16::MAX);
        let left = available.checked_sub(needed).ok_or(PlanError::Queues {
            classes: count,
            queues: available,
        })?;
        if available > MOST_QUEUES {
            return Err(PlanError::ManyQueues(available));
        }
        if let Some(last) = queues.last_mut() {
            *last += left;
        }
    }
    let last = u8::try_from(count.saturating_sub(1)).unwrap_or(0);
    // Priorities above 7 have no PCP, so they go to the lowest class.
    let mut classes = [last; SOCKET_PRIORITIES];
    for (pcp, class) in (0u8..8).zip(&mut classes) {
        *class = u8::try_from(discipline.class_of(pcp)).unwrap_or(last);
    }
    Ok(ClassMap { classes, queues })
}

fn derive_map(map: &ClassMap, derivations: &mut Vec<Derivation>) {
    let count = map.queues.len();
    derivations.push(Derivation::new(
        format!("num_tc {count}"),
        "one for each class of the discipline; class 0 is the highest",
    ));
    let classes: Vec<String> = map.classes.iter().map(ToString::to_string).collect();
    derivations.push(Derivation::new(
        format!("map {}", classes.join(" ")),
        "class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class",
    ));
    derivations.push(Derivation::new(
        "queues",
        "COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first",
    ));
}

fn schedule(
    taprio: &Taprio,
    map: ClassMap,
    options: &PlanOptions,
    derivations: &mut Vec<Derivation>,
) -> Result<GateSchedule, PlanError> {
    let base_time = nanoseconds("base_time", taprio.base_time)?;
    derivations.push(Derivation::new(
        format!("base-time {base_time}"),
        "ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port",
    ));
    let origin = match taprio.guard_band.0 {
        0 => "gates as a mask, bit 0 for class 0, and ns: the entries of the discipline".to_owned(),
        _ => format!(
            "gates as a mask, bit 0 for class 0, and ns: the entries of the discipline; gates close {} early",
            taprio.guard_band
        ),
    };
    derivations.push(Derivation::new("sched-entry", origin));
    let mode = match taprio.txtime_assist {
        Some(delay) => {
            let delay = nanoseconds("txtime_assist", delay)?;
            let origin = "ns: `txtime_assist` of the discipline; above delta of etf, or frames come too late";
            derivations.push(Derivation::new(format!("txtime-delay {delay}"), origin));
            GateMode::TxtimeAssist(delay)
        }
        None if options.offload.of_gates(taprio) => GateMode::FullOffload,
        None => GateMode::Software,
    };
    let entries = entries(taprio)?;
    derivations.push(Derivation::new(
        format!("stab overhead {WIRE_OVERHEAD}"),
        "bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window",
    ));
    Ok(GateSchedule {
        map,
        base_time,
        entries,
        mode,
        overhead: WIRE_OVERHEAD,
    })
}
