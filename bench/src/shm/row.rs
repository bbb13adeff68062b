//! Result of one operation, as a JSON row.

use serde::{Deserialize, Serialize};

use super::subjects::Measured;
use crate::measure::Samples;
use crate::pace::RequestRate;
use crate::round_trip::{Access, Operation, Service};
use crate::seat;

/// One measurement series of the paper (section 6.2), in µs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Shortest duration.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Longest duration.
    pub max: f64,
}

impl Series {
    fn of(samples: &Samples) -> Self {
        let percentiles = samples.percentiles();
        Self {
            min: percentiles.min,
            median: percentiles.p50,
            mean: samples.mean(),
            max: percentiles.max,
        }
    }
}

/// An operation with its durations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Server: `takt`, `open62541`, or `floor` for the bare mechanism.
    pub peer: String,
    /// `opc.iox2`, `opc.tcp`, or the mechanism of a floor.
    pub transport: String,
    /// Service: `Read` (the paper's GetValue) or `Write` (SetValue). A floor has the service whose messages have the same length.
    pub service: String,
    /// Access of the client to the value: `in place`, `copied`, `current` if it was read without a request, or `bytes` without
    /// any access.
    pub access: String,
    /// Bytes of the value.
    pub payload_bytes: usize,
    /// Placement `same` or `diff`: both sides pinned to one core, or to two.
    pub placement: String,
    /// Waiting method of both sides: `spin`, `adaptive`, `sleep`, `blocking`.
    pub wait: String,
    /// Number of idle Consumers that are connected to the same server.
    pub idle_consumers: usize,
    /// Requests per second; left out if they were sent back to back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_hz: Option<f64>,
    /// Scheduling policy of the measured threads.
    pub scheduling: String,
    /// Number of round trips in each series.
    pub iterations: u64,
    /// Series M1, M2, M3 and so on, each with fresh processes.
    pub series: Vec<Series>,
    /// Median over all series, in µs. Ratios are made of it.
    pub median: f64,
    /// 99th percentile over all series, in µs.
    pub p99: f64,
}

impl Row {
    pub(super) fn new(
        measured: &Measured,
        operation: &Operation,
        rate: Option<RequestRate>,
        series: &[Samples],
    ) -> Self {
        let (peer, transport, floor) = measured.pair.names();
        let mut all = Samples::nanos();
        for samples in series {
            all.add(samples);
        }
        let percentiles = all.percentiles();
        Self {
            peer: peer.to_owned(),
            transport: floor.map_or_else(
                || transport.to_owned(),
                |mechanism| format!("{transport} {mechanism}"),
            ),
            service: match operation.service {
                Service::Read => "Read",
                Service::Write => "Write",
            }
            .to_owned(),
            access: match operation.access {
                Access::Bytes => "bytes",
                Access::InPlace => "in place",
                Access::Current => "current",
                Access::Copied => "copied",
            }
            .to_owned(),
            payload_bytes: operation.payload.bytes(),
            placement: measured.pair.placement.name().to_owned(),
            wait: measured.pair.wait_name().to_owned(),
            idle_consumers: measured.idle_consumers,
            rate_hz: rate.map(RequestRate::hertz),
            scheduling: seat::policy().to_string(),
            iterations: percentiles.samples / series.len().max(1) as u64,
            series: series.iter().map(Series::of).collect(),
            median: percentiles.p50,
            p99: percentiles.p99,
        }
    }

    /// Returns peer and transport, with the number of idle Consumers.
    pub(super) fn subject(&self) -> String {
        let who = if self.peer == "takt" {
            self.transport.clone()
        } else {
            format!("{} {}", self.peer, self.transport)
        };
        let idle = match self.idle_consumers {
            0 => String::new(),
            idle => format!(", {idle} idle"),
        };
        format!("{who}{idle}")
    }
}
