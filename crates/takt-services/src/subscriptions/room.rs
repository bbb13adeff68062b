//! Room for Notifications in one message.

/// Size limits of one message.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    /// Maximum number of notifications.
    pub(crate) notifications: usize,
    /// Number of bytes after which no more notifications are added.
    pub(crate) full: usize,
    /// Maximum number of bytes of a message.
    pub(crate) max: usize,
}
