//! Speed of Reads of one Variable, by a Consumer that has read it before.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_app::{Client, ClientError};
use takt_ua::NodeId;
use takt_ua::structures::{ReadRequest, ReadResponse, ReadValueId};

use crate::error::BenchError;
use crate::measure::Samples;

const WHAT: &str = "Reads of one Variable";
/// Number of Reads of each measurement.
const READS: u32 = 1000;
/// Number of Reads without a response, for the throughput.
const UNANSWERED: u32 = 32;
/// Time limit of one Read.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Latency and throughput of Reads.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Speed {
    /// Median of the time of one Read, in µs.
    pub(super) read_us: f64,
    /// Reads per second, of which several are sent before their responses arrive.
    pub(super) reads_per_second: f64,
}

/// Measures Reads of `node`.
pub(super) fn measure(client: &mut Client, node: &NodeId) -> Result<Speed, BenchError> {
    let mut samples = Samples::nanos();
    for _ in 0..READS {
        let read = samples.time(|| client.read_good(node));
        read.map_err(BenchError::round_trip(WHAT))?;
    }
    let started = Instant::now();
    read_many(client, node).map_err(BenchError::round_trip(WHAT))?;
    Ok(Speed {
        read_us: samples.percentiles().p50,
        reads_per_second: f64::from(READS) / started.elapsed().as_secs_f64(),
    })
}

fn read_many(client: &mut Client, node: &NodeId) -> Result<(), ClientError> {
    let request = ReadRequest {
        nodes_to_read: vec![ReadValueId {
            node_id: node.clone(),
            attribute_id: 13,
            ..ReadValueId::default()
        }],
        ..ReadRequest::default()
    };
    let (mut sent, mut answered) = (0, 0);
    while answered < READS {
        while sent < READS && sent - answered < UNANSWERED {
            match client.send(request.clone(), TIMEOUT) {
                Ok(_) => sent += 1,
                // There is room again after the next response.
                Err(ClientError::Service { .. }) if answered < sent => break,
                Err(error) => return Err(error),
            }
        }
        let response = client.receive(TIMEOUT, |response| response.decode::<ReadResponse>())??;
        for value in response.results {
            let status = value.status_code();
            if !status.is_good() {
                return Err(ClientError::operation(node, status));
            }
        }
        answered += 1;
    }
    Ok(())
}
