//! Guid (OPC 10000-6, 5.1.3 and 5.2.2.6).

use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// A 16-byte globally unique identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid {
    /// The first eight hexadecimal digits of the text form.
    pub data1: u32,
    /// The next four.
    pub data2: u16,
    /// The next four.
    pub data3: u16,
    /// The last sixteen, four before and twelve after the last hyphen.
    pub data4: [u8; 8],
}

impl Guid {
    /// The Guid of all zeros, which stands for "none".
    pub const NULL: Guid = Guid {
        data1: 0,
        data2: 0,
        data3: 0,
        data4: [0; 8],
    };
}

impl std::fmt::Display for Guid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, rest @ ..] = self.data4;
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{a:02x}{b:02x}-",
            self.data1, self.data2, self.data3
        )?;
        rest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Error of a text that is not a Guid in the form `72962b91-fa75-4ae6-8d28-b404dc7daf63`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a Guid; expected for example 72962b91-fa75-4ae6-8d28-b404dc7daf63")]
pub struct ParseGuidError(String);

impl std::str::FromStr for Guid {
    type Err = ParseGuidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text.trim()).ok_or_else(|| ParseGuidError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Guid> {
    let text = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .unwrap_or(text);
    let bytes = text.as_bytes();
    let hyphens = [8, 13, 18, 23];
    // Checked first, because `from_str_radix` alone would accept a plus sign.
    let well_formed = bytes.len() == 36
        && bytes.iter().enumerate().all(|(index, byte)| {
            if hyphens.contains(&index) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        });
    if !well_formed {
        return None;
    }
    let hex = |range: std::ops::Range<usize>| u64::from_str_radix(text.get(range)?, 16).ok();
    let tail = hex(19..23)? << 48 | hex(24..36)?;
    Some(Guid {
        data1: u32::try_from(hex(0..8)?).ok()?,
        data2: u16::try_from(hex(9..13)?).ok()?,
        data3: u16::try_from(hex(14..18)?).ok()?,
        data4: tail.to_be_bytes(),
    })
}

impl Encode for Guid {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // In one piece, so that the encoder looks for room only once.
        let mut bytes = [0; 16];
        let value = u128::from(self.data1)
            | u128::from(self.data2) << 32
            | u128::from(self.data3) << 48
            | u128::from(u64::from_le_bytes(self.data4)) << 64;
        bytes.copy_from_slice(&value.to_le_bytes());
        encoder.bytes(&bytes)
    }
}

impl<'a> Decode<'a> for Guid {
    const MIN_SIZE: usize = 16;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            data1: decoder.u32()?,
            data2: decoder.u16()?,
            data3: decoder.u16()?,
            data4: decoder.u64()?.to_le_bytes(),
        })
    }
}
