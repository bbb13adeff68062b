//! Identity of a user whose requests another server forwards.

use std::net::IpAddr;

/// Identity of the user of a forwarded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForwardedIdentity {
    /// A user with a password or certificate, by its name in the table of users.
    Name(String),
    /// A process of this host over shared memory.
    Unix {
        /// Unix user.
        user: u32,
        /// Its groups.
        groups: Vec<u32>,
    },
    /// An anonymous client over `opc.tcp`, with its address.
    Address(IpAddr),
    /// A user whom only the server that forwards knows: one with a token of an authorization service.
    Other,
}
