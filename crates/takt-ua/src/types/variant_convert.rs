//! Conversions between Variants and the types that they hold.

use super::{
    Array, BuiltInType, ByteString, DataValue, DateTime, DiagnosticInfo, Elements, ExpandedNodeId,
    ExtensionObject, Guid, LocalizedText, NodeId, QualifiedName, UaString, Variant, XmlElement,
};
use crate::StatusCode;

/// Error of a Variant that holds another type than requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {}, found {}", Shape(*.expected, *.expected_array), Shape(*.found, *.found_array))]
pub struct WrongType {
    expected: Option<BuiltInType>,
    expected_array: bool,
    found: Option<BuiltInType>,
    found_array: bool,
}

struct Shape(Option<BuiltInType>, bool);

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.0.map_or("null", BuiltInType::name);
        if self.1 {
            write!(f, "an array of {name}")
        } else {
            f.write_str(name)
        }
    }
}

impl WrongType {
    fn scalar(expected: BuiltInType, found: &Variant) -> Self {
        Self {
            expected: Some(expected),
            expected_array: false,
            found: found.built_in_type(),
            found_array: found.is_array(),
        }
    }

    pub(super) fn scalar_for_array(expected: BuiltInType, found: &Variant) -> Self {
        Self {
            expected_array: true,
            ..Self::scalar(expected, found)
        }
    }

    pub(super) fn array(expected: BuiltInType, found: &Elements) -> Self {
        Self {
            expected: Some(expected),
            expected_array: true,
            found: Some(found.element_type()),
            found_array: true,
        }
    }

    /// Returns the StatusCode for the peer.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadTypeMismatch
    }
}

// For lists of Variants: a Variant becomes a Variant without an error.
impl From<std::convert::Infallible> for WrongType {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

macro_rules! scalar {
    ($($name:ident($type:ty)),* ; boxed $($boxed:ident),*) => {
        $(
            impl From<$type> for Variant {
                #[inline]
                fn from(value: $type) -> Self {
                    Self::$name(value)
                }
            }

            impl TryFrom<Variant> for $type {
                type Error = WrongType;

                fn try_from(value: Variant) -> Result<Self, WrongType> {
                    match value {
                        Variant::$name(value) => Ok(value),
                        other => Err(WrongType::scalar(BuiltInType::$name, &other)),
                    }
                }
            }

            impl TryFrom<&Variant> for $type {
                type Error = WrongType;

                fn try_from(value: &Variant) -> Result<Self, WrongType> {
                    match value {
                        Variant::$name(value) => Ok(value.clone()),
                        other => Err(WrongType::scalar(BuiltInType::$name, other)),
                    }
                }
            }
        )*
        $(
            impl From<$boxed> for Variant {
                fn from(value: $boxed) -> Self {
                    Self::$boxed(Box::new(value))
                }
            }

            impl TryFrom<Variant> for $boxed {
                type Error = WrongType;

                fn try_from(value: Variant) -> Result<Self, WrongType> {
                    match value {
                        Variant::$boxed(value) => Ok(*value),
                        other => Err(WrongType::scalar(BuiltInType::$boxed, &other)),
                    }
                }
            }

            impl TryFrom<&Variant> for $boxed {
                type Error = WrongType;

                fn try_from(value: &Variant) -> Result<Self, WrongType> {
                    match value {
                        Variant::$boxed(value) => Ok($boxed::clone(value)),
                        other => Err(WrongType::scalar(BuiltInType::$boxed, other)),
                    }
                }
            }
        )*
    };
}

scalar! {
    Boolean(bool), SByte(i8), Byte(u8), Int16(i16), UInt16(u16), Int32(i32), UInt32(u32), Int64(i64),
    UInt64(u64), Float(f32), Double(f64), String(UaString), DateTime(DateTime), Guid(Guid),
    ByteString(ByteString), XmlElement(XmlElement), StatusCode(StatusCode);
    boxed NodeId, ExpandedNodeId, QualifiedName, LocalizedText, ExtensionObject, DataValue, DiagnosticInfo
}

impl From<&str> for Variant {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Variant {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Vec<String>> for Variant {
    fn from(texts: Vec<String>) -> Self {
        texts
            .into_iter()
            .map(UaString::from)
            .collect::<Vec<_>>()
            .into()
    }
}

impl From<Vec<&str>> for Variant {
    fn from(texts: Vec<&str>) -> Self {
        texts
            .into_iter()
            .map(UaString::from)
            .collect::<Vec<_>>()
            .into()
    }
}

impl From<Array> for Variant {
    fn from(array: Array) -> Self {
        Self::Array(Box::new(array))
    }
}

impl From<Elements> for Variant {
    fn from(elements: Elements) -> Self {
        Array::new(elements).into()
    }
}

impl Variant {
    /// Returns the value of a number (SByte to Double) as a Double, rounded where an Int64 or UInt64 has more digits.
    #[allow(clippy::cast_precision_loss, reason = "documented")]
    pub fn as_f64(&self) -> Option<f64> {
        Some(match self {
            Variant::SByte(value) => f64::from(*value),
            Variant::Byte(value) => f64::from(*value),
            Variant::Int16(value) => f64::from(*value),
            Variant::UInt16(value) => f64::from(*value),
            Variant::Int32(value) => f64::from(*value),
            Variant::UInt32(value) => f64::from(*value),
            Variant::Int64(value) => *value as f64,
            Variant::UInt64(value) => *value as f64,
            Variant::Float(value) => f64::from(*value),
            Variant::Double(value) => *value,
            _ => return None,
        })
    }

    /// Returns the value of a number that is whole and fits an Int64.
    pub fn as_i64(&self) -> Option<i64> {
        /// 2^63, the first Double that is too large.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Variant::SByte(value) => Some(i64::from(*value)),
            Variant::Byte(value) => Some(i64::from(*value)),
            Variant::Int16(value) => Some(i64::from(*value)),
            Variant::UInt16(value) => Some(i64::from(*value)),
            Variant::Int32(value) => Some(i64::from(*value)),
            Variant::UInt32(value) => Some(i64::from(*value)),
            Variant::Int64(value) => Some(*value),
            Variant::UInt64(value) => i64::try_from(*value).ok(),
            Variant::Float(_) | Variant::Double(_) => {
                let value = self.as_f64()?;
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "the value is whole and in range"
                )]
                (value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value)).then_some(value as i64)
            }
            _ => None,
        }
    }

    /// Returns the value of a Boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Variant::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the text of a String that is not null.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Variant::String(text) => text.as_option(),
            _ => None,
        }
    }

    /// Returns the array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Variant::Array(array) => Some(array),
            _ => None,
        }
    }
}
