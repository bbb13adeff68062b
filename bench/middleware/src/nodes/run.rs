//! The test: one peer after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_statistics::{Quantile, SortedTimes};

use super::chain::Chain;
use super::options::NodesOptions;
use super::report;
use super::row::NodesRow;
use crate::error::MiddlewareError;
use crate::protocol::SessionError;
use crate::table::{PeerEntry, PeerTable};

/// Runs the test with each peer that has nodes, and prints its lines.
///
/// # Errors
/// [`MiddlewareError`]: a table that cannot be used, no peer, or an interrupt. Servers that fail are a result.
pub fn run(
    options: &NodesOptions,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), MiddlewareError> {
    let table = PeerTable::load(options.peers.as_deref())?;
    let is_wanted = |peer: &&PeerEntry| !peer.node.is_empty() && options.wants(&peer.name);
    let peers: Vec<&PeerEntry> = table.peers.iter().filter(is_wanted).collect();
    if peers.is_empty() {
        return Err(MiddlewareError::NoMatch(options.only.join(",")));
    }
    let mut rows = Vec::new();
    let is_missing = peers.iter().any(|peer| table.missing_node(peer).is_some());
    // Peers take turns, so that a disturbance of the machine affects one round of each.
    let turns = (0..options.rounds).flat_map(|round| peers.iter().map(move |peer| (round, *peer)));
    for (round, peer) in turns {
        let mut row = NodesRow {
            peer: peer.name.clone(),
            round,
            nodes: options.nodes(),
            bytes: options.bytes,
            ready: 0,
            start_s: None,
            connect_s: None,
            traffic: 0,
            memory: 0,
            median_ms: None,
            p99_ms: None,
            faults: 0,
            failure: table.missing_node(peer),
        };
        if row.failure.is_none() {
            let measured = measure(&table, peer, options, &mut row, interrupted);
            row.failure = measured.err().map(|error| error.to_string());
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(MiddlewareError::Interrupted);
        }
        rows.push(row);
    }
    let is_complete = options.only.is_empty() && !is_missing;
    report::show(
        &mut takt_profile::results(line, options.json),
        &rows,
        is_complete,
    )
}

/// Starts the nodes of a peer, sends the messages, and fills the row.
fn measure(
    table: &PeerTable,
    peer: &PeerEntry,
    options: &NodesOptions,
    row: &mut NodesRow,
    interrupted: &AtomicBool,
) -> Result<(), SessionError> {
    let mut chain = Chain::prepare(table, peer, options, interrupted)?;
    let (begin, before) = (Instant::now(), loopback_bytes());
    let started = chain.start();
    row.ready = chain.ready;
    started?;
    row.start_s = Some(begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let connected = chain.connect();
    // The memory of hundreds of processes takes seconds to read.
    let connect_s = begin.elapsed().as_secs_f64();
    row.ready = chain.ready;
    row.traffic = loopback_bytes().saturating_sub(before);
    row.memory = chain.memory();
    connected?;
    row.connect_s = Some(connect_s);
    let (times, faults) = chain.run()?;
    row.faults = faults;
    row.memory = chain.memory();
    let milliseconds = |time: &Duration| time.as_secs_f64() * 1000.0;
    let times = SortedTimes::new(times.iter().map(milliseconds).collect());
    row.median_ms = times.quantile(Quantile::MEDIAN);
    row.p99_ms = times.quantile(Quantile::P99);
    Ok(())
}

/// Returns the bytes that the loopback interface has carried (`/proc/net/dev`).
fn loopback_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    parse_loopback(&text).unwrap_or_default()
}

fn parse_loopback(text: &str) -> Option<u64> {
    let counts = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("lo:"))?;
    counts.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_loopback_interface_are_the_first_column() {
        let text =
            "Inter-|   Receive  \n face |bytes    packets\n    lo:   1234   7 0 0\n  eth0: 9 9\n";
        assert_eq!(parse_loopback(text), Some(1234));
        assert_eq!(parse_loopback("  eth0: 9 9\n"), None);
    }
}
