//! Endpoints of applications: `opc.tcp://host:port[/path]` or `opc.iox2://<ApplicationName>`.

use std::fmt;
use std::str::FromStr;

use takt_shm::{ApplicationName, ApplicationNameError};
use takt_ua::endpoint_url::{EndpointUrl, EndpointUrlError, split_scheme};

/// An endpoint that this crate can connect to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `opc.tcp://host:port[/path]`: OPC UA Connection Protocol over TCP (OPC 10000-6, 7.2).
    Tcp(EndpointUrl),
    /// `opc.iox2://<ApplicationName>`: shared memory between applications on one host.
    SharedMemory(ApplicationName),
}

/// Error of a text that is not an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The scheme is neither `opc.tcp` nor `opc.iox2`.
    #[error("`{0}` is not an endpoint: it must start with `opc.iox2://` or `opc.tcp://`")]
    UnknownScheme(String),
    /// The ApplicationName behind `opc.iox2://` is not valid.
    #[error("`{endpoint}` is not an endpoint: {cause}")]
    ApplicationName {
        /// Given text.
        endpoint: String,
        /// Error in the name.
        #[source]
        cause: ApplicationNameError,
    },
    /// The URL behind `opc.tcp://` is not valid.
    #[error("`{endpoint}` is not an endpoint: {cause}")]
    Url {
        /// Given text.
        endpoint: String,
        /// Error in the URL.
        #[source]
        cause: EndpointUrlError,
    },
}

impl Endpoint {
    /// Returns the scheme with its separator: `opc.tcp://` or `opc.iox2://`.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "opc.tcp://",
            Self::SharedMemory(_) => "opc.iox2://",
        }
    }

    /// Returns whether both sides must be on one host.
    pub fn is_shared_memory(&self) -> bool {
        matches!(self, Self::SharedMemory(_))
    }

    /// Returns the URL of an endpoint that other hosts may reach, `None` for one whose clients are on its host.
    pub fn network(&self) -> Option<&EndpointUrl> {
        match self {
            Self::Tcp(url) => Some(url),
            Self::SharedMemory(_) => None,
        }
    }

    /// Returns the largest number of file descriptors that a connection takes at the server.
    pub fn descriptors_per_connection(&self) -> usize {
        match self {
            Self::Tcp(_) => 1,
            Self::SharedMemory(_) => takt_shm::DESCRIPTORS_PER_CONNECTION,
        }
    }
}

/// Returns `opc.tcp://127.0.0.1:<port>`.
pub fn loopback(port: u16) -> EndpointUrl {
    EndpointUrl::from_address(std::net::SocketAddr::from(([127, 0, 0, 1], port)))
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let endpoint = text.to_owned();
        match split_scheme(text) {
            Some((scheme, name)) if scheme.eq_ignore_ascii_case("opc.iox2") => {
                let name = name.strip_suffix('/').unwrap_or(name);
                ApplicationName::new(name)
                    .map(Self::SharedMemory)
                    .map_err(|cause| EndpointError::ApplicationName { endpoint, cause })
            }
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("opc.tcp") => text
                .parse()
                .map(Self::Tcp)
                .map_err(|cause| EndpointError::Url { endpoint, cause }),
            _ => Err(EndpointError::UnknownScheme(endpoint)),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(url) => url.fmt(f),
            Self::SharedMemory(name) => write!(f, "opc.iox2://{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_round_trip() {
        for text in ["opc.tcp://127.0.0.1:4840", "opc.iox2://Machine"] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn schemes_and_hosts_are_the_same_in_any_case() {
        for (text, written) in [
            ("OPC.TCP://PLC7:4840", "opc.tcp://PLC7:4840"),
            ("Opc.Tcp://[::1]", "opc.tcp://[::1]:4840"),
            ("OPC.IOX2://Machine/", "opc.iox2://Machine"),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), written);
        }
        let parse = |text: &str| text.parse::<Endpoint>().unwrap();
        assert_eq!(parse("opc.tcp://plc7"), parse("OPC.TCP://PLC7:4840/"));
        // The name of an application is no host name.
        assert_ne!(parse("opc.iox2://machine"), parse("opc.iox2://Machine"));
    }

    #[test]
    fn an_unknown_scheme_is_refused() {
        assert!(matches!(
            "http://x".parse::<Endpoint>(),
            Err(EndpointError::UnknownScheme(_))
        ));
        assert!("opc.iox2://../etc".parse::<Endpoint>().is_err());
    }
}
