//! Ranges of bytes in a message.

/// Range of bytes in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset from the start of the message, in bytes.
    pub offset: u32,
    /// Length in bytes; 0 stands for an absent value.
    pub length: u32,
}

impl Span {
    /// The span of an absent value.
    pub const NONE: Span = Span {
        offset: 0,
        length: 0,
    };

    /// Returns the span as it is in a message.
    #[inline]
    pub(crate) fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.offset) | u64::from(self.length) << 32).to_le_bytes()
    }
}

/// Copies `bytes` to the offset `at`, if there is room.
#[inline]
pub(crate) fn put(target: &mut [u8], at: usize, bytes: &[u8]) {
    // Offsets and lengths are constants of the layout, so the range is always there.
    if let Some(target) = target.get_mut(at..at + bytes.len()) {
        target.copy_from_slice(bytes);
    }
}
