//! QualifiedName (OPC 10000-6, 5.2.2.13).

use std::fmt;

use super::UaString;
use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// A name within a namespace, such as a BrowseName.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct QualifiedName {
    /// Index into the server's NamespaceArray.
    pub namespace: u16,
    /// The name.
    pub name: UaString,
}

/// A borrowed [`QualifiedName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct QualifiedNameRef<'a> {
    /// Index into the server's NamespaceArray.
    pub namespace: u16,
    /// The name.
    pub name: Option<&'a str>,
}

impl QualifiedName {
    /// The null QualifiedName.
    pub const NULL: QualifiedName = QualifiedName {
        namespace: 0,
        name: UaString::null(),
    };

    /// Creates a name in a namespace.
    pub fn new(namespace: u16, name: impl Into<UaString>) -> Self {
        Self {
            namespace,
            name: name.into(),
        }
    }

    /// Returns whether there is no name.
    pub fn is_null(&self) -> bool {
        self.namespace == 0 && self.name.is_empty()
    }

    /// Returns the same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> QualifiedNameRef<'_> {
        QualifiedNameRef {
            namespace: self.namespace,
            name: self.name.as_option(),
        }
    }
}

impl QualifiedNameRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> QualifiedName {
        QualifiedName {
            namespace: self.namespace,
            name: self.name.into(),
        }
    }

    /// Returns whether there is no name.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.namespace == 0 && self.name.is_none_or(str::is_empty)
    }
}

impl From<&str> for QualifiedName {
    /// Returns a name in namespace 0.
    fn from(name: &str) -> Self {
        Self::new(0, name)
    }
}

impl From<(u16, &str)> for QualifiedName {
    fn from((namespace, name): (u16, &str)) -> Self {
        Self::new(namespace, name)
    }
}

impl fmt::Display for QualifiedNameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.unwrap_or_default();
        // A name that looks like a qualified one is written with its namespace; otherwise it would be read back
        // wrongly.
        if self.namespace != 0 || split(name).is_some() {
            write!(f, "{}:", self.namespace)?;
        }
        f.write_str(name)
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

/// Returns the digits and the name of a text such as `2:Speed`.
fn split(text: &str) -> Option<(&str, &str)> {
    let (digits, name) = text.split_once(':')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some((digits, name))
}

/// Error of a text such as `99999:Name`, whose namespace index is above 65535.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a QualifiedName: the namespace index must be from 0 to 65535; expected for example 2:Speed"
)]
pub struct ParseQualifiedNameError(String);

impl std::str::FromStr for QualifiedName {
    type Err = ParseQualifiedNameError;

    /// Reads `2:Name`, or `Name` for namespace 0.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match split(text) {
            None => Ok(Self::new(0, text)),
            Some((digits, name)) => match digits.parse() {
                Ok(namespace) => Ok(Self::new(namespace, name)),
                Err(_) => Err(ParseQualifiedNameError(text.to_owned())),
            },
        }
    }
}

impl Encode for QualifiedNameRef<'_> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u16(self.namespace)?;
        encoder.string(self.name)
    }
}

impl<'a> Decode<'a> for QualifiedNameRef<'a> {
    const MIN_SIZE: usize = 6;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            namespace: decoder.u16()?,
            name: decoder.string()?,
        })
    }
}

impl Encode for QualifiedName {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_ref().encode(encoder)
    }
}

impl<'a> Decode<'a> for QualifiedName {
    const MIN_SIZE: usize = 6;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            namespace: decoder.u16()?,
            name: decoder.value()?,
        })
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        QualifiedNameRef::decode(decoder).map(|_| ())
    }
}
