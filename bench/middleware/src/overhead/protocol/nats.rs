//! Client protocol of NATS (docs.nats.io, "Client Protocol"): lines of text; some have a payload whose size the line ends with.

use super::super::message::{Part, Purpose};
use super::tls;

const END: &[u8] = b"\r\n";

pub(super) fn next(rest: &[u8], before: usize) -> Option<Part> {
    // A server with TLS sends its INFO before the handshake.
    if tls::is_record(rest) {
        return tls::next(rest, before);
    }
    let line = rest.windows(2).position(|pair| pair == END)?;
    let text = std::str::from_utf8(rest.get(..line)?).ok()?;
    let mut words = text.split_ascii_whitespace();
    let name = words.next()?.to_ascii_uppercase();
    let bytes = match name.as_str() {
        "PUB" | "MSG" | "HPUB" | "HMSG" => {
            let payload: usize = words.next_back()?.parse().ok()?;
            line + payload + 2 * END.len()
        }
        _ => line + END.len(),
    };
    let purpose = match name.as_str() {
        "PUB" | "MSG" | "HPUB" | "HMSG" => Purpose::Data,
        "PING" | "PONG" => Purpose::KeepAlive,
        _ => Purpose::Control,
    };
    (bytes <= rest.len()).then(|| Part::new(name, purpose, bytes))
}

#[cfg(test)]
mod tests {
    use super::super::divide::divide;
    use super::*;

    #[test]
    fn payloads_belong_to_their_lines() {
        let stream = b"CONNECT {}\r\nPUB e 4\r\n\r\n\r\n\r\nPING\r\nMSG E 1 0\r\n\r\n";
        let parts = divide(stream, next);
        let found: Vec<(&str, usize)> = parts.iter().map(|it| (&it.name[..], it.bytes)).collect();
        assert_eq!(
            found,
            [("CONNECT", 12), ("PUB", 15), ("PING", 6), ("MSG", 13)]
        );
    }

    #[test]
    fn tls_follows_the_first_line() {
        let stream = [
            &b"INFO {}\r\n"[..],
            &[22, 3, 3, 0, 2, 9, 9],
            &[23, 3, 3, 0, 1, 7],
        ]
        .concat();
        let parts = divide(&stream, next);
        let found: Vec<_> = parts.iter().map(|it| (it.purpose, it.bytes)).collect();
        let expected = [
            (Purpose::Control, 9),
            (Purpose::Control, 7),
            (Purpose::Unknown, 6),
        ];
        assert_eq!(found, expected);
    }
}
