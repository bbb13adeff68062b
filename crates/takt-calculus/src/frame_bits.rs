//! Sizes of frames in bits, as curves count them.

use takt_scenario::Frame;

use crate::Rational;

/// A frame's sizes in bits.
pub trait FrameBits {
    /// Returns [`Frame::l2`] in bits.
    fn l2_bits(self) -> Rational;
    /// Returns [`Frame::physical`] in bits.
    fn physical_bits(self) -> Rational;
}

impl FrameBits for Frame {
    fn l2_bits(self) -> Rational {
        (8 * self.l2()).into()
    }

    fn physical_bits(self) -> Rational {
        (8 * self.physical()).into()
    }
}
