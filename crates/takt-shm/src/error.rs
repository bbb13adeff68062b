//! What can go wrong, and the StatusCode for it.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use takt_rt::memory_budget::BudgetExhausted;
use takt_ua::StatusCode;
use takt_ua::binary::EncodeError;
use thiserror::Error;

use crate::address::{ApplicationName, ApplicationNameError};
use crate::header::HeaderError;

/// Why something over shared memory did not work.
#[derive(Debug, Error)]
pub enum ShmError {
    /// The ApplicationName cannot be one.
    #[error(transparent)]
    ApplicationName(#[from] ApplicationNameError),
    /// The runtime directory cannot be used.
    #[error("the runtime directory {path} {reason}; TAKT_RUNTIME_DIR names another one", path = path.display())]
    RuntimeDirectory {
        /// Which directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The directory in which a group shares cannot be used.
    #[error(
        "the directory {path} of the group {group} {reason}; root makes a good one with \
         `install -d -o root -g {group} -m 2770 {path}`",
        path = path.display()
    )]
    GroupDirectory {
        /// Which directory.
        path: PathBuf,
        /// Whose it should be.
        group: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no Unix group of that name.
    #[error("there is no group {0:?}")]
    NoSuchGroup(String),
    /// The Unix user or group of one side may not talk to the other.
    #[error("access denied: {0}")]
    AccessDenied(String),
    /// A running application has this ApplicationName.
    #[error("another application is running under the name {name}{}", describe_process(*process))]
    NameInUse {
        /// The name.
        name: ApplicationName,
        /// Its process id, if that is known.
        process: Option<u32>,
    },
    /// Nobody offers services under this ApplicationName.
    #[error("no application with the name {0} is running")]
    NoSuchApplication(ApplicationName),
    /// The other side has ended or closed the connection.
    #[error("the other side has closed the connection")]
    ConnectionClosed,
    /// There was no answer in time.
    #[error("no answer in time")]
    Timeout,
    /// The server has as many connections, or as many of our requests, as it takes.
    #[error("{0}: the server takes no more")]
    Busy(&'static str),
    /// The request does not fit into what was agreed with the server.
    #[error("the request is longer than {limit} bytes")]
    RequestTooLarge {
        /// The greatest length of a body.
        limit: u32,
    },
    /// A value cannot be encoded at all.
    #[error(transparent)]
    Encoding(EncodeError),
    /// The other side sent something that is not a message of this transport.
    #[error("the other side sent an invalid message: {0}")]
    Header(#[from] HeaderError),
    /// The other side broke the protocol in another way.
    #[error("the other side broke the protocol: {0}")]
    Protocol(&'static str),
    /// The other side answered with a StatusCode instead of a message.
    #[error("the other side answered {0}")]
    Refused(StatusCode),
    /// There is not enough room below /dev/shm; writing on would end the process with SIGBUS.
    #[error("/dev/shm has no room for {needed} bytes more: {free} are free")]
    SharedMemoryFull {
        /// How many bytes were wanted.
        needed: u64,
        /// How many there are.
        free: u64,
    },
    /// Another user has made a file that iceoryx2 needs.
    #[error("the file {path} belongs to user {user}, who or root has to remove it", path = path.display())]
    ForeignFile {
        /// Which file.
        path: PathBuf,
        /// Whose it is.
        user: u32,
    },
    /// The application may hold no more memory on behalf of others.
    #[error(transparent)]
    MemorySpent(#[from] BudgetExhausted),
    /// iceoryx2 refused something.
    #[error("iceoryx2: cannot {operation}: {cause}")]
    Iceoryx {
        /// What was tried.
        operation: &'static str,
        /// Its error.
        cause: String,
    },
    /// The operating system refused something.
    #[error("cannot {operation}: {cause}")]
    Io {
        /// What was tried.
        operation: &'static str,
        /// Its error.
        cause: io::Error,
    },
}

fn describe_process(process: Option<u32>) -> String {
    process.map_or_else(String::new, |id| format!(" (process {id})"))
}

impl ShmError {
    #[cold]
    pub(crate) fn iceoryx(operation: &'static str, cause: impl Display) -> Self {
        Self::Iceoryx {
            operation,
            cause: cause.to_string(),
        }
    }

    #[cold]
    pub(crate) fn io(operation: &'static str, cause: impl Into<io::Error>) -> Self {
        Self::Io {
            operation,
            cause: cause.into(),
        }
    }

    /// The StatusCode (OPC 10000-4, 7.38) that a caller of the API sees.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::ApplicationName(_) => StatusCode::BadTcpEndpointUrlInvalid,
            Self::NoSuchApplication(_) => StatusCode::BadConnectionRejected,
            Self::ConnectionClosed => StatusCode::BadConnectionClosed,
            Self::Timeout => StatusCode::BadTimeout,
            Self::Busy(_) => StatusCode::BadTcpServerTooBusy,
            Self::RequestTooLarge { .. } => StatusCode::BadRequestTooLarge,
            Self::Encoding(error) => error.status_code(),
            Self::Header(_) | Self::Protocol(_) => StatusCode::BadCommunicationError,
            Self::Refused(status) => *status,
            Self::SharedMemoryFull { .. } | Self::MemorySpent(_) => StatusCode::BadOutOfMemory,
            Self::AccessDenied(_) => StatusCode::BadUserAccessDenied,
            Self::RuntimeDirectory { .. }
            | Self::GroupDirectory { .. }
            | Self::NoSuchGroup(_)
            | Self::ForeignFile { .. }
            | Self::NameInUse { .. }
            | Self::Iceoryx { .. }
            | Self::Io { .. } => StatusCode::BadResourceUnavailable,
        }
    }

    /// Whether the connection cannot be used any more and a new one is needed.
    ///
    /// After a [`Timeout`](Self::Timeout), for example, it can: a late answer is discarded.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self,
            Self::Timeout
                | Self::Busy(_)
                | Self::RequestTooLarge { .. }
                | Self::Encoding(_)
                | Self::Refused(_)
                | Self::SharedMemoryFull { .. }
                | Self::MemorySpent(_)
        )
    }
}
