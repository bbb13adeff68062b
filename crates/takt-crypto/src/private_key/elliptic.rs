//! Private keys on elliptic curves: ECDSA and Ed25519 signatures.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING,
    ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair,
};
use zeroize::Zeroizing;

use super::error::KeyError;
use crate::CryptoError;
use crate::policy::{AsymmetricSignature, EllipticCurve};

/// A private key on an elliptic curve.
pub(super) enum EllipticKey {
    Ecdsa(EcdsaKeyPair, EllipticCurve),
    Ed25519(Ed25519KeyPair),
}

/// Returns the algorithm with signatures as OPC UA has them; `None` for Ed25519.
const fn fixed(curve: EllipticCurve) -> Option<&'static EcdsaSigningAlgorithm> {
    match curve {
        EllipticCurve::NistP256 => Some(&ECDSA_P256_SHA256_FIXED_SIGNING),
        EllipticCurve::NistP384 => Some(&ECDSA_P384_SHA384_FIXED_SIGNING),
        EllipticCurve::Curve25519 => None,
    }
}

impl EllipticKey {
    pub(super) fn generate(curve: EllipticCurve) -> Result<Self, KeyError> {
        Ok(match fixed(curve) {
            Some(algorithm) => {
                let key = EcdsaKeyPair::generate(algorithm);
                Self::Ecdsa(key.map_err(|_| KeyError::Creation)?, curve)
            }
            None => Self::Ed25519(Ed25519KeyPair::generate().map_err(|_| KeyError::Creation)?),
        })
    }

    /// Reads a PKCS#8 key; the curve is the one that the key is on.
    pub(super) fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        Self::ecdsa(der, EcdsaKeyPair::from_pkcs8).or_else(|_| {
            // Keys of PKCS#8 version 1, as OpenSSL writes them, have no public part that could be checked.
            let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
            Ok(Self::Ed25519(key.map_err(|_| KeyError::Content)?))
        })
    }

    /// Reads an ECPrivateKey (DER, RFC 5915).
    pub(super) fn from_sec1(der: &[u8]) -> Result<Self, KeyError> {
        Self::ecdsa(der, EcdsaKeyPair::from_private_key_der)
    }

    fn ecdsa<E>(
        der: &[u8],
        read: impl Fn(&'static EcdsaSigningAlgorithm, &[u8]) -> Result<EcdsaKeyPair, E>,
    ) -> Result<Self, KeyError> {
        let mut curves = EllipticCurve::ALL.into_iter();
        let key = curves.find_map(|curve| Some(Self::Ecdsa(read(fixed(curve)?, der).ok()?, curve)));
        key.ok_or(KeyError::Content)
    }

    pub(super) const fn curve(&self) -> EllipticCurve {
        match self {
            Self::Ecdsa(_, curve) => *curve,
            Self::Ed25519(_) => EllipticCurve::Curve25519,
        }
    }

    pub(super) fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let failed = |_| KeyError::Content;
        Ok(Zeroizing::new(match self {
            Self::Ecdsa(key, _) => key.to_pkcs8v1().map_err(failed)?.as_ref().to_vec(),
            Self::Ed25519(key) => {
                let der: Pkcs8V1Der<'_> = key.as_der().map_err(failed)?;
                der.as_ref().to_vec()
            }
        }))
    }

    pub(super) fn public_spki(&self) -> Result<Vec<u8>, KeyError> {
        let der: Result<PublicKeyX509Der<'_>, _> = match self {
            Self::Ecdsa(key, _) => key.public_key().as_der(),
            Self::Ed25519(key) => key.public_key().as_der(),
        };
        Ok(der.map_err(|_| KeyError::Content)?.as_ref().to_vec())
    }

    pub(super) const fn signature_length(&self) -> usize {
        match self.curve() {
            EllipticCurve::NistP256 | EllipticCurve::Curve25519 => 64,
            EllipticCurve::NistP384 => 96,
        }
    }

    pub(super) fn sign(
        &self,
        algorithm: AsymmetricSignature,
        data: &[u8],
        signature: &mut [u8],
    ) -> Result<(), CryptoError> {
        if algorithm != self.curve().signature() {
            return Err(CryptoError);
        }
        let signed = match self {
            Self::Ecdsa(key, _) => key.sign(&SystemRandom::new(), data),
            Self::Ed25519(key) => key.try_sign(data),
        };
        let signed = signed.map_err(|_| CryptoError)?;
        if signed.as_ref().len() != signature.len() {
            return Err(CryptoError);
        }
        signature.copy_from_slice(signed.as_ref());
        Ok(())
    }

    /// Returns a signature as certificates have it: for ECDSA in DER (RFC 3279, 2.2.3).
    pub(super) fn sign_certificate(&self, data: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let (key, algorithm) = match self {
            Self::Ecdsa(key, EllipticCurve::NistP384) => (key, &ECDSA_P384_SHA384_ASN1_SIGNING),
            Self::Ecdsa(key, _) => (key, &ECDSA_P256_SHA256_ASN1_SIGNING),
            Self::Ed25519(key) => {
                let signed = key.try_sign(data).map_err(|_| CryptoError)?;
                return Ok(signed.as_ref().to_vec());
            }
        };
        // A key of the library makes one form of signatures; this one makes those of OPC UA.
        let der = key.to_pkcs8v1().map_err(|_| CryptoError)?;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, der.as_ref()).map_err(|_| CryptoError)?;
        let signed = key.sign(&SystemRandom::new(), data);
        Ok(signed.map_err(|_| CryptoError)?.as_ref().to_vec())
    }
}
