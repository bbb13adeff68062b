//! Options of a mirror, and its form on the command line.

use std::str::FromStr;
use std::time::Duration;

use takt_app::{ClientSecurity, Endpoint, EndpointError, Identity, ReverseClient};

/// Beginning of the namespace URIs of all mirrors.
const PREFIX: &str = "urn:takt:mirror:";

/// A foreign server that the registry mirrors.
///
/// The text form is `URL` or `NAME=URL`, for example `Press=opc.tcp://plc:4840`. The name is that of the folder with its nodes;
/// without one it is host and port of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorOptions {
    /// Name of the folder below the Objects folder.
    pub name: String,
    /// Endpoint of the server, over `opc.tcp`.
    pub endpoint: Endpoint,
    /// User at the server, for everything that clients of the registry do there.
    pub identity: Identity,
    /// Security of the connections.
    pub security: ClientSecurity,
    /// ApplicationUri of the server; by default the one that it names itself.
    pub server_uri: Option<String>,
    /// Socket at which the server connects, if the registry does not connect to it (reverse connect, OPC 10000-6, 7.1.3).
    pub reverse: Option<ReverseClient>,
    /// Interval at which values are sampled and sent by the server.
    pub interval: Duration,
    /// Time without a message of the server after which its values are not Good any more; by default
    /// [`default_silence`](Self::default_silence). The server is asked for a message in each interval. If it sends them less often,
    /// the time is longer.
    pub silence: Option<Duration>,
}

/// Error of a text that is not a mirror.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MirrorOptionsError {
    /// The URL is not an endpoint.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The endpoint is one of shared memory.
    #[error(
        "a mirror is of a server over opc.tcp: an application on this host registers as a Provider"
    )]
    SharedMemory,
    /// The name cannot be the name of a folder.
    #[error(
        "`{0}` is no name of a mirror: it has 1 to 100 characters without `/`, and does not begin with a digit and a colon"
    )]
    Name(String),
}

impl MirrorOptions {
    /// Creates the options with the usual interval, an anonymous user and the automatic choice of security.
    ///
    /// # Errors
    /// The name cannot be the name of a folder, or the endpoint is one of shared memory.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Result<Self, MirrorOptionsError> {
        let name = name.into();
        // In paths of nodes, `/` divides the names, and a number with a colon is a NamespaceIndex.
        let is_index = |(before, _): (&str, &str)| before.bytes().all(|byte| byte.is_ascii_digit());
        let is_good = !name.is_empty()
            && name.chars().count() <= 100
            && !name.contains('/')
            && !name.chars().any(char::is_control)
            && !name.split_once(':').is_some_and(is_index);
        if !is_good {
            return Err(MirrorOptionsError::Name(name));
        }
        if endpoint.is_shared_memory() {
            return Err(MirrorOptionsError::SharedMemory);
        }
        Ok(Self {
            name,
            endpoint,
            identity: Identity::Anonymous,
            security: ClientSecurity::default(),
            server_uri: None,
            reverse: None,
            interval: Duration::from_millis(250),
            silence: None,
        })
    }

    /// Returns three intervals, at least half a second.
    #[must_use]
    pub fn default_silence(interval: Duration) -> Duration {
        interval.saturating_mul(3).max(Duration::from_millis(500))
    }

    /// Prefix of the namespace URIs of the mirrored instances.
    pub(super) fn prefix(&self) -> String {
        format!("{PREFIX}{}:", self.name)
    }

    /// Namespace URI of the folder.
    pub(super) fn folder_uri(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Returns true if a namespace at the registry is one of this mirror.
    pub(crate) fn has_namespace(&self, uri: &str) -> bool {
        uri == self.folder_uri() || uri.starts_with(&self.prefix())
    }

    /// Returns true if a namespace at the registry is one of any mirror, also of one that is not mirrored any more.
    pub(crate) fn is_of_mirrors(uri: &str) -> bool {
        uri.starts_with(PREFIX)
    }
}

impl FromStr for MirrorOptions {
    type Err = MirrorOptionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, url) = match text.split_once('=') {
            // A `=` may also be a part of the URL.
            Some((name, url)) if !name.contains("://") => (Some(name), url),
            _ => (None, text),
        };
        let endpoint: Endpoint = url.parse()?;
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host);
        Self::new(name.unwrap_or(host), endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_url_unless_given() {
        let read = |text: &str| text.parse::<MirrorOptions>();
        assert_eq!(read("opc.tcp://plc:4840").unwrap().name, "plc:4840");
        let press = read("Press=opc.tcp://127.0.0.1:4840/path").unwrap();
        assert_eq!(
            (press.name.as_str(), press.prefix().as_str()),
            ("Press", "urn:takt:mirror:Press:")
        );
        assert!(matches!(
            read("A/B=opc.tcp://plc:4840"),
            Err(MirrorOptionsError::Name(_))
        ));
        assert!(matches!(
            read("=opc.tcp://plc:4840"),
            Err(MirrorOptionsError::Name(_))
        ));
        assert_eq!(
            read("A=opc.iox2://B"),
            Err(MirrorOptionsError::SharedMemory)
        );
        assert!(matches!(read("plc"), Err(MirrorOptionsError::Endpoint(_))));
    }
}
