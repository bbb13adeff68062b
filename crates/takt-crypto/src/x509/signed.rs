//! Signed structures: certificates, revocation lists and signing requests.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    UnparsedPublicKey, VerificationAlgorithm,
};
use der::asn1::ObjectIdentifier;

use super::algorithm::Algorithm;
use super::element::{Element, Elements, tag};
use super::key::KeyInfo;
use super::oid;
use crate::certificate_error::CertificateError;
use crate::policy::{EllipticCurve, KeyKind};

/// Content, AlgorithmIdentifier and signature (RFC 5280, 4.1.1 and 5.1.1; RFC 2986, 4.2).
///
/// The signature does not cover the AlgorithmIdentifier, itself, and the lengths of the whole. They have only one encoding here, so that
/// nobody makes another certificate, with a thumbprint of its own, of the one that an issuer has signed.
pub(crate) struct Signed<'a> {
    /// The whole encoding.
    pub(crate) encoded: &'a [u8],
    /// The content that is signed.
    pub(crate) content: Element<'a>,
    /// AlgorithmIdentifier of the signature.
    pub(crate) algorithm: Algorithm<'a>,
    signature: &'a [u8],
}

impl<'a> Signed<'a> {
    /// Reads the next element.
    pub(crate) fn read(elements: &mut Elements<'a>) -> Result<Self, CertificateError> {
        let whole = elements.expect(tag::SEQUENCE)?;
        let mut parts = whole.parts();
        let content = parts.expect(tag::SEQUENCE)?;
        let algorithm = Algorithm::read(&mut parts)?;
        let signature = parts.expect(tag::BIT_STRING)?;
        parts.end()?;
        // All bits of the last byte are used.
        let Some((0, signature)) = signature.content.split_first() else {
            return Err(CertificateError::Structure);
        };
        Ok(Self {
            encoded: whole.encoded,
            content,
            algorithm,
            signature,
        })
    }

    /// Checks the signature with a SubjectPublicKeyInfo (DER).
    pub(crate) fn verify(&self, public_key: &[u8]) -> Result<(), CertificateError> {
        let key = KeyInfo::read(&mut Elements::of(public_key))?;
        let algorithm = verification(self.algorithm.kind, key.kind());
        UnparsedPublicKey::new(algorithm.ok_or(CertificateError::PolicyCheck)?, public_key)
            .verify(self.content.encoded, self.signature)
            .map_err(|_| CertificateError::Signature)
    }

    /// Returns true if the hash algorithm of the signature is SHA-2, or part of Ed25519.
    pub(crate) fn has_safe_hash(&self) -> bool {
        let mut kinds = KeyKind::ALL.into_iter();
        kinds.any(|kind| verification(self.algorithm.kind, Some(kind)).is_some())
    }
}

/// Returns the verification of a signature algorithm with a key of this kind.
fn verification(kind: &[u8], key: Option<KeyKind>) -> Option<&'static dyn VerificationAlgorithm> {
    const P256: KeyKind = KeyKind::Ec(EllipticCurve::NistP256);
    const P384: KeyKind = KeyKind::Ec(EllipticCurve::NistP384);
    const CURVE25519: KeyKind = KeyKind::Ec(EllipticCurve::Curve25519);
    let known: [(
        ObjectIdentifier,
        KeyKind,
        &'static dyn VerificationAlgorithm,
    ); 8] = [
        (
            oid::SHA256_WITH_RSA,
            KeyKind::Rsa,
            &RSA_PKCS1_2048_8192_SHA256,
        ),
        (
            oid::SHA384_WITH_RSA,
            KeyKind::Rsa,
            &RSA_PKCS1_2048_8192_SHA384,
        ),
        (
            oid::SHA512_WITH_RSA,
            KeyKind::Rsa,
            &RSA_PKCS1_2048_8192_SHA512,
        ),
        (oid::ECDSA_WITH_SHA256, P256, &ECDSA_P256_SHA256_ASN1),
        (oid::ECDSA_WITH_SHA384, P256, &ECDSA_P256_SHA384_ASN1),
        (oid::ECDSA_WITH_SHA256, P384, &ECDSA_P384_SHA256_ASN1),
        (oid::ECDSA_WITH_SHA384, P384, &ECDSA_P384_SHA384_ASN1),
        (oid::ED25519, CURVE25519, &ED25519),
    ];
    let mut known = known.into_iter();
    let found = known.find(|(oid, of, _)| oid::is(kind, oid) && Some(*of) == key);
    found.map(|(_, _, verification)| verification)
}
