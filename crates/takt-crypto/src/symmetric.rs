//! Symmetric keys of one direction of a SecureChannel: HMAC-SHA256 and AES-CBC, in place and without allocation
//! (OPC 10000-6, 6.7.6).

use std::fmt;

use aes::{Aes128Dec, Aes128Enc, Aes256Dec, Aes256Enc};
use cbc::cipher::{
    Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit, consts::U16,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::CryptoError;
use crate::key_derivation::p_sha256;
use crate::policy::{Cipher, PolicyProfile};

/// Length of a symmetric signature in bytes.
pub const SIGNATURE_LENGTH: usize = 32;

const BLOCK: usize = 16;

/// Keys that sign and encrypt, or verify and decrypt, the messages of one direction. They are set to zero when dropped.
pub struct SymmetricKeys {
    mac: Hmac<Sha256>,
    cipher: Schedules,
    iv: Zeroizing<[u8; BLOCK]>,
}

/// Expanded keys for both operations. They are large, so a token has them on the heap once.
enum Schedules {
    Aes128(Box<(Aes128Enc, Aes128Dec)>),
    Aes256(Box<(Aes256Enc, Aes256Dec)>),
}

impl SymmetricKeys {
    /// Derives the keys of the side that sent `seed`: the other side's nonce is the `secret` (OPC 10000-6, Table 66).
    ///
    /// # Errors
    /// [`CryptoError`] if a nonce does not have the length of the policy.
    pub fn derive(
        profile: &PolicyProfile,
        secret: &[u8],
        seed: &[u8],
    ) -> Result<Self, CryptoError> {
        if secret.len() != profile.nonce_length || seed.len() != profile.nonce_length {
            return Err(CryptoError);
        }
        let (signing, encrypting) = (profile.signing_key_length, profile.cipher.key_length());
        let mut derived = Zeroizing::new(vec![0; signing + encrypting + BLOCK]);
        p_sha256(secret, seed, &mut derived);
        let (signing_key, rest) = derived.split_at(signing);
        let (encrypting_key, iv) = rest.split_at(encrypting);
        Self::new(profile.cipher, signing_key, encrypting_key, iv)
    }

    /// Creates keys from their bytes.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong.
    pub fn new(
        cipher: Cipher,
        signing_key: &[u8],
        encrypting_key: &[u8],
        iv: &[u8],
    ) -> Result<Self, CryptoError> {
        let mac = Hmac::new_from_slice(signing_key).map_err(|_| CryptoError)?;
        let key = encrypting_key;
        let cipher = match cipher {
            Cipher::Aes128Cbc => Schedules::Aes128(Box::new((schedule(key)?, schedule(key)?))),
            Cipher::Aes256Cbc => Schedules::Aes256(Box::new((schedule(key)?, schedule(key)?))),
        };
        let iv = Zeroizing::new(iv.try_into().map_err(|_| CryptoError)?);
        Ok(Self { mac, cipher, iv })
    }

    /// Returns the signature of `data`.
    #[must_use]
    pub fn sign(&self, data: &[u8]) -> [u8; SIGNATURE_LENGTH] {
        let mut mac = self.mac.clone();
        mac.update(data);
        mac.finalize().into_bytes().into()
    }

    /// Checks a signature in constant time.
    ///
    /// # Errors
    /// [`CryptoError`] if it is wrong.
    pub fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut mac = self.mac.clone();
        mac.update(data);
        mac.verify_slice(signature).map_err(|_| CryptoError)
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Errors
    /// [`CryptoError`] if the length is not a multiple of 16.
    pub fn encrypt(&self, buffer: &mut [u8]) -> Result<(), CryptoError> {
        match &self.cipher {
            Schedules::Aes128(keys) => encrypt(&keys.0, &self.iv, buffer),
            Schedules::Aes256(keys) => encrypt(&keys.0, &self.iv, buffer),
        }
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Errors
    /// [`CryptoError`] if the length is not a multiple of 16.
    pub fn decrypt(&self, buffer: &mut [u8]) -> Result<(), CryptoError> {
        match &self.cipher {
            Schedules::Aes128(keys) => decrypt(&keys.1, &self.iv, buffer),
            Schedules::Aes256(keys) => decrypt(&keys.1, &self.iv, buffer),
        }
    }
}

fn schedule<C: KeyInit>(key: &[u8]) -> Result<C, CryptoError> {
    C::new_from_slice(key).map_err(|_| CryptoError)
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
