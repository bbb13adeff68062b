//! Public RSA keys: verification of signatures, and encryption.

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm, OaepPublicEncryptingKey,
    PublicEncryptingKey,
};
use aws_lc_rs::signature::{
    self, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
};

use crate::CryptoError;
use crate::policy::{AsymmetricEncryption, AsymmetricSignature};

/// Returns the library's algorithm.
pub(crate) fn oaep(algorithm: AsymmetricEncryption) -> &'static OaepAlgorithm {
    match algorithm {
        AsymmetricEncryption::RsaOaepSha1 => &OAEP_SHA1_MGF1SHA1,
        AsymmetricEncryption::RsaOaepSha256 => &OAEP_SHA256_MGF1SHA256,
    }
}

/// A public RSA key of 2048 to 8192 bits.
pub(super) struct RsaPublicKey {
    pkcs1: ParsedPublicKey,
    pss: ParsedPublicKey,
    encrypting: OaepPublicEncryptingKey,
}

impl RsaPublicKey {
    pub(super) fn from_spki(spki: &[u8]) -> Result<Self, CryptoError> {
        let parsed = |algorithm: &'static signature::RsaParameters| {
            ParsedPublicKey::new(algorithm, spki).map_err(|_| CryptoError)
        };
        let encrypting = PublicEncryptingKey::from_der(spki).map_err(|_| CryptoError)?;
        if !(2048..=8192).contains(&encrypting.key_size_bits()) {
            return Err(CryptoError);
        }
        Ok(Self {
            // A parsed key of the library verifies signatures of one algorithm only.
            pkcs1: parsed(&RSA_PKCS1_2048_8192_SHA256)?,
            pss: parsed(&RSA_PSS_2048_8192_SHA256)?,
            encrypting: OaepPublicEncryptingKey::new(encrypting).map_err(|_| CryptoError)?,
        })
    }

    pub(super) fn size(&self) -> usize {
        self.encrypting.key_size_bytes()
    }

    pub(super) fn verify(
        &self,
        algorithm: AsymmetricSignature,
        data: &[u8],
        signature: &[u8],
    ) -> Result<(), CryptoError> {
        let key = match algorithm {
            AsymmetricSignature::RsaPkcs1Sha256 => &self.pkcs1,
            AsymmetricSignature::RsaPssSha256 => &self.pss,
            _ => return Err(CryptoError),
        };
        key.verify_sig(data, signature).map_err(|_| CryptoError)
    }

    pub(super) fn encrypt_block(
        &self,
        algorithm: AsymmetricEncryption,
        plain: &[u8],
        cipher: &mut [u8],
    ) -> Result<(), CryptoError> {
        if cipher.len() != self.size() {
            return Err(CryptoError);
        }
        let encrypted = self
            .encrypting
            .encrypt(oaep(algorithm), plain, cipher, None);
        match encrypted {
            Ok(written) if written.len() == self.size() => Ok(()),
            _ => Err(CryptoError),
        }
    }

    pub(super) fn encrypt(
        &self,
        algorithm: AsymmetricEncryption,
        plain: &[u8],
    ) -> Result<Vec<u8>, CryptoError> {
        let size = self.size();
        // Never 0, because keys have 2048 bits at least.
        let block = size.saturating_sub(algorithm.overhead());
        let mut cipher = vec![0; plain.len().div_ceil(block) * size];
        for (plain, cipher) in plain.chunks(block).zip(cipher.chunks_mut(size)) {
            self.encrypt_block(algorithm, plain, cipher)?;
        }
        Ok(cipher)
    }
}
