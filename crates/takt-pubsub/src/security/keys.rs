//! Keys of one token, and the cryptographic operations with them.

use aes::{Aes128Enc, Aes256Enc};
use ctr::cipher::{BlockCipherEncrypt, BlockSizeUser, InnerIvInit, StreamCipher, typenum::U16};
use ctr::{CtrCore, flavors::Ctr32BE};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::policy::{
    KEY_NONCE_LENGTH, MESSAGE_NONCE_LENGTH, PubSubSecurityPolicy, SIGNATURE_LENGTH,
    SIGNING_KEY_LENGTH,
};

/// Error in the keys of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyDataError {
    /// The key data has another length than the SecurityPolicy requires.
    #[error("the key data has {found} bytes; the SecurityPolicy requires {expected}")]
    Length {
        /// Length of the SecurityPolicy's key data, in bytes.
        expected: usize,
        /// Length of the given key data, in bytes.
        found: usize,
    },
    /// The SecurityTokenId is 0, which stands for messages without security (OPC 10000-14, 7.2.4.4.2).
    #[error("0 is not the SecurityTokenId of a key")]
    TokenId,
}

/// Error: the message is longer than a counter of 32 bits can count, 64 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// Keys of one token of a SecurityGroup, prepared for use: the state of HMAC-SHA256 with the signing key, and the round keys of
/// AES.
///
/// All of it is zeroed when it is dropped, and [`Debug`] shows nothing of it.
pub struct SecurityKeys {
    security_token_id: u32,
    security_policy: PubSubSecurityPolicy,
    signing: Hmac<Sha256>,
    encrypting: EncryptingKey,
    key_nonce: [u8; KEY_NONCE_LENGTH],
}

enum EncryptingKey {
    Aes128(Aes128Enc),
    Aes256(Aes256Enc),
}

impl SecurityKeys {
    /// Creates keys from the key data of a token: signing key, encrypting key and key nonce (OPC 10000-14, 7.2.4.4.3.1).
    pub fn new(
        security_policy: PubSubSecurityPolicy,
        security_token_id: u32,
        key_data: &[u8],
    ) -> Result<Self, KeyDataError> {
        let wrong_length = KeyDataError::Length {
            expected: security_policy.key_data_length(),
            found: key_data.len(),
        };
        if security_token_id == 0 {
            return Err(KeyDataError::TokenId);
        }
        if key_data.len() != security_policy.key_data_length() {
            return Err(wrong_length);
        }
        let (signing_key, rest) = key_data.split_at(SIGNING_KEY_LENGTH);
        let (encrypting_key, key_nonce) = rest.split_at(security_policy.encrypting_key_length());
        // None of the following can fail: the lengths are those of the policy.
        let encrypting = match security_policy {
            PubSubSecurityPolicy::PubSubAes128Ctr => {
                Aes128Enc::new_from_slice(encrypting_key).map(EncryptingKey::Aes128)
            }
            PubSubSecurityPolicy::PubSubAes256Ctr => {
                Aes256Enc::new_from_slice(encrypting_key).map(EncryptingKey::Aes256)
            }
        };
        Ok(Self {
            security_token_id,
            security_policy,
            signing: Hmac::new_from_slice(signing_key).map_err(|_| wrong_length)?,
            encrypting: encrypting.map_err(|_| wrong_length)?,
            key_nonce: key_nonce.try_into().map_err(|_| wrong_length)?,
        })
    }

    /// Returns the SecurityTokenId that names these keys in messages.
    pub fn security_token_id(&self) -> u32 {
        self.security_token_id
    }

    /// Returns the SecurityPolicy of the keys.
    pub fn security_policy(&self) -> PubSubSecurityPolicy {
        self.security_policy
    }

    pub(super) fn sign(&self, signed: &[u8]) -> [u8; SIGNATURE_LENGTH] {
        // HMAC hashes its key first. The state after that is the same for each message, so it is kept and cloned.
        let mut signing = self.signing.clone();
        signing.update(signed);
        signing.finalize().into_bytes().into()
    }

    /// Verifies a signature in a time that does not depend on the place of a difference.
    pub(super) fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        let mut signing = self.signing.clone();
        signing.update(signed);
        signing.verify_slice(signature).is_ok()
    }

    /// Encrypts or decrypts in place. The counter block is key nonce, MessageNonce, and a big-endian counter of 32 bits that
    /// begins with 1 (OPC 10000-14, 7.2.4.4.3.2).
    pub(super) fn apply_keystream(
        &self,
        message_nonce: [u8; MESSAGE_NONCE_LENGTH],
        payload: &mut [u8],
    ) -> Result<(), TooLong> {
        let mut counter_block = [0; 16];
        counter_block[..4].copy_from_slice(&self.key_nonce);
        counter_block[4..12].copy_from_slice(&message_nonce);
        counter_block[15] = 1;
        self.apply_keystream_from(counter_block, payload)
    }

    pub(super) fn apply_keystream_from(
        &self,
        counter_block: [u8; 16],
        payload: &mut [u8],
    ) -> Result<(), TooLong> {
        match &self.encrypting {
            EncryptingKey::Aes128(key) => apply(key, counter_block, payload),
            EncryptingKey::Aes256(key) => apply(key, counter_block, payload),
        }
    }
}

fn apply<C>(key: &C, counter_block: [u8; 16], payload: &mut [u8]) -> Result<(), TooLong>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    let core = CtrCore::<&C, Ctr32BE>::inner_iv_init(key, &counter_block.into());
    let mut keystream = ctr::cipher::StreamCipherCoreWrapper::from_core(core);
    keystream.try_apply_keystream(payload).map_err(|_| TooLong)
}

impl Drop for SecurityKeys {
    fn drop(&mut self) {
        // The other members zero themselves, see ZeroizeOnDrop below.
        self.key_nonce.zeroize();
    }
}

const _: () = {
    const fn zeroed_when_dropped<T: ZeroizeOnDrop>() {}
    // The HMAC consists of these types.
    zeroed_when_dropped::<Sha256>();
    zeroed_when_dropped::<Aes128Enc>();
    zeroed_when_dropped::<Aes256Enc>();
};

impl ZeroizeOnDrop for SecurityKeys {}

impl std::fmt::Debug for SecurityKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecurityKeys")
            .field("security_token_id", &self.security_token_id)
            .field("security_policy", &self.security_policy)
            .finish_non_exhaustive()
    }
}
