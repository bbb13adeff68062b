//! A request to another process and its response.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use takt_app::Waiting;

use super::error::{BenchError, check_interrupt};
use super::measure::Samples;
use super::pace::Pace;
use super::payload::Payload;

/// Service of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) service: Service,
    pub(crate) payload: Payload,
    pub(crate) access: Access,
    /// Bytes of the messages that a floor carries.
    pub(crate) sizes: MessageSizes,
}

/// A service of the Attribute Service Set (OPC 10000-4, 5.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Read: the value is in the response.
    Read,
    /// Write: the value is in the request.
    Write,
}

/// Access of the client to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// No access: requests are encoded beforehand, and only the length of a response is checked.
    Bytes,
    /// Access in place: the client encodes the request and decodes the response, and checks the first and the last element where
    /// they are.
    InPlace,
    /// Access by copy: the client encodes the request and decodes the response, and copies the value once, out of the response or
    /// into the request.
    Copied,
    /// Current value: the client sends no request, and copies the value out of the memory that the server shares.
    Current,
}

/// Bytes of a request and its response: TypeId and structure, or with the headers of a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageSizes {
    pub(crate) request: usize,
    pub(crate) response: usize,
}

impl MessageSizes {
    /// Returns the sizes of the same messages with headers of this many bytes.
    pub(crate) fn with_header(self, bytes: usize) -> Self {
        Self {
            request: self.request + bytes,
            response: self.response + bytes,
        }
    }
}

/// A connection to a server in another process.
pub(crate) trait RoundTrip {
    /// Prepares this operation, and checks that it is answered correctly.
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError>;

    /// Sends the prepared request and waits for its response.
    fn round_trip(&mut self) -> Result<(), BenchError>;
}

/// Waiting method of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wait {
    /// Both sides spin.
    Spin,
    /// Both sides spin for 20 µs, then sleep.
    Adaptive,
    /// Both sides sleep at once.
    Sleep,
}

impl Wait {
    /// Returns the product's wait policy.
    pub(crate) const fn policy(self) -> Waiting {
        match self {
            Self::Spin => Waiting::Spin,
            Self::Adaptive => Waiting::ADAPTIVE,
            Self::Sleep => Waiting::Sleep,
        }
    }
}

/// Number of round trips between two checks for an interrupt: at most about 50 ms.
const CHUNK: u64 = 1000;

/// Measures `samples` round trips after some round trips that are not counted.
pub(crate) fn measure(
    connection: &mut dyn RoundTrip,
    operation: &Operation,
    samples: u64,
    durations: &mut Samples,
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    measure_at(
        connection,
        operation,
        &mut Pace::default(),
        samples,
        durations,
        interrupted,
    )
}

/// Does the same, at the rate of `pace` at most.
pub(crate) fn measure_at(
    connection: &mut dyn RoundTrip,
    operation: &Operation,
    pace: &mut Pace,
    samples: u64,
    durations: &mut Samples,
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    connection.prepare(operation)?;
    // Large values take longer: a megabyte takes some 100 µs.
    let chunk = (CHUNK * 4096 / operation.payload.bytes().max(4096) as u64).max(10);
    for _ in 0..(samples / 10).clamp(10, chunk) {
        connection.round_trip()?;
    }
    pace.begin();
    let mut left = samples;
    while left > 0 {
        check_interrupt(interrupted)?;
        let chunk = left.min(pace.at_most(chunk));
        for _ in 0..chunk {
            pace.wait();
            durations.time(|| connection.round_trip())?;
        }
        left -= chunk;
    }
    Ok(())
}
