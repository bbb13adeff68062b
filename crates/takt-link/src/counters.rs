//! Numbers of messages of a link.

/// Numbers of messages since a link was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkCounters {
    /// Number of messages sent, or received and passed on.
    pub messages: u64,
    /// Bytes of these messages, without headers of the link.
    pub bytes: u64,
    /// Number of messages discarded by this side: queued while the link was down, or longer than the longest message.
    pub discarded: u64,
    /// Number of messages lost because this application was too slow: the kernel's or the link's queue was full, as far as that
    /// is known.
    pub overflowed: u64,
}

impl LinkCounters {
    pub(crate) fn count(&mut self, length: usize) {
        self.messages += 1;
        self.bytes += length as u64;
    }
}
