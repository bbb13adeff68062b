//! Streams of TCP: one direction of a connection, put together from its segments.

use std::collections::HashMap;
use std::time::Duration;

use super::packet::{Address, Carrier, Packet};

/// One direction of a connection.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) from: Address,
    pub(super) to: Address,
    /// True if the sender asked for the connection.
    pub(super) opened: bool,
    /// Time of the first segment.
    pub(super) begin: Duration,
    pub(super) bytes: Vec<u8>,
    /// Offsets at which segments begin, with their times.
    segments: Vec<(usize, Duration)>,
    /// Sequence number of the next byte.
    next: u32,
}

impl Stream {
    /// Returns the time of the segment with the byte at this offset.
    pub(super) fn time(&self, offset: usize) -> Duration {
        let after = self.segments.partition_point(|(begin, _)| *begin <= offset);
        let segment = self.segments.get(after.saturating_sub(1));
        segment.map_or(self.begin, |(_, time)| *time)
    }

    /// Adds a segment. Bytes that came before are left out. Returns false if bytes before it are missing.
    fn add(&mut self, sequence: u32, packet: &Packet) -> bool {
        if packet.payload.is_empty() {
            // The end of a stream takes a sequence number, too.
            return true;
        }
        let ahead = self.next.wrapping_sub(sequence);
        if ahead > u32::MAX / 2 {
            return false;
        }
        let known = usize::try_from(ahead).unwrap_or(usize::MAX);
        if let Some(new) = packet.payload.get(known..).filter(|new| !new.is_empty()) {
            self.segments.push((self.bytes.len(), packet.time));
            self.bytes.extend_from_slice(new);
            // A stream of this program is shorter than 4 GiB.
            self.next = self
                .next
                .wrapping_add(u32::try_from(new.len()).unwrap_or(0));
        }
        true
    }
}

/// Puts the segments of all connections together, in the order in which they began.
///
/// # Errors
/// Text: bytes of a connection are missing in the capture.
pub(super) fn streams(packets: &[Packet]) -> Result<Vec<Stream>, String> {
    let mut streams: Vec<Stream> = Vec::new();
    let mut places = HashMap::new();
    for packet in packets {
        let Carrier::Tcp {
            sequence,
            is_first,
            opens,
        } = packet.carrier
        else {
            continue;
        };
        let key = (packet.from, packet.to);
        if is_first {
            // A repeated request for the connection begins nothing.
            let is_repeated = |place: &usize| {
                let stream = streams.get(*place);
                stream.is_some_and(|it| it.next == sequence.wrapping_add(1))
            };
            if !places.get(&key).is_some_and(is_repeated) {
                places.insert(key, streams.len());
                streams.push(Stream {
                    from: packet.from,
                    to: packet.to,
                    opened: opens,
                    begin: packet.time,
                    bytes: Vec::new(),
                    segments: Vec::new(),
                    next: sequence.wrapping_add(1),
                });
            }
            continue;
        }
        let stream = places.get(&key).and_then(|place| streams.get_mut(*place));
        let is_complete = match stream {
            Some(stream) => stream.add(sequence, packet),
            None => packet.payload.is_empty(),
        };
        if !is_complete {
            return Err(format!(
                "the capture lacks bytes from {} to {}",
                packet.from, packet.to
            ));
        }
    }
    Ok(streams)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn segment(time: u64, sequence: u32, is_first: bool, payload: &[u8]) -> Packet {
        Packet {
            time: Duration::from_millis(time),
            from: Address::loopback(1),
            to: Address::loopback(2),
            carrier: Carrier::Tcp {
                sequence,
                is_first,
                opens: is_first,
            },
            payload: payload.to_vec(),
        }
    }

    #[test]
    fn repeated_bytes_count_once_and_missing_bytes_are_an_error() {
        let first = u32::MAX - 3;
        let packets = [
            segment(1, first, true, &[]),
            segment(2, first.wrapping_add(1), false, b"abcd"),
            segment(3, first.wrapping_add(1), false, b"abcd"),
            segment(4, first.wrapping_add(3), false, b"cdef"),
            segment(5, first.wrapping_add(8), false, b""),
        ];
        let [stream] = &streams(&packets).unwrap()[..] else {
            unreachable!()
        };
        assert_eq!((&stream.bytes[..], stream.opened), (&b"abcdef"[..], true));
        let times = [0, 3, 4, 5].map(|offset| stream.time(offset).as_millis());
        assert_eq!(times, [2, 2, 4, 4]);
        let gap = [segment(1, 7, true, &[]), segment(2, 9, false, b"x")];
        assert!(streams(&gap).is_err());
    }
}
