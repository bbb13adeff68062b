//! The `opc.tcp` URL that a client used: it is repeated in answers, so only a well-formed one is accepted.

use std::fmt;
use std::net::Ipv6Addr;

/// Port of `opc.tcp` URLs that name none.
const DEFAULT_PORT: u16 = 4840;

/// Longest host name in bytes (RFC 1035, 2.3.4).
const MAX_HOST: usize = 253;

/// Longest path in bytes that is repeated.
const MAX_PATH: usize = 256;

const SCHEME: &str = "opc.tcp://";

/// The parts of a well-formed `opc.tcp` URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestedUrl<'u> {
    /// Host name or address; an IPv6 address has its brackets.
    host: &'u str,
    port: u16,
    /// False if the URL relies on the default port.
    has_port: bool,
    /// Empty if it has characters that a path of an endpoint does not need.
    path: &'u str,
}

impl<'u> RequestedUrl<'u> {
    /// Returns the parts of a URL; `None` if it is not an `opc.tcp` URL with a host name of ASCII characters or an address.
    pub(crate) fn parse(text: &'u str) -> Option<Self> {
        let scheme = text.get(..SCHEME.len())?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return None;
        }
        let rest = text.get(SCHEME.len()..)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let end = match authority.starts_with('[') {
            true => authority.find(']')? + 1,
            false => authority.find(':').unwrap_or(authority.len()),
        };
        let (host, port) = authority.split_at_checked(end)?;
        let port = match port.strip_prefix(':') {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            None if port.is_empty() => None,
            _ => return None,
        };
        is_host(host).then_some(Self {
            host,
            port: port.unwrap_or(DEFAULT_PORT),
            has_port: port.is_some(),
            path: if is_path(path) { path } else { "" },
        })
    }

    /// Returns the host name or address; an IPv6 address has its brackets.
    pub(crate) const fn host(&self) -> &'u str {
        self.host
    }

    /// Returns the port; 4840 if the URL names none.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns this URL with the host of another one.
    pub(crate) fn with_host_of(&self, other: &RequestedUrl<'_>) -> String {
        let Self { port, path, .. } = self;
        let host = other.host;
        format!("{SCHEME}{host}:{port}{path}")
    }
}

impl fmt::Display for RequestedUrl<'_> {
    /// Writes the URL as the client wrote it: some clients compare it with theirs.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host, port, path, ..
        } = self;
        match self.has_port {
            true => write!(formatter, "{SCHEME}{host}:{port}{path}"),
            false => write!(formatter, "{SCHEME}{host}{path}"),
        }
    }
}

/// Returns true for a host name, an IPv4 address, or an IPv6 address in brackets.
fn is_host(host: &str) -> bool {
    if let Some(inside) = host.strip_prefix('[') {
        let address = inside.strip_suffix(']');
        return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=MAX_HOST).contains(&host.len()) && host.bytes().all(fits)
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
    fn parts_of_urls() {
        let port = |text: &str| RequestedUrl::parse(text).map(|url| url.port());
        assert_eq!(port("opc.tcp://host"), Some(4840));
        assert_eq!(port("opc.tcp://[::1]:5000/path"), Some(5000));
        assert_eq!(port("opc.tcp://[::1]"), Some(4840));
        for wrong in [
            "",
            "opc.tcp:/",
            "http://host:1",
            "opc.tcp://host:port",
            "opc.tcp://host:",
            "opc.tcp://host:65536",
            "opc.tcp://[::1]4840",
            "opc.tcp://h\u{f6}st:4840",
        ] {
            assert_eq!(port(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn well_formed_urls_are_written_as_they_were_read() {
        for text in [
            "opc.tcp://localhost:4841",
            "opc.tcp://plc_7.example/",
            "opc.tcp://[fd00::1]:4840/line/2",
        ] {
            assert_eq!(RequestedUrl::parse(text).unwrap().to_string(), text);
        }
        let url = RequestedUrl::parse("OPC.TCP://plc:4840/?q=<b>").unwrap();
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
                if let Some(url) = RequestedUrl::parse(&text) {
                    let repeated = url.to_string();
                    assert!(repeated.chars().all(harmless), "{repeated:?}");
                }
            }
        }
    }
}
