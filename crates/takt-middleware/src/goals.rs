//! Goals of the comparison: ratios of two peers with their intervals.

use serde::Serialize;

use crate::row::{MiddlewareRow, Subject};
use crate::statistics::{Estimate, ratio};

/// Pairs of peers: the first one should not be slower than the second one, times a factor.
const PAIRS: [(&str, &str, f64); 7] = [
    ("takt-iox2", "iceoryx2", 1.0),
    ("takt-iox2 poll=true", "iceoryx2 poll=true", 1.0),
    ("takt-tcp", "open62541-cs", 1.0),
    ("takt-tcp poll=true", "open62541-cs poll=true", 1.0),
    (
        "takt-tcp security=basic256sha256",
        "open62541-cs security=basic256sha256",
        1.0,
    ),
    ("takt-pubsub-udp", "udp", 1.15),
    ("takt-pubsub-udp poll=true", "udp poll=true", 1.15),
];

/// Goal and the ratio that meets or misses it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Goal {
    pub(crate) peers: [String; 2],
    pub(crate) mode: &'static str,
    pub(crate) bytes: u32,
    pub(crate) ratio: Estimate,
    pub(crate) at_most: f64,
    /// True if the lower end of the interval is at most the goal.
    pub(crate) is_met: bool,
    /// Difference of the resources of both peers, if the goal is missed.
    pub(crate) cause: String,
}

/// Returns the goals whose peers were measured without fault.
pub(crate) fn goals(subjects: &[Subject], rows: &[MiddlewareRow], seed: u64) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (above, below, at_most) in PAIRS {
        for row in rows
            .iter()
            .filter(|row| row.peer == above && row.is_right())
        {
            let same = |other: &&MiddlewareRow| {
                other.peer == below && (other.mode, other.bytes) == (row.mode, row.bytes)
            };
            let other = rows.iter().find(same).filter(|other| other.is_right());
            let found = other.and_then(|other| ratio(&row.rounds, &other.rounds, seed));
            goals.extend(found.map(|ratio| Goal {
                peers: [above.to_owned(), below.to_owned()],
                mode: row.mode.name(),
                bytes: row.bytes,
                ratio,
                at_most,
                is_met: ratio.low <= at_most,
                cause: match (
                    ratio.low <= at_most,
                    row.is_loaded || other.is_some_and(|it| it.is_loaded),
                ) {
                    (true, _) => String::new(),
                    (false, true) => format!(
                        "others used the processors; {}",
                        cause(subjects, [above, below])
                    ),
                    (false, false) => cause(subjects, [above, below]),
                },
            }));
        }
    }
    goals
}

/// Returns what the first peer uses more than the second one for a request, over all sizes: time of the processors, or waking of
/// threads. The rest of the difference is waiting.
fn cause(subjects: &[Subject], peers: [&str; 2]) -> String {
    let used = peers.map(|peer| subjects.iter().find(|it| it.label == peer)?.per_request());
    let [Some((cpu, switches)), Some((other_cpu, other_switches))] = used else {
        return String::new();
    };
    let (cpu, switches) = (cpu - other_cpu, switches - other_switches);
    format!("CPU {cpu:+.1} \u{b5}s, switches {switches:+.2} per request")
}
