//! Certificate revocation lists (RFC 5280, 5).

use std::collections::HashSet;
use std::fmt;

use crate::certificate::Certificate;
use crate::certificate_error::CertificateError;
use crate::x509::algorithm::Algorithm;
use crate::x509::element::{Elements, tag};
use crate::x509::name::Name;
use crate::x509::signed::Signed;
use crate::x509::{extension, time};

/// A parsed revocation list.
#[derive(Clone, PartialEq, Eq)]
pub struct RevocationList {
    der: Vec<u8>,
    issuer_name: Vec<u8>,
    /// Issuer as text.
    pub issuer: String,
    /// Time of issue, in seconds since 1970.
    pub this_update: i64,
    /// Time of the next list, in seconds since 1970.
    pub next_update: Option<i64>,
    revoked: HashSet<Vec<u8>>,
    has_unknown_critical: bool,
}

impl RevocationList {
    /// Parses a list (DER).
    ///
    /// # Errors
    /// [`CertificateError::Structure`].
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let mut whole = Elements::of(der);
        let signed = Signed::read(&mut whole)?;
        whole.end()?;
        let mut parts = signed.content.parts();
        if let Some(version) = parts.optional(tag::INTEGER)? {
            version.unsigned()?;
        }
        Algorithm::read(&mut parts)?;
        let issuer = parts.expect(tag::SEQUENCE)?;
        let this_update = time::read(&parts.element()?)?;
        let next_update = match parts.rest().first() {
            Some(tag) if time::is_time(*tag) => Some(time::read(&parts.element()?)?),
            _ => None,
        };
        let mut revoked = HashSet::new();
        if let Some(entries) = parts.optional(tag::SEQUENCE)? {
            for entry in entries.parts().all()? {
                let mut entry = match entry.tag {
                    tag::SEQUENCE => entry.parts(),
                    _ => return Err(CertificateError::Structure),
                };
                revoked.insert(entry.expect(tag::INTEGER)?.content.to_vec());
                time::read(&entry.element()?)?;
                // Only entries of delta and indirect lists have extensions that change their meaning. Such lists have
                // a critical extension.
                if !entry.rest().is_empty() {
                    extension::read_all(&mut entry)?;
                }
            }
        }
        let mut has_critical = false;
        if let Some(extensions) = parts.optional(tag::constructed(0))? {
            let mut list = extensions.parts();
            let extensions = extension::read_all(&mut list)?;
            list.end()?;
            has_critical = extensions.iter().any(|one| one.is_critical);
        }
        parts.end()?;
        Ok(Self {
            der: der.to_vec(),
            issuer_name: issuer.encoded.to_vec(),
            issuer: Name::read(&issuer)?.text(),
            this_update,
            next_update,
            revoked,
            // Such a list may be partial (RFC 5280, 5.2).
            has_unknown_critical: has_critical,
        })
    }

    /// Returns the number of certificates that the issuer has revoked.
    #[must_use]
    pub fn revoked_count(&self) -> usize {
        self.revoked.len()
    }

    /// Returns the serial numbers of the revoked certificates, most significant byte first, in order.
    #[must_use]
    pub fn revoked_serials(&self) -> Vec<&[u8]> {
        let mut serials: Vec<&[u8]> = self.revoked.iter().map(Vec::as_slice).collect();
        serials.sort_unstable();
        serials
    }

    /// Returns the encoding (DER).
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns true if the list has the name of this issuer.
    #[must_use]
    pub fn names_issuer(&self, issuer: &Certificate) -> bool {
        self.issuer_name == issuer.subject_name()
    }

    /// Checks that `issuer` has signed the list.
    ///
    /// # Errors
    /// Those of [`Certificate::verify_signed_by`].
    pub fn verify_signed_by(&self, issuer: &Certificate) -> Result<(), CertificateError> {
        self.verify(issuer)
    }

    /// Returns true if `issuer` made the list, and it is up to date at that time, if there is one.
    pub(crate) fn is_of(&self, issuer: &Certificate, at: Option<i64>) -> bool {
        self.names_issuer(issuer)
            && !self.has_unknown_critical
            && at.is_none_or(|at| self.is_current_at(at))
            && issuer.may_revoke()
            && self.verify(issuer).is_ok()
    }

    fn is_current_at(&self, at: i64) -> bool {
        self.this_update <= at && self.next_update.is_none_or(|next| at <= next)
    }

    fn verify(&self, issuer: &Certificate) -> Result<(), CertificateError> {
        Signed::read(&mut Elements::of(&self.der))?.verify(&issuer.public_key)
    }

    /// Returns true if the list contains the certificate.
    pub(crate) fn revokes(&self, certificate: &Certificate) -> bool {
        self.revoked.contains(&certificate.serial)
    }
}

impl fmt::Debug for RevocationList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RevocationList({})", self.issuer)
    }
}
