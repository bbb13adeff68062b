//! Extensions of certificates (RFC 5280, 4.2).

use der::asn1::ObjectIdentifier;

use super::element::{Element, Elements, tag};
use super::oid;
use crate::certificate_error::CertificateError;

/// Greatest depth of elements within the value of an extension.
const MAX_DEPTH: usize = 16;

/// An extension.
#[derive(Clone, Copy)]
pub(crate) struct Extension<'a> {
    /// OBJECT IDENTIFIER.
    kind: &'a [u8],
    /// True if a certificate must not be used by a program that does not know the extension.
    pub(crate) is_critical: bool,
    value: &'a [u8],
}

/// Reads the list of extensions.
pub(crate) fn read_all<'a>(
    elements: &mut Elements<'a>,
) -> Result<Vec<Extension<'a>>, CertificateError> {
    let list = elements.expect(tag::SEQUENCE)?.parts().all()?;
    list.iter().map(Extension::read).collect()
}

/// Checks that no extension appears twice (RFC 5280, 4.2).
pub(crate) fn are_unique(extensions: &[Extension<'_>]) -> bool {
    let mut kinds: Vec<&[u8]> = extensions.iter().map(|one| one.kind).collect();
    kinds.sort_unstable();
    kinds.windows(2).all(|pair| pair.first() != pair.last())
}

impl<'a> Extension<'a> {
    fn read(element: &Element<'a>) -> Result<Self, CertificateError> {
        if element.tag != tag::SEQUENCE {
            return Err(CertificateError::Structure);
        }
        let mut parts = element.parts();
        let kind = parts.expect(tag::OBJECT_IDENTIFIER)?.content;
        // FALSE is the default; some certificates have it nevertheless.
        let is_critical = match parts.optional(tag::BOOLEAN)? {
            Some(critical) => boolean(&critical)?,
            None => false,
        };
        Ok(Self {
            kind,
            is_critical,
            value: parts.expect(tag::OCTET_STRING)?.content,
        })
    }

    /// Returns true if the extension is of this kind.
    pub(crate) fn is(&self, oid: &ObjectIdentifier) -> bool {
        oid::is(self.kind, oid)
    }

    /// Returns the names of a SubjectAltName (RFC 5280, 4.2.1.6), each with a context-specific tag.
    pub(crate) fn general_names(&self) -> Result<Vec<Element<'a>>, CertificateError> {
        let names = self.single(tag::SEQUENCE)?.parts().all()?;
        match names.iter().all(|name| name.tag & 0xC0 == 0x80) {
            true => Ok(names),
            false => Err(CertificateError::Structure),
        }
    }

    /// Returns the bits of a KeyUsage (RFC 5280, 4.2.1.3); bit 0 is digitalSignature.
    pub(crate) fn key_usage(&self) -> Result<u16, CertificateError> {
        let bytes = self.single(tag::BIT_STRING)?.bits()?;
        let byte = |index| bytes.get(index).copied().unwrap_or_default();
        // In DER, the first bit is the highest one of a byte.
        Ok(u16::from_le_bytes([byte(0), byte(1)].map(u8::reverse_bits)))
    }

    /// Returns the object identifiers of an ExtendedKeyUsage (RFC 5280, 4.2.1.12).
    pub(crate) fn extended_key_usages(&self) -> Result<Vec<&'a [u8]>, CertificateError> {
        let usages = self.single(tag::SEQUENCE)?.parts().all()?;
        Ok(usages.iter().map(|usage| usage.content).collect())
    }

    /// Returns cA and pathLenConstraint of BasicConstraints (RFC 5280, 4.2.1.9).
    pub(crate) fn basic_constraints(&self) -> Result<(bool, Option<u32>), CertificateError> {
        let mut parts = self.single(tag::SEQUENCE)?.parts();
        let is_ca = match parts.optional(tag::BOOLEAN)? {
            Some(is_ca) => boolean(&is_ca)?,
            None => false,
        };
        let length = parts.optional(tag::INTEGER)?;
        parts.end()?;
        let length = length.map(|length| length.unsigned()).transpose()?;
        Ok((is_ca, length))
    }

    /// Returns a SubjectKeyIdentifier (RFC 5280, 4.2.1.2).
    pub(crate) fn key_identifier(&self) -> Result<&'a [u8], CertificateError> {
        Ok(self.single(tag::OCTET_STRING)?.content)
    }

    /// Returns false if the extension is one of RFC 5280 whose value consists of other elements than the standard says.
    pub(crate) fn is_well_formed(&self) -> bool {
        let known = [
            (oid::ISSUER_ALT_NAME, tag::SEQUENCE),
            (oid::NAME_CONSTRAINTS, tag::SEQUENCE),
            (oid::CRL_DISTRIBUTION_POINTS, tag::SEQUENCE),
            (oid::CERTIFICATE_POLICIES, tag::SEQUENCE),
            (oid::POLICY_MAPPINGS, tag::SEQUENCE),
            (oid::AUTHORITY_KEY_IDENTIFIER, tag::SEQUENCE),
            (oid::POLICY_CONSTRAINTS, tag::SEQUENCE),
            (oid::INHIBIT_ANY_POLICY, tag::INTEGER),
            (oid::AUTHORITY_INFO_ACCESS, tag::SEQUENCE),
            (oid::SUBJECT_INFO_ACCESS, tag::SEQUENCE),
            (oid::SIGNED_CERTIFICATE_TIMESTAMPS, tag::OCTET_STRING),
            (oid::NETSCAPE_CERT_TYPE, tag::BIT_STRING),
        ];
        let mut known = known.iter();
        let Some((_, tag)) = known.find(|(oid, _)| self.is(oid)) else {
            return true;
        };
        self.single(*tag)
            .is_ok_and(|value| is_well_formed(&value, MAX_DEPTH))
    }

    /// Returns the element that the value begins with.
    fn single(&self, tag: u8) -> Result<Element<'a>, CertificateError> {
        Elements::of(self.value).expect(tag)
    }
}

/// Returns true if the element and those within it, down to `depth`, are elements.
fn is_well_formed(element: &Element<'_>, depth: usize) -> bool {
    if !element.is_constructed() {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let parts = element.parts().all();
    parts.is_ok_and(|parts| parts.iter().all(|part| is_well_formed(part, depth)))
}

/// Returns a BOOLEAN. DER has 255 for true, and some certificates have other values.
fn boolean(element: &Element<'_>) -> Result<bool, CertificateError> {
    match element.content {
        [value] => Ok(*value != 0),
        _ => Err(CertificateError::Structure),
    }
}
