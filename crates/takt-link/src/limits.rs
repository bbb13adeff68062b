//! Limits of batches and messages.

use crate::error::LinkError;
use crate::options::LinkOptions;

// One call of `sendmmsg` takes no more (UIO_MAXIOV of the kernel).
pub(crate) const MAX_BATCH: usize = 1024;

/// Returns the size of batches in the options.
///
/// # Errors
/// [`LinkError::Option`].
pub(crate) fn batch(options: &LinkOptions) -> Result<usize, LinkError> {
    match options.batch {
        batch @ 1..=MAX_BATCH => Ok(batch),
        batch => Err(LinkError::option("batch", batch, "1 to 1024 messages")),
    }
}

/// Checks the number of flushes whose messages may wait.
///
/// # Errors
/// [`LinkError::Option`].
pub(crate) fn send_room(options: &LinkOptions) -> Result<(), LinkError> {
    match options.send_room {
        Some(0) => Err(LinkError::option("send_room", 0, "1 flush or more")),
        _ => Ok(()),
    }
}

/// Returns the length of the longest message in the options, which is at most the longest of the link.
///
/// # Errors
/// [`LinkError::Option`].
pub(crate) fn max_message_size(options: &LinkOptions, longest: usize) -> Result<usize, LinkError> {
    match options.max_message_size {
        None => Ok(longest),
        Some(size) if (1..=longest).contains(&size) => Ok(size),
        Some(size) => Err(LinkError::option(
            "max_message_size",
            size,
            "at least 1 byte, and no more than the link takes",
        )),
    }
}
