//! A request to another process and its response.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use takt_app::Waiting;

use super::check_interrupt;
use super::error::BenchError;
use super::payload::Payload;
use crate::measure::Samples;

/// A connection to a server in another process.
pub(super) trait RoundTrip {
    /// Sends the request for `payload` and waits for its response.
    fn round_trip(&mut self, payload: Payload) -> Result<(), BenchError>;
}

/// How both sides wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Wait {
    /// They look all the time.
    Spin,
    /// They look for 20 µs, then sleep.
    Adaptive,
    /// They sleep at once.
    Sleep,
}

impl Wait {
    /// In the product's own words.
    pub(super) const fn policy(self) -> Waiting {
        match self {
            Self::Spin => Waiting::Spin,
            Self::Adaptive => Waiting::ADAPTIVE,
            Self::Sleep => Waiting::Sleep,
        }
    }
}

/// How many round trips go by before somebody asks whether the user has had enough: at most some 50 ms.
const CHUNK: u64 = 1000;

/// Measures `samples` round trips after some that are not counted.
pub(super) fn measure(
    connection: &mut dyn RoundTrip,
    payload: Payload,
    samples: u64,
    durations: &mut Samples,
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    for _ in 0..(samples / 10).clamp(10, CHUNK) {
        connection.round_trip(payload)?;
    }
    let mut left = samples;
    while left > 0 {
        check_interrupt(interrupted)?;
        let chunk = left.min(CHUNK);
        for _ in 0..chunk {
            durations.time(|| connection.round_trip(payload))?;
        }
        left -= chunk;
    }
    Ok(())
}
