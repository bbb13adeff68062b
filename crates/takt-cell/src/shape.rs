//! Shapes of the values that a cell accepts.

use std::fmt;

use takt_ua::BuiltInType;

/// Bits of the type in the encoding mask of a Variant (OPC 10000-6, 5.2.2.16); the other bits mark arrays and several
/// dimensions.
const TYPE: u8 = 0x3F;
pub(crate) const ARRAY: u8 = 0x80;
const DIMENSIONS: u8 = 0x40;

/// A type, and whether it is one value or an array: the values that a cell accepts, fixed when it is created.
///
/// It is compared with the first byte of an encoded Variant, so that a check takes two instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bits of the encoding mask that are compared.
    mask: u8,
    /// Expected value of these bits.
    bits: u8,
}

impl Shape {
    /// Any value.
    pub const ANY: Self = Self { mask: 0, bits: 0 };

    /// Returns the shape of one value of a type. [`BuiltInType::Variant`] stands for any value, as for a Variable of
    /// DataType BaseDataType.
    #[must_use]
    pub const fn scalar(data_type: BuiltInType) -> Self {
        match data_type {
            BuiltInType::Variant => Self::ANY,
            data_type => Self {
                mask: 0xFF,
                bits: data_type as u8,
            },
        }
    }

    /// Returns the shape of an array of a type, of any length and any number of dimensions.
    #[must_use]
    pub const fn array(data_type: BuiltInType) -> Self {
        Self {
            mask: TYPE | ARRAY,
            bits: data_type as u8 | ARRAY,
        }
    }

    /// Returns the shape of an encoded value with this first byte; 0 stands for no value, which has any shape.
    pub(crate) const fn of(encoding: u8) -> Self {
        match encoding {
            0 => Self::ANY,
            _ if encoding & ARRAY != 0 => Self {
                mask: TYPE | ARRAY,
                bits: encoding & !DIMENSIONS,
            },
            _ => Self {
                mask: 0xFF,
                bits: encoding,
            },
        }
    }

    /// Returns the two bytes of the comparison: the compared bits, and their expected value.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 2] {
        [self.mask, self.bits]
    }

    /// Creates the shape with these bytes; any will do.
    #[must_use]
    pub const fn from_bytes([mask, bits]: [u8; 2]) -> Self {
        Self { mask, bits }
    }

    /// Returns the type of the value or of its elements; `None` if all types are accepted.
    #[must_use]
    pub const fn data_type(self) -> Option<BuiltInType> {
        BuiltInType::from_u8(self.bits & TYPE)
    }

    /// Returns whether the value is an array; `None` if both are accepted.
    #[must_use]
    pub const fn is_array(self) -> Option<bool> {
        if self.mask == 0 {
            None
        } else {
            Some(self.bits & ARRAY != 0)
        }
    }

    /// Returns whether a value with this encoding mask fits.
    #[inline]
    pub(crate) const fn accepts(self, encoding: u8) -> bool {
        encoding & self.mask == self.bits
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.data_type(), self.is_array()) {
            (Some(data_type), Some(true)) => write!(f, "an array of {data_type}"),
            (Some(data_type), _) => write!(f, "one {data_type}"),
            (None, _) => f.write_str("any value"),
        }
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shape({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_encoding_mask() {
        let one = Shape::scalar(BuiltInType::UInt32);
        let many = Shape::array(BuiltInType::UInt32);
        assert!(one.accepts(7) && !one.accepts(0x87) && !one.accepts(6) && !one.accepts(0x47));
        assert!(
            many.accepts(0x87) && many.accepts(0xC7) && !many.accepts(7) && !many.accepts(0x86)
        );
        assert!((0..=255).all(|encoding| Shape::ANY.accepts(encoding)));
        assert_eq!(Shape::scalar(BuiltInType::Variant), Shape::ANY);
        assert_eq!(Shape::of(0xC7), many);
        assert_eq!(Shape::of(7), one);
        assert_eq!(Shape::of(0), Shape::ANY);
    }

    #[test]
    fn shapes_are_displayed() {
        let many = Shape::array(BuiltInType::Double);
        assert_eq!(
            (many.data_type(), many.is_array()),
            (Some(BuiltInType::Double), Some(true))
        );
        assert_eq!(many.to_string(), "an array of Double");
        assert_eq!(Shape::scalar(BuiltInType::Byte).to_string(), "one Byte");
        assert_eq!(
            (Shape::ANY.data_type(), Shape::ANY.is_array()),
            (None, None)
        );
        assert_eq!(format!("{:?}", Shape::ANY), "Shape(any value)");
    }
}
