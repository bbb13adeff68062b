//! Remaining service of several strict servers in a row for a flow, with arbitrary multiplexing (Schmitt, Zdarsky and Martinovic,
//! Improving Performance Bounds in Feed-Forward Networks by Paying Multiplexing Only Once, 2008).

use crate::Rational;
use crate::network::{Arrivals, Network};

/// Maximum number of tried choices of one line per server and one bucket per flow. Each choice is a bound; more choices can only
/// improve it.
const CHOICES: usize = 256;

/// Another flow on servers of the row that are consecutive for both.
struct Cross {
    servers: std::ops::Range<usize>,
    /// Leaky buckets `(burst, rate)`, each of them a bound.
    buckets: Vec<(Rational, Rational)>,
}

/// Returns service curves `(rate, latency)` that the first `length` servers of a flow's path leave for it. Their maximum need not
/// be a service curve.
pub(crate) fn residuals(
    network: &Network,
    arrivals: &Arrivals,
    flow: usize,
    length: usize,
) -> Vec<(Rational, Rational)> {
    let row = &network.flows[flow].path[..length];
    let crosses = crosses(network, arrivals, flow, row);
    let mut lines = Vec::with_capacity(row.len());
    for server in row {
        lines.push(network.servers[*server].service.rate_latencies());
    }
    let sizes = lines
        .iter()
        .map(Vec::len)
        .chain(crosses.iter().map(|cross| cross.buckets.len()));
    let sizes: Vec<usize> = sizes.collect();
    let number = sizes
        .iter()
        .fold(1usize, |number, size| number.saturating_mul(*size))
        .min(CHOICES);
    let mut found = Vec::new();
    // A server without service has no line. Then `number` is 0, and nothing is divided by 0.
    for mut choice in 0..number {
        let chosen: Vec<usize> = sizes
            .iter()
            .map(|size| {
                let own = choice % size;
                choice /= size;
                own
            })
            .collect();
        let (of_servers, of_crosses) = chosen.split_at(row.len());
        let lines: Vec<_> = lines
            .iter()
            .zip(of_servers)
            .map(|(lines, chosen)| &lines[*chosen])
            .collect();
        let buckets = crosses
            .iter()
            .zip(of_crosses)
            .map(|(cross, chosen)| (&cross.servers, &cross.buckets[*chosen]));
        found.extend(residual(&lines, &buckets.collect::<Vec<_>>()));
    }
    found
}

/// Returns the other flows that share servers with a row. A flow that leaves the row and returns counts as another flow.
fn crosses(network: &Network, arrivals: &Arrivals, flow: usize, row: &[usize]) -> Vec<Cross> {
    let mut crosses = Vec::new();
    for (index, server) in row.iter().enumerate() {
        for passing in network.passing[*server]
            .iter()
            .filter(|passing| passing.flow != flow)
        {
            let path = &network.flows[passing.flow].path;
            let together =
                index > 0 && passing.position > 0 && path[passing.position - 1] == row[index - 1];
            if !together {
                let shared = row[index..].iter().zip(&path[passing.position..]);
                let length = shared.take_while(|(one, other)| one == other).count();
                let mut buckets = arrivals.0[passing.flow][passing.position].leaky_buckets();
                // Buckets that leave some service in the long run are tried first.
                buckets.reverse();
                crosses.push(Cross {
                    servers: index..index + length,
                    buckets,
                });
            }
        }
    }
    crosses
}

/// Returns the slowest server's remaining rate, after all latencies and the bursts of all other flows, with their arrivals during
/// the latencies.
fn residual(
    lines: &[&(Rational, Rational)],
    crosses: &[(&std::ops::Range<usize>, &(Rational, Rational))],
) -> Option<(Rational, Rational)> {
    let remaining = lines.iter().enumerate().map(|(index, (rate, _))| {
        let passing = crosses
            .iter()
            .filter(|(servers, _)| servers.contains(&index));
        passing.fold(rate.clone(), |rate, (_, (_, other))| rate - other)
    });
    let rate = remaining.min().filter(|rate| *rate > Rational::ZERO)?;
    let latencies = |servers: std::ops::Range<usize>| {
        lines[servers]
            .iter()
            .fold(Rational::ZERO, |sum, (_, latency)| sum + latency)
    };
    let bursts = crosses
        .iter()
        .fold(Rational::ZERO, |sum, (servers, (burst, rate))| {
            sum + burst + rate * latencies((*servers).clone())
        });
    let latency = latencies(0..lines.len()) + bursts / &rate;
    Some((rate, latency))
}
