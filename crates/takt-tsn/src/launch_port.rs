//! Check of a port for messages with launch times (SO_TXTIME): the discipline that the kernel holds for their priority.
//!
//! A discipline other than `etf` sends a message at once, and counts nothing: only this check tells. Sources: tc-etf(8),
//! `net/sched/sch_etf.c`, `net/sched/sch_fq.c` and `net/8021q/vlan_dev.c` of Linux.

use serde_json::Value;
use takt_scenario::{
    Discipline, Duration, EtfParameters, Limit, Queue, Rate, Scheduler, TrafficClass,
};

use crate::commands::{qdisc_commands, remove_root, replace};
use crate::executor::Executor;
use crate::fault::SystemFault;
use crate::kernel_state::KernelState;
use crate::launch_fault::LaunchFault;
use crate::plan::{PlanError, PlanOptions, PortInput, plan_port};
use crate::qdisc::{LaunchNumbers, Qdisc, QdiscHandle, QdiscKind, QdiscParent};
use crate::read_back::KernelQdisc;
use crate::system::{kernel_state, link_description};

/// Number of interfaces that may lie upon each other: a VLAN in a VLAN, and room for more.
const MOST_LAYERS: usize = 8;

/// Kinds of interfaces that pass a frame to the discipline of their lower device, with its priority and launch time.
const STACKED: [&str; 3] = ["vlan", "macvlan", "ipvlan"];

/// Longest line of a script, in characters: it is shown as indented advice.
const WIDTH: usize = 68;

/// `delta` of ETF in the papers, in nanoseconds (*Real-Time Performance of OPC UA*, Table VII).
const DELTA: u64 = 200_000;

/// Bits of a priority that have a class (`TC_BITMASK` of `include/uapi/linux/pkt_sched.h`).
const PRIORITY_MASK: u32 = 15;

/// Clock of launch times, as `tc` names it.
const TAI: &str = "TAI";

/// Messages with launch times that leave at an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRequest {
    /// Name of the interface.
    pub interface: String,
    /// Priority of the socket (SO_PRIORITY). `mqprio` and `taprio` use its lowest four bits, the egress-qos-map of a
    /// VLAN all of them.
    pub priority: u32,
    /// True if the messages have an 802.1Q tag that the sender writes.
    pub is_tagged: bool,
    /// True if the launch time is a deadline (SOF_TXTIME_DEADLINE_MODE).
    pub deadline_mode: bool,
    /// Time in nanoseconds from the moment at which a message is made to its launch time; 0 if it is not known.
    pub lead: u64,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchPort {
    /// Interface whose discipline keeps the launch times: that of the request, or a lower device.
    pub interface: String,
    /// Number of its transmit queues.
    pub transmit_queues: u16,
    /// Faults; none if messages leave at their launch times.
    pub faults: Vec<LaunchFault>,
}

/// Checks the discipline of an interface, or of its lower device, for messages with launch times.
///
/// # Errors
/// There is no such interface, or the system cannot be asked.
pub fn launch_port(
    request: &LaunchRequest,
    executor: &mut impl Executor,
) -> Result<LaunchPort, SystemFault> {
    let mut faults = Vec::new();
    let mut interface = request.interface.clone();
    for _ in 0..MOST_LAYERS {
        let link = link_description(executor, &interface)?;
        let (state, _) = kernel_state(executor, &interface)?;
        let found = discipline_faults(&state, &interface, request);
        let layer = Layer::of(&link);
        let lower = match layer {
            // A discipline upon the lower device is enough, too.
            Some(layer) if !found.is_empty() => layer,
            layer => {
                faults.extend(layer.and_then(|layer| layer.tag_fault(&interface, request)));
                faults.extend(found);
                return Ok(LaunchPort {
                    interface,
                    transmit_queues: transmit_queues(&link),
                    faults,
                });
            }
        };
        faults.extend(lower.tag_fault(&interface, request));
        let Some(name) = lower.lower else {
            let transmit_queues = transmit_queues(&link);
            faults.push(LaunchFault::LowerDevice {
                interface: interface.clone(),
            });
            return Ok(LaunchPort {
                interface,
                transmit_queues,
                faults,
            });
        };
        interface = name;
    }
    Err(SystemFault::NoInterface { interface })
}

fn transmit_queues(link: &Value) -> u16 {
    let count = link.get("num_tx_queues").and_then(Value::as_u64);
    u16::try_from(count.unwrap_or(1)).unwrap_or(u16::MAX)
}

/// Interface upon a lower device.
struct Layer {
    /// Name of the lower device; `None` if it is in another network namespace.
    lower: Option<String>,
    /// Map from priorities to PCPs of a VLAN; `None` for other kinds.
    egress: Option<Vec<(u32, u8)>>,
}

impl Layer {
    /// Reads an element of `ip -j -d link show`.
    fn of(link: &Value) -> Option<Self> {
        let information = link.get("linkinfo")?;
        let kind = information.get("info_kind")?.as_str()?;
        if !STACKED.contains(&kind) {
            return None;
        }
        let egress = (kind == "vlan").then(|| {
            let map = information
                .get("info_data")
                .and_then(|it| it.get("egress_qos"));
            let pairs = map.and_then(Value::as_array).into_iter().flatten();
            let number = |pair: &Value, name| u32::try_from(pair.get(name)?.as_u64()?).ok();
            let pcp = |pair| u8::try_from(number(pair, "to")?).ok();
            let pairs = pairs.filter_map(|pair| Some((number(pair, "from")?, pcp(pair)?)));
            pairs.collect()
        });
        let is_here = link.get("link_netnsid").is_none();
        let lower = link.get("link").and_then(Value::as_str).filter(|_| is_here);
        Some(Self {
            lower: lower.map(str::to_owned),
            egress,
        })
    }

    /// Returns the fault of the tags that this interface writes.
    fn tag_fault(&self, interface: &str, request: &LaunchRequest) -> Option<LaunchFault> {
        let map = self.egress.as_ref()?;
        let priority = request.priority;
        if request.is_tagged {
            return Some(LaunchFault::TaggedTwice {
                interface: interface.to_owned(),
                lower: self
                    .lower
                    .clone()
                    .unwrap_or_else(|| "another device".to_owned()),
            });
        }
        // A priority without an entry has PCP 0 (`vlan_dev_get_egress_qos_mask`).
        let entry = map.iter().find(|(from, _)| *from == priority);
        let pcp = entry.map_or(0, |(_, pcp)| *pcp);
        // No PCP is a priority above 7, so that any entry for it is meant.
        let is_meant = u32::from(pcp) == priority || (priority > 7 && entry.is_some());
        (!is_meant).then(|| LaunchFault::EgressMap {
            interface: interface.to_owned(),
            priority,
            pcp,
            entries: map.len(),
        })
    }
}

/// Returns the faults of the disciplines for the priority of a request.
fn discipline_faults(
    state: &KernelState,
    interface: &str,
    request: &LaunchRequest,
) -> Vec<LaunchFault> {
    let leaves = leaves(state, request.priority);
    let mut faults = Vec::new();
    for leaf in leaves {
        let found = match leaf.and_then(|leaf| Some((leaf, leaf.kind.as_ref()?))) {
            Some((leaf, QdiscKind::Etf(etf))) => etf_faults(leaf, etf, interface, request),
            _ => vec![without_etf(state, leaf, interface, request.priority)],
        };
        for fault in found {
            // The queues of a class are usually alike.
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    faults
}

/// Returns the disciplines in which frames of a priority wait: one for each queue of its class. `None` is the default
/// of the kernel, which it does not list.
fn leaves(state: &KernelState, priority: u32) -> Vec<Option<&KernelQdisc>> {
    let Some(root) = state.root() else {
        return vec![None];
    };
    let child = |queue: u16| {
        let place = QdiscParent::Class(root.handle, queue.saturating_add(1));
        state.qdiscs.iter().find(|qdisc| qdisc.parent == place)
    };
    if let Some(map) = root.kind.as_ref().and_then(QdiscKind::class_map) {
        // `netdev_get_prio_tc_map`
        let place = (priority & PRIORITY_MASK) as usize;
        let class = map.classes.get(place).copied().unwrap_or(0);
        let first = map.first_queue(class.into());
        let count = map.queues.get(usize::from(class)).copied().unwrap_or(1);
        return (first..first.saturating_add(count)).map(child).collect();
    }
    if root.name == "mq" {
        // Any queue may have the frames.
        let all = state.qdiscs.iter();
        let children =
            all.filter(|it| matches!(it.parent, QdiscParent::Class(at, _) if at == root.handle));
        let children: Vec<_> = children.map(Some).collect();
        if !children.is_empty() {
            return children;
        }
    }
    vec![Some(root)]
}

fn etf_faults(
    qdisc: &KernelQdisc,
    etf: &LaunchNumbers,
    interface: &str,
    request: &LaunchRequest,
) -> Vec<LaunchFault> {
    let mut faults = Vec::new();
    let interface = interface.to_owned();
    if let Some(clock) = qdisc.clock.as_deref().filter(|clock| *clock != TAI) {
        faults.push(LaunchFault::OtherClock {
            interface: interface.clone(),
            discipline: qdisc.name.clone(),
            clock: format!("CLOCK_{clock}"),
        });
    }
    if etf.deadline_mode != request.deadline_mode {
        faults.push(LaunchFault::Mode {
            interface: interface.clone(),
            deadline_mode: etf.deadline_mode,
            drops: !etf.skip_sock_check,
        });
    }
    // In deadline mode the discipline waits for nothing.
    if !etf.deadline_mode && request.lead > 0 && request.lead <= etf.delta {
        faults.push(LaunchFault::ShortLead {
            interface,
            lead: request.lead,
            delta: etf.delta,
            offload: etf.offload,
        });
    }
    faults
}

/// Returns the fault of a discipline that is no `etf`.
fn without_etf(
    state: &KernelState,
    leaf: Option<&KernelQdisc>,
    interface: &str,
    priority: u32,
) -> LaunchFault {
    let interface = interface.to_owned();
    let discipline = leaf.map_or_else(
        || "the default of the kernel".to_owned(),
        |it| it.name.clone(),
    );
    if discipline == "fq" {
        // It takes any launch time for one of CLOCK_MONOTONIC (`fq_enqueue`).
        return LaunchFault::OtherClock {
            interface,
            discipline,
            clock: "CLOCK_MONOTONIC".to_owned(),
        };
    }
    let is_etf = |leaf: &Option<&KernelQdisc>| {
        leaf.is_some_and(|leaf| matches!(leaf.kind, Some(QdiscKind::Etf(_))))
    };
    let others = (0..8).filter(|other| leaves(state, *other).iter().all(is_etf));
    let etf_priorities: Vec<u32> = others.collect();
    match etf_priorities.is_empty() {
        true => LaunchFault::NoEtf {
            interface,
            priority,
            discipline,
        },
        false => LaunchFault::OtherClass {
            interface,
            priority,
            discipline,
            etf_priorities,
        },
    }
}

impl LaunchPort {
    /// Returns the lines of a shell script that gives the port what a request needs: ETF for its priority, and a queue
    /// for all others. With a single transmit queue, ETF is all that there is, and it drops frames without a launch time.
    ///
    /// Returns `None` if no class is possible for the priority alone. Frames of all other programs have priority 0: ETF
    /// would drop ARP, DHCP and the administrator's own connection. The plan has classes for PCPs, hence for 1 to 7.
    ///
    /// # Errors
    /// No plan is possible.
    pub fn script(&self, request: &LaunchRequest) -> Result<Option<Vec<String>>, PlanError> {
        let is_single = self.transmit_queues < 2;
        let Some(pcp) = own_class(request.priority).or(is_single.then_some(0)) else {
            return Ok(None);
        };
        // The papers have 200 us of 250 us. A shorter time has the same share.
        let delta = match request.lead {
            0 => DELTA,
            lead => (lead / 5 * 4).clamp(1, DELTA),
        };
        if is_single {
            let numbers = LaunchNumbers {
                delta,
                deadline_mode: request.deadline_mode,
                skip_sock_check: false,
                offload: false,
            };
            let root = Qdisc {
                handle: QdiscHandle(0x100),
                parent: QdiscParent::Root,
                kind: QdiscKind::Etf(numbers),
            };
            let mut lines = vec![remove_root(&self.interface)];
            lines.extend(replace(&self.interface, &root).lines_within(WIDTH));
            return Ok(Some(lines));
        }
        let etf = EtfParameters {
            delta: Duration(delta.saturating_mul(1000)),
            deadline_mode: request.deadline_mode,
            skip_sock_check: false,
            offload: false,
        };
        let class = |name: &str, priorities, queue| TrafficClass {
            name: name.to_owned(),
            priorities,
            queue,
        };
        let others = (0..8).filter(|other| *other != pcp).collect();
        let discipline = Discipline {
            name: "etf".to_owned(),
            classes: vec![
                class("launch times", vec![pcp], Queue::Etf(etf)),
                class("others", others, Queue::Fifo(Limit::default())),
            ],
            scheduler: Scheduler::Mqprio,
        };
        let input = PortInput::of_options(&self.interface, Rate(1_000_000_000), discipline);
        let plan = plan_port(&input, &PlanOptions::default())?;
        let mut lines = vec![remove_root(&self.interface)];
        let commands = qdisc_commands(&plan);
        lines.extend(
            commands
                .iter()
                .flat_map(|command| command.lines_within(WIDTH)),
        );
        Ok(Some(lines))
    }
}

/// Returns the class that can have launch times alone for a priority: the priority itself, if it is a PCP and not that
/// of all frames without a priority.
fn own_class(priority: u32) -> Option<u8> {
    let pcp = priority & PRIORITY_MASK;
    u8::try_from(pcp).ok().filter(|pcp| (1..8).contains(pcp))
}

#[cfg(test)]
#[path = "launch_port_tests.rs"]
mod tests;
