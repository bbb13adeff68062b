//! Named requirements of the papers.

use takt_control::TracePoint::T8;

use super::application::ComparedApplication;
use super::times::RoundTripKind;

/// Condition of a requirement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Criterion {
    /// Longest delay of each way on the wire, in nanoseconds.
    OneWayDelay(f64),
    /// Greatest jitter of each way on the wire, in nanoseconds.
    OneWayJitter(f64),
    /// Least share of messages that return, in percent.
    Returned(f64),
    /// Longest round trip of a kind, in cycles.
    RoundTripCycles(RoundTripKind, f64),
    /// Longest wake-up latency of a thread, in nanoseconds.
    WakeUpLatency(f64),
    /// Largest number of missed counters at the Publisher.
    MissedCounters(u64),
}

/// Requirement with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// Name on the command line.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// Conditions.
    pub criteria: &'static [Criterion],
    /// Largest number of hops of a way for which it is stated.
    pub most_hops: Option<usize>,
}

/// Result of a condition for one of the three answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Quantity, with the kind of its delay.
    pub quantity: String,
    /// Unit of the numbers.
    pub unit: &'static str,
    /// Answer: `bound`, `simulation` or `measurement`.
    pub answer: &'static str,
    /// Required value.
    pub limit: f64,
    /// Value; `None` if it is not known.
    pub value: Option<f64>,
    /// Distance to the limit; negative if the requirement is not met.
    pub margin: Option<f64>,
}

impl Verdict {
    /// Returns true if the condition is met; `None` if that is not known.
    #[must_use]
    pub fn passes(&self) -> Option<bool> {
        self.margin.map(|margin| margin >= 0.0)
    }
}

impl Requirement {
    /// All requirements.
    pub const ALL: [Self; 4] = [
        Self {
            name: "motion-control",
            title: "motion control: latency 0.1 ms, jitter 0.05 ms, reliability 99.999 %",
            source: "Real-Time Performance of OPC UA, section I",
            criteria: &[
                Criterion::OneWayDelay(100_000.0),
                Criterion::OneWayJitter(50_000.0),
                Criterion::Returned(99.999),
            ],
            most_hops: None,
        },
        Self {
            name: "sr-class",
            title: "Stream Reservation class: delay 2 ms, jitter 125 \u{b5}s over seven hops",
            source: "Assessment of OPC UA PubSub at Scale, section I",
            criteria: &[
                Criterion::OneWayDelay(2_000_000.0),
                Criterion::OneWayJitter(125_000.0),
            ],
            most_hops: Some(7),
        },
        Self {
            name: "control-round-trip",
            title: "control loop: application round trip of nine cycles, no missed counters",
            source: "OPC UA PubSub over TSN (whitepaper), section VI, Fig. 14, 18 and 19",
            criteria: &[
                Criterion::RoundTripCycles(RoundTripKind::Application, 9.0),
                Criterion::MissedCounters(0),
            ],
            most_hops: None,
        },
        Self {
            name: "real-time-host",
            title: "real-time host: wake-up latency below 70 \u{b5}s",
            source: "OPC UA PubSub over TSN (whitepaper), section IV-A",
            criteria: &[Criterion::WakeUpLatency(70_000.0)],
            most_hops: None,
        },
    ];

    /// Returns the requirement with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name == name)
    }

    /// Returns true if the requirement is stated for a network of this size.
    #[must_use]
    pub fn applies(&self, application: &ComparedApplication) -> bool {
        self.most_hops.is_none_or(|most| application.hops <= most)
    }

    /// Judges bound, simulation and measurement of an application.
    #[must_use]
    pub fn judge(&self, application: &ComparedApplication) -> Vec<Verdict> {
        let verdicts = self.criteria.iter();
        verdicts.flat_map(|it| judge(it, application)).collect()
    }
}

/// Values of bound, simulation and measurement.
type Values = [(&'static str, Option<f64>); 3];

fn judge(criterion: &Criterion, application: &ComparedApplication) -> Vec<Verdict> {
    let at_most = |quantity: String, unit, limit: f64, scale: f64, values: Values| {
        let known = |(answer, value): (&'static str, Option<f64>)| Verdict {
            quantity: quantity.clone(),
            unit,
            answer,
            limit: limit / scale,
            value: value.map(|value| value / scale),
            margin: value.map(|value| (limit - value) / scale),
        };
        values.map(known).to_vec()
    };
    let one_way = |what: &str, limit: f64, values: &dyn Fn(usize) -> Values| -> Vec<Verdict> {
        let ways = application.one_way.iter().enumerate();
        let verdict = |(index, way): (usize, &super::application::OneWayComparison)| {
            let quantity = format!("{what}, {}", way.name);
            at_most(quantity, "\u{b5}s", limit, 1e3, values(index))
        };
        ways.flat_map(verdict).collect()
    };
    match *criterion {
        Criterion::OneWayDelay(limit) => one_way("longest delay", limit, &|index| {
            let way = application.one_way.get(index).map(|it| &it.delay);
            [
                ("bound", way.and_then(|it| it.bound.nanos())),
                (
                    "simulation",
                    way.and_then(|it| Some(it.simulated.as_ref()?.delay.max)),
                ),
                (
                    "measurement",
                    way.and_then(|it| it.decided(it.measured.as_ref()?.delay.max, limit)),
                ),
            ]
        }),
        Criterion::OneWayJitter(limit) => one_way("greatest jitter", limit, &|index| {
            let way = application.one_way.get(index).map(|it| &it.delay);
            [
                ("bound", None),
                (
                    "simulation",
                    way.and_then(|it| Some(it.simulated.as_ref()?.jitter?.max)),
                ),
                (
                    "measurement",
                    way.and_then(|it| Some(it.measured.as_ref()?.jitter?.max)),
                ),
            ]
        }),
        Criterion::Returned(limit) => {
            let returned = |losses: &super::loss::LossShares| {
                losses.percent(losses.all).map(|lost| 100.0 - lost)
            };
            let values = [
                ("simulation", returned(&application.simulated_losses)),
                ("measurement", returned(&application.measured_losses)),
            ];
            let verdict = |(answer, value): (&'static str, Option<f64>)| Verdict {
                quantity: "messages that return".to_owned(),
                unit: "%",
                answer,
                limit,
                value,
                margin: value.map(|value| value - limit),
            };
            values.map(verdict).to_vec()
        }
        Criterion::RoundTripCycles(kind, limit) => {
            let trip = &application.round_trip(kind).delay;
            let cycle = application.cycle_nanos.max(1.0);
            let values = [
                ("bound", trip.bound.nanos()),
                ("simulation", trip.simulated.map(|it| it.longest)),
                ("measurement", trip.longest_nanos()),
            ];
            let quantity = format!("longest {} round trip", kind.name());
            at_most(quantity, "cycles", limit * cycle, cycle, values)
        }
        Criterion::WakeUpLatency(limit) => {
            let value = application.wake_up_latency_nanos;
            let quantity = "longest wake-up latency".to_owned();
            let verdicts = at_most(
                quantity,
                "\u{b5}s",
                limit,
                1e3,
                [
                    ("bound", None),
                    ("simulation", None),
                    ("measurement", value),
                ],
            );
            // Bound and simulation do not have this quantity, and `at_most` lists all three answers.
            verdicts.into_iter().skip(2).collect()
        }
        Criterion::MissedCounters(limit) => {
            let simulated = application.simulated_counters.map(|it| it[0] as f64);
            let points = application.points.iter();
            let mut points = points.filter(|it| it.point == T8);
            let measured = points.next().map(|it| it.counters.missed as f64);
            let quantity = "missed counters at the Publisher".to_owned();
            let values = [
                ("bound", None),
                ("simulation", simulated),
                ("measurement", measured),
            ];
            let verdicts = at_most(quantity, "", limit as f64, 1.0, values);
            // There is no bound on lost counters.
            verdicts.into_iter().skip(1).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::application::tests::application;
    use super::*;

    #[test]
    fn names_lead_to_requirements() {
        for requirement in Requirement::ALL {
            assert_eq!(Requirement::of_name(requirement.name), Some(requirement));
        }
        assert_eq!(Requirement::of_name("other"), None);
    }

    #[test]
    fn values_at_the_limit_pass() {
        let mut application = application();
        application.wake_up_latency_nanos = Some(70_000.0);
        let host = Requirement::of_name("real-time-host");
        let verdicts = |application: &ComparedApplication| {
            let verdicts = host.as_ref().map(|it| it.judge(application));
            let verdicts = verdicts.unwrap_or_default().into_iter();
            let numbers = verdicts.map(|it| (it.limit, it.value, it.margin, it.passes()));
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(
            verdicts(&application),
            [(70.0, Some(70.0), Some(0.0), Some(true))]
        );
        application.wake_up_latency_nanos = Some(70_500.0);
        assert_eq!(
            verdicts(&application),
            [(70.0, Some(70.5), Some(-0.5), Some(false))]
        );
        application.wake_up_latency_nanos = None;
        assert_eq!(verdicts(&application), [(70.0, None, None, None)]);
    }

    #[test]
    fn losses_are_shares_of_all_messages() {
        let mut application = application();
        application.measured_losses.messages = 100_000;
        application.measured_losses.all = Some(1);
        let returned = |application: &ComparedApplication| {
            let verdicts = judge(&Criterion::Returned(99.999), application);
            verdicts.last().map(|it| (it.answer, it.passes()))
        };
        assert_eq!(returned(&application), Some(("measurement", Some(true))));
        application.measured_losses.all = Some(2);
        assert_eq!(returned(&application), Some(("measurement", Some(false))));
    }

    #[test]
    fn more_hops_than_stated_are_left_out() {
        let mut application = application();
        let class = Requirement::of_name("sr-class");
        let applies = |application: &ComparedApplication| {
            class.as_ref().is_some_and(|it| it.applies(application))
        };
        application.hops = 7;
        assert!(applies(&application));
        application.hops = 8;
        assert!(!applies(&application));
    }
}
