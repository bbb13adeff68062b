//! Fields of a certificate (RFC 5280, 4.1).

use super::algorithm::Algorithm;
use super::element::{Element, Elements, tag};
use super::extension::{self, Extension};
use super::key::KeyInfo;
use super::oid;
use super::signed::Signed;
use super::time;
use crate::certificate_error::CertificateError;

/// A certificate, as its encoding has it.
pub(crate) struct CertificateFields<'a> {
    /// The signed structure.
    pub(crate) signed: Signed<'a>,
    /// Serial number, the highest byte first. Real ones are negative, or longer than RFC 5280 allows.
    pub(crate) serial: &'a [u8],
    /// Name of the issuer.
    pub(crate) issuer: Element<'a>,
    /// Start of the validity, in seconds since 1970.
    pub(crate) not_before: i64,
    /// End of the validity, in seconds since 1970.
    pub(crate) not_after: i64,
    /// Name of the subject.
    pub(crate) subject: Element<'a>,
    /// SubjectPublicKeyInfo.
    pub(crate) key: KeyInfo<'a>,
    /// Extensions, each of them once.
    pub(crate) extensions: Vec<Extension<'a>>,
}

impl<'a> CertificateFields<'a> {
    /// Reads the next element.
    pub(crate) fn read(elements: &mut Elements<'a>) -> Result<Self, CertificateError> {
        let signed = Signed::read(elements)?;
        let mut parts = signed.content.parts();
        if let Some(version) = parts.optional(tag::constructed(0))? {
            version.parts().expect(tag::INTEGER)?.unsigned()?;
        }
        let serial = parts.expect(tag::INTEGER)?.content;
        // RFC 5280, 4.1.1.2: both fields name the same algorithm.
        if Algorithm::read(&mut parts)?.encoded != signed.algorithm.encoded {
            return Err(CertificateError::Structure);
        }
        let issuer = parts.expect(tag::SEQUENCE)?;
        let mut validity = parts.expect(tag::SEQUENCE)?.parts();
        let not_before = time::read(&validity.element()?)?;
        let not_after = time::read(&validity.element()?)?;
        let subject = parts.expect(tag::SEQUENCE)?;
        let key = KeyInfo::read(&mut parts)?;
        for unique_identifier in [1, 2] {
            if let Some(bits) = parts.optional(tag::context(unique_identifier))? {
                bits.bits()?;
            }
        }
        let extensions = match parts.rest() {
            [] => Vec::new(),
            _ => {
                let mut list = parts.expect(tag::constructed(3))?.parts();
                let extensions = extension::read_all(&mut list)?;
                list.end()?;
                extensions
            }
        };
        parts.end()?;
        if !extension::are_unique(&extensions) {
            return Err(CertificateError::Structure);
        }
        Ok(Self {
            signed,
            serial,
            issuer,
            not_before,
            not_after,
            subject,
            key,
            extensions,
        })
    }

    /// Returns the SubjectKeyIdentifier.
    pub(crate) fn key_identifier(&self) -> Option<&'a [u8]> {
        let mut extensions = self.extensions.iter();
        let found = extensions.find(|one| one.is(&oid::SUBJECT_KEY_IDENTIFIER))?;
        found.key_identifier().ok()
    }
}
