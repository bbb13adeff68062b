//! Borrowed arrays, whose elements stay encoded.

use std::marker::PhantomData;

use super::BuiltInType;

/// An array or matrix whose elements stay encoded. Decoding one from a message does not touch elements of types with
/// a fixed size; elements of other types are checked once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayRef<'a> {
    pub(super) element_type: BuiltInType,
    pub(super) length: usize,
    pub(super) bytes: &'a [u8],
    /// Encoded Int32s without their number; empty for one dimension.
    pub(super) dimensions: &'a [u8],
}

/// Numbers with an encoding of fixed size, which [`ArrayRef`] can return and borrow.
macro_rules! scalars {
    ($($name:ident $type:ident $plural:ident $from:ident),* $(,)?) => {
        impl<'a> ArrayRef<'a> {
            $(
                #[doc = concat!("The elements, if the array is of ", stringify!($name), ".")]
                #[inline]
                pub fn $plural(&self) -> Option<Scalars<'a, $type>> {
                    (self.element_type == BuiltInType::$name).then_some(Scalars { bytes: self.bytes, scalar: PhantomData })
                }

                #[doc = concat!("Borrows a slice as an array of ", stringify!($name), ", without a copy.")]
                // Elsewhere the elements would have to be converted, and so need memory.
                #[cfg(target_endian = "little")]
                #[inline]
                pub fn $from(elements: &'a [$type]) -> Self {
                    Self {
                        element_type: BuiltInType::$name,
                        length: elements.len(),
                        bytes: bytemuck::cast_slice(elements),
                        dimensions: &[],
                    }
                }
            )*
        }

        $(
            impl Iterator for Scalars<'_, $type> {
                type Item = $type;

                #[inline]
                fn next(&mut self) -> Option<$type> {
                    let (head, tail) = self.bytes.split_first_chunk()?;
                    self.bytes = tail;
                    Some($type::from_le_bytes(*head))
                }

                #[inline]
                fn size_hint(&self) -> (usize, Option<usize>) {
                    let length = self.bytes.len() / size_of::<$type>();
                    (length, Some(length))
                }
            }

            impl ExactSizeIterator for Scalars<'_, $type> {}

            impl Scalars<'_, $type> {
                /// Copies as many elements as both sides have; returns their number.
                #[inline]
                pub fn copy_to(&self, target: &mut [$type]) -> usize {
                    let count = target.len().min(self.bytes.len() / size_of::<$type>());
                    let (target, _) = target.split_at_mut(count);
                    #[cfg(target_endian = "little")]
                    {
                        let target: &mut [u8] = bytemuck::cast_slice_mut(target);
                        let length = target.len();
                        target.copy_from_slice(self.bytes.split_at(length).0);
                    }
                    #[cfg(not(target_endian = "little"))]
                    for (target, chunk) in target.iter_mut().zip(self.bytes.as_chunks().0) {
                        *target = $type::from_le_bytes(*chunk);
                    }
                    count
                }
            }
        )*
    };
}

scalars! {
    SByte i8 i8s from_i8s, Byte u8 u8s from_u8s, Int16 i16 i16s from_i16s, UInt16 u16 u16s from_u16s,
    Int32 i32 i32s from_i32s, UInt32 u32 u32s from_u32s, Int64 i64 i64s from_i64s,
    UInt64 u64 u64s from_u64s, Float f32 f32s from_f32s, Double f64 f64s from_f64s,
}

/// Iterator over numbers in their encoded form, which need not be aligned.
#[derive(Debug, Clone)]
pub struct Scalars<'a, T> {
    bytes: &'a [u8],
    scalar: PhantomData<T>,
}

impl<'a> ArrayRef<'a> {
    /// Returns the type of the elements.
    #[inline]
    pub fn element_type(&self) -> BuiltInType {
        self.element_type
    }

    /// Returns the number of elements, over all dimensions.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the encoded elements.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the length of each dimension; none if there is only one.
    #[inline]
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = u32> + 'a {
        self.dimensions
            .as_chunks()
            .0
            .iter()
            .map(|chunk| u32::from_le_bytes(*chunk))
    }

    /// Returns the elements, if the array is of Boolean.
    #[inline]
    pub fn bools(&self) -> Option<impl ExactSizeIterator<Item = bool> + 'a> {
        let bytes = self.bytes.iter();
        (self.element_type == BuiltInType::Boolean).then(|| bytes.map(|byte| *byte != 0))
    }

    /// Borrows Booleans, without a copy.
    #[inline]
    pub fn from_bools(elements: &'a [bool]) -> Self {
        Self {
            element_type: BuiltInType::Boolean,
            length: elements.len(),
            bytes: bytemuck::cast_slice(elements),
            dimensions: &[],
        }
    }

    /// Takes elements of a type with a fixed size in their encoded form. `None` if the type has no fixed size, or the
    /// bytes are not a whole number of elements.
    #[inline]
    pub fn from_encoded(element_type: BuiltInType, bytes: &'a [u8]) -> Option<Self> {
        let size = element_type.encoded_size()?;
        let whole = bytes.len().is_multiple_of(size);
        whole.then_some(Self {
            element_type,
            length: bytes.len() / size,
            bytes,
            dimensions: &[],
        })
    }
}
