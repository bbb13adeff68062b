//! Ports without a scenario: a discipline from a few options.

use takt_scenario::{
    Credit, Discipline, Duration, FqCodelParameters, Frame, GateEntry, Limit, Queue, Rate,
    Scheduler, Taprio, TrafficClass,
};

use super::input::PortInput;
use super::priorities::PriorityPreset;

/// A port without a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandaloneDiscipline {
    /// `fq_codel` with the defaults of Linux.
    FqCodel,
    /// `mqprio`.
    Mqprio,
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
            Self::FqCodel => "fq_codel",
            Self::Mqprio => "mqprio",
            Self::Cbs { .. } => "cbs",
            Self::Etf { .. } => "etf",
            Self::Taprio { .. } => "taprio",
        }
    }
}

impl StandalonePort {
    /// Returns the port for a plan.
    pub fn input(&self) -> PortInput {
        let priorities = match self.discipline {
            StandaloneDiscipline::FqCodel => vec![(0..8).collect()],
            _ => self.classes.classes(),
        };
        let classes = priorities
            .into_iter()
            .enumerate()
            .map(|(number, priorities)| TrafficClass {
                name: format!("class {number}"),
                priorities,
                queue: if number == 0 { self.highest() } else { fifo() },
            });
        let discipline = Discipline {
            name: format!("{} ({})", self.discipline.name(), self.classes.source()),
            classes: classes.collect(),
            scheduler: self.scheduler(),
        };
        PortInput::of_options(&self.interface, self.rate, discipline)
    }

    fn highest(&self) -> Queue {
        let etf = |delta, skip_sock_check| Queue::Etf {
            delta,
            deadline_mode: false,
            skip_sock_check,
            offload: true,
        };
        match self.discipline {
            StandaloneDiscipline::FqCodel | StandaloneDiscipline::Mqprio => fifo(),
            StandaloneDiscipline::Cbs { idle_slope } => self.shaper(idle_slope),
            StandaloneDiscipline::Etf { delta } => etf(delta, false),
            StandaloneDiscipline::Taprio { txtime_assist, .. } => match txtime_assist {
                Some((_, delta)) => etf(delta, true),
                None => fifo(),
            },
        }
    }

    /// Returns a shaper for frames of any length, with the credits that such frames need (IEEE 802.1Q, L.3).
    fn shaper(&self, idle_slope: Rate) -> Queue {
        let send_slope = Rate(self.rate.0.saturating_sub(idle_slope.0));
        let credit = |slope: Rate| {
            let bytes = u128::from(Frame::LONGEST.physical()) * u128::from(slope.0);
            let bytes = bytes.div_ceil(u128::from(self.rate.0.max(1)));
            i64::try_from(bytes).unwrap_or(i64::MAX)
        };
        Queue::Cbs {
            idle_slope,
            send_slope,
            hi_credit: Credit(credit(idle_slope)),
            lo_credit: Credit(-credit(send_slope)),
            limit: Limit::default(),
        }
    }

    fn scheduler(&self) -> Scheduler {
        match self.discipline {
            StandaloneDiscipline::FqCodel => Scheduler::FqCodel(FqCodelParameters::default()),
            StandaloneDiscipline::Taprio {
                cycle,
                window,
                base_time,
                txtime_assist,
            } => {
                let window = window.min(cycle);
                let entry = |gates, interval| GateEntry { gates, interval };
                let others =
                    (1..self.classes.classes().len()).fold(0, |gates, class| gates | 1u8 << class);
                let mut entries = vec![
                    entry(1, window),
                    entry(others, Duration(cycle.0 - window.0)),
                ];
                entries.retain(|entry| entry.interval > Duration::ZERO);
                Scheduler::Taprio(Taprio {
                    base_time,
                    cycle_time: cycle,
                    entries,
                    txtime_assist: txtime_assist.map(|(delay, _)| delay),
                    guard_band: Duration::ZERO,
                })
            }
            _ => Scheduler::Mqprio,
        }
    }
}

fn fifo() -> Queue {
    Queue::Fifo {
        limit: Limit::default(),
    }
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
