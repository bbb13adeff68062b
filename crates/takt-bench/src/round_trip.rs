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
    /// Bytes of the messages: what a floor carries.
    pub(crate) sizes: MessageSizes,
}

/// A service of the attribute service set (OPC 10000-4 section 5.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// The value is in the response.
    Read,
    /// The value is in the request.
    Write,
}

/// Access of the client to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: requests are encoded beforehand, and of responses only the length is looked at.
    Bytes,
    /// It encodes the request and decodes the response, and looks at the first and the last element where they are.
    InPlace,
    /// It encodes the request and decodes the response, and copies the value once, out of the response or into the request.
    Copied,
    /// It asks nobody, and copies the current value out of the memory that the server shares.
    Current,
}

/// Bytes of a request and its response: TypeId and structure, or with what a transport puts before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageSizes {
    pub(crate) request: usize,
    pub(crate) response: usize,
}

impl MessageSizes {
    /// The same messages with headers of this many bytes.
    pub(crate) fn with_header(self, bytes: usize) -> Self {
        Self {
            request: self.request + bytes,
            response: self.response + bytes,
        }
    }
}

/// A connection to a server in another process.
pub(crate) trait RoundTrip {
    /// Makes ready for this operation, and sees that it is answered as it should be.
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError>;

    /// Sends the request that was prepared and waits for its response.
    fn round_trip(&mut self) -> Result<(), BenchError>;
}

/// Way in which both sides wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wait {
    /// They look all the time.
    Spin,
    /// They look for 20 µs, then sleep.
    Adaptive,
    /// They sleep at once.
    Sleep,
}

impl Wait {
    /// In the product's own words.
    pub(crate) const fn policy(self) -> Waiting {
        match self {
            Self::Spin => Waiting::Spin,
            Self::Adaptive => Waiting::ADAPTIVE,
            Self::Sleep => Waiting::Sleep,
        }
    }
}

/// Number of round trips between two looks for an interrupt: at most some 50 ms.
const CHUNK: u64 = 1000;

/// Measures `samples` round trips after some that are not counted.
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

/// The same, not more often than `pace` says.
pub(crate) fn measure_at(
    connection: &mut dyn RoundTrip,
    operation: &Operation,
    pace: &mut Pace,
    samples: u64,
    durations: &mut Samples,
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    connection.prepare(operation)?;
    // Large values take longer: a megabyte some 100 µs.
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
