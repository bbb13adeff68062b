//! The `opc.tcp` URL that a client used: it is repeated in answers, so only a harmless one is accepted.

use takt_ua::UrlParts;

/// Longest host name in bytes (RFC 1035, 2.3.4).
const MAX_HOST: usize = 253;

/// Longest path in bytes that is repeated.
const MAX_PATH: usize = 256;

/// Scheme of the URLs.
const SCHEME: &str = "opc.tcp";

/// Returns the parts of an `opc.tcp` URL with an address, or a host name of ASCII characters; `None` for another URL. They are
/// otherwise as the client wrote them: some clients compare them with theirs. A path with characters that a path of an endpoint
/// does not need is left out.
pub(crate) fn requested_url(text: &str) -> Option<UrlParts<'_>> {
    let url = UrlParts::parse(text).ok()?;
    let has_safe_host = url.host().is_ascii() && url.host().len() <= MAX_HOST;
    if !url.has_scheme(SCHEME) || !has_safe_host {
        return None;
    }
    let path = if is_path(url.path()) { url.path() } else { "" };
    Some(url.with_scheme(SCHEME).with_path(path))
}

/// Returns true if a path has only the unreserved characters of RFC 3986, 2.3, and slashes.
fn is_path(path: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~');
    path.len() <= MAX_PATH && path.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_urls_are_not_accepted() {
        for wrong in [
            "",
            "opc.tcp:/",
            "http://host:1",
            "opc.tcp://host:port",
            "opc.tcp://host:65536",
            "opc.tcp://[::1]4840",
            "opc.tcp://h\u{f6}st:4840",
        ] {
            assert_eq!(requested_url(wrong), None, "{wrong}");
        }
        let long = format!("opc.tcp://{}", "h".repeat(MAX_HOST + 1));
        assert_eq!(requested_url(&long), None);
    }

    #[test]
    fn well_formed_urls_are_written_as_they_were_read() {
        for text in [
            "opc.tcp://localhost:4841",
            "opc.tcp://PLC_7.example/",
            "opc.tcp://[fd00::1]:4840/line/2",
        ] {
            assert_eq!(requested_url(text).unwrap().to_string(), text);
        }
        let url = requested_url("OPC.TCP://plc:4840/?q=<b>").unwrap();
        assert_eq!(url.to_string(), "opc.tcp://plc:4840");
    }

    #[test]
    fn only_harmless_characters_are_repeated() {
        let harmless = |c: char| c.is_ascii_alphanumeric() || ":/[]._-~".contains(c);
        for odd in (0..0x300).filter_map(char::from_u32) {
            for text in [
                format!("opc.tcp://plc{odd}7:4840/line"),
                format!("opc.tcp://plc7:48{odd}40/line"),
                format!("opc.tcp://plc7:4840/li{odd}ne"),
                format!("opc.tcp://[::{odd}1]:4840"),
            ] {
                if let Some(url) = requested_url(&text) {
                    let repeated = url.to_string();
                    assert!(repeated.chars().all(harmless), "{repeated:?}");
                }
            }
        }
    }
}
