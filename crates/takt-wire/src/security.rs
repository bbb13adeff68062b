//! SecurityHeader, and the ranges of a message that security applies to (OPC 10000-14, 7.2.4.4.2 and 7.2.4.4.3).

use std::ops::Range;

use takt_ua::binary::{Decoder, Encoder};

use crate::error::{WireEncodeError, WireError, WireErrorKind, count};
use crate::mark::{Mark, Marker};

const SIGNED: u8 = 0x01;
const ENCRYPTED: u8 = 0x02;
const FOOTER: u8 = 0x04;
const FORCE_KEY_RESET: u8 = 0x08;
const RESERVED: u8 = 0xF0;

/// Protection of a NetworkMessage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecurityHeader {
    /// True if the message ends with a signature.
    pub signed: bool,
    /// True if the payload is encrypted, which requires that the message is signed.
    pub encrypted: bool,
    /// True if all keys become invalid soon: Subscribers shall get new ones.
    pub force_key_reset: bool,
    /// Identifier of the key within its SecurityGroup; 0 if the message is neither signed nor encrypted.
    pub security_token_id: u32,
    /// A number that is used once with the key, at most 255 bytes; empty without security.
    pub message_nonce: Vec<u8>,
    /// Data of the SecurityPolicy behind the payload.
    pub security_footer: Option<Vec<u8>>,
}

/// A borrowed [`SecurityHeader`]. The SecurityFooter is behind the payload, see [`SecurityLayout::security_footer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SecurityHeaderRef<'a> {
    /// True if the message ends with a signature.
    pub signed: bool,
    /// True if the payload is encrypted, which requires that the message is signed.
    pub encrypted: bool,
    /// True if all keys become invalid soon: Subscribers shall get new ones.
    pub force_key_reset: bool,
    /// Identifier of the key within its SecurityGroup.
    pub security_token_id: u32,
    /// A number that is used once with the key.
    pub message_nonce: &'a [u8],
    /// Length of the SecurityFooter in bytes, if there is one.
    pub security_footer_size: Option<u16>,
}

/// Ranges of a message that are signed and encrypted: offsets in bytes from the start of the NetworkMessage.
///
/// A sender encrypts, then signs what has been encrypted; a receiver verifies before it decrypts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecurityLayout {
    /// The MessageNonce.
    pub message_nonce: Range<usize>,
    /// Encrypted range: the payload, without headers and SecurityFooter.
    pub encrypted: Range<usize>,
    /// The SecurityFooter, empty if there is none.
    pub security_footer: Range<usize>,
    /// Signed range: everything before the signature.
    pub signed: Range<usize>,
    /// The signature: the end of the message.
    pub signature: Range<usize>,
}

const ENCRYPTED_NOT_SIGNED: &str = "encrypted, but not signed (OPC 10000-14, 7.2.4.4.2)";
const TOKEN_WITHOUT_SECURITY: &str = "a SecurityTokenId without security (OPC 10000-14, 7.2.4.4.2)";

/// Returns the rule that the flags or the token break.
fn forbidden(signed: bool, encrypted: bool, security_token_id: u32) -> Option<&'static str> {
    if encrypted && !signed {
        return Some(ENCRYPTED_NOT_SIGNED);
    }
    (!signed && security_token_id != 0).then_some(TOKEN_WITHOUT_SECURITY)
}

impl SecurityHeader {
    pub(crate) fn encode(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        if let Some(what) = forbidden(self.signed, self.encrypted, self.security_token_id) {
            return Err(WireEncodeError::Forbidden(what));
        }
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        encoder.u8(bit(self.signed, SIGNED)
            | bit(self.encrypted, ENCRYPTED)
            | bit(self.security_footer.is_some(), FOOTER)
            | bit(self.force_key_reset, FORCE_KEY_RESET))?;
        marker(Mark::SecurityTokenId, encoder.position() - base);
        encoder.u32(self.security_token_id)?;
        let length = self.message_nonce.len();
        encoder.u8(count("bytes of MessageNonce", length, 255)?)?;
        marker(Mark::MessageNonce(length), encoder.position() - base);
        encoder.bytes(&self.message_nonce)?;
        if let Some(footer) = &self.security_footer {
            encoder.u16(count("bytes of SecurityFooter", footer.len(), 65_535)?)?;
        }
        Ok(())
    }
}

impl<'a> SecurityHeaderRef<'a> {
    /// Returns the same, owned, with the SecurityFooter.
    pub fn to_owned_with(&self, security_footer: &[u8]) -> SecurityHeader {
        SecurityHeader {
            signed: self.signed,
            encrypted: self.encrypted,
            force_key_reset: self.force_key_reset,
            security_token_id: self.security_token_id,
            message_nonce: self.message_nonce.to_vec(),
            security_footer: self.security_footer_size.map(|_| security_footer.to_vec()),
        }
    }

    pub(crate) fn decode(decoder: &mut Decoder<'a>) -> Result<Self, WireError> {
        let offset = decoder.position();
        let flags = decoder.u8()?;
        if flags & RESERVED != 0 {
            let field = "SecurityFlags";
            let kind = WireErrorKind::Reserved {
                field,
                value: flags.into(),
            };
            return Err(WireError::new(offset, kind));
        }
        let set = |bit: u8| flags & bit != 0;
        let security_token_id = decoder.u32()?;
        if let Some(what) = forbidden(set(SIGNED), set(ENCRYPTED), security_token_id) {
            return Err(WireError::new(offset, WireErrorKind::Forbidden(what)));
        }
        let nonce_length = usize::from(decoder.u8()?);
        let message_nonce = decoder.bytes(nonce_length)?;
        let security_footer_size = set(FOOTER).then(|| decoder.u16()).transpose()?;
        Ok(Self {
            signed: set(SIGNED),
            encrypted: set(ENCRYPTED),
            force_key_reset: set(FORCE_KEY_RESET),
            security_token_id,
            message_nonce,
            security_footer_size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_annex_a_with_confidentiality() {
        let header = SecurityHeader {
            signed: true,
            encrypted: true,
            security_token_id: 0x0102,
            message_nonce: vec![1, 2, 3, 4, 5, 6, 7, 8],
            ..SecurityHeader::default()
        };
        let mut bytes = Vec::new();
        header
            .encode(&mut Encoder::growing(&mut bytes, 100), 0, &mut |_, _| {})
            .unwrap();
        assert_eq!(bytes, [3, 2, 1, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
        let decoded = SecurityHeaderRef::decode(&mut Decoder::new(&bytes)).unwrap();
        assert_eq!(decoded.to_owned_with(&[]), header);
    }

    #[test]
    fn forbidden_security_flags_are_neither_encoded_nor_decoded() {
        for (flags, token) in [(2_u8, 0_u8), (0, 7), (0x10, 0)] {
            let bytes = [flags, token, 0, 0, 0, 0];
            assert!(SecurityHeaderRef::decode(&mut Decoder::new(&bytes)).is_err());
        }
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, 1000);
        let encrypted = SecurityHeader {
            encrypted: true,
            ..SecurityHeader::default()
        };
        let error = encrypted.encode(&mut encoder, 0, &mut |_, _| {});
        assert_eq!(error, Err(WireEncodeError::Forbidden(ENCRYPTED_NOT_SIGNED)));
        let long = SecurityHeader {
            message_nonce: vec![0; 256],
            ..SecurityHeader::default()
        };
        assert!(long.encode(&mut encoder, 0, &mut |_, _| {}).is_err());
    }
}
