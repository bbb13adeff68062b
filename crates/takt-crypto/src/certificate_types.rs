//! Types of certificates of applications (OPC 10000-12, 7.8.4), and the kinds of their keys.

use takt_ua::{NodeId, ids};

use crate::policy::{EllipticCurve, KeyKind};

impl KeyKind {
    /// Returns the NodeId of the type of certificates with keys of this kind.
    #[must_use]
    pub fn certificate_type(self) -> NodeId {
        NodeId::from(match self {
            Self::Rsa => ids::RSA_SHA256_APPLICATION_CERTIFICATE_TYPE,
            Self::Ec(EllipticCurve::NistP256) => ids::ECC_NIST_P256_APPLICATION_CERTIFICATE_TYPE,
            Self::Ec(EllipticCurve::NistP384) => ids::ECC_NIST_P384_APPLICATION_CERTIFICATE_TYPE,
            Self::Ec(EllipticCurve::Curve25519) => ids::ECC_CURVE25519_APPLICATION_CERTIFICATE_TYPE,
        })
    }

    /// Returns the kind of the keys of a type of certificates; `None` for another type.
    #[must_use]
    pub fn of_certificate_type(certificate_type: &NodeId) -> Option<Self> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.certificate_type() == *certificate_type)
    }
}
