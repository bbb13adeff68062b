//! Baseline of a link: round trip of a UDP datagram and bandwidth of a TCP stream, beside those of the same link without impairment.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use takt_statistics::{Estimate, SortedTimes};

use crate::environment::{Environment, Impairment, Link, LinkSetting, RelayCounts, Way};
use crate::own::Mode;
use crate::protocol::SessionError;
use crate::session::Session;
use crate::table::{PeerEntry, PeerTable};

/// Bytes of a datagram, as those of `ping`.
const BYTES: u32 = 56;
/// Datagrams that are counted, and those before them.
const DATAGRAMS: u32 = 200;
const WARM: u32 = 20;
/// Datagrams where each lost one takes 2 s.
const FEW: u32 = 50;
/// Duration of the stream in ms.
const STREAM: u32 = 1000;

/// Baseline of a link.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LinkRow {
    /// Name of the link.
    pub(crate) link: &'static str,
    /// Median round trip of a UDP datagram with 56 bytes, in µs.
    pub(crate) round_trip_us: Option<Estimate>,
    /// Number of lost datagrams, and of those that were sent.
    pub(crate) lost: [u64; 2],
    /// Payload of a TCP stream from the client to the server, in Mbit/s; `None` if it did not end.
    pub(crate) mbit_per_second: Option<f64>,
    /// Frames at the relay.
    pub(crate) frames: Option<RelayCounts>,
}

/// Measures the link. Before it, if frames are impaired, it measures the same link without that: without relay, and with a relay that
/// changes nothing.
pub(crate) fn baseline(
    environment: &Environment,
    table: &PeerTable,
    seed: u64,
    interrupted: &AtomicBool,
) -> Result<Vec<LinkRow>, SessionError> {
    let mut rows = Vec::new();
    if let Environment::Link(link, setting) = environment
        && link.way != Way::Direct
    {
        let ways = match link.way {
            Way::Relay(_, seed) => vec![
                ("without relay", Way::Direct),
                (
                    "relay without impairment",
                    Way::Relay(Impairment::default(), seed),
                ),
                ("link", link.way),
            ],
            way => vec![("without impairment", Way::Direct), ("link", way)],
        };
        for (name, way) in ways {
            let impairment = if name == "link" {
                setting.impairment
            } else {
                Impairment::default()
            };
            let setting = LinkSetting {
                impairment,
                ..*setting
            };
            let link = Link::open(setting.rate, way, interrupted)?;
            let place = Environment::Link(Box::new(link), setting);
            let mut row = measure(&place, name, table, seed, interrupted)?;
            if let Environment::Link(link, _) = place {
                row.frames = link.close();
            }
            rows.push(row);
        }
        return Ok(rows);
    }
    let name = match environment {
        Environment::Loopback => "loopback",
        _ => "link",
    };
    rows.push(measure(environment, name, table, seed, interrupted)?);
    Ok(rows)
}

fn measure(
    environment: &Environment,
    link: &'static str,
    table: &PeerTable,
    seed: u64,
    interrupted: &AtomicBool,
) -> Result<LinkRow, SessionError> {
    let udp = table.peers.iter().find(|peer| peer.name == "udp");
    let udp = udp.ok_or_else(|| SessionError::failed("the table has no row `udp`"))?;
    let count = if environment.loses() { FEW } else { DATAGRAMS };
    let mut session = Session::start(environment, table, udp, (&[], seed), interrupted)?;
    session.run((Mode::Echo, BYTES), WARM, 0, seed, interrupted)?;
    let result = session.run((Mode::Echo, BYTES), count, 0, seed, interrupted)?;
    drop(session);
    let times = result
        .samples
        .iter()
        .flatten()
        .map(|nanos| *nanos as f64 / 1000.0);
    let mut program = udp.program.clone();
    if let Some(name) = program.last_mut() {
        *name = "stream".to_owned();
    }
    let stream = PeerEntry {
        name: "stream".to_owned(),
        program,
        ..udp.clone()
    };
    let mut session = Session::start(environment, table, &stream, (&[], seed), interrupted)?;
    let answer = match session.ask(&format!("stream {STREAM}"), interrupted) {
        Err(SessionError::Interrupted) => return Err(SessionError::Interrupted),
        answer => answer.unwrap_or_default(),
    };
    Ok(LinkRow {
        link,
        round_trip_us: SortedTimes::new(times.collect()).median_estimate(),
        lost: [result.lost, count.into()],
        mbit_per_second: bandwidth(&answer),
        frames: None,
    })
}

/// Reads `stream BYTES NANOSECONDS`. Returns the bandwidth in Mbit/s.
fn bandwidth(line: &str) -> Option<f64> {
    let (bytes, nanos) = line.strip_prefix("stream ")?.split_once(' ')?;
    let (bytes, nanos): (f64, f64) = (bytes.parse().ok()?, nanos.parse().ok()?);
    (nanos > 0.0).then(|| bytes * 8.0 * 1000.0 / nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_is_in_megabits() {
        assert_eq!(bandwidth("stream 125000000 1000000000"), Some(1000.0));
        for line in ["stream 1", "stream x 1", "stream 1 0", "sample 1 1"] {
            assert_eq!(bandwidth(line), None, "{line}");
        }
    }
}
