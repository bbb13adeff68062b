//! `opc.tcp://host:port/path`: the URL of an Endpoint (OPC 10000-6, 7.1.2.3 and 7.2).

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// The longest EndpointUrl in bytes that a Hello may carry (OPC 10000-6, 7.1.2.3).
pub const MAX_ENDPOINT_URL_LENGTH: usize = 4096;

/// Port that is registered for the OPC UA Connection Protocol; used if a URL has none.
pub const DEFAULT_PORT: u16 = 4840;

const SCHEME: &str = "opc.tcp://";

/// A parsed `opc.tcp` URL.
///
/// ```
/// use takt_tcp::EndpointUrl;
///
/// let url: EndpointUrl = "opc.tcp://[::1]:4841/line".parse()?;
/// assert_eq!((url.host(), url.port(), url.path()), ("::1", 4841, "/line"));
/// assert_eq!(url.to_string(), "opc.tcp://[::1]:4841/line");
/// # Ok::<(), takt_tcp::EndpointUrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EndpointUrl {
    host: Box<str>,
    port: u16,
    path: Box<str>,
}

/// Error in an `opc.tcp` URL.
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

impl Default for EndpointUrl {
    /// `opc.tcp://127.0.0.1:4840`: reachable from this host only, because without a SecurityPolicy every client that
    /// can connect has all rights.
    fn default() -> Self {
        Self::from_address((Ipv4Addr::LOCALHOST, DEFAULT_PORT).into())
    }
}

impl EndpointUrl {
    /// Creates the URL of `address` without a path.
    #[must_use]
    pub fn from_address(address: SocketAddr) -> Self {
        Self {
            host: address.ip().to_string().into(),
            port: address.port(),
            path: "".into(),
        }
    }

    /// Returns the host name or address; an IPv6 address without its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the TCP port; 0 stands for any free port when listening.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the part behind host and port: empty, or starting with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the same URL with another port: the real one, after listening on port 0.
    #[must_use]
    pub fn with_port(&self, port: u16) -> Self {
        Self {
            port,
            ..self.clone()
        }
    }

    /// Returns the same URL with the host of another one.
    #[must_use]
    pub fn with_host_of(&self, other: &Self) -> Self {
        Self {
            host: other.host.clone(),
            ..self.clone()
        }
    }

    /// Returns true if the host is the address of all interfaces: `0.0.0.0` or `::`. Nobody can connect to it from elsewhere.
    #[must_use]
    pub fn is_unspecified(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        address.is_ok_and(|address| address.is_unspecified())
    }

    /// Returns the addresses that the host stands for. Names are resolved by the system's resolver, which may take as
    /// long as its configured timeouts.
    ///
    /// # Errors
    /// The resolver's error; `NotFound` if it knows no address.
    pub fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let addresses: Vec<_> = match self.host.parse::<IpAddr>() {
            Ok(ip) => vec![SocketAddr::new(ip, self.port)],
            Err(_) => (&*self.host, self.port).to_socket_addrs()?.collect(),
        };
        if addresses.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{} has no address", self.host),
            ));
        }
        Ok(addresses)
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port, path) = (&self.host, self.port, &self.path);
        if host.contains(':') {
            write!(f, "{SCHEME}[{host}]:{port}{path}")
        } else {
            write!(f, "{SCHEME}{host}:{port}{path}")
        }
    }
}

impl FromStr for EndpointUrl {
    type Err = EndpointUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > MAX_ENDPOINT_URL_LENGTH {
            return Err(EndpointUrlError::TooLong(text.len()));
        }
        let rest = match text.get(..SCHEME.len()) {
            Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => &text[SCHEME.len()..],
            _ => return Err(EndpointUrlError::Scheme(text.into())),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if path.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(EndpointUrlError::Path(path.into()));
        }
        let (host, port) = split_authority(authority, text)?;
        // RFC 3986 3.2.3: an empty port is the scheme's default.
        let port = match port {
            None | Some("") => DEFAULT_PORT,
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits
                .parse()
                .map_err(|_| EndpointUrlError::Port(digits.into()))?,
            Some(other) => return Err(EndpointUrlError::Port(other.into())),
        };
        // The root path and no path are the same resource; one spelling makes equal URLs compare equal.
        let path = if path == "/" { "" } else { path };
        Ok(Self {
            host: host.into(),
            port,
            path: path.into(),
        })
    }
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
    if port.is_some_and(|port| port.contains(':')) {
        return Err(wrong(authority));
    }
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
    fn parts_and_display() {
        for (text, host, port, path, shown) in [
            ("opc.tcp://plc:4841", "plc", 4841, "", "opc.tcp://plc:4841"),
            ("opc.tcp://plc", "plc", 4840, "", "opc.tcp://plc:4840"),
            ("OPC.TCP://plc:/", "plc", 4840, "", "opc.tcp://plc:4840"),
            (
                "opc.tcp://10.0.0.1:0/UA/Server",
                "10.0.0.1",
                0,
                "/UA/Server",
                "opc.tcp://10.0.0.1:0/UA/Server",
            ),
            ("opc.tcp://[::1]", "::1", 4840, "", "opc.tcp://[::1]:4840"),
            (
                "opc.tcp://[fe80::1]:1/",
                "fe80::1",
                1,
                "",
                "opc.tcp://[fe80::1]:1",
            ),
        ] {
            let url: EndpointUrl = text.parse().unwrap();
            assert_eq!((url.host(), url.port(), url.path()), (host, port, path));
            assert_eq!(url.to_string(), shown);
            assert_eq!(shown.parse::<EndpointUrl>().unwrap(), url);
        }
    }

    #[test]
    fn errors_name_the_part() {
        use EndpointUrlError as E;
        let parse = |text: &str| text.parse::<EndpointUrl>().unwrap_err();
        assert!(matches!(parse("http://plc"), E::Scheme(_)));
        assert!(matches!(parse(""), E::Scheme(_)));
        assert!(matches!(parse("opc.tcp://"), E::MissingHost(_)));
        assert!(matches!(parse("opc.tcp://:4840"), E::MissingHost(_)));
        assert!(matches!(parse("opc.tcp://::1:4840"), E::MissingHost(_)));
        assert!(matches!(parse("opc.tcp://fe80::1"), E::Host(_)));
        assert!(matches!(parse("opc.tcp://[plc]:1"), E::Host(_)));
        assert!(matches!(parse("opc.tcp://[::1"), E::Host(_)));
        assert!(matches!(parse("opc.tcp://[::1]x"), E::Port(_)));
        assert!(matches!(parse("opc.tcp://user@plc"), E::Host(_)));
        assert!(matches!(parse("opc.tcp://plc:65536"), E::Port(_)));
        assert!(matches!(parse("opc.tcp://plc:+1"), E::Port(_)));
        assert!(matches!(parse("opc.tcp://plc:1/a b"), E::Path(_)));
        let long = format!("opc.tcp://plc/{}", "x".repeat(4096));
        assert!(matches!(parse(&long), E::TooLong(4110)));
    }

    #[test]
    fn an_address_resolves_without_the_resolver() {
        let other: EndpointUrl = "opc.tcp://plc:1/x".parse().unwrap();
        let all: EndpointUrl = "opc.tcp://[::]:9/line".parse().unwrap();
        assert!(all.is_unspecified() && !other.is_unspecified());
        assert_eq!(all.with_host_of(&other).to_string(), "opc.tcp://plc:9/line");
        let url: EndpointUrl = "opc.tcp://[::1]:9".parse().unwrap();
        assert_eq!(url.resolve().unwrap(), ["[::1]:9".parse().unwrap()]);
        let address: SocketAddr = "[::1]:9".parse().unwrap();
        assert_eq!(EndpointUrl::from_address(address), url);
        assert_eq!(url.with_port(10).port(), 10);
        assert_eq!(
            EndpointUrl::default().to_string(),
            "opc.tcp://127.0.0.1:4840"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".*", tail in "[\\[\\]:/a0.%@ ]*") {
            let _ = text.parse::<EndpointUrl>();
            if let Ok(url) = format!("opc.tcp://{tail}").parse::<EndpointUrl>() {
                prop_assert_eq!(url.to_string().parse::<EndpointUrl>().unwrap(), url);
            }
        }
    }
}
