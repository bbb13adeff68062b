//! Public keys of certificates: verification of signatures, and encryption.

mod rsa;

use std::fmt;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey,
    VerificationAlgorithm,
};

use self::rsa::RsaPublicKey;
pub(crate) use self::rsa::oaep;
use crate::CryptoError;
use crate::policy::{AsymmetricEncryption, AsymmetricSignature, EllipticCurve, KeyKind};
use crate::x509::element::Elements;
use crate::x509::key::KeyInfo;

/// A public key: RSA of 2048 to 8192 bits, or a point on an elliptic curve.
pub struct PublicKey(Kind);

enum Kind {
    Rsa(Box<RsaPublicKey>),
    Elliptic(EllipticCurve, Box<ParsedPublicKey>),
}

impl PublicKey {
    /// Reads a SubjectPublicKeyInfo (DER, RFC 5280, 4.1.2.7).
    ///
    /// # Errors
    /// [`CryptoError`] if the key is of another kind, too short or too long, or not on its curve.
    pub fn from_spki(spki: &[u8]) -> Result<Self, CryptoError> {
        let mut elements = Elements::of(spki);
        let parsed = KeyInfo::read(&mut elements).map_err(|_| CryptoError)?;
        elements.end().map_err(|_| CryptoError)?;
        let (curve, algorithm): (_, &'static dyn VerificationAlgorithm) = match parsed.kind() {
            None => return Err(CryptoError),
            Some(KeyKind::Rsa) => {
                let key = RsaPublicKey::from_spki(spki)?;
                return Ok(Self(Kind::Rsa(Box::new(key))));
            }
            Some(KeyKind::Ec(curve)) => (
                curve,
                match curve {
                    EllipticCurve::NistP256 => &ECDSA_P256_SHA256_FIXED,
                    EllipticCurve::NistP384 => &ECDSA_P384_SHA384_FIXED,
                    EllipticCurve::Curve25519 => &ED25519,
                },
            ),
        };
        let key = ParsedPublicKey::new(algorithm, spki).map_err(|_| CryptoError)?;
        Ok(Self(Kind::Elliptic(curve, Box::new(key))))
    }

    /// Returns the kind of the key.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        match &self.0 {
            Kind::Rsa(_) => KeyKind::Rsa,
            Kind::Elliptic(curve, _) => KeyKind::Ec(*curve),
        }
    }

    /// Returns the length of a signature in bytes. With RSA it is that of the key and of a cipher text block, too.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.0 {
            Kind::Rsa(key) => key.size(),
            Kind::Elliptic(EllipticCurve::NistP256 | EllipticCurve::Curve25519, _) => 64,
            Kind::Elliptic(EllipticCurve::NistP384, _) => 96,
        }
    }

    /// Checks a signature of the concatenated `data`.
    ///
    /// # Errors
    /// [`CryptoError`] if it is wrong, or the algorithm is for keys of another kind.
    pub fn verify(
        &self,
        algorithm: AsymmetricSignature,
        data: &[u8],
        signature: &[u8],
    ) -> Result<(), CryptoError> {
        match &self.0 {
            Kind::Rsa(key) => key.verify(algorithm, data, signature),
            Kind::Elliptic(curve, key) if algorithm == curve.signature() => {
                key.verify_sig(data, signature).map_err(|_| CryptoError)
            }
            Kind::Elliptic(..) => Err(CryptoError),
        }
    }

    /// Encrypts any number of bytes, in as many blocks as needed.
    ///
    /// # Errors
    /// [`CryptoError`] if the library fails, or the key is not an RSA key.
    pub fn encrypt(
        &self,
        algorithm: AsymmetricEncryption,
        plain: &[u8],
    ) -> Result<Vec<u8>, CryptoError> {
        match &self.0 {
            Kind::Rsa(key) => key.encrypt(algorithm, plain),
            Kind::Elliptic(..) => Err(CryptoError),
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "PublicKey({}, {} bytes)",
            self.kind(),
            self.size()
        )
    }
}
