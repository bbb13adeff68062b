//! What this machine takes for the bare mechanisms, measured in the same run as everything else.
//!
//! Each floor between processes carries messages of exactly the sizes that the Read it stands under has, in both directions.

pub(super) mod iceoryx2;
pub(super) mod in_process;
mod mapping;
pub(super) mod shared_memory;
pub(super) mod tcp;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::payload::Payload;

/// How long a floor waits for an answer before it gives up. They come in microseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// How many bytes the messages have: for each payload the request's and the response's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MessageSizes([(usize, usize); 2]);

impl MessageSizes {
    /// Takes the sizes per payload from `size_of`.
    pub(super) fn new(size_of: impl Fn(Payload) -> (usize, usize)) -> Self {
        Self(Payload::ALL.map(size_of))
    }

    /// The same messages with headers of this many bytes.
    pub(super) fn with_header(self, bytes: usize) -> Self {
        Self(
            self.0
                .map(|(request, response)| (request + bytes, response + bytes)),
        )
    }

    /// Bytes of the request.
    pub(super) fn request(&self, payload: Payload) -> usize {
        let [scalar, array] = self.0;
        match payload {
            Payload::Scalar => scalar.0,
            Payload::Array => array.0,
        }
    }

    /// Bytes of the response.
    pub(super) fn response(&self, payload: Payload) -> usize {
        let [scalar, array] = self.0;
        match payload {
            Payload::Scalar => scalar.1,
            Payload::Array => array.1,
        }
    }

    /// The longest request.
    pub(super) fn longest_request(&self) -> usize {
        self.0
            .map(|(request, _)| request)
            .into_iter()
            .max()
            .unwrap_or(0)
    }

    /// The longest response.
    pub(super) fn longest_response(&self) -> usize {
        self.0
            .map(|(_, response)| response)
            .into_iter()
            .max()
            .unwrap_or(0)
    }
}

/// A request: its first byte says which one it is.
fn request_bytes(payload: Payload, sizes: &MessageSizes) -> Vec<u8> {
    let mut bytes = vec![1; sizes.request(payload)];
    if let Some(first) = bytes.first_mut() {
        *first = payload.code();
    }
    bytes
}

/// How long there has been no answer. Begins with the second question, so that who need not ask twice pays nothing.
#[derive(Debug, Default)]
struct Patience(Option<Instant>);

impl Patience {
    /// Whether it is over. Asks the clock.
    #[cold]
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        now >= *self.0.get_or_insert_with(|| now + PATIENCE)
    }
}

/// A spinning loop asks anything but what it waits for so rarely.
const LOOKS_PER_QUESTION: u32 = 1024;
