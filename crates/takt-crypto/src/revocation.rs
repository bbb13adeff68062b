//! Certificate revocation lists (RFC 5280, 5).

use std::collections::HashSet;
use std::fmt;

use x509_parser::prelude::FromDer;
use x509_parser::revocation_list::CertificateRevocationList;

use crate::certificate::{Certificate, verify_signature};
use crate::certificate_error::CertificateError;

/// A parsed revocation list.
#[derive(Clone)]
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
        let parsed = CertificateRevocationList::from_der(der);
        let (rest, parsed) = parsed.map_err(|_| CertificateError::Structure)?;
        if !rest.is_empty() {
            return Err(CertificateError::Structure);
        }
        let revoked = parsed.iter_revoked_certificates();
        Ok(Self {
            der: der.to_vec(),
            issuer_name: parsed.issuer().as_raw().to_vec(),
            issuer: parsed.issuer().to_string(),
            this_update: parsed.last_update().timestamp(),
            next_update: parsed.next_update().map(|time| time.timestamp()),
            revoked: revoked.map(|entry| entry.raw_serial().to_vec()).collect(),
            // Such a list may be partial (RFC 5280, 5.2).
            has_unknown_critical: parsed.extensions().iter().any(|one| one.critical),
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

    /// Returns true if `issuer` made the list, which is up to date at `now`.
    pub(crate) fn is_of(&self, issuer: &Certificate, now: i64) -> bool {
        self.names_issuer(issuer)
            && !self.has_unknown_critical
            && self.this_update <= now
            && self.next_update.is_none_or(|next| now <= next)
            && issuer.may_revoke()
            && self.verify(issuer).is_ok()
    }

    fn verify(&self, issuer: &Certificate) -> Result<(), CertificateError> {
        let parsed = CertificateRevocationList::from_der(&self.der);
        let (_, parsed) = parsed.map_err(|_| CertificateError::Structure)?;
        verify_signature(
            &parsed.signature_algorithm.algorithm,
            &issuer.public_key,
            parsed.tbs_cert_list.as_ref(),
            &parsed.signature_value.data,
        )
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
