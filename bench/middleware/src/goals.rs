//! Goals of the comparison: ratios of two peers with their intervals.

use serde::Serialize;
use takt_statistics::{Estimate, GoalVerdict};

use crate::condition::Condition;
use crate::others::{POLL, are_measured, fastest_other, shortest_rest};
use crate::ratio::ratio;
use crate::row::{MiddlewareRow, Resources, Subject};

/// Pairs of peers: the first one should not be slower than the second one, times a factor.
const PAIRS: [(&str, &str, f64); 8] = [
    ("takt-iox2", "iceoryx2", 1.0),
    ("takt-iox2 poll=true", "iceoryx2 poll=true", 1.0),
    ("takt-tcp", "open62541-cs", 1.0),
    ("takt-tcp poll=true", "open62541-cs poll=true", 1.0),
    (
        "takt-tcp security=basic256sha256",
        "open62541-cs security=basic256sha256",
        1.0,
    ),
    (
        "takt-tcp poll=true security=basic256sha256",
        "open62541-cs poll=true security=basic256sha256",
        1.0,
    ),
    ("takt-pubsub-udp", "udp", 1.15),
    ("takt-pubsub-udp poll=true", "udp poll=true", 1.15),
];

/// Pairs of OPC UA peers: the first one should not take more time of the processor for a request.
const FRUGAL: [(&str, &str); 3] = [
    ("takt-tcp", "open62541-cs"),
    (
        "takt-tcp security=basic256sha256",
        "open62541-cs security=basic256sha256",
    ),
    ("takt-pubsub-udp", "open62541-pubsub"),
];

/// Peer that should be the fastest middleware of all.
const FASTEST: &str = "takt-iox2";

/// Goal and the ratio that shows or refutes it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Goal {
    /// Name, which goals of several sizes and kinds share.
    pub(crate) name: String,
    /// Quantity that is compared.
    pub(crate) quantity: &'static str,
    pub(crate) peers: [String; 2],
    pub(crate) condition: &'static str,
    /// Kind of request and bytes of the payload, if the goal is about one.
    pub(crate) case: Option<(&'static str, u32)>,
    pub(crate) ratio: Estimate,
    pub(crate) at_most: f64,
    /// Verdict of the interval on the goal, if it is judged.
    pub(crate) verdict: Option<GoalVerdict>,
    /// Difference of the resources of both peers, unless the goal is shown.
    pub(crate) cause: String,
}

impl Goal {
    /// Returns true if all middleware that it is about was measured.
    pub(crate) fn is_judged(&self) -> bool {
        self.verdict.is_some()
    }

    /// Returns true if it is judged, and not shown.
    pub(crate) fn is_open(&self) -> bool {
        self.verdict.is_some_and(|it| it != GoalVerdict::Shown)
    }

    /// Takes the verdict back, unless all other middleware was measured.
    fn judged(self, is_judged: bool) -> Self {
        match is_judged {
            true => self,
            false => Self {
                verdict: None,
                cause: String::new(),
                ..self
            },
        }
    }
}

/// Returns the goals whose peers were measured without fault. `left_out` has the variants of peers that the options leave out.
pub(crate) fn goals(
    (subjects, left_out): (&[Subject], &[Subject]),
    rows: &[MiddlewareRow],
) -> Vec<Goal> {
    let is_known = |row: &MiddlewareRow, is_other: &dyn Fn(&Subject) -> bool| {
        are_measured(subjects.iter().chain(left_out), rows, row, is_other)
    };
    let mut goals = Vec::new();
    for (above, below, at_most) in PAIRS {
        let name = format!("{above} / {below}");
        for row in right_rows(rows, above) {
            let same = |other: &&MiddlewareRow| other.peer == below && other.key() == row.key();
            let other = rows.iter().find(same).filter(|other| other.is_right());
            let pair = other.map(|other| [row, other]);
            goals.extend(pair.and_then(|pair| goal(subjects, &name, pair, at_most)));
        }
    }
    for polls in [false, true] {
        let above = format!("{FASTEST}{}", if polls { POLL } else { "" });
        let name = format!("{above} / fastest other");
        for row in right_rows(rows, &above) {
            let pair = fastest_other(subjects, rows, row, polls).map(|other| [row, other]);
            let found = pair.and_then(|pair| goal(subjects, &name, pair, 1.0));
            let is_other = |it: &Subject| polls || !it.label.contains(POLL);
            goals.extend(found.map(|goal| goal.judged(is_known(row, &is_other))));
        }
    }
    for polls in [false, true] {
        let name = "fastest Takt / fastest other";
        let Some(pair) = shortest_rest(subjects, rows, polls) else {
            continue;
        };
        let is_other = |it: &Subject| it.is_networked && it.label.contains(POLL) == polls;
        let found = goal(subjects, name, pair, 1.0);
        goals.extend(found.map(|goal| goal.judged(is_known(pair[0], &is_other))));
    }
    for (above, below) in FRUGAL {
        goals.extend(frugality(subjects, [above, below]));
    }
    goals
}

/// Returns the rows of a peer without fault and without rest.
fn right_rows<'a>(
    rows: &'a [MiddlewareRow],
    peer: &str,
) -> impl Iterator<Item = &'a MiddlewareRow> {
    rows.iter().filter(move |row| {
        row.peer == peer && row.is_right() && row.condition != Condition::Resting
    })
}

/// Returns the goal that the first row is at most `at_most` times as slow as the second one.
fn goal(
    subjects: &[Subject],
    name: &str,
    [row, other]: [&MiddlewareRow; 2],
    at_most: f64,
) -> Option<Goal> {
    let ratio = ratio(&row.rounds, &other.rounds)?;
    let verdict = GoalVerdict::at_most(&ratio, at_most);
    let peers = [&row.peer, &other.peer];
    Some(Goal {
        name: name.to_owned(),
        quantity: "median",
        peers: peers.map(String::clone),
        condition: row.condition.name(),
        case: Some((row.mode.name(), row.bytes)),
        ratio,
        at_most,
        verdict: Some(verdict),
        cause: match (
            verdict == GoalVerdict::Shown,
            row.is_loaded || other.is_loaded,
        ) {
            (true, _) => String::new(),
            (false, true) => format!(
                "others used the processors; {}",
                cause(subjects, peers, row.condition)
            ),
            (false, false) => cause(subjects, peers, row.condition),
        },
    })
}

/// Returns the goals that the first peer takes at most as much time of the processor as the second one, under each load.
fn frugality(subjects: &[Subject], peers: [&str; 2]) -> Vec<Goal> {
    let [Some(above), Some(below)] =
        peers.map(|label| subjects.iter().find(|it| it.label == label))
    else {
        return Vec::new();
    };
    let used = above
        .resources
        .iter()
        .filter(|used| used.condition != Condition::Resting);
    let goal = |used: &Resources| {
        let other = &below.resources;
        let other = other.iter().find(|it| it.condition == used.condition)?;
        let ratio = ratio(&used.rounds, &other.rounds)?;
        let peers = peers.map(str::to_owned);
        let verdict = GoalVerdict::at_most(&ratio, 1.0);
        Some(Goal {
            name: peers.join(" / "),
            quantity: "CPU/request",
            condition: used.condition.name(),
            case: None,
            ratio,
            at_most: 1.0,
            verdict: Some(verdict),
            cause: match verdict {
                GoalVerdict::Shown => String::new(),
                GoalVerdict::Refuted | GoalVerdict::Undecided => {
                    cause(subjects, [&peers[0], &peers[1]], used.condition)
                }
            },
            peers,
        })
    };
    used.filter_map(goal).collect()
}

/// Returns what the first peer uses more than the second one for a request, over all sizes: time of the processors, or waking of
/// threads. The rest of the difference is waiting.
fn cause(subjects: &[Subject], peers: [&String; 2], condition: Condition) -> String {
    let of = |peer: &String| subjects.iter().find(|it| it.label == *peer);
    let used = peers.map(|peer| of(peer)?.per_request(condition));
    let [Some((cpu, switches)), Some((other_cpu, other_switches))] = used else {
        return String::new();
    };
    let (cpu, switches) = (cpu - other_cpu, switches - other_switches);
    format!("CPU {cpu:+.1} \u{b5}s, switches {switches:+.2} per request")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::own::Mode;
    use crate::row::{CaseResult, RoundResult, rows};
    use crate::usage::PeerUsage;

    fn is_shown(goal: &Goal) -> bool {
        goal.verdict == Some(GoalVerdict::Shown)
    }

    fn is_refuted(goal: &Goal) -> bool {
        goal.verdict == Some(GoalVerdict::Refuted)
    }

    /// Returns the goals of peers with these labels, whose resting round trips all take as many ns.
    fn goals_of(peers: &[(&str, u64)]) -> Vec<Goal> {
        goals_under(Condition::Resting, peers)
    }

    fn goals_under(condition: Condition, peers: &[(&str, u64)]) -> Vec<Goal> {
        goals_without(&[], condition, peers)
    }

    /// Returns the goals if these variants of required peers were left out.
    fn goals_without(left_out: &[&str], condition: Condition, peers: &[(&str, u64)]) -> Vec<Goal> {
        let subject = |label: &str| Subject {
            place: 0,
            label: label.to_owned(),
            title: String::new(),
            options: Vec::new(),
            required: false,
            source: String::new(),
            missing: None,
            is_elsewhere: false,
            link_loses: false,
            info: Vec::new(),
            is_networked: !label.contains("iox2"),
            is_floor: label == "tcp",
            resources: Vec::new(),
            calls: None,
            leftovers: None,
        };
        let round = |round: u32, label: &str, nanos: u64| RoundResult {
            label: label.to_owned(),
            round,
            condition,
            info: Vec::new(),
            // A request takes as much time of the processor as it takes.
            usage: [
                PeerUsage {
                    cpu_ms: nanos as f64 / 100.0,
                    ..PeerUsage::default()
                },
                PeerUsage::default(),
            ],
            requests: 10,
            is_loaded: false,
            processors: 0.0,
            received_mbits: None,
            transfer_ns: None,
            cases: vec![CaseResult {
                mode: Mode::Ack,
                bytes: 4,
                nanos: vec![nanos; 10],
                faults: [0; 4],
            }],
        };
        let mut subjects: Vec<Subject> = peers.iter().map(|(label, _)| subject(label)).collect();
        let rounds = (0..6).flat_map(|number| {
            let peers = peers.iter();
            peers.map(move |(label, nanos)| round(number, label, *nanos))
        });
        let rounds: Vec<RoundResult> = rounds.collect();
        let rows = rows(&mut subjects, &rounds);
        let left_out = left_out.iter().map(|label| Subject {
            required: true,
            ..subject(label)
        });
        let left_out: Vec<Subject> = left_out.collect();
        goals((&subjects[..], &left_out[..]), &rows)
    }

    #[test]
    fn the_shortest_resting_round_trip_is_among_middleware_through_a_network() {
        let peers = [
            ("tcp", 10),
            ("takt-iox2", 5),
            ("takt-tcp", 40),
            ("takt-pubsub-udp", 30),
            ("mqtt", 20),
        ];
        let missed = goals_of(&peers);
        assert_eq!(missed.len(), 1);
        assert_eq!(missed[0].peers, ["takt-pubsub-udp", "mqtt"]);
        assert!(is_refuted(&missed[0]) && (missed[0].ratio.value - 1.5).abs() < 1e-9);
        assert!(missed[0].cause.contains("CPU"), "{}", missed[0].cause);
        let polling = [
            ("takt-tcp poll=true", 9),
            ("mqtt poll=true", 20),
            ("mqtt", 8),
        ];
        let met = goals_of(&polling);
        assert_eq!(met.len(), 1);
        assert!(is_shown(&met[0]) && met[0].peers[1] == "mqtt poll=true");
        assert!(goals_of(&[("takt-tcp", 9), ("tcp", 10)]).is_empty());
    }

    #[test]
    fn shared_memory_is_compared_with_the_fastest_other_middleware() {
        let peers = [
            ("tcp", 5),
            ("takt-iox2", 20),
            ("takt-iox2 poll=true", 8),
            ("takt-pubsub-iox2", 4),
            ("takt-tcp", 30),
            ("dds", 10),
            ("dds poll=true", 9),
        ];
        let goals = goals_under(Condition::Idle, &peers);
        let found: Vec<_> = goals
            .iter()
            .map(|goal| (goal.name.as_str(), goal.peers[1].as_str(), is_shown(goal)))
            .collect();
        assert_eq!(
            found,
            [
                ("takt-iox2 / fastest other", "dds", false),
                ("takt-iox2 poll=true / fastest other", "dds poll=true", true),
            ]
        );
    }

    #[test]
    fn the_fastest_other_is_not_judged_without_required_middleware() {
        let peers = [("takt-iox2", 5), ("takt-tcp", 30), ("dds", 10)];
        let verdicts = |left_out: &[&str], peers: &[(&str, u64)]| {
            let goals = goals_without(left_out, Condition::Idle, peers);
            let verdict = |goal: &Goal| (goal.is_judged(), is_shown(goal), goal.is_open());
            goals.iter().map(verdict).collect::<Vec<_>>()
        };
        // Variants that poll, floors and other peers of Takt are not needed.
        let others = ["mqtt poll=true", "tcp", "takt-pubsub-udp"];
        assert_eq!(verdicts(&others, &peers), [(true, true, false)]);
        assert_eq!(verdicts(&["mqtt", "ros1"], &peers), [(false, false, false)]);
        // Foreign middleware is needed, even if the table has none.
        assert_eq!(verdicts(&[], &peers[..2]), [(false, false, false)]);
        let resting = [("takt-tcp", 9), ("mqtt", 10)];
        let goals = goals_without(&["dds transport=iox2"], Condition::Resting, &resting);
        assert!(is_shown(&goals[0]));
        let goals = goals_without(&["dds"], Condition::Resting, &resting);
        assert!(!goals[0].is_judged() && !goals[0].is_open());
    }

    #[test]
    fn opc_ua_peers_take_at_most_as_much_of_the_processor() {
        let peers = [("takt-tcp", 30), ("open62541-cs", 20)];
        let goals = goals_under(Condition::Cpu, &peers);
        let [median, processor] = goals.as_slice() else {
            panic!("{goals:?}");
        };
        assert_eq!((median.quantity, median.case), ("median", Some(("ack", 4))));
        assert_eq!((processor.quantity, processor.case), ("CPU/request", None));
        assert!((processor.ratio.value - 1.5).abs() < 1e-9 && is_refuted(processor));
        assert!(
            processor.cause.starts_with("CPU +10.0"),
            "{}",
            processor.cause
        );
    }
}
