//! Errors of serving.

use takt_rt::affinity::AffinityError;
use takt_rt::priority::PriorityError;
use takt_shm::ShmError;
use takt_tcp::BindError;

/// Error of endpoints that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The TCP port is in use or not permitted.
    #[error(transparent)]
    Tcp(#[from] BindError),
    /// The name is in use, or the shared memory could not be created.
    #[error(transparent)]
    SharedMemory(#[from] ShmError),
    /// An endpoint that needs security has no certificate.
    #[error(transparent)]
    Security(#[from] super::ServeSecurityError),
    /// The audit log cannot be opened.
    #[error(transparent)]
    Audit(#[from] crate::audit::AuditError),
    /// The keys of the authorization service cannot be used.
    #[error("the keys of the authorization service cannot be used: {0}")]
    IssuedTokens(#[from] crate::JwtOptionsError),
    /// One port is advertised for several endpoints over TCP.
    #[error(
        "one port cannot be advertised for several endpoints over opc.tcp: advertise the host alone"
    )]
    AdvertisedPort,
    /// There are more than 16 endpoints of one transport.
    #[error("a server has at most 16 endpoints over opc.tcp, and 16 over opc.iox2")]
    TooManyEndpoints,
    /// The system has no thread or no descriptors left.
    #[error("the serving thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
    /// The limit of file descriptors of the process is too low.
    #[error(
        "{wanted} connections of each endpoint take {needed} file descriptors with everything else, and this process may have {limit}: \
         raise the hard limit (`ulimit -Hn {needed}` as root, `LimitNOFILE=` of a service, `--ulimit nofile={needed}` of a container), \
         or allow {possible} connections"
    )]
    Descriptors {
        /// Requested number of connections of each endpoint.
        wanted: usize,
        /// Possible number of connections of each endpoint.
        possible: usize,
        /// Number of file descriptors needed.
        needed: usize,
        /// Limit of file descriptors of the process.
        limit: usize,
    },
    /// The thread cannot run on the requested core.
    #[error(transparent)]
    Core(#[from] AffinityError),
    /// The thread may not have the requested policy.
    #[error(transparent)]
    Policy(#[from] PriorityError),
}
