//! Parts of a URL with a host, as they are written.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// The longest EndpointUrl in bytes that a Hello may carry (OPC 10000-6, 7.1.2.3).
pub const MAX_ENDPOINT_URL_LENGTH: usize = 4096;

/// Error in the URL of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointUrlError {
    /// The scheme is another one, or missing.
    #[error("{0:?} does not start with opc.tcp://; write opc.tcp://HOST:PORT")]
    Scheme(String),
    /// There is nothing between `//` and the port or path.
    #[error("{0:?} has no host; write opc.tcp://HOST:PORT")]
    MissingHost(String),
    /// The host is neither a host name nor an IP address.
    #[error("{0:?} is not a host name or an IP address; write an IPv6 address in brackets: [::1]")]
    Host(String),
    /// The port is not a number from 0 to 65535.
    #[error("{0:?} is not a port number (0 to 65535)")]
    Port(String),
    /// The URL has more than [`MAX_ENDPOINT_URL_LENGTH`] bytes.
    #[error("the URL has {0} bytes; OPC UA allows {MAX_ENDPOINT_URL_LENGTH}")]
    TooLong(usize),
    /// The path contains blanks or control characters.
    #[error("the path {0:?} contains blanks or control characters")]
    Path(String),
}

/// Parts of `scheme://host[:port][/path]` (RFC 3986, 3), borrowed from the text of the URL.
///
/// ```
/// use takt_ua::UrlParts;
///
/// let url = UrlParts::parse("OPC.TCP://[fd00::7]:4841/line")?;
/// assert!(url.has_scheme("opc.tcp"));
/// assert_eq!((url.host(), url.port(), url.path()), ("fd00::7", Some(4841), "/line"));
/// assert_eq!(url.to_string(), "OPC.TCP://[fd00::7]:4841/line");
/// # Ok::<(), takt_ua::EndpointUrlError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlParts<'u> {
    scheme: &'u str,
    host: &'u str,
    port: Option<u16>,
    path: &'u str,
}

impl<'u> UrlParts<'u> {
    /// Returns the parts of a URL.
    ///
    /// # Errors
    /// The URL has no scheme, no host, or a part with characters that do not belong there.
    pub fn parse(text: &'u str) -> Result<Self, EndpointUrlError> {
        if text.len() > MAX_ENDPOINT_URL_LENGTH {
            return Err(EndpointUrlError::TooLong(text.len()));
        }
        let (scheme, rest) =
            split_scheme(text).ok_or_else(|| EndpointUrlError::Scheme(text.into()))?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if path.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(EndpointUrlError::Path(path.into()));
        }
        let (host, port) = split_authority(authority, text)?;
        let port = match port {
            // RFC 3986, 3.2.3: an empty port is the scheme's default.
            None | Some("") => None,
            // `parse` alone would accept a plus sign.
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                let number = digits.parse();
                Some(number.map_err(|_| EndpointUrlError::Port(digits.into()))?)
            }
            Some(other) => return Err(EndpointUrlError::Port(other.into())),
        };
        Ok(Self {
            scheme,
            host,
            port,
            path,
        })
    }

    /// Returns the scheme as it is written; see [`has_scheme`](Self::has_scheme).
    #[must_use]
    pub const fn scheme(&self) -> &'u str {
        self.scheme
    }

    /// Returns whether the URL has this scheme, in any case.
    #[must_use]
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Returns the host name or address; an IPv6 address without its brackets.
    #[must_use]
    pub const fn host(&self) -> &'u str {
        self.host
    }

    /// Returns the address if the host is one. An IPv4 address in the form of an IPv6 address (`::ffff:127.0.0.1`) is an IPv4
    /// address.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        let address: IpAddr = self.host.parse().ok()?;
        Some(address.to_canonical())
    }

    /// Returns the port; `None` if it is the default of the scheme.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the part behind host and port: empty, or starting with `/`, `?` or `#`.
    #[must_use]
    pub const fn path(&self) -> &'u str {
        self.path
    }

    /// Returns the same URL with another scheme.
    #[must_use]
    pub const fn with_scheme(self, scheme: &'u str) -> Self {
        Self { scheme, ..self }
    }

    /// Returns the same URL with another host: a name or an address without brackets.
    #[must_use]
    pub const fn with_host(self, host: &'u str) -> Self {
        Self { host, ..self }
    }

    /// Returns the same URL with another port.
    #[must_use]
    pub const fn with_port(self, port: Option<u16>) -> Self {
        Self { port, ..self }
    }

    /// Returns the same URL with another path: empty, or starting with `/`.
    #[must_use]
    pub const fn with_path(self, path: &'u str) -> Self {
        Self { path, ..self }
    }
}

impl fmt::Display for UrlParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scheme, host, path, ..
        } = self;
        match host.contains(':') {
            true => write!(f, "{scheme}://[{host}]"),
            false => write!(f, "{scheme}://{host}"),
        }?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_str(path)
    }
}

/// Returns the scheme of a URL and the part behind `://`; `None` without a scheme (RFC 3986, 3.1).
#[must_use]
pub fn split_scheme(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme =
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(fits);
    is_scheme.then_some((scheme, rest))
}

/// Returns whether a URL has this scheme, in any case; the rest of it may be invalid.
#[must_use]
pub fn has_scheme(url: &str, scheme: &str) -> bool {
    split_scheme(url).is_some_and(|(found, _)| found.eq_ignore_ascii_case(scheme))
}

/// Splits `host:port` or `[v6]:port` and checks the host's characters.
fn split_authority<'a>(
    authority: &'a str,
    text: &str,
) -> Result<(&'a str, Option<&'a str>), EndpointUrlError> {
    let wrong = |host: &str| EndpointUrlError::Host(host.into());
    if let Some(inside) = authority.strip_prefix('[') {
        let (host, after) = inside.split_once(']').ok_or_else(|| wrong(authority))?;
        host.parse::<Ipv6Addr>().map_err(|_| wrong(host))?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err(EndpointUrlError::Port(after.into())),
        };
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    if host.is_empty() {
        return Err(EndpointUrlError::MissingHost(text.into()));
    }
    // An IPv6 address without brackets: its port could not be told from its last group.
    if port.is_some_and(|port| port.contains(':')) {
        return Err(wrong(authority));
    }
    // Wider than the rule for host names: underscores and letters of all scripts are in use.
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !host.chars().all(fits) {
        return Err(wrong(host));
    }
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_are_those_of_the_text() {
        for (text, parts) in [
            ("opc.tcp://plc", ("opc.tcp", "plc", None, "")),
            ("OPC.TCP://Plc:4841/", ("OPC.TCP", "Plc", Some(4841), "/")),
            ("opc.tcp://[::1]", ("opc.tcp", "::1", None, "")),
            ("opc.tcp://[::1]:0?x", ("opc.tcp", "::1", Some(0), "?x")),
            (
                "opc.https://10.0.0.1/a/b",
                ("opc.https", "10.0.0.1", None, "/a/b"),
            ),
            ("opc.iox2://Press", ("opc.iox2", "Press", None, "")),
            (
                "opc.tcp://anlage-ä.example",
                ("opc.tcp", "anlage-ä.example", None, ""),
            ),
        ] {
            let url = UrlParts::parse(text).unwrap();
            assert_eq!((url.scheme(), url.host(), url.port(), url.path()), parts);
            assert_eq!(url.to_string(), text);
        }
        let url = UrlParts::parse("opc.tcp://plc:/").unwrap();
        assert_eq!(
            (url.port(), url.to_string().as_str()),
            (None, "opc.tcp://plc/")
        );
    }

    #[test]
    fn parts_can_be_replaced() {
        let url = UrlParts::parse("opc.tcp://0.0.0.0:4840/line").unwrap();
        assert_eq!(
            url.with_host("fd00::7").to_string(),
            "opc.tcp://[fd00::7]:4840/line"
        );
        assert_eq!(
            url.with_port(None).with_path("").to_string(),
            "opc.tcp://0.0.0.0"
        );
        let mapped = UrlParts::parse("opc.tcp://[::ffff:127.0.0.1]").unwrap();
        assert_eq!(mapped.address(), Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(
            UrlParts::parse("opc.tcp://127.0.0.1.example")
                .unwrap()
                .address(),
            None
        );
    }

    #[test]
    fn schemes_are_read_in_any_case() {
        assert!(has_scheme("OPC.iox2://..", "opc.iox2"));
        for url in [
            "opc.tcp",
            "://plc",
            "1x://plc",
            "opc tcp://plc",
            "",
            "opc.tcp:/plc",
        ] {
            assert_eq!(split_scheme(url), None, "{url}");
            assert!(UrlParts::parse(url).is_err(), "{url}");
        }
        assert!(!has_scheme("opc.tcp://plc", "opc.tc"));
    }

    /// Hosts of each form.
    fn host() -> impl Strategy<Value = String> {
        prop_oneof![
            "[A-Za-z0-9][A-Za-z0-9._-]{0,20}",
            any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
            any::<Ipv6Addr>().prop_map(|address| address.to_string()),
        ]
    }

    proptest! {
        #[test]
        fn written_urls_are_read_back(
            scheme in "[A-Za-z][A-Za-z0-9+.-]{0,8}", host in host(), port: Option<u16>, path in "(/[!-~]{0,12})?",
        ) {
            let url = UrlParts { scheme: &scheme, host: &host, port, path: &path };
            let text = url.to_string();
            prop_assert_eq!(UrlParts::parse(&text), Ok(url));
            prop_assert!(has_scheme(&text, &scheme.to_ascii_uppercase()));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".*", tail in "[\\[\\]:/a0.%@ ]*") {
            let tail = format!("opc.tcp://{tail}");
            for text in [&text, &tail] {
                if let Ok(url) = UrlParts::parse(text) {
                    let written = url.to_string();
                    prop_assert_eq!(UrlParts::parse(&written), Ok(url));
                }
            }
        }
    }
}
