//! The elements of arrays: one `Vec` per built-in type.

use super::{
    Array, BuiltInType, ByteString, DataValue, DateTime, DiagnosticInfo, Elements, ExpandedNodeId,
    ExtensionObject, Guid, LocalizedText, NodeId, QualifiedName, UaString, Variant, WrongType,
    XmlElement,
};
use crate::StatusCode;
use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

macro_rules! elements {
    ($($name:ident($type:ty)),* $(,)?) => {
        impl Elements {
            /// Creates an empty list of elements of a type.
            pub fn empty(element_type: BuiltInType) -> Self {
                match element_type {
                    $(BuiltInType::$name => Self::$name(Vec::new())),*
                }
            }

            /// Returns the type of the elements.
            pub fn element_type(&self) -> BuiltInType {
                match self {
                    $(Self::$name(_) => BuiltInType::$name),*
                }
            }

            /// Returns the number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$name(elements) => elements.len()),*
                }
            }

            /// Returns one element as a Variant.
            pub fn get(&self, index: usize) -> Option<Variant> {
                match self {
                    $(Self::$name(elements) => elements.get(index).cloned().map(Variant::from)),*
                }
            }

            /// Appends an element, which must be of the elements' type.
            pub fn push(&mut self, element: Variant) -> Result<(), WrongType> {
                match self {
                    $(Self::$name(elements) => elements.push(element.try_into()?)),*
                }
                Ok(())
            }

            /// Returns copies of the elements at these indexes; indexes that do not exist are skipped.
            pub(crate) fn select(&self, indexes: impl Iterator<Item = usize>) -> Self {
                match self {
                    $(Self::$name(elements) => {
                        Self::$name(indexes.filter_map(|index| elements.get(index).cloned()).collect())
                    }),*
                }
            }

            /// Overwrites the elements at these indexes with those of `source`, in order; returns `false`, and
            /// changes nothing, if the types differ.
            pub(crate) fn assign(&mut self, indexes: impl Iterator<Item = usize>, source: &Self) -> bool {
                match (self, source) {
                    $((Self::$name(elements), Self::$name(source)) => {
                        for (index, value) in indexes.zip(source) {
                            if let Some(element) = elements.get_mut(index) {
                                element.clone_from(value);
                            }
                        }
                        true
                    }),*
                    _ => false,
                }
            }

            /// Encodes the elements, without their number.
            #[inline]
            pub fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
                match self {
                    $(Self::$name(elements) => <$type>::encode_elements(elements, encoder)),*
                }
            }

            /// Returns the smallest encoded size of an element of a type, in bytes.
            #[inline]
            pub(super) fn min_size(element_type: BuiltInType) -> usize {
                match element_type {
                    $(BuiltInType::$name => <$type as Decode<'_>>::MIN_SIZE),*
                }
            }

            /// Decodes `count` elements without their number, which the caller has checked; see
            /// [`Decoder::array_length`].
            pub fn decode(
                element_type: BuiltInType,
                count: usize,
                decoder: &mut Decoder<'_>,
            ) -> Result<Self, DecodeError> {
                Ok(match element_type {
                    $(BuiltInType::$name => Self::$name(<$type>::decode_elements(decoder, count)?)),*
                })
            }
        }

        $(
            impl From<Vec<$type>> for Elements {
                fn from(elements: Vec<$type>) -> Self {
                    Self::$name(elements)
                }
            }

            impl From<Vec<$type>> for Array {
                fn from(elements: Vec<$type>) -> Self {
                    Self { elements: elements.into(), dimensions: Vec::new() }
                }
            }

            impl From<Vec<$type>> for Variant {
                fn from(elements: Vec<$type>) -> Self {
                    Array::from(elements).into()
                }
            }

            impl TryFrom<Variant> for Vec<$type> {
                type Error = WrongType;

                fn try_from(value: Variant) -> Result<Self, WrongType> {
                    match value {
                        Variant::Array(array) => match array.elements {
                            Elements::$name(elements) => Ok(elements),
                            other => Err(WrongType::array(BuiltInType::$name, &other)),
                        },
                        other => Err(WrongType::scalar_for_array(BuiltInType::$name, &other)),
                    }
                }
            }
        )*
    };
}

elements! {
    Boolean(bool),
    SByte(i8),
    Byte(u8),
    Int16(i16),
    UInt16(u16),
    Int32(i32),
    UInt32(u32),
    Int64(i64),
    UInt64(u64),
    Float(f32),
    Double(f64),
    String(UaString),
    DateTime(DateTime),
    Guid(Guid),
    ByteString(ByteString),
    XmlElement(XmlElement),
    NodeId(NodeId),
    ExpandedNodeId(ExpandedNodeId),
    StatusCode(StatusCode),
    QualifiedName(QualifiedName),
    LocalizedText(LocalizedText),
    ExtensionObject(ExtensionObject),
    DataValue(DataValue),
    Variant(Variant),
    DiagnosticInfo(DiagnosticInfo),
}

impl Elements {
    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements as Variants.
    pub fn iter(&self) -> impl Iterator<Item = Variant> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
