//! Public keys of certificates (RFC 5280, 4.1.2.7).

use super::algorithm::Algorithm;
use super::element::{Element, Elements, tag};
use super::oid;
use crate::certificate_error::CertificateError;
use crate::policy::{EllipticCurve, KeyKind};

/// A SubjectPublicKeyInfo.
pub(crate) struct KeyInfo<'a> {
    /// The whole encoding.
    pub(crate) encoded: &'a [u8],
    algorithm: Algorithm<'a>,
    key: &'a [u8],
}

impl<'a> KeyInfo<'a> {
    /// Reads the next element.
    pub(crate) fn read(elements: &mut Elements<'a>) -> Result<Self, CertificateError> {
        let whole = elements.expect(tag::SEQUENCE)?;
        let mut parts = whole.parts();
        Ok(Self {
            encoded: whole.encoded,
            algorithm: Algorithm::read(&mut parts)?,
            key: parts.expect(tag::BIT_STRING)?.bits()?,
        })
    }

    /// Returns the kind of the key; `None` for kinds that no SecurityPolicy here uses.
    pub(crate) fn kind(&self) -> Option<KeyKind> {
        let is = |oid| oid::is(self.algorithm.kind, oid);
        if is(&oid::RSA_ENCRYPTION) {
            return Some(KeyKind::Rsa);
        }
        if is(&oid::ED25519) {
            return Some(KeyKind::Ec(EllipticCurve::Curve25519));
        }
        if !is(&oid::EC_PUBLIC_KEY) {
            return None;
        }
        let curve = self.algorithm.parameters.as_ref();
        let curve = curve.filter(|curve| curve.tag == tag::OBJECT_IDENTIFIER)?;
        if oid::is(curve.content, &oid::PRIME256V1) {
            Some(KeyKind::Ec(EllipticCurve::NistP256))
        } else if oid::is(curve.content, &oid::SECP384R1) {
            Some(KeyKind::Ec(EllipticCurve::NistP384))
        } else {
            None
        }
    }

    /// Returns the length of the key in bits, of RSA keys in whole bytes; 0 for unknown kinds.
    pub(crate) fn bits(&self) -> usize {
        match self.kind() {
            Some(KeyKind::Rsa) => self.modulus().map_or(0, |modulus| match modulus.content {
                // The modulus is positive: keys in use have a leading 0, because their highest bit is set.
                [0..0x80, rest @ ..] => 8 * rest.len(),
                _ => 0,
            }),
            Some(KeyKind::Ec(curve)) => curve.bits().next_multiple_of(8),
            None => 0,
        }
    }

    /// Returns the modulus of an RSAPublicKey (RFC 8017, A.1.1).
    fn modulus(&self) -> Result<Element<'a>, CertificateError> {
        let mut parts = Elements::of(self.key).expect(tag::SEQUENCE)?.parts();
        let modulus = parts.expect(tag::INTEGER)?;
        parts.expect(tag::INTEGER)?;
        Ok(modulus)
    }
}
