//! Values of rows that requirements are about.

use serde_json::{Map, Value};
use takt_campaign::CampaignRow;
use takt_statistics::RunningMean;

use crate::comparison::{Criterion, Requirement, RoundTripKind};

/// A condition for one application: over the repetitions of a case by a backend.
#[derive(Debug, Clone)]
pub(super) struct JudgedCase {
    pub(super) scenario: String,
    pub(super) settings: Map<String, Value>,
    pub(super) backend: String,
    /// Name of the application.
    pub(super) application: String,
    /// Name of the requirement.
    pub(super) requirement: &'static str,
    /// Quantity that is required.
    pub(super) quantity: &'static str,
    pub(super) unit: &'static str,
    pub(super) limit: f64,
    /// True if a value must not be below the limit.
    pub(super) is_least: bool,
    pub(super) mean: RunningMean,
    /// Number of repetitions, and of those that meet the requirement.
    pub(super) count: usize,
    pub(super) met: usize,
    case: String,
}

/// Values of all rows that requirements are about.
#[derive(Debug)]
pub(crate) struct JudgedRows {
    /// Names of applications, and of the flows of those that have several Subscribers: each Subscriber is judged for itself.
    applications: Vec<String>,
    requirements: Vec<Requirement>,
    pub(super) cases: Vec<JudgedCase>,
    /// First of the cases of the row before, since repetitions follow each other.
    begin: usize,
}

/// Value of a condition in a row.
struct Found {
    quantity: &'static str,
    unit: &'static str,
    limit: f64,
    is_least: bool,
    value: f64,
}

impl JudgedRows {
    /// Creates an empty collection for rows with these quantities.
    pub(crate) fn new(known: &[String], requirements: &[Requirement]) -> Self {
        let mut applications: Vec<String> = Vec::new();
        for name in known {
            if let Some(name) = name.strip_suffix(".cycle_ns")
                && !applications.iter().any(|it| it == name)
            {
                applications.push(name.to_owned());
            }
        }
        let mut flows: Vec<String> = Vec::new();
        for name in known {
            let Some((flow, _)) = name.rsplit_once(".one_way") else {
                continue;
            };
            let mut publishers = applications.iter();
            let is_branch = publishers.any(|it| is_to_one_of_several(flow, it));
            if is_branch && !applications.iter().chain(&flows).any(|it| it == flow) {
                flows.push(flow.to_owned());
            }
        }
        applications.append(&mut flows);
        Self {
            applications,
            requirements: requirements.to_vec(),
            cases: Vec::new(),
            begin: 0,
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: &CampaignRow) {
        let is_same = self
            .cases
            .get(self.begin)
            .is_some_and(|it| it.case == row.case && it.backend == row.backend);
        if !is_same {
            self.begin = self.cases.len();
        }
        for requirement in &self.requirements {
            if !applies(requirement, row) {
                continue;
            }
            for application in &self.applications {
                // Sums over all Subscribers tell nothing about one of them.
                let mut quantities = row.values.keys();
                if quantities.any(|quantity| is_to_one_of_several(quantity, application)) {
                    continue;
                }
                for criterion in requirement.criteria {
                    let Some(found) = value(criterion, row, application) else {
                        continue;
                    };
                    let is_met = match found.is_least {
                        true => found.value >= found.limit,
                        false => found.value <= found.limit,
                    };
                    let own = self.cases.iter_mut().skip(self.begin).find(|it| {
                        it.requirement == requirement.name
                            && it.application == *application
                            && it.quantity == found.quantity
                    });
                    let case = match own {
                        Some(case) => case,
                        None => {
                            self.cases.push(JudgedCase {
                                scenario: row.scenario.clone(),
                                settings: row.settings.clone(),
                                backend: row.backend.clone(),
                                application: application.clone(),
                                requirement: requirement.name,
                                quantity: found.quantity,
                                unit: found.unit,
                                limit: found.limit,
                                is_least: found.is_least,
                                mean: RunningMean::default(),
                                count: 0,
                                met: 0,
                                case: row.case.clone(),
                            });
                            let last = self.cases.len() - 1;
                            let Some(case) = self.cases.get_mut(last) else {
                                continue;
                            };
                            case
                        }
                    };
                    case.mean.add(found.value);
                    case.count += 1;
                    case.met += usize::from(is_met);
                }
            }
        }
    }
}

/// Returns true for the name of an application's flow to one of several Subscribers, or of a quantity of such a flow.
fn is_to_one_of_several(name: &str, application: &str) -> bool {
    let rest = name.strip_prefix(application);
    rest.is_some_and(|rest| rest.starts_with(" \u{2192} "))
}

/// Returns true if a requirement is stated for the network of a row, as far as its settings tell.
fn applies(requirement: &Requirement, row: &CampaignRow) -> bool {
    let hops = row.settings.get("topology.hops").and_then(Value::as_str);
    let hops = hops.and_then(|hops| hops.parse::<usize>().ok());
    match (requirement.most_hops, hops) {
        (Some(most), Some(hops)) => hops <= most,
        _ => true,
    }
}

/// Returns the value of a condition: of a simulation or measurement the greatest of its messages, of bounds the bound.
fn value(criterion: &Criterion, row: &CampaignRow, application: &str) -> Option<Found> {
    // An infinite bound is the worst value, and not a missing one.
    let number = |name: &str, quantity: &str| {
        let quantity = format!("{name}.{quantity}");
        match row.is_infinite(&quantity) {
            true => Some(f64::INFINITY),
            false => row.number(&quantity),
        }
    };
    // A row has either the greatest value or the bound.
    let greatest = |name: &str, kind: &str| {
        let most = number(name, &format!("{kind}.max_ns"));
        most.or_else(|| number(name, &format!("{kind}.bound_ns")))
    };
    let ways = |kinds: [&str; 2]| {
        let back = format!("{application} (return)");
        let of = |name: &str| greatest(name, kinds[0]).or_else(|| greatest(name, kinds[1]));
        let ways = [of(application), of(&back)];
        ways.into_iter().flatten().reduce(f64::max)
    };
    let time = |quantity, limit: f64, nanos: f64| Found {
        quantity,
        unit: "\u{b5}s",
        limit: limit / 1e3,
        is_least: false,
        value: nanos / 1e3,
    };
    match *criterion {
        Criterion::OneWayDelay(limit) => {
            let nanos = ways(["one_way", "one_way_from_first_bit"])?;
            Some(time("longest delay, one way", limit, nanos))
        }
        Criterion::OneWayJitter(limit) => {
            let nanos = ways(["one_way_jitter", "one_way_from_first_bit_jitter"])?;
            Some(time("greatest jitter, one way", limit, nanos))
        }
        Criterion::Returned(limit) => {
            let published = number(application, "messages.published")?;
            let lost = number(application, "messages.lost")?;
            (published > 0.0).then(|| Found {
                quantity: "messages that return",
                unit: "%",
                limit,
                is_least: true,
                value: 100.0 * (1.0 - lost / published),
            })
        }
        Criterion::RoundTripCycles(kind, limit) => {
            let cycle = number(application, "cycle_ns").filter(|it| *it > 0.0)?;
            let (quantity, nanos) = match kind {
                RoundTripKind::Wire => (
                    "longest round trip (wire)",
                    greatest(application, "round_trip")
                        .or_else(|| greatest(application, "round_trip_from_first_bit"))?,
                ),
                RoundTripKind::Application => (
                    "longest round trip (application)",
                    greatest(application, "application_round_trip")?,
                ),
            };
            Some(Found {
                quantity,
                unit: "cycles",
                limit,
                is_least: false,
                value: nanos / cycle,
            })
        }
        Criterion::MissedCounters(limit) => Some(Found {
            quantity: "missed counters",
            unit: "",
            limit: limit as f64,
            is_least: false,
            value: number(application, "messages.missed")?,
        }),
        // It is a fact about a host, and no quantity of a row.
        Criterion::WakeUpLatency(_) => None,
    }
}
