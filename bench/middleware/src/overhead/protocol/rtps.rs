//! RTPS (OMG DDSI-RTPS 2.2, section 9.4): a header of 20 bytes, then submessages. The header, and submessages that only describe the
//! next ones, count for the first submessage that follows.

use super::super::message::{Part, Purpose};

const HEADER: usize = 20;
/// Writer of liveliness messages (section 9.3.1.5).
const LIVELINESS: [u8; 4] = [0, 2, 0, 0xC2];
/// Writer of the discovery of participants.
const PARTICIPANTS: [u8; 4] = [0, 1, 0, 0xC2];

pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RTPS") && bytes.len() >= HEADER
}

/// Submessage that begins an encrypted message (DDS Security 1.1, 7.3.6.6), and one that begins an encrypted submessage.
const ENCRYPTED: [u8; 2] = [0x33, 0x31];

/// Returns the name of a submessage, and the place of the writer in its body; `None` if it only describes the next ones.
fn described(code: u8) -> Option<(&'static str, usize)> {
    match code {
        0x15 => Some(("DATA", 8)),
        0x16 => Some(("DATA_FRAG", 8)),
        0x06 => Some(("ACKNACK", 4)),
        0x07 => Some(("HEARTBEAT", 4)),
        0x08 => Some(("GAP", 4)),
        0x12 => Some(("NACK_FRAG", 4)),
        0x13 => Some(("HEARTBEAT_FRAG", 4)),
        _ => None,
    }
}

pub(super) fn parts(datagram: &[u8]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = datagram.get(HEADER..).unwrap_or_default();
    if rest.first().is_some_and(|code| ENCRYPTED.contains(code)) {
        return vec![Part::new(
            "encrypted RTPS",
            Purpose::Unknown,
            datagram.len(),
        )];
    }
    // Bytes that count for the next submessage.
    let mut waiting = HEADER;
    while let [code, flags, low, high, body @ ..] = rest {
        let length = match flags & 1 {
            0 => u16::from_be_bytes([*low, *high]),
            _ => u16::from_le_bytes([*low, *high]),
        };
        let is_info = described(*code).is_none();
        // 0 means: up to the end of the datagram; not so for submessages without a body.
        let length = match usize::from(length) {
            0 if !is_info => body.len(),
            length => length.min(body.len()),
        };
        waiting += 4 + length;
        rest = body.get(length..).unwrap_or_default();
        let Some((name, place)) = described(*code) else {
            continue;
        };
        let writer = body.get(place..).and_then(<[u8]>::first_chunk::<4>);
        let (prefix, purpose) = purpose(*code, writer.copied().unwrap_or_default());
        let bytes = std::mem::take(&mut waiting);
        parts.push(Part::new(format!("{prefix}{name}"), purpose, bytes));
    }
    waiting += rest.len();
    match parts.last_mut() {
        Some(last) => last.bytes += waiting,
        None => parts.push(Part::new("RTPS", Purpose::Control, waiting)),
    }
    parts
}

fn purpose(code: u8, writer: [u8; 4]) -> (&'static str, Purpose) {
    let [.., kind] = writer;
    match (writer, code) {
        (LIVELINESS, _) => ("liveliness ", Purpose::KeepAlive),
        (PARTICIPANTS, _) => ("participants ", Purpose::Discovery),
        // Built-in entities (section 9.3.1.2), and those of the vendor.
        _ if kind & 0xC0 == 0xC0 => ("endpoints ", Purpose::Discovery),
        (_, 0x15 | 0x16) => ("", Purpose::Data),
        _ => ("", Purpose::Acknowledgement),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submessage(code: u8, body: &[u8]) -> Vec<u8> {
        [&[code, 1, body.len() as u8, 0][..], body].concat()
    }

    #[test]
    fn submessages_are_told_apart_by_their_writers() {
        let header = [b"RTPS".as_slice(), &[2, 2, 1, 15], &[7; 12]].concat();
        let data = |writer: [u8; 4], payload: usize| {
            let mut body = [&[0; 8][..], &writer, &[0; 8]].concat();
            body.resize(body.len() + payload, 0);
            submessage(0x15, &body)
        };
        let time = submessage(0x09, &[0; 8]);
        let heartbeat = submessage(0x07, &[0; 28]);
        let datagram = [
            header.clone(),
            time.clone(),
            data([0, 0, 1, 3], 12),
            heartbeat,
        ]
        .concat();
        let found = parts(&datagram);
        assert_eq!(
            found[0],
            Part::new("DATA", Purpose::Data, 20 + 12 + 4 + 20 + 12)
        );
        assert_eq!(
            found[1],
            Part::new("HEARTBEAT", Purpose::Acknowledgement, 32)
        );
        let found = parts(&[header, data(PARTICIPANTS, 0), data(LIVELINESS, 0), time].concat());
        assert_eq!(found[0].purpose, Purpose::Discovery);
        assert_eq!(
            found[1],
            Part::new("liveliness DATA", Purpose::KeepAlive, 24 + 12)
        );
    }

    #[test]
    fn an_encrypted_message_shows_no_purpose() {
        let header = [b"RTPS".as_slice(), &[2, 3, 1, 16], &[7; 12]].concat();
        let message = [
            header,
            submessage(0x33, &[0; 20]),
            submessage(0x30, &[1; 64]),
        ]
        .concat();
        let expected = Part::new("encrypted RTPS", Purpose::Unknown, message.len());
        assert_eq!(parts(&message), [expected]);
    }
}
