//! Goals of the test with many servers: limits for Takt's Providers, and the fastest and the smallest of all peers.

use super::row::NodesRow;

/// Memory of all Providers of Takt in bytes, at most.
const MEMORY: u64 = 2 << 30;
/// Time until all Providers of Takt take messages, in s, at most.
const START: f64 = 30.0;
/// Number of servers that the goals are about, as in the paper.
const SERVERS: usize = 500;
/// Peers whose servers are Providers.
const PROVIDERS: [&str; 2] = ["takt-tcp", "takt-iox2"];

/// Returns a line for each goal that the rows decide. Few servers decide none, and the best peer is known only if all were tested:
/// `is_complete`.
pub(super) fn goals(rows: &[NodesRow], is_complete: bool) -> Vec<String> {
    if rows.iter().any(|row| row.nodes < SERVERS) {
        return vec![format!(
            "Goals are not judged: they are about {SERVERS} servers and more."
        )];
    }
    let complete: Vec<&NodesRow> = rows.iter().filter(|row| row.failure.is_none()).collect();
    let mut lines = Vec::new();
    for row in complete
        .iter()
        .filter(|row| PROVIDERS.contains(&row.peer.as_str()))
    {
        if let Some(start) = row.start_s {
            let is_met = row.memory <= MEMORY && start < START;
            lines.push(format!(
                "Goal: {} servers of {} take at most 2048 MiB and start in less than 30 s: {} ({:.0} MiB, {start:.1} s).",
                row.nodes,
                row.peer,
                verdict(is_met),
                mib(row.memory),
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

/// Compares the best of Takt's peers with the best of the others. Bare sockets are no middleware.
fn best(
    rows: &[&NodesRow],
    goal: &str,
    unit: &str,
    quantity: impl Fn(&NodesRow) -> Option<f64>,
) -> Option<String> {
    let least = |is_takt: bool| {
        let rows = rows
            .iter()
            .filter(|row| row.peer.starts_with("takt-") == is_takt);
        let rows = rows.filter(|row| row.peer != "tcp" && row.faults == 0);
        let found = rows.filter_map(|row| Some((quantity(row)?, row.peer.as_str())));
        found.min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let ((takt, name), (other, other_name)) = (least(true)?, least(false)?);
    let is_met = verdict(takt <= other);
    Some(format!(
        "Goal: a peer of Takt is {goal} of this run: {is_met} ({name} {takt:.1} {unit}, {other_name} {other:.1} {unit})."
    ))
}

/// Returns the result of one run. It has no interval, so that it shows and refutes nothing.
fn verdict(is_met: bool) -> &'static str {
    if is_met {
        "yes in this run"
    } else {
        "no in this run"
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
        let lines = goals(&rows, true);
        let ends = [
            "no in this run (2049 MiB, 9.0 s).",
            "no in this run (takt-tcp 20.0 ms, mqtt 10.0 ms).",
            "yes in this run (takt-pubsub-udp 400.0 MiB, mqtt 500.0 MiB).",
        ];
        assert_eq!(lines.len(), ends.len(), "{lines:?}");
        for (line, end) in lines.iter().zip(ends) {
            assert!(line.ends_with(end), "{line}");
        }
        let lines = goals(&rows, false);
        assert!(
            lines.len() == 2 && lines[0].ends_with(ends[0]) && lines[1].contains("not judged"),
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
}
