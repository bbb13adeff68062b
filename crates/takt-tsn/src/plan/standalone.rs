//! Ports without a scenario: a discipline from a few options.

use takt_scenario::{
    CbsParameters, Discipline, DisciplineDescription, Duration, EtfParameters, GateEntry, Limit,
    Queue, Rate, Scheduler, Taprio, TrafficClass, with_defaults,
};

use super::input::PortInput;
use super::priorities::PriorityPreset;

/// A port without a scenario.
#[derive(Debug, Clone)]
pub struct StandalonePort {
    /// Name of the interface.
    pub interface: String,
    /// Rate of the link.
    pub rate: Rate,
    /// Map from PCPs to classes.
    pub classes: PriorityPreset,
    /// Discipline.
    pub discipline: StandaloneDiscipline,
}

/// Discipline of a port without a scenario. Parameters are those of the highest class; all other classes are FIFO
/// queues.
#[derive(Debug, Clone, Copy)]
pub enum StandaloneDiscipline {
    /// A discipline with the default of each parameter.
    Usual(&'static DisciplineDescription),
    /// `mqprio` with `cbs`.
    Cbs {
        /// Reserved rate, in bits on the wire.
        idle_slope: Rate,
    },
    /// `mqprio` with `etf`.
    Etf {
        /// Time before the txtime at which a frame is given to the hardware.
        delta: Duration,
    },
    /// `taprio`: a window of the highest class at the beginning of the cycle, the rest for all others.
    Taprio {
        /// Length of a cycle.
        cycle: Duration,
        /// Length of the window; at most the cycle.
        window: Duration,
        /// Beginning of a cycle on CLOCK_TAI.
        base_time: Duration,
        /// `txtime-delay` of txtime-assist and `delta` of the `etf` below it. `None` for gates.
        txtime_assist: Option<(Duration, Duration)>,
    },
}

impl StandaloneDiscipline {
    fn name(&self) -> &'static str {
        match self {
            Self::Usual(description) => description.name,
            Self::Cbs { .. } => "cbs",
            Self::Etf { .. } => "etf",
            Self::Taprio { .. } => "taprio",
        }
    }
}

impl StandalonePort {
    /// Returns the port for a plan.
    pub fn input(&self) -> PortInput {
        let (scheduler, mut highest) = self.parts();
        let priorities = match scheduler.only_queue() {
            Some(_) => vec![(0..8).collect()],
            None => self.classes.classes(),
        };
        let classes = priorities
            .into_iter()
            .enumerate()
            .map(|(number, priorities)| TrafficClass {
                name: format!("class {number}"),
                priorities,
                queue: std::mem::replace(&mut highest, fifo()),
            });
        let discipline = Discipline {
            name: format!("{} ({})", self.discipline.name(), self.classes.source()),
            classes: classes.collect(),
            scheduler,
        };
        PortInput::of_options(&self.interface, self.rate, discipline)
    }

    /// Returns the scheduler and the queue of the highest class.
    fn parts(&self) -> (Scheduler, Queue) {
        let etf = |delta, skip_sock_check| {
            Queue::Etf(EtfParameters {
                delta,
                deadline_mode: false,
                skip_sock_check,
                offload: true,
            })
        };
        match self.discipline {
            StandaloneDiscipline::Usual(description) => with_defaults(description),
            StandaloneDiscipline::Cbs { idle_slope } => {
                let shaper = CbsParameters::of_idle_slope(idle_slope, self.rate, Limit::default());
                (Scheduler::Mqprio, Queue::Cbs(shaper))
            }
            StandaloneDiscipline::Etf { delta } => (Scheduler::Mqprio, etf(delta, false)),
            StandaloneDiscipline::Taprio {
                cycle,
                window,
                base_time,
                txtime_assist,
            } => {
                let taprio = Taprio {
                    base_time,
                    cycle_time: cycle,
                    entries: self.entries(cycle, window),
                    txtime_assist: txtime_assist.map(|(delay, _)| delay),
                    offload: false,
                    guard_band: Duration::ZERO,
                };
                // The txtimes are from taprio, not from the sockets, so etf must not check the sockets.
                let queue = txtime_assist.map(|(_, delta)| etf(delta, true));
                (Scheduler::Taprio(taprio), queue.unwrap_or_else(fifo))
            }
        }
    }

    /// Returns a window of the highest class, and the rest of the cycle for all others. A window that is longer than the cycle makes
    /// the cycle longer.
    fn entries(&self, cycle: Duration, window: Duration) -> Vec<GateEntry> {
        let entry = |gates, interval| GateEntry { gates, interval };
        let classes = self.classes.classes().len();
        // No preset has more than eight classes, so all shifts stay within the byte.
        let others = (1..classes).fold(0, |gates, class| gates | 1u8 << class);
        let rest = Duration(cycle.0.saturating_sub(window.0));
        let mut entries = vec![entry(1, window), entry(others, rest)];
        // A window as long as the cycle leaves no rest, and the kernel refuses an entry without a length.
        entries.retain(|entry| entry.interval > Duration::ZERO);
        entries
    }
}

fn fifo() -> Queue {
    Queue::Fifo(Limit::default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::{PlanOptions, plan_port};
    use super::*;
    use crate::commands::script;

    fn lines(classes: PriorityPreset, discipline: StandaloneDiscipline) -> String {
        let port = StandalonePort {
            interface: "enp3s0".to_owned(),
            rate: Rate(1_000_000_000),
            classes,
            discipline,
        };
        let plan = plan_port(&port.input(), &PlanOptions::default()).unwrap();
        script(&plan).join("\n").replace(" \\\n   ", "")
    }

    #[test]
    fn launch_times_for_the_upper_half_of_the_priorities() {
        let delta = Duration(200_000_000);
        let script = lines(
            PriorityPreset::Ieee8021q(2),
            StandaloneDiscipline::Etf { delta },
        );
        assert!(
            script.contains("map 1 1 1 1 0 0 0 0 1 1 1 1 1 1 1 1 queues 1@0 1@1"),
            "{script}"
        );
        assert!(
            script.contains("parent 100:1 handle 101: etf clockid CLOCK_TAI delta 200000 offload"),
            "{script}"
        );
    }

    #[test]
    fn a_reserved_rate_of_the_first_class() {
        let idle_slope = Rate(20_000_000);
        let script = lines(
            PriorityPreset::AtScale,
            StandaloneDiscipline::Cbs { idle_slope },
        );
        // 1542 B · 20 / 1000 = 30.8 and 1542 B · 980 / 1000 = 1511.2.
        assert!(
            script.contains(
                "cbs idleslope 20000 sendslope -980000 hicredit 31 locredit -1512 offload 0"
            ),
            "{script}"
        );
    }

    #[test]
    fn each_queue_has_handles_of_its_own() {
        let shaped = |classes| StandalonePort {
            interface: "enp3s0".to_owned(),
            rate: Rate(1_000_000_000),
            classes: PriorityPreset::Ieee8021q(classes),
            discipline: StandaloneDiscipline::Cbs {
                idle_slope: Rate(20_000_000),
            },
        };
        let with = |queues| PlanOptions {
            queues: Some(queues),
            ..PlanOptions::default()
        };
        for (classes, queues) in [(1, 1), (1, 1024), (2, 300), (8, 8), (8, 1024)] {
            let plan = plan_port(&shaped(classes).input(), &with(queues)).unwrap();
            let handles: Vec<u16> = plan.tree.iter().map(|qdisc| qdisc.handle.0).collect();
            let distinct: std::collections::BTreeSet<u16> = handles.iter().copied().collect();
            assert!(handles.len() > usize::from(queues));
            assert_eq!(handles.len(), distinct.len(), "{classes} {queues}");
        }
        let many = plan_port(&shaped(2).input(), &with(1025));
        assert_eq!(many, Err(crate::PlanError::ManyQueues(1025)));
    }

    #[test]
    fn a_window_at_the_beginning_of_the_cycle() {
        let taprio = |txtime_assist| StandaloneDiscipline::Taprio {
            cycle: Duration(250_000_000),
            window: Duration(62_500_000),
            base_time: Duration(0),
            txtime_assist,
        };
        let gates = lines(PriorityPreset::RealTimePerformance, taprio(None));
        assert!(
            gates.contains("sched-entry S 01 62500 sched-entry S 02 187500 clockid CLOCK_TAI"),
            "{gates}"
        );
        let assist = Some((Duration(205_000_000), Duration(200_000_000)));
        let assisted = lines(PriorityPreset::RealTimePerformance, taprio(assist));
        assert!(
            assisted.contains("flags 0x1 txtime-delay 205000"),
            "{assisted}"
        );
        assert!(
            assisted.contains("delta 200000 offload skip_sock_check"),
            "{assisted}"
        );
    }
}
