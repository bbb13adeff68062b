//! HTTP/2 frames (RFC 9113, 4.1), as gRPC uses them. A call is a HEADERS and a DATA frame, so both count for it.

use super::super::message::{Part, Purpose};

/// First bytes of a client (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADER: usize = 9;

pub(super) fn next(rest: &[u8], _: usize) -> Option<Part> {
    if rest.starts_with(PREFACE) {
        return Some(Part::new("preface", Purpose::Control, PREFACE.len()));
    }
    let [high, middle, low, kind, ..] = *rest else {
        return None;
    };
    let payload = u32::from_be_bytes([0, high, middle, low]);
    let bytes = HEADER + usize::try_from(payload).ok()?;
    let (name, purpose) = match kind {
        0 => ("DATA", Purpose::Data),
        1 => ("HEADERS", Purpose::Data),
        9 => ("CONTINUATION", Purpose::Data),
        6 => ("PING", Purpose::KeepAlive),
        8 => ("WINDOW_UPDATE", Purpose::Acknowledgement),
        4 => ("SETTINGS", Purpose::Control),
        7 => ("GOAWAY", Purpose::Control),
        _ => ("other frame", Purpose::Control),
    };
    (bytes <= rest.len()).then(|| Part::new(name, purpose, bytes))
}

#[cfg(test)]
mod tests {
    use super::super::divide::divide;
    use super::*;

    #[test]
    fn a_call_is_two_frames() {
        let frame = |kind: u8, payload: usize| {
            let mut bytes = vec![0, 0, payload as u8, kind, 0, 0, 0, 0, 1];
            bytes.resize(HEADER + payload, 7);
            bytes
        };
        let mut stream = PREFACE.to_vec();
        for (kind, payload) in [(4, 12), (1, 30), (0, 100), (8, 4)] {
            stream.extend(frame(kind, payload));
        }
        stream.extend([0, 0, 9]);
        let parts = divide(&stream, next);
        let found: Vec<_> = parts.iter().map(|it| (it.purpose, it.bytes)).collect();
        let expected = [
            (Purpose::Control, 24),
            (Purpose::Control, 21),
            (Purpose::Data, 39),
            (Purpose::Data, 109),
            (Purpose::Acknowledgement, 13),
            (Purpose::Unknown, 3),
        ];
        assert_eq!(found, expected);
    }
}
