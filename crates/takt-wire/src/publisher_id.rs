//! PublisherId (OPC 10000-14, 6.2.7.1 and 7.2.4.4.2).

use takt_ua::binary::{DecodeError, Decoder, EncodeError, Encoder};
use takt_ua::{UaString, Variant};

/// Identifier of the sender of a message. Two PublisherIds are equal if their types and their values are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the built-in types")]
pub enum PublisherId {
    Byte(u8),
    UInt16(u16),
    UInt32(u32),
    UInt64(u64),
    String(UaString),
}

/// A borrowed [`PublisherId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the built-in types")]
pub enum PublisherIdRef<'a> {
    Byte(u8),
    UInt16(u16),
    UInt32(u32),
    UInt64(u64),
    String(Option<&'a str>),
}

impl PublisherId {
    /// The null PublisherId, which a FindApplications probe has (OPC 10000-14, 7.2.4.6.12.3): a null String.
    pub const NULL: PublisherId = PublisherId::String(UaString::null());

    /// Returns the same, borrowed.
    pub fn as_ref(&self) -> PublisherIdRef<'_> {
        match self {
            Self::Byte(id) => PublisherIdRef::Byte(*id),
            Self::UInt16(id) => PublisherIdRef::UInt16(*id),
            Self::UInt32(id) => PublisherIdRef::UInt32(*id),
            Self::UInt64(id) => PublisherIdRef::UInt64(*id),
            Self::String(id) => PublisherIdRef::String(id.as_option()),
        }
    }

    /// Converts the value of a configuration; `None` if it has none of the types of a PublisherId.
    pub fn from_variant(value: &Variant) -> Option<Self> {
        match value {
            Variant::Byte(id) => Some(Self::Byte(*id)),
            Variant::UInt16(id) => Some(Self::UInt16(*id)),
            Variant::UInt32(id) => Some(Self::UInt32(*id)),
            Variant::UInt64(id) => Some(Self::UInt64(*id)),
            Variant::String(id) => Some(Self::String(id.clone())),
            _ => None,
        }
    }
}

impl From<PublisherId> for Variant {
    fn from(id: PublisherId) -> Self {
        match id {
            PublisherId::Byte(id) => Variant::Byte(id),
            PublisherId::UInt16(id) => Variant::UInt16(id),
            PublisherId::UInt32(id) => Variant::UInt32(id),
            PublisherId::UInt64(id) => Variant::UInt64(id),
            PublisherId::String(id) => Variant::String(id),
        }
    }
}

impl<'a> PublisherIdRef<'a> {
    /// Returns the same, owned. Allocates for a String.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> PublisherId {
        match self {
            Self::Byte(id) => PublisherId::Byte(*id),
            Self::UInt16(id) => PublisherId::UInt16(*id),
            Self::UInt32(id) => PublisherId::UInt32(*id),
            Self::UInt64(id) => PublisherId::UInt64(*id),
            Self::String(id) => PublisherId::String((*id).into()),
        }
    }

    /// Returns bits 0 to 2 of ExtendedFlags1.
    pub(crate) fn type_bits(&self) -> u8 {
        match self {
            Self::Byte(_) => 0,
            Self::UInt16(_) => 1,
            Self::UInt32(_) => 2,
            Self::UInt64(_) => 3,
            Self::String(_) => 4,
        }
    }

    /// Returns whether the type bits are reserved.
    pub(crate) fn reserved(type_bits: u8) -> bool {
        type_bits > 4
    }

    /// Decodes the PublisherId of a type that is not reserved.
    pub(crate) fn decode(type_bits: u8, decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match type_bits {
            0 => Self::Byte(decoder.u8()?),
            1 => Self::UInt16(decoder.u16()?),
            2 => Self::UInt32(decoder.u32()?),
            3 => Self::UInt64(decoder.u64()?),
            _ => Self::String(decoder.string()?),
        })
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Self::Byte(id) => encoder.u8(*id),
            Self::UInt16(id) => encoder.u16(*id),
            Self::UInt32(id) => encoder.u32(*id),
            Self::UInt64(id) => encoder.u64(*id),
            Self::String(id) => encoder.string(*id),
        }
    }
}

impl std::fmt::Display for PublisherIdRef<'_> {
    /// Writes the form of JSON messages (OPC 10000-14, 7.2.5.3): decimal digits, or the String.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Byte(id) => id.fmt(f),
            Self::UInt16(id) => id.fmt(f),
            Self::UInt32(id) => id.fmt(f),
            Self::UInt64(id) => id.fmt(f),
            Self::String(id) => f.pad(id.unwrap_or_default()),
        }
    }
}

impl std::fmt::Display for PublisherId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl PartialEq<PublisherId> for PublisherIdRef<'_> {
    fn eq(&self, other: &PublisherId) -> bool {
        *self == other.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_matter() {
        assert_ne!(PublisherId::Byte(7), PublisherId::UInt16(7));
        assert_eq!(PublisherIdRef::UInt16(7), PublisherId::UInt16(7));
        assert_eq!(
            PublisherId::from_variant(&Variant::UInt64(9)),
            Some(PublisherId::UInt64(9))
        );
        assert_eq!(PublisherId::from_variant(&Variant::Int32(9)), None);
        assert_eq!(Variant::from(PublisherId::UInt64(9)), Variant::UInt64(9));
    }

    #[test]
    fn a_text_has_no_leading_zeros() {
        assert_eq!(PublisherId::UInt16(7).to_string(), "7");
        assert_eq!(PublisherId::String("Line 1".into()).to_string(), "Line 1");
        assert_eq!(PublisherId::NULL.to_string(), "");
    }

    #[test]
    fn every_type_is_coded() {
        let cases: [(PublisherIdRef<'_>, &[u8]); 6] = [
            (PublisherIdRef::Byte(1), &[1]),
            (PublisherIdRef::UInt16(0x0201), &[1, 2]),
            (PublisherIdRef::UInt32(0x0403_0201), &[1, 2, 3, 4]),
            (
                PublisherIdRef::UInt64(0x0807_0605_0403_0201),
                &[1, 2, 3, 4, 5, 6, 7, 8],
            ),
            (
                PublisherIdRef::String(Some("ab")),
                &[2, 0, 0, 0, b'a', b'b'],
            ),
            (PublisherIdRef::String(None), &[255, 255, 255, 255]),
        ];
        for (id, bytes) in cases {
            let mut encoded = Vec::new();
            id.encode(&mut Encoder::growing(&mut encoded, 100)).unwrap();
            assert_eq!(encoded, bytes);
            let decoded = PublisherIdRef::decode(id.type_bits(), &mut Decoder::new(bytes));
            assert_eq!(decoded, Ok(id));
            assert_eq!(id, id.to_owned());
        }
    }
}
