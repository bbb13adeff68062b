//! URLs of endpoints over TCP.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use super::parts::{EndpointUrlError, UrlParts};

/// Port that is registered for the OPC UA Connection Protocol; used if a URL has none.
pub const DEFAULT_PORT: u16 = 4840;

const SCHEME: &str = "opc.tcp";

/// A parsed `opc.tcp` URL.
///
/// ```
/// use takt_ua::EndpointUrl;
///
/// let url: EndpointUrl = "opc.tcp://[::1]:4841/line".parse()?;
/// assert_eq!((url.host(), url.port(), url.path()), ("::1", 4841, "/line"));
/// assert_eq!(url.to_string(), "opc.tcp://[::1]:4841/line");
/// # Ok::<(), takt_ua::EndpointUrlError>(())
/// ```
#[derive(Debug, Clone, Eq)]
pub struct EndpointUrl {
    host: Box<str>,
    port: u16,
    path: Box<str>,
}

impl PartialEq for EndpointUrl {
    /// Host names are the same in upper and lower case.
    fn eq(&self, other: &Self) -> bool {
        self.host.eq_ignore_ascii_case(&other.host)
            && self.port == other.port
            && self.path == other.path
    }
}

impl Hash for EndpointUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal URLs have equal hashes.
        self.host.to_ascii_lowercase().hash(state);
        self.port.hash(state);
        self.path.hash(state);
    }
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
        // Of all hosts, only an IPv6 address has colons.
        match host.contains(':') {
            true => write!(f, "{SCHEME}://[{host}]:{port}{path}"),
            false => write!(f, "{SCHEME}://{host}:{port}{path}"),
        }
    }
}

impl FromStr for EndpointUrl {
    type Err = EndpointUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = UrlParts::parse(text)?;
        if !parts.has_scheme(SCHEME) {
            return Err(EndpointUrlError::Scheme(text.into()));
        }
        // The root path and no path are the same resource; one spelling makes equal URLs compare equal.
        let path = match parts.path() {
            "/" => "",
            path => path,
        };
        Ok(Self {
            host: parts.host().into(),
            port: parts.port().unwrap_or(DEFAULT_PORT),
            path: path.into(),
        })
    }
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
    fn host_names_are_the_same_in_any_case() {
        use std::collections::HashSet;

        let parse = |text: &str| text.parse::<EndpointUrl>().unwrap();
        let (plc, upper) = (
            parse("opc.tcp://plc7:4840/Line"),
            parse("OPC.TCP://PLC7/Line"),
        );
        assert_eq!(plc, upper);
        assert_eq!(HashSet::from([plc.clone(), upper.clone()]).len(), 1);
        // It is written as the user wrote it.
        assert_eq!(upper.to_string(), "opc.tcp://PLC7:4840/Line");
        assert_ne!(plc, parse("opc.tcp://plc7/line"));
        assert_ne!(plc, parse("opc.tcp://plc7:4841/Line"));
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
