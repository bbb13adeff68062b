//! Client protocol of NATS (docs.nats.io, "Client Protocol"): lines of text; some have a payload whose size the line ends with.

use super::super::message::{Part, Purpose};

const END: &[u8] = b"\r\n";

pub(super) fn next(rest: &[u8], _: usize) -> Option<Part> {
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
}
