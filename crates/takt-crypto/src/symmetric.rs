//! Symmetric keys of one direction of a SecureChannel: HMAC and AES-CBC, in place and without allocation
//! (OPC 10000-6, 6.7.6).

use std::fmt;

use aes::{Aes128Dec, Aes128Enc, Aes256Dec, Aes256Enc};
use cbc::cipher::{
    Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit, consts::U16,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha384};
use zeroize::Zeroizing;

use crate::CryptoError;
use crate::policy::{Cipher, SymmetricSignature};

const BLOCK: usize = 16;

/// Keys that sign and encrypt, or verify and decrypt, the messages of one direction. They are set to zero when dropped.
pub struct SymmetricKeys {
    signing: Signing,
    cipher: Schedules,
    iv: Zeroizing<[u8; BLOCK]>,
}

/// The state of HMAC after its key. The one of SHA-384 is large, and is on the heap once.
enum Signing {
    Sha256(Hmac<Sha256>),
    Sha384(Box<Hmac<Sha384>>),
}

/// Expanded keys for both operations. They are large, so a token has them on the heap once.
enum Schedules {
    /// Messages are signed only.
    None,
    Aes128(Box<(Aes128Enc, Aes128Dec)>),
    Aes256(Box<(Aes256Enc, Aes256Dec)>),
}

impl SymmetricKeys {
    /// Creates keys from their bytes.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong, or an algorithm is that of AuthenticatedEncryption.
    pub fn new(
        cipher: Cipher,
        signature: SymmetricSignature,
        signing_key: &[u8],
        encrypting_key: &[u8],
        iv: &[u8],
    ) -> Result<Self, CryptoError> {
        let key = encrypting_key;
        let cipher = match cipher {
            Cipher::Aes128Cbc => Schedules::Aes128(Box::new((schedule(key)?, schedule(key)?))),
            Cipher::Aes256Cbc => Schedules::Aes256(Box::new((schedule(key)?, schedule(key)?))),
            Cipher::ChaCha20Poly1305 => return Err(CryptoError),
        };
        let iv = Zeroizing::new(iv.try_into().map_err(|_| CryptoError)?);
        Ok(Self {
            cipher,
            iv,
            ..Self::signing_only(signature, signing_key)?
        })
    }

    /// Creates keys that do not encrypt.
    ///
    /// # Errors
    /// [`CryptoError`] if the algorithm is that of AuthenticatedEncryption.
    pub fn signing_only(
        signature: SymmetricSignature,
        signing_key: &[u8],
    ) -> Result<Self, CryptoError> {
        let signing = match signature {
            SymmetricSignature::HmacSha256 => Signing::Sha256(schedule(signing_key)?),
            SymmetricSignature::HmacSha384 => Signing::Sha384(Box::new(schedule(signing_key)?)),
            SymmetricSignature::Poly1305 => return Err(CryptoError),
        };
        Ok(Self {
            signing,
            cipher: Schedules::None,
            iv: Zeroizing::new([0; BLOCK]),
        })
    }

    /// Returns the length of a signature in bytes.
    #[must_use]
    pub const fn signature_length(&self) -> usize {
        match self.signing {
            Signing::Sha256(_) => SymmetricSignature::HmacSha256.length(),
            Signing::Sha384(_) => SymmetricSignature::HmacSha384.length(),
        }
    }

    /// Fills `signature` with the signature of `data`.
    ///
    /// # Errors
    /// [`CryptoError`] if it does not have [`signature_length`](Self::signature_length).
    pub fn sign(&self, data: &[u8], signature: &mut [u8]) -> Result<(), CryptoError> {
        if signature.len() != self.signature_length() {
            return Err(CryptoError);
        }
        match &self.signing {
            Signing::Sha256(mac) => {
                signature.copy_from_slice(&sum(mac, data).finalize().into_bytes())
            }
            Signing::Sha384(mac) => {
                signature.copy_from_slice(&sum(&**mac, data).finalize().into_bytes());
            }
        }
        Ok(())
    }

    /// Checks a signature in constant time.
    ///
    /// # Errors
    /// [`CryptoError`] if it is wrong.
    pub fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let verified = match &self.signing {
            Signing::Sha256(mac) => sum(mac, data).verify_slice(signature),
            Signing::Sha384(mac) => sum(&**mac, data).verify_slice(signature),
        };
        verified.map_err(|_| CryptoError)
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Errors
    /// [`CryptoError`] if the length is not a multiple of 16, or the keys do not encrypt.
    pub fn encrypt(&self, buffer: &mut [u8]) -> Result<(), CryptoError> {
        match &self.cipher {
            Schedules::None => Err(CryptoError),
            Schedules::Aes128(keys) => encrypt(&keys.0, &self.iv, buffer),
            Schedules::Aes256(keys) => encrypt(&keys.0, &self.iv, buffer),
        }
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Errors
    /// [`CryptoError`] if the length is not a multiple of 16, or the keys do not encrypt.
    pub fn decrypt(&self, buffer: &mut [u8]) -> Result<(), CryptoError> {
        match &self.cipher {
            Schedules::None => Err(CryptoError),
            Schedules::Aes128(keys) => decrypt(&keys.1, &self.iv, buffer),
            Schedules::Aes256(keys) => decrypt(&keys.1, &self.iv, buffer),
        }
    }
}

fn schedule<C: KeyInit>(key: &[u8]) -> Result<C, CryptoError> {
    C::new_from_slice(key).map_err(|_| CryptoError)
}

fn sum<M: Mac + Clone>(mac: &M, data: &[u8]) -> M {
    let mut mac = mac.clone();
    mac.update(data);
    mac
}

fn encrypt<C>(cipher: &C, iv: &[u8; BLOCK], buffer: &mut [u8]) -> Result<(), CryptoError>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    let (blocks, rest) = Block::<C>::slice_as_chunks_mut(buffer);
    if !rest.is_empty() {
        return Err(CryptoError);
    }
    cbc::Encryptor::inner_iv_init(cipher, iv.into()).encrypt_blocks(blocks);
    Ok(())
}

fn decrypt<C>(cipher: &C, iv: &[u8; BLOCK], buffer: &mut [u8]) -> Result<(), CryptoError>
where
    C: BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let (blocks, rest) = Block::<C>::slice_as_chunks_mut(buffer);
    if !rest.is_empty() {
        return Err(CryptoError);
    }
    cbc::Decryptor::inner_iv_init(cipher, iv.into()).decrypt_blocks(blocks);
    Ok(())
}

impl fmt::Debug for SymmetricKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SymmetricKeys(secret)")
    }
}
