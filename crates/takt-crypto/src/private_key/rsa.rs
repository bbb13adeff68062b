//! Private RSA keys: signatures and decryption.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256};
use zeroize::Zeroizing;

use super::error::KeyError;
use crate::CryptoError;
use crate::policy::{AsymmetricEncryption, AsymmetricSignature};
use crate::public_key::oaep;

/// A private RSA key of 2048 to 8192 bits.
pub(super) struct RsaKey {
    signing: KeyPair,
    decrypting: OaepPrivateDecryptingKey,
    random: SystemRandom,
}

impl RsaKey {
    pub(super) fn generate(bits: usize) -> Result<Self, KeyError> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            _ => return Err(KeyError::Creation),
        };
        let key = KeyPair::generate(size).map_err(|_| KeyError::Creation)?;
        // The library has one type for signing and one for decrypting; both are read from this encoding.
        let der: Pkcs8V1Der<'_> = key.as_der().map_err(|_| KeyError::Creation)?;
        Self::from_pkcs8(der.as_ref())
    }

    pub(super) fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let signing = KeyPair::from_pkcs8(der).map_err(|_| KeyError::Content)?;
        if !(256..=1024).contains(&signing.public_modulus_len()) {
            return Err(KeyError::Content);
        }
        let decrypting = PrivateDecryptingKey::from_pkcs8(der).map_err(|_| KeyError::Content)?;
        Ok(Self {
            signing,
            decrypting: OaepPrivateDecryptingKey::new(decrypting).map_err(|_| KeyError::Content)?,
            random: SystemRandom::new(),
        })
    }

    /// Reads the older form (RFC 8017, A.1.2).
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<Self, KeyError> {
        let key = KeyPair::from_der(der).map_err(|_| KeyError::Content)?;
        let der: Pkcs8V1Der<'_> = key.as_der().map_err(|_| KeyError::Content)?;
        Self::from_pkcs8(der.as_ref())
    }

    pub(super) fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let der: Pkcs8V1Der<'_> = self.signing.as_der().map_err(|_| KeyError::Content)?;
        Ok(Zeroizing::new(der.as_ref().to_vec()))
    }

    pub(super) fn public_spki(&self) -> Result<Vec<u8>, KeyError> {
        let der: PublicKeyX509Der<'_> = self
            .signing
            .public_key()
            .as_der()
            .map_err(|_| KeyError::Content)?;
        Ok(der.as_ref().to_vec())
    }

    pub(super) fn size(&self) -> usize {
        self.signing.public_modulus_len()
    }

    pub(super) fn sign(
        &self,
        algorithm: AsymmetricSignature,
        data: &[u8],
        signature: &mut [u8],
    ) -> Result<(), CryptoError> {
        let signed = match algorithm {
            AsymmetricSignature::RsaPkcs1Sha256 => {
                self.signing
                    .sign(&RSA_PKCS1_SHA256, &self.random, data, signature)
            }
            AsymmetricSignature::RsaPssSha256 => {
                self.signing
                    .sign(&RSA_PSS_SHA256, &self.random, data, signature)
            }
            _ => return Err(CryptoError),
        };
        signed.map_err(|_| CryptoError)
    }

    pub(super) fn decrypt(
        &self,
        algorithm: AsymmetricEncryption,
        buffer: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let size = self.size();
        if buffer.is_empty() || !buffer.len().is_multiple_of(size) {
            return Err(CryptoError);
        }
        let mut plain = Zeroizing::new(vec![0; self.decrypting.min_output_size()]);
        let mut written = 0;
        for start in (0..buffer.len()).step_by(size) {
            let cipher = &buffer[start..start + size];
            let block = self
                .decrypting
                .decrypt(oaep(algorithm), cipher, &mut plain, None)
                .map_err(|_| CryptoError)?;
            // Plain text blocks are shorter than cipher text blocks, so nothing that is needed later is overwritten.
            buffer[written..written + block.len()].copy_from_slice(block);
            written += block.len();
        }
        Ok(written)
    }
}
