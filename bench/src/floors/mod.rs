//! Floors: the time that this machine takes for the bare mechanisms, measured in the same run as the subjects.
//!
//! Each floor between processes carries messages of exactly the sizes of the Read or Write that it is compared with, in both
//! directions. Its request begins with those sizes.

pub(crate) mod iceoryx2;
pub(crate) mod in_process;
#[allow(unsafe_code, reason = "memory that is shared with another process")]
mod mapping;
#[allow(unsafe_code, reason = "binding of a packet socket")]
pub(crate) mod packet_socket;
pub(crate) mod protection;
pub(crate) mod shared_memory;
pub(crate) mod tcp;

use std::time::{Duration, Instant};

use crate::round_trip::MessageSizes;

/// Longest time that a floor waits for an answer. Answers take microseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// Header of every request of a floor: lengths of the request and of its response in bytes, each as UInt32 in
/// little-endian.
const HEADER: usize = 8;

/// Returns a request that asks for a response of the given size.
fn request_bytes(sizes: MessageSizes) -> Vec<u8> {
    let number = |size: usize| u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = [number(sizes.request), number(sizes.response)].concat();
    bytes.resize(sizes.request.max(HEADER), 1);
    bytes
}

/// Returns the lengths in the header of a request, at most `longest`.
fn sizes_of(request: &[u8], longest: usize) -> Option<MessageSizes> {
    let (header, _) = request.split_first_chunk::<HEADER>()?;
    let number = |four: &[u8]| {
        let four = four.try_into().unwrap_or_default();
        (u32::from_le_bytes(four) as usize).min(longest)
    };
    let (request, response) = header.split_at(HEADER / 2);
    Some(MessageSizes {
        request: number(request),
        response: number(response),
    })
}

/// Timeout of a wait. It begins with the second check, so that a short wait costs nothing.
#[derive(Debug, Default)]
struct Patience(Option<Instant>);

impl Patience {
    /// Returns true after the timeout. Reads the clock.
    #[cold]
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        now >= *self.0.get_or_insert_with(|| now + PATIENCE)
    }
}

/// Number of iterations of a spinning loop between two checks of the timeout.
const LOOKS_PER_QUESTION: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::round_trip::{Access, Operation, Service};

    const fn operation(payload: Payload, request: usize, response: usize) -> Operation {
        Operation {
            service: Service::Read,
            payload,
            access: Access::Bytes,
            sizes: MessageSizes { request, response },
        }
    }

    /// Small and large messages, in both directions.
    pub(super) const OPERATIONS: [Operation; 3] = [
        operation(Payload::SCALAR, 100, 54),
        operation(Payload::ARRAY, 100, 4150),
        operation(Payload::ARRAY, 4200, 54),
    ];

    #[test]
    fn requests_carry_the_size_of_their_answer() {
        for Operation { sizes, .. } in OPERATIONS {
            let request = request_bytes(sizes);
            assert_eq!(request.len(), sizes.request);
            assert_eq!(sizes_of(&request, 5000), Some(sizes));
            let short = sizes_of(&request, 60).unwrap();
            assert!(short.request <= 60 && short.response <= 60);
        }
        assert_eq!(sizes_of(&[1; 7], 100), None);
    }
}
