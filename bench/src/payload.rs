//! Sizes of values.

use serde::{Deserialize, Serialize};

/// Value of a measured Variable: one UInt32, or an array of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Payload(u32);

impl Payload {
    /// One UInt32.
    pub(crate) const SCALAR: Self = Self(1);
    /// 1024 UInt32.
    pub(crate) const ARRAY: Self = Self(1024);
    /// The payloads of the paper (section 6.2), in the order of the rows.
    pub(crate) const ALL: [Self; 2] = [Self::SCALAR, Self::ARRAY];

    /// Returns the payload of this number of bytes: a multiple of 4, not 0, at most 16 MiB.
    pub(crate) fn of_bytes(bytes: u64) -> Option<Self> {
        let elements = u32::try_from(bytes / 4).ok()?;
        (bytes.is_multiple_of(4) && (1..=4 << 20).contains(&elements)).then_some(Self(elements))
    }

    /// Returns the number of elements of the value.
    pub(crate) const fn elements(self) -> usize {
        self.0 as usize
    }

    /// Returns the bytes of the value.
    pub(crate) const fn bytes(self) -> usize {
        self.elements() * size_of::<u32>()
    }

    /// Returns true if the Variable is a scalar.
    pub(crate) fn is_scalar(self) -> bool {
        self == Self::SCALAR
    }

    /// Returns the name of the Variable that has such a value. The foreign peers have those of [`Self::ALL`].
    pub(crate) fn variable(self) -> String {
        match self {
            Self::SCALAR => "UInt32".to_owned(),
            Self::ARRAY => "UInt32Array".to_owned(),
            Self(elements) => format!("UInt32Array{elements}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_whole_elements() {
        assert_eq!(Payload::of_bytes(4), Some(Payload::SCALAR));
        assert_eq!(Payload::of_bytes(4096), Some(Payload::ARRAY));
        assert_eq!(Payload::of_bytes(1 << 20).unwrap().bytes(), 1 << 20);
        for bytes in [0, 5, (16 << 20) + 4, u64::MAX] {
            assert_eq!(Payload::of_bytes(bytes), None, "{bytes}");
        }
    }
}
