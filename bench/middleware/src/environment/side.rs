//! Side of a peer.

/// Side of a peer. A broker runs at that of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Server,
    Client,
}
