//! Errors of control loops.

use std::time::Duration;

use takt_link::LinkError;
use takt_pubsub::ConfigurationError;
use takt_rt::cyclic::CyclicError;

/// Reason why a control loop does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The phases are not in order, or not within the cycle.
    #[error(
        "the phases {subscriber}, {user} and {publisher} are not possible: subscriber, user and publisher follow each other in a \
         cycle, from 0 to below 1"
    )]
    Phases {
        /// Phase of the subscriber.
        subscriber: f64,
        /// Phase of the user's function.
        user: f64,
        /// Phase of the publisher.
        publisher: f64,
    },
    /// The thread cannot send at this offset, because it makes the next message before.
    #[error(
        "the thread cannot send {offset:?} after the beginning of a cycle, because it makes the next message {limit:?} after it: \
         take a shorter offset, a later phase of the publisher, or launch times"
    )]
    Offset {
        /// Requested offset.
        offset: Duration,
        /// Time from which on an offset is too long.
        limit: Duration,
    },
    /// The configuration has another number of connections than one.
    #[error("a control loop needs one connection that is enabled; the configuration has {found}")]
    Connections {
        /// Number of enabled connections.
        found: usize,
    },
    /// The connection has another number of WriterGroups than one.
    #[error("a control loop needs one WriterGroup; connection {connection} has {found}")]
    WriterGroups {
        /// Name of the connection.
        connection: String,
        /// Number of its WriterGroups.
        found: usize,
    },
    /// A substitute value cannot be stored in its cell.
    #[error(
        "field {field} has no OverrideValue of its type, which takes its place after a missed deadline: {reason}"
    )]
    Substitute {
        /// Name of the field.
        field: String,
        /// Reason of the cell.
        reason: takt_ua::StatusCode,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The cycle is invalid.
    #[error(transparent)]
    Cycle(#[from] CyclicError),
    /// A link cannot be opened.
    #[error("the link cannot be opened: {0}")]
    Link(#[from] LinkError),
}
