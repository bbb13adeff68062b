//! StatusCode: a severity, a code and flags (OPC 10000-4, 7.38).

/// The outcome of an operation, or the quality of a value.
///
/// The standard's codes are associated constants under their own names, for example
/// [`StatusCode::BadTimeout`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct StatusCode(pub u32);

impl StatusCode {
    /// Returns severity and code, without the flag bits (structure changed, semantics changed, info type ...).
    #[inline]
    pub const fn code(self) -> StatusCode {
        StatusCode(self.0 & 0xFFFF_0000)
    }

    /// Returns whether the severity is Good: the operation succeeded, the value may be used.
    #[inline]
    pub const fn is_good(self) -> bool {
        self.0 >> 30 == 0
    }

    /// Returns whether the severity is Uncertain: the value may be used with care.
    #[inline]
    pub const fn is_uncertain(self) -> bool {
        self.0 >> 30 == 1
    }

    /// Returns whether the severity is Bad: the operation failed, there is no usable value.
    #[inline]
    pub const fn is_bad(self) -> bool {
        // The reserved severity 3 counts as Bad, too.
        self.0 >> 31 == 1
    }
}

impl From<u32> for StatusCode {
    #[inline]
    fn from(code: u32) -> Self {
        Self(code)
    }
}

impl From<StatusCode> for u32 {
    #[inline]
    fn from(code: StatusCode) -> Self {
        code.0
    }
}
