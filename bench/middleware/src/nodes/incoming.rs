//! Messages on their way from the receiver of a node to the thread that passes them on.

/// Message, or the end of the process.
pub(super) type Incoming = Option<Vec<u8>>;
