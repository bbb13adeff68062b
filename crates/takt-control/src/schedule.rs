//! Steps of a cycle and their times: a pure function of cycle, phases and offset.

use std::time::Duration;

use takt_link::LaunchMode;

use crate::error::ControlError;

/// Times at which the parts of a cycle begin, as shares of the cycle: 0 or more, below 1, in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopPhases {
    /// Phase of the subscriber, which receives until the phase of the user's function.
    pub subscriber: f64,
    /// Phase of the user's function.
    pub user: f64,
    /// Phase of the publisher, which makes the message.
    pub publisher: f64,
}

impl Default for LoopPhases {
    /// 0, 0.3 and 0.6, as in the papers (*Real-Time Performance of OPC UA*, Fig. 3).
    fn default() -> Self {
        Self {
            subscriber: 0.0,
            user: 0.3,
            publisher: 0.6,
        }
    }
}

/// Time at which a message leaves, and the keeper of that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// The message leaves as soon as it is made.
    Immediate,
    /// The thread sends it at the beginning of the next cycle plus an offset. For ports without ETF.
    AtOffset(Duration),
    /// The kernel sends it at the beginning of the next cycle plus an offset (SO_TXTIME). For ports with ETF, or TAPRIO with
    /// txtime-assist.
    LaunchTime {
        /// Offset `o` into the next cycle.
        offset: Duration,
        /// Mode of the queueing discipline.
        mode: LaunchMode,
    },
}

impl Sending {
    /// Returns the time from making a message, at the phase of the publisher, to its launch time; 0 without launch times.
    pub(crate) fn ahead(self, cycle: Duration, phases: LoopPhases) -> Duration {
        match self {
            Self::LaunchTime { offset, .. } => {
                let left = (1.0 - phases.publisher).clamp(0.0, 1.0);
                cycle.mul_f64(left).saturating_add(offset)
            }
            Self::Immediate | Self::AtOffset(_) => Duration::ZERO,
        }
    }
}

/// Part of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Receive from this step's time until this time of the cycle, in nanoseconds.
    Receive { until: i64 },
    /// Call the user's function.
    Update,
    /// Make the message.
    Publish,
    /// Send the message that was made in the cycle before.
    Send,
}

/// Steps of a cycle, in the order of their times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Time from the beginning of the cycle, in nanoseconds, and step.
    pub(crate) steps: Vec<(i64, Step)>,
    /// Length of a cycle in nanoseconds.
    cycle: i64,
    /// Offset of launch times into the next cycle, in nanoseconds.
    launch_offset: Option<i64>,
    /// True if the message is sent when it is made.
    pub(crate) sends_at_once: bool,
}

impl Schedule {
    /// Returns the length of a cycle in nanoseconds.
    pub(crate) const fn cycle_nanos(&self) -> i64 {
        self.cycle
    }

    /// Creates the schedule of a cycle.
    ///
    /// # Errors
    /// [`ControlError::Phases`] or [`ControlError::Offset`].
    pub(crate) fn new(
        cycle: Duration,
        phases: LoopPhases,
        sending: Sending,
    ) -> Result<Self, ControlError> {
        let LoopPhases {
            subscriber,
            user,
            publisher,
        } = phases;
        let is_ordered = 0.0 <= subscriber && subscriber <= user && user <= publisher;
        // A comparison with NaN is false.
        if !(is_ordered && publisher < 1.0) {
            return Err(ControlError::Phases {
                subscriber,
                user,
                publisher,
            });
        }
        let nanos = i64::try_from(cycle.as_nanos()).unwrap_or(i64::MAX);
        let at = |share: f64| (share * nanos as f64) as i64;
        let (subscriber, user, publisher) = (at(subscriber), at(user), at(publisher));
        let offset = match sending {
            Sending::Immediate => None,
            Sending::AtOffset(offset) | Sending::LaunchTime { offset, .. } => {
                Some(i64::try_from(offset.as_nanos()).unwrap_or(i64::MAX))
            }
        };
        let mut steps = Vec::new();
        let mut receive = subscriber;
        let mut launch_offset = None;
        match (sending, offset) {
            (Sending::AtOffset(offset), Some(at)) => {
                if at > publisher {
                    return Err(ControlError::Offset {
                        offset,
                        limit: Duration::from_nanos(publisher.unsigned_abs()),
                    });
                }
                if at <= subscriber {
                    steps.push((at, Step::Send));
                } else if at < user {
                    // The thread stops receiving to send, and goes on behind that.
                    steps.push((receive, Step::Receive { until: at }));
                    steps.push((at, Step::Send));
                    receive = at;
                }
                steps.push((receive, Step::Receive { until: user }));
                steps.push((user, Step::Update));
                if at >= user {
                    steps.push((at, Step::Send));
                }
            }
            (_, at) => {
                launch_offset = at;
                steps.push((receive, Step::Receive { until: user }));
                steps.push((user, Step::Update));
            }
        }
        steps.push((publisher, Step::Publish));
        Ok(Self {
            steps,
            cycle: nanos,
            launch_offset,
            sends_at_once: !matches!(sending, Sending::AtOffset(_)),
        })
    }

    /// Returns the launch time of a message that is made in the cycle that begins at `start`; both are nanoseconds of CLOCK_TAI.
    pub(crate) fn launch_time(&self, start: i64) -> Option<i64> {
        let next = start.saturating_add(self.cycle);
        Some(next.saturating_add(self.launch_offset?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const CYCLE: Duration = Duration::from_micros(250);

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn steps(sending: Sending) -> Vec<(i64, Step)> {
        let schedule = Schedule::new(CYCLE, LoopPhases::default(), sending).unwrap();
        schedule.steps
    }

    #[test]
    fn the_parts_follow_each_other_at_their_phases() {
        let expected = [
            (0, Step::Receive { until: 75_000 }),
            (75_000, Step::Update),
            (150_000, Step::Publish),
        ];
        assert_eq!(steps(Sending::Immediate), expected);
        let launch = Sending::LaunchTime {
            offset: micros(150),
            mode: LaunchMode::Strict,
        };
        assert_eq!(steps(launch), expected);
    }

    #[test]
    fn the_thread_sends_between_the_parts() {
        let receive = |until| Step::Receive { until };
        assert_eq!(
            steps(Sending::AtOffset(micros(50))),
            [
                (0, receive(50_000)),
                (50_000, Step::Send),
                (50_000, receive(75_000)),
                (75_000, Step::Update),
                (150_000, Step::Publish),
            ]
        );
        assert_eq!(
            steps(Sending::AtOffset(micros(0))),
            [
                (0, Step::Send),
                (0, receive(75_000)),
                (75_000, Step::Update),
                (150_000, Step::Publish),
            ]
        );
        assert_eq!(
            steps(Sending::AtOffset(micros(100))),
            [
                (0, receive(75_000)),
                (75_000, Step::Update),
                (100_000, Step::Send),
                (150_000, Step::Publish),
            ]
        );
    }

    #[test]
    fn launch_times_are_in_the_next_cycle() {
        let launch = Sending::LaunchTime {
            offset: micros(150),
            mode: LaunchMode::Deadline,
        };
        let schedule = Schedule::new(CYCLE, LoopPhases::default(), launch).unwrap();
        assert_eq!(schedule.launch_time(1_000_000), Some(1_400_000));
        assert!(schedule.sends_at_once);
        let at_offset = Sending::AtOffset(micros(10));
        let schedule = Schedule::new(CYCLE, LoopPhases::default(), at_offset).unwrap();
        assert_eq!(schedule.launch_time(1_000_000), None);
        assert!(!schedule.sends_at_once);
    }

    #[test]
    fn impossible_schedules_are_refused() {
        // A message may leave just before the next one is made.
        let at_once = Schedule::new(CYCLE, LoopPhases::default(), Sending::AtOffset(micros(150)));
        let steps = at_once.unwrap().steps;
        assert_eq!(
            steps[2..],
            [(150_000, Step::Send), (150_000, Step::Publish)]
        );
        let late = Schedule::new(CYCLE, LoopPhases::default(), Sending::AtOffset(micros(151)));
        assert!(matches!(late, Err(ControlError::Offset { .. })));
        for (subscriber, user, publisher) in [
            (0.4, 0.3, 0.6),
            (0.0, 0.7, 0.6),
            (0.0, 0.3, 1.0),
            (-0.1, 0.3, 0.6),
            (0.0, f64::NAN, 0.6),
        ] {
            let phases = LoopPhases {
                subscriber,
                user,
                publisher,
            };
            let refused = Schedule::new(CYCLE, phases, Sending::Immediate);
            assert!(
                matches!(refused, Err(ControlError::Phases { .. })),
                "{phases:?}"
            );
        }
    }
}
