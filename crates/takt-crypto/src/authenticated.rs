//! Keys of AuthenticatedEncryption: ChaCha20-Poly1305, in place and without allocation (RFC 8439; OPC 10000-6, 6.7.2 and 6.8.1).

use std::fmt;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::CryptoError;

/// Length in bytes of the tag that authenticates a message.
pub const TAG_LENGTH: usize = 16;

/// Numbers of a chunk that make its nonce a new one (OPC 10000-6, Table 69).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NonceMask {
    /// TokenId of the chunk.
    pub token_id: u32,
    /// SequenceNumber of the chunk before it in the same direction.
    pub last_sequence_number: u32,
}

/// A key that seals, or opens, the messages of one direction. The library sets it to zero when it is dropped.
///
/// No two messages may be sealed with the same [`NonceMask`].
pub struct AuthenticatedKey {
    key: LessSafeKey,
    iv: Zeroizing<[u8; NONCE_LEN]>,
}

impl AuthenticatedKey {
    /// Creates a key from its bytes.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong.
    pub fn new(key: &[u8], iv: &[u8]) -> Result<Self, CryptoError> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| CryptoError)?;
        Ok(Self {
            key: LessSafeKey::new(key),
            iv: Zeroizing::new(iv.try_into().map_err(|_| CryptoError)?),
        })
    }

    fn nonce(&self, mask: NonceMask) -> Nonce {
        let mut nonce = *self.iv;
        let token = mask.token_id.to_le_bytes();
        let mask = token
            .into_iter()
            .chain(mask.last_sequence_number.to_le_bytes());
        for (byte, mask) in nonce.iter_mut().zip(mask) {
            *byte ^= mask;
        }
        Nonce::assume_unique_for_key(nonce)
    }

    /// Encrypts `text` in place and returns the tag for it and `signed`, which is not encrypted.
    ///
    /// # Errors
    /// [`CryptoError`] if the library fails.
    pub fn seal(
        &self,
        mask: NonceMask,
        signed: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; TAG_LENGTH], CryptoError> {
        let nonce = self.nonce(mask);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::from(signed), text);
        let tag = tag.map_err(|_| CryptoError)?;
        tag.as_ref().try_into().map_err(|_| CryptoError)
    }

    /// Decrypts `text` in place after the check of its tag.
    ///
    /// # Errors
    /// [`CryptoError`] if the tag is wrong; `text` must not be used then.
    pub fn open(
        &self,
        mask: NonceMask,
        signed: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), CryptoError> {
        let nonce = self.nonce(mask);
        let opened = self
            .key
            .open_in_place_separate_tag(nonce, Aad::from(signed), tag, text);
        opened.map(drop).map_err(|_| CryptoError)
    }
}

impl fmt::Debug for AuthenticatedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AuthenticatedKey(secret)")
    }
}
