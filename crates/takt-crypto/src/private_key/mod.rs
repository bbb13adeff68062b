//! Private keys of certificates: signatures and decryption, PKCS#8 and PEM.

mod elliptic;
mod error;
mod rsa;

use std::fmt;

use zeroize::{Zeroize, Zeroizing};

use self::elliptic::EllipticKey;
pub use self::error::KeyError;
use self::rsa::RsaKey;
use crate::CryptoError;
use crate::policy::{AsymmetricEncryption, AsymmetricSignature, EllipticCurve, KeyKind};

/// Label of a private key in PEM (RFC 7468, section 10).
const PEM_LABEL: &str = "PRIVATE KEY";

/// Label of the older form of RSA keys (RFC 8017, A.1.2).
const PEM_LABEL_RSA: &str = "RSA PRIVATE KEY";

/// Label of the older form of keys on NIST curves (RFC 5915).
const PEM_LABEL_EC: &str = "EC PRIVATE KEY";

/// Label of the curve that some tools write in front of such a key.
const PEM_LABEL_CURVE: &str = "EC PARAMETERS";

/// A private key. The library sets its memory to zero when it is dropped.
pub struct PrivateKey(Kind);

enum Kind {
    Rsa(Box<RsaKey>),
    Elliptic(EllipticKey),
}

impl PrivateKey {
    /// Creates an RSA key of `bits` bits: 2048, 3072 or 4096.
    ///
    /// # Errors
    /// [`KeyError::Creation`].
    pub fn generate(bits: usize) -> Result<Self, KeyError> {
        Ok(Self(Kind::Rsa(Box::new(RsaKey::generate(bits)?))))
    }

    /// Creates another key of the same kind and length.
    ///
    /// # Errors
    /// [`KeyError::Creation`].
    pub fn generate_like(&self) -> Result<Self, KeyError> {
        match self.kind() {
            KeyKind::Rsa => Self::generate(self.size() * 8),
            KeyKind::Ec(curve) => Self::generate_on(curve),
        }
    }

    /// Creates a key on an elliptic curve.
    ///
    /// # Errors
    /// [`KeyError::Creation`].
    pub fn generate_on(curve: EllipticCurve) -> Result<Self, KeyError> {
        Ok(Self(Kind::Elliptic(EllipticKey::generate(curve)?)))
    }

    /// Reads a PKCS#8 key (DER, RFC 5958).
    ///
    /// # Errors
    /// [`KeyError::Content`].
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        if let Ok(key) = RsaKey::from_pkcs8(der) {
            return Ok(Self(Kind::Rsa(Box::new(key))));
        }
        Ok(Self(Kind::Elliptic(EllipticKey::from_pkcs8(der)?)))
    }

    /// Reads a key from PEM: PKCS#8, or the older forms of RSA keys and of keys on NIST curves.
    ///
    /// # Errors
    /// [`KeyError::Pem`] and [`KeyError::Content`].
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let documents = pem::parse_many(text).map_err(|_| KeyError::Pem)?;
        let mut keys = documents
            .into_iter()
            .filter(|one| one.tag() != PEM_LABEL_CURVE);
        let document = keys.next().ok_or(KeyError::Pem)?;
        let label = document.tag().to_owned();
        let contents = Zeroizing::new(document.into_contents());
        match &*label {
            PEM_LABEL => Self::from_pkcs8(&contents),
            PEM_LABEL_RSA => Ok(Self(Kind::Rsa(Box::new(RsaKey::from_pkcs1(&contents)?)))),
            PEM_LABEL_EC => Ok(Self(Kind::Elliptic(EllipticKey::from_sec1(&contents)?))),
            _ => Err(KeyError::Pem),
        }
    }

    /// Returns the key in PEM (PKCS#8).
    ///
    /// # Errors
    /// [`KeyError::Content`] if the library cannot encode it.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        let der = match &self.0 {
            Kind::Rsa(key) => key.to_pkcs8()?,
            Kind::Elliptic(key) => key.to_pkcs8()?,
        };
        let document = pem::Pem::new(PEM_LABEL, &**der);
        let text = Zeroizing::new(pem::encode(&document));
        // The document has a copy of the key.
        document.into_contents().zeroize();
        Ok(text)
    }

    /// Returns the kind of the key.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        match &self.0 {
            Kind::Rsa(_) => KeyKind::Rsa,
            Kind::Elliptic(key) => KeyKind::Ec(key.curve()),
        }
    }

    /// Returns the public key as a SubjectPublicKeyInfo (DER).
    ///
    /// # Errors
    /// [`KeyError::Content`] if the library cannot encode it.
    pub fn public_spki(&self) -> Result<Vec<u8>, KeyError> {
        match &self.0 {
            Kind::Rsa(key) => key.public_spki(),
            Kind::Elliptic(key) => key.public_spki(),
        }
    }

    /// Returns the length of a signature in bytes. With RSA it is that of the key and of a cipher text block, too.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.0 {
            Kind::Rsa(key) => key.size(),
            Kind::Elliptic(key) => key.signature_length(),
        }
    }

    /// Fills `signature`, which has [`size`](Self::size) bytes, with the signature of `data`.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong, the algorithm is for keys of another kind, or the library fails.
    pub fn sign(
        &self,
        algorithm: AsymmetricSignature,
        data: &[u8],
        signature: &mut [u8],
    ) -> Result<(), CryptoError> {
        if signature.len() != self.size() {
            return Err(CryptoError);
        }
        match &self.0 {
            Kind::Rsa(key) => key.sign(algorithm, data, signature),
            Kind::Elliptic(key) => key.sign(algorithm, data, signature),
        }
    }

    /// Returns the signature of a certificate, in the form that X.509 demands.
    pub(crate) fn sign_certificate(&self, data: &[u8]) -> Result<Vec<u8>, CryptoError> {
        match &self.0 {
            Kind::Rsa(key) => {
                let mut signature = vec![0; key.size()];
                key.sign(AsymmetricSignature::RsaPkcs1Sha256, data, &mut signature)?;
                Ok(signature)
            }
            Kind::Elliptic(key) => key.sign_certificate(data),
        }
    }

    /// Decrypts whole cipher text blocks in place; returns the number of bytes of plain text at the front of `buffer`.
    /// All errors look alike.
    ///
    /// # Errors
    /// [`CryptoError`] if a length is wrong, a block was not encrypted for this key, or the key is not an RSA key.
    pub fn decrypt(
        &self,
        algorithm: AsymmetricEncryption,
        buffer: &mut [u8],
    ) -> Result<usize, CryptoError> {
        match &self.0 {
            Kind::Rsa(key) => key.decrypt(algorithm, buffer),
            Kind::Elliptic(_) => Err(CryptoError),
        }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PrivateKey(secret, {})", self.kind())
    }
}
