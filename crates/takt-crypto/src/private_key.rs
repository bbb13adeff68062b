//! Private RSA keys: signatures and decryption, PKCS#8 and PEM.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256};
use zeroize::{Zeroize, Zeroizing};

use crate::CryptoError;
use crate::policy::{AsymmetricEncryption, AsymmetricSignature};
use crate::public_key::oaep;

/// Label of a private key in PEM (RFC 7468, section 10).
const PEM_LABEL: &str = "PRIVATE KEY";

/// Label of the older form of RSA keys (RFC 8017, A.1.2).
const PEM_LABEL_RSA: &str = "RSA PRIVATE KEY";

/// Error of a private key that cannot be made or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The library could not create a key.
    #[error("no private key could be created")]
    Creation,
    /// The text is not PEM, or of another kind.
    #[error("not a private key in PEM: it must begin with -----BEGIN PRIVATE KEY-----")]
    Pem,
    /// The key is not an RSA key of 2048 to 8192 bits, or it is damaged.
    #[error("not a private RSA key of 2048 to 8192 bits")]
    Content,
}

/// A private RSA key. The library sets its memory to zero when it is dropped.
pub struct PrivateKey {
    signing: KeyPair,
    decrypting: OaepPrivateDecryptingKey,
    random: SystemRandom,
}

impl PrivateKey {
    /// Creates a key of `bits` bits: 2048, 3072 or 4096.
    ///
    /// # Errors
    /// [`KeyError::Creation`].
    pub fn generate(bits: usize) -> Result<Self, KeyError> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            _ => return Err(KeyError::Creation),
        };
        let key = KeyPair::generate(size).map_err(|_| KeyError::Creation)?;
        let der: Pkcs8V1Der<'_> = key.as_der().map_err(|_| KeyError::Creation)?;
        Self::from_pkcs8(der.as_ref())
    }

    /// Reads a PKCS#8 key (DER, RFC 5958).
    ///
    /// # Errors
    /// [`KeyError::Content`].
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
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

    /// Reads a key from PEM: PKCS#8, or the older form of RSA keys.
    ///
    /// # Errors
    /// [`KeyError::Pem`] and [`KeyError::Content`].
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let document = pem::parse(text).map_err(|_| KeyError::Pem)?;
        let label = document.tag().to_owned();
        let contents = Zeroizing::new(document.into_contents());
        match &*label {
            PEM_LABEL => Self::from_pkcs8(&contents),
            PEM_LABEL_RSA => {
                let key = KeyPair::from_der(&contents).map_err(|_| KeyError::Content)?;
                let der: Pkcs8V1Der<'_> = key.as_der().map_err(|_| KeyError::Content)?;
                Self::from_pkcs8(der.as_ref())
            }
            _ => Err(KeyError::Pem),
        }
    }

    /// Returns the key in PEM (PKCS#8).
    ///
    /// # Errors
    /// [`KeyError::Content`] if the library cannot encode it.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        let der: Pkcs8V1Der<'_> = self.signing.as_der().map_err(|_| KeyError::Content)?;
        let document = pem::Pem::new(PEM_LABEL, der.as_ref());
        let text = Zeroizing::new(pem::encode(&document));
        document.into_contents().zeroize();
        Ok(text)
    }

    /// Returns the public key as a SubjectPublicKeyInfo (DER).
    ///
    /// # Errors
    /// [`KeyError::Content`] if the library cannot encode it.
    pub fn public_spki(&self) -> Result<Vec<u8>, KeyError> {
        let der: PublicKeyX509Der<'_> = self
            .signing
            .public_key()
            .as_der()
            .map_err(|_| KeyError::Content)?;
        Ok(der.as_ref().to_vec())
    }

    /// Returns the public key as an RSAPublicKey (DER, RFC 8017, A.1.1).
    pub(crate) fn public_pkcs1(&self) -> &[u8] {
        self.signing.public_key().as_ref()
    }

    /// Returns the length of the key, of a signature and of a cipher text block, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.signing.public_modulus_len()
    }

    /// Fills `signature`, which has [`size`](Self::size) bytes, with the signature of `data`.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong or the library fails.
    pub fn sign(
        &self,
        algorithm: AsymmetricSignature,
        data: &[u8],
        signature: &mut [u8],
    ) -> Result<(), CryptoError> {
        if signature.len() != self.size() {
            return Err(CryptoError);
        }
        let signed = match algorithm {
            AsymmetricSignature::RsaPkcs1Sha256 => {
                self.signing
                    .sign(&RSA_PKCS1_SHA256, &self.random, data, signature)
            }
            AsymmetricSignature::RsaPssSha256 => {
                self.signing
                    .sign(&RSA_PSS_SHA256, &self.random, data, signature)
            }
        };
        signed.map_err(|_| CryptoError)
    }

    /// Decrypts whole cipher text blocks in place; returns the number of bytes of plain text at the front of `buffer`.
    /// All errors look alike.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong or a block was not encrypted for this key.
    pub fn decrypt(
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

impl fmt::Debug for PrivateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PrivateKey(secret, {} bytes)", self.size())
    }
}
