//! Listening sockets, and errors with the fix.

use std::io;
use std::net::{SocketAddr, TcpListener};

use takt_ua::endpoint_url::EndpointUrl;

/// Error of a server that cannot listen, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another program, or another server of this program, listens there.
    #[error(
        "{url} is in use: end the program that listens on port {}, or choose another port (port 0 takes a free one)",
        url.port()
    )]
    AddressInUse {
        /// URL of the server.
        url: EndpointUrl,
    },
    /// The port is below 1024 and reserved.
    #[error(
        "not allowed to listen on {url}: choose a port of 1024 or above, or give the program CAP_NET_BIND_SERVICE"
    )]
    PermissionDenied {
        /// URL of the server.
        url: EndpointUrl,
    },
    /// The address belongs to no network interface of this host.
    #[error(
        "{url} is not an address of this host: use 127.0.0.1, 0.0.0.0 (all interfaces) or one that `ip address` shows"
    )]
    NotLocal {
        /// URL of the server.
        url: EndpointUrl,
    },
    /// The host name has no address.
    #[error("cannot find an address for {url}: {error}")]
    Unresolved {
        /// URL of the server.
        url: EndpointUrl,
        /// Error of the resolver.
        #[source]
        error: io::Error,
    },
    /// Any other error.
    #[error("cannot listen on {url}: {error}")]
    Other {
        /// URL of the server.
        url: EndpointUrl,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
}

impl BindError {
    pub(crate) fn new(url: &EndpointUrl, error: io::Error) -> Self {
        let url = url.clone();
        match error.kind() {
            io::ErrorKind::AddrInUse => Self::AddressInUse { url },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { url },
            io::ErrorKind::AddrNotAvailable => Self::NotLocal { url },
            _ => Self::Other { url, error },
        }
    }
}

/// Number of clients that may wait to be accepted: the default limit of Linux (`net.core.somaxconn`). Further clients
/// try again after a second.
const BACKLOG: i32 = 4096;

/// Listens on the first usable address of `url`'s host. Returns the non-blocking socket and its actual address.
pub(crate) fn listen(url: &EndpointUrl) -> Result<(TcpListener, SocketAddr), BindError> {
    let addresses = url.resolve().map_err(|error| BindError::Unresolved {
        url: url.clone(),
        error,
    })?;
    let bind = || {
        let listener = TcpListener::bind(&*addresses)?;
        // The standard library listens already, with a shorter queue: another call only changes its length.
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bind().map_err(|error| BindError::new(url, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_named_with_the_fix() {
        let any: EndpointUrl = "opc.tcp://127.0.0.1:0/x".parse().unwrap();
        let (_first, address) = listen(&any).unwrap();
        assert_ne!(address.port(), 0);
        let taken = any.with_port(address.port());
        let error = listen(&taken).unwrap_err();
        assert!(matches!(error, BindError::AddressInUse { .. }));
        let port = address.port();
        assert_eq!(
            error.to_string(),
            format!(
                "opc.tcp://127.0.0.1:{port}/x is in use: end the program that listens on port {port}, \
                 or choose another port (port 0 takes a free one)"
            )
        );
    }

    #[test]
    fn addresses_of_other_hosts_are_refused() {
        let url: EndpointUrl = "opc.tcp://192.0.2.1:0".parse().unwrap();
        assert!(matches!(listen(&url), Err(BindError::NotLocal { .. })));
    }
}
