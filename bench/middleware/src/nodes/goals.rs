//! Goals of the test with many servers: limits for Takt's Providers, and the fastest and the smallest of all peers.

use takt_statistics::{Estimate, GoalVerdict, SortedTimes};

use super::row::NodesRow;

/// Memory of all Providers of Takt in bytes, at most.
const MEMORY: u64 = 2 << 30;
/// Time until all Providers of Takt take messages, in s, at most.
const START: f64 = 30.0;
/// Number of servers that the goals are about, as in the paper.
const SERVERS: usize = 500;
/// Peers whose servers are Providers.
const PROVIDERS: [&str; 2] = ["takt-tcp", "takt-iox2"];

/// Returns a line for each goal, with the verdict of the rounds. Few servers decide none, and the best peer is known only if all were
/// tested: `is_complete`.
pub(super) fn goals(rows: &[NodesRow], is_complete: bool) -> Vec<String> {
    if rows.iter().any(|row| row.nodes < SERVERS) {
        return vec![format!(
            "Goals are not judged: they are about {SERVERS} servers and more."
        )];
    }
    let complete: Vec<&NodesRow> = rows.iter().filter(|row| row.failure.is_none()).collect();
    let mut lines = Vec::new();
    for peer in PROVIDERS {
        let own = || complete.iter().filter(|row| row.peer == peer);
        let memory = estimate(own().map(|row| mib(row.memory)));
        let start = estimate(own().filter_map(|row| row.start_s));
        if let (Some(memory), Some(start), Some(row)) = (memory, start, own().next()) {
            let verdict = both(
                GoalVerdict::at_most(&memory, mib(MEMORY)),
                GoalVerdict::at_most(&start, START),
            );
            lines.push(format!(
                "Goal {verdict}: {} servers of {peer} take at most 2048 MiB and start within 30 s ({:.0} MiB, {:.1} s; rounds: {}).",
                row.nodes, memory.value, start.value, memory.count
            ));
        }
    }
    if !is_complete {
        let left_out = "Goals about the fastest and the smallest peer are not judged: peers were left out, or are not installed.";
        lines.push(left_out.to_owned());
        return lines;
    }
    let median = |row: &NodesRow| row.median_ms;
    let memory = |row: &NodesRow| Some(mib(row.memory));
    lines.extend(best(&complete, "faster than all others", "ms", median));
    lines.extend(best(&complete, "smaller than all others", "MiB", memory));
    lines
}

/// Compares the best of Takt's peers with the best of the others, by the ratio in each round. Bare sockets are no middleware.
fn best(
    rows: &[&NodesRow],
    goal: &str,
    unit: &str,
    quantity: impl Fn(&NodesRow) -> Option<f64>,
) -> Option<String> {
    // A peer that lost a message in any round is not compared.
    let is_sound = |peer: &str| rows.iter().all(|row| row.peer != peer || row.faults == 0);
    let rows: Vec<&NodesRow> = rows
        .iter()
        .copied()
        .filter(|row| row.peer != "tcp" && is_sound(&row.peer))
        .collect();
    let middle = |peer: &str| {
        let own = rows.iter().filter(|row| row.peer == peer);
        SortedTimes::new(own.filter_map(|row| quantity(row)).collect()).median()
    };
    let least = |is_takt: bool| {
        let mut peers: Vec<&str> = rows.iter().map(|row| row.peer.as_str()).collect();
        peers.retain(|peer| peer.starts_with("takt-") == is_takt);
        let found = peers
            .into_iter()
            .filter_map(|peer| Some((middle(peer)?, peer)));
        found.min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let ((takt, name), (other, other_name)) = (least(true)?, least(false)?);
    let of = |peer: &str, round: u32| {
        let row = rows
            .iter()
            .find(|row| row.peer == peer && row.round == round);
        row.and_then(|row| quantity(row))
    };
    let rounds = rows
        .iter()
        .filter(|row| row.peer == name)
        .map(|row| row.round);
    let ratios = rounds.filter_map(|round| {
        let below = of(other_name, round).filter(|it| *it > 0.0)?;
        Some(of(name, round)? / below)
    });
    let ratio = estimate(ratios)?;
    let verdict = GoalVerdict::at_most(&ratio, 1.0);
    Some(format!(
        "Goal {verdict}: a peer of Takt is {goal} ({name} {takt:.1} {unit}, {other_name} {other:.1} {unit}; ratio {:.2}, 95 % interval {:.2} to {:.2}, rounds: {}).",
        ratio.value, ratio.low, ratio.high, ratio.count
    ))
}

fn estimate(values: impl Iterator<Item = f64>) -> Option<Estimate> {
    SortedTimes::new(values.collect()).median_estimate()
}

/// Returns the verdict on two goals together.
fn both(one: GoalVerdict, other: GoalVerdict) -> GoalVerdict {
    match (one, other) {
        (GoalVerdict::Refuted, _) | (_, GoalVerdict::Refuted) => GoalVerdict::Refuted,
        (GoalVerdict::Shown, GoalVerdict::Shown) => GoalVerdict::Shown,
        _ => GoalVerdict::Undecided,
    }
}

/// Returns a size in MiB.
pub(super) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(peer: &str, mib: u64, median_ms: f64) -> NodesRow {
        NodesRow {
            peer: peer.to_owned(),
            round: 0,
            nodes: 500,
            bytes: 10_240,
            ready: 501,
            start_s: Some(9.0),
            connect_s: Some(1.0),
            traffic: 0,
            memory: mib << 20,
            median_ms: Some(median_ms),
            p99_ms: Some(median_ms),
            faults: 0,
            failure: None,
        }
    }

    /// Returns rows as those of so many rounds. In round `n` everything takes `n` percent more.
    fn rounds(rows: &[NodesRow], count: u32) -> Vec<NodesRow> {
        let of_round = |round: u32| {
            rows.iter().map(move |row| NodesRow {
                round,
                median_ms: row
                    .median_ms
                    .map(|it| it * (1.0 + f64::from(round) / 100.0)),
                ..row.clone()
            })
        };
        (0..count).flat_map(of_round).collect()
    }

    fn verdicts(lines: &[String]) -> Vec<&str> {
        let words = lines.iter().filter_map(|line| line.split_once(": "));
        words.map(|it| it.0).collect()
    }

    #[test]
    fn takt_is_compared_with_the_best_of_the_others() {
        let large = row("takt-tcp", 2049, 20.0);
        let small = row("takt-pubsub-udp", 400, 30.0);
        let floor = row("tcp", 1, 1.0);
        let wrong = NodesRow {
            faults: 1,
            ..row("wrong", 1, 1.0)
        };
        let failed = NodesRow {
            failure: Some("full".to_owned()),
            ..row("failed", 1, 1.0)
        };
        let rows = [large, small, floor, wrong, failed, row("mqtt", 500, 10.0)];
        let lines = goals(&rounds(&rows, 6), true);
        assert_eq!(
            verdicts(&lines),
            ["Goal refuted", "Goal refuted", "Goal shown"]
        );
        assert!(
            lines[0].ends_with("(2049 MiB, 9.0 s; rounds: 6)."),
            "{lines:?}"
        );
        assert!(
            lines[1].contains("ratio 2.00, 95 % interval 2.00 to 2.00"),
            "{lines:?}"
        );
        assert!(
            lines[2].contains("takt-pubsub-udp 400.0 MiB, mqtt 500.0 MiB"),
            "{lines:?}"
        );
        let lines = goals(&rows, false);
        assert!(
            lines.len() == 2 && lines[1].contains("not judged"),
            "{lines:?}"
        );
        assert!(goals(&[row("mqtt", 1, 1.0)], true).is_empty());
        let few = NodesRow {
            nodes: 6,
            ..row("takt-tcp", 1, 1.0)
        };
        let lines = goals(&[few], true);
        assert!(
            lines.len() == 1 && lines[0].contains("not judged"),
            "{lines:?}"
        );
    }

    /// One run has no interval, so it shows and refutes nothing. Rounds that differ decide only together.
    #[test]
    fn fewer_than_six_rounds_decide_nothing() {
        let rows = [row("takt-tcp", 100, 20.0), row("mqtt", 500, 10.0)];
        for count in [1, 5] {
            let lines = goals(&rounds(&rows, count), true);
            assert_eq!(verdicts(&lines), ["Goal undecided"; 3], "{lines:?}");
        }
        let mut mixed = rounds(&rows, 6);
        for row in mixed
            .iter_mut()
            .filter(|row| row.peer == "takt-tcp" && row.round < 2)
        {
            row.median_ms = Some(1.0);
        }
        let lines = goals(&mixed, true);
        assert_eq!(
            verdicts(&lines),
            ["Goal shown", "Goal undecided", "Goal shown"]
        );
    }
}
