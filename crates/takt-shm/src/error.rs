//! Errors, and their StatusCodes.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use takt_rt::memory_budget::BudgetExhausted;
use takt_ua::StatusCode;
use takt_ua::binary::EncodeError;
use thiserror::Error;

use crate::address::{ApplicationName, ApplicationNameError};
use crate::header::HeaderError;

/// Error of an operation over shared memory.
#[derive(Debug, Error)]
pub enum ShmError {
    /// The text is not an ApplicationName.
    #[error(transparent)]
    ApplicationName(#[from] ApplicationNameError),
    /// The runtime directory cannot be used.
    #[error("the runtime directory {path} {reason}; TAKT_RUNTIME_DIR names another one", path = path.display())]
    RuntimeDirectory {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the directory.
        reason: String,
    },
    /// The directory of a group cannot be used.
    #[error(
        "the directory {path} of the group {group} {reason}; root creates it with \
         `install -d -o root -g {group} -m 2770 {path}`",
        path = path.display()
    )]
    GroupDirectory {
        /// Path of the directory.
        path: PathBuf,
        /// Group to which it should belong.
        group: String,
        /// Error of the directory.
        reason: String,
    },
    /// There is no Unix group of that name.
    #[error("there is no group {0:?}")]
    NoSuchGroup(String),
    /// The Unix user or group of one side may not communicate with the other.
    #[error("access denied: {0}")]
    AccessDenied(String),
    /// A running application has this ApplicationName.
    #[error("another application is running under the name {name}{}", describe_process(*process))]
    NameInUse {
        /// ApplicationName in use.
        name: ApplicationName,
        /// Process id of the application, if it is known.
        process: Option<u32>,
    },
    /// No application offers services under this ApplicationName.
    #[error("no application with the name {0} is running")]
    NoSuchApplication(ApplicationName),
    /// The other side has ended or closed the connection.
    #[error("the other side has closed the connection")]
    ConnectionClosed,
    /// There was no answer in time.
    #[error("no answer in time")]
    Timeout,
    /// The server has its maximum number of connections, or of requests of this client.
    #[error("{0}: the limit of the server is reached")]
    Busy(&'static str),
    /// The request is longer than the limit that was agreed with the server.
    #[error("the request is longer than {limit} bytes")]
    RequestTooLarge {
        /// Maximum length of a body, in bytes.
        limit: u32,
    },
    /// A value cannot be encoded.
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
    #[error("/dev/shm has {free} bytes free, but {needed} are needed")]
    SharedMemoryFull {
        /// Number of needed bytes.
        needed: u64,
        /// Number of free bytes.
        free: u64,
    },
    /// Another user has made a file that iceoryx2 needs.
    #[error("the file {path} belongs to user {user}: only this user or root can remove it", path = path.display())]
    ForeignFile {
        /// Path of the file.
        path: PathBuf,
        /// Owner of the file.
        user: u32,
    },
    /// The application may hold no more memory on behalf of others.
    #[error(transparent)]
    MemorySpent(#[from] BudgetExhausted),
    /// An operation of iceoryx2 failed.
    #[error("iceoryx2: cannot {operation}: {cause}")]
    Iceoryx {
        /// Name of the operation.
        operation: &'static str,
        /// Error of iceoryx2.
        cause: String,
    },
    /// An operation of the operating system failed.
    #[error("cannot {operation}: {cause}")]
    Io {
        /// Name of the operation.
        operation: &'static str,
        /// Error of the operating system.
        #[source]
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

    /// Returns the StatusCode (OPC 10000-4, 7.38) that a caller of the API sees.
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

    /// Returns true if the connection cannot be used any more and a new one is needed.
    ///
    /// After a [`Timeout`](Self::Timeout), for example, it can be used: a late answer is discarded.
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
