//! Checks of a port: gates for PTP and ARP, queues that drop or delay what they should not.

use takt_scenario::{Duration, Frame, Rate, Taprio};

use super::input::PortInput;
use super::options::{KernelVersion, PlanOptions};
use super::warning::PlanWarning;

/// Traffic that the network itself needs, with the payload of its longest frame in bytes. Both have priority 0, unless
/// they are configured otherwise. PTP: Announce with a path trace of few clocks (IEEE 1588-2019, 13.5). ARP: RFC 826,
/// padded.
const VITAL: [(&str, u32); 2] = [("PTP", 90), ("ARP", 46)];
/// Kernel on which gates in software with shapers below were seen to work.
const SHAPERS_WORK: KernelVersion = KernelVersion {
    major: 6,
    minor: 12,
};

/// Kernel from which on taprio in software takes the class with the highest number first.
const TAKES_LAST: KernelVersion = KernelVersion { major: 6, minor: 3 };

/// Returns the warnings about a port.
pub(crate) fn warnings(input: &PortInput, options: &PlanOptions, speed: Rate) -> Vec<PlanWarning> {
    let mut warnings = Vec::new();
    if let Some(taprio) = input.discipline.scheduler.gates() {
        if taprio.txtime_assist.is_none() {
            let class = input.discipline.class_of(0);
            let name = input
                .discipline
                .classes
                .get(class)
                .map_or("", |class| &class.name);
            warnings.extend(vital_traffic(taprio, class, name, speed));
        }
        shapers_below_gates(input, taprio, options, &mut warnings);
        shared_windows(input, taprio, options, &mut warnings);
        if options.offload.of_gates(taprio) {
            warnings.push(PlanWarning::FullOffload);
        }
    }
    launches(input, options, &mut warnings);
    for group in input.groups.iter().filter(|_| !options.vlan_interfaces) {
        if !group.elsewhere.is_empty() {
            warnings.push(PlanWarning::SharedGroup {
                group: group.address,
                vlans: group.elsewhere.clone(),
            });
        }
    }
    warnings
}

/// Returns the warnings about gates that are not open long enough for PTP or ARP, whose frames are in this class.
pub fn vital_traffic(taprio: &Taprio, class: usize, name: &str, speed: Rate) -> Vec<PlanWarning> {
    let longest = taprio
        .windows(class)
        .into_iter()
        .map(|(_, length)| length)
        .max();
    let check = |(traffic, payload): (&'static str, u32)| {
        let frame = Frame::new(payload).unwrap_or(Frame::LONGEST);
        let needed = speed.duration(frame.physical().into());
        let class = name.to_owned();
        match longest {
            None => Some(PlanWarning::NoGate { traffic, class }),
            Some(longest) if longest < needed.plus(taprio.guard_band) => {
                Some(PlanWarning::ShortWindow {
                    traffic,
                    class,
                    needed,
                    longest,
                })
            }
            Some(_) => None,
        }
    };
    VITAL.into_iter().filter_map(check).collect()
}

fn shapers_below_gates(
    input: &PortInput,
    taprio: &Taprio,
    options: &PlanOptions,
    warnings: &mut Vec<PlanWarning>,
) {
    let is_software = taprio.txtime_assist.is_none() && !options.offload.of_gates(taprio);
    let mut classes = input.discipline.classes.iter();
    let has_shaper = classes.any(|class| class.queue.shaper().is_some());
    // An unknown kernel may be an old one.
    let is_new = options.kernel.is_some_and(|kernel| kernel >= SHAPERS_WORK);
    if is_software && has_shaper && !is_new {
        let known = options.kernel.is_some();
        warnings.push(PlanWarning::ShapersBelowGates { known });
    }
}

/// Warns of classes whose gates in software are open together (`taprio_dequeue_tc_priority` of Linux 6.3 and later).
fn shared_windows(
    input: &PortInput,
    taprio: &Taprio,
    options: &PlanOptions,
    warnings: &mut Vec<PlanWarning>,
) {
    let is_software = taprio.txtime_assist.is_none() && !options.offload.of_gates(taprio);
    // An unknown kernel may be a new one.
    let is_old = options.kernel.is_some_and(|kernel| kernel < TAKES_LAST);
    let shared = taprio.entries.iter().find(|it| it.gates.count_ones() > 1);
    if let (true, false, Some(entry)) = (is_software, is_old, shared) {
        let classes = input.discipline.classes.iter().enumerate();
        let open = classes.filter(|(index, _)| entry.gates >> index & 1 == 1);
        warnings.push(PlanWarning::SharedWindows {
            classes: open.map(|(_, class)| class.name.clone()).collect(),
        });
    }
}

/// Warns of classes whose etf drops frames, or sends them early.
fn launches(input: &PortInput, options: &PlanOptions, warnings: &mut Vec<PlanWarning>) {
    let assist = input.discipline.scheduler.txtime_assist();
    let of_priority_0 = input.discipline.class_of(0);
    for (number, class) in input.discipline.classes.iter().enumerate() {
        let name = || class.name.clone();
        let Some(etf) = class.queue.launch() else {
            if assist.is_some() {
                warnings.push(PlanWarning::NotTimed { class: name() });
            }
            continue;
        };
        if let Some(delay) = assist {
            if !etf.skip_sock_check {
                warnings.push(PlanWarning::SocketCheck { class: name() });
            }
            if delay <= etf.delta {
                warnings.push(PlanWarning::ShortDelay {
                    class: name(),
                    delay,
                    delta: etf.delta,
                });
            }
        }
        if number == of_priority_0 && !etf.skip_sock_check {
            for (traffic, _) in VITAL {
                warnings.push(PlanWarning::Untimed {
                    traffic,
                    class: name(),
                });
            }
        }
        if !options.offload.of_launches(etf.offload) && etf.delta > Duration::ZERO {
            warnings.push(PlanWarning::EarlyLaunch {
                class: name(),
                delta: etf.delta,
            });
        }
    }
}
