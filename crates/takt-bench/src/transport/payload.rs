//! What is read.

/// The value that a Read asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// One UInt32.
    Scalar,
    /// 1024 UInt32.
    Array,
}

impl Payload {
    /// Both, in the order of the rows.
    pub(crate) const ALL: [Self; 2] = [Self::Scalar, Self::Array];

    /// Elements of the value.
    pub(crate) const fn elements(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Array => 1024,
        }
    }

    /// Bytes of the value.
    pub(crate) const fn bytes(self) -> usize {
        self.elements() * size_of::<u32>()
    }

    /// Name of the Variable that has such a value, here and in the foreign peers.
    pub(crate) const fn variable(self) -> &'static str {
        match self {
            Self::Scalar => "UInt32",
            Self::Array => "UInt32Array",
        }
    }

    /// What a floor's request begins with.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Scalar => 0,
            Self::Array => 1,
        }
    }

    /// The payload that a floor's request asks for.
    pub(super) const fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Scalar,
            _ => Self::Array,
        }
    }
}
