//! Zenoh over TCP with the transport for low latency. Each side sends two messages of the handshake (Init, Open) with a
//! length of 16 bits, and then messages with a length of 32 bits, both in little endian.

use super::super::message::{Part, Purpose};

/// Messages of a side before the transport is open.
const HANDSHAKE: usize = 2;
/// Bits of a message's first byte that tell its kind.
const KIND: u8 = 0x1F;

pub(super) fn next(rest: &[u8], before: usize) -> Option<Part> {
    let (length, prefix) = match before < HANDSHAKE {
        true => (u32::from(u16::from_le_bytes(*rest.first_chunk()?)), 2),
        false => (u32::from_le_bytes(*rest.first_chunk()?), 4),
    };
    let bytes = prefix + usize::try_from(length).ok()?;
    let (name, purpose) = match rest.get(prefix)? & KIND {
        0x1D => ("Push", Purpose::Data),
        0x1E => ("Declare", Purpose::Discovery),
        0x19 => ("Interest", Purpose::Discovery),
        0x1F => ("OAM", Purpose::Discovery),
        0x04 => ("KeepAlive", Purpose::KeepAlive),
        0x01 => ("Init", Purpose::Control),
        0x02 => ("Open", Purpose::Control),
        0x03 => ("Close", Purpose::Control),
        _ => ("other message", Purpose::Control),
    };
    (bytes <= rest.len()).then(|| Part::new(name, purpose, bytes))
}

#[cfg(test)]
mod tests {
    use super::super::divide::divide;
    use super::*;

    #[test]
    fn lengths_have_32_bits_after_the_handshake() {
        let stream = [
            &[2, 0, 0x41, 9][..],
            &[1, 0, 0x42],
            &[3, 0, 0, 0, 0x9E, 1, 1],
            &[2, 0, 0, 0, 0x3D, 5],
            &[1, 0, 0, 0, 0x04],
        ]
        .concat();
        let parts = divide(&stream, next);
        let found: Vec<(&str, usize)> = parts.iter().map(|it| (&it.name[..], it.bytes)).collect();
        let expected = [
            ("Init", 4),
            ("Open", 3),
            ("Declare", 7),
            ("Push", 6),
            ("KeepAlive", 5),
        ];
        assert_eq!(found, expected);
    }
}
