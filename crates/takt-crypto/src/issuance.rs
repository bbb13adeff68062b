//! Certificates as an issuer makes them (RFC 5280, 4.1).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::{SHA256, digest};
use der::asn1::ObjectIdentifier;
use takt_ua::DateTime;

use crate::certificate::Certificate;
use crate::creation_error::CreationError;
use crate::private_key::PrivateKey;
use crate::x509::element::tag;
use crate::x509::{oid, time, write};

/// Time by which the validity begins before the creation: clocks differ.
const EARLIER: Duration = Duration::from_secs(3600);

/// A time that is past for every clock that is right: the beginning of 2026, since 1970. A host whose clock has no battery begins in
/// 1970, and its clock is set later. Its certificate has to be valid then, too, because peers have trusted it meanwhile.
const PAST: Duration = Duration::from_secs(1_767_225_600);

/// Length of a key identifier in bytes.
const KEY_IDENTIFIER: usize = 20;

/// A certificate of an application, before an issuer signs it.
pub(crate) struct ToBeSigned<'a> {
    /// Name of the issuer (DER).
    pub(crate) issuer: &'a [u8],
    /// AuthorityKeyIdentifier.
    pub(crate) issuer_key_identifier: &'a [u8],
    /// Name of the subject (DER).
    pub(crate) subject: &'a [u8],
    /// SubjectPublicKeyInfo (DER).
    pub(crate) public_key: &'a [u8],
    /// Time of validity.
    pub(crate) validity: Duration,
    /// The extensions that a signing request can ask for.
    pub(crate) requested: Requested,
}

/// Extensions that a signing request can ask for.
#[derive(Default)]
pub(crate) struct Requested {
    /// Names of the SubjectAltName (DER); without any, there is no such extension.
    pub(crate) names: Vec<u8>,
    /// KeyUsage; bit 0 is digitalSignature. Without a bit, there is no such extension.
    pub(crate) key_usage: u16,
    /// ExtendedKeyUsage; without any, there is no such extension.
    pub(crate) extended_key_usages: Vec<ObjectIdentifier>,
}

impl Requested {
    /// Returns the extensions (DER).
    pub(crate) fn encode(&self, subject: &[u8]) -> Vec<u8> {
        let mut extensions = Vec::new();
        if !self.names.is_empty() {
            let names = write::sequence(&[&self.names]);
            // Without a subject, only this extension has a name (RFC 5280, 4.1.2.6).
            let is_critical = subject == write::name(&[]);
            extensions.extend(write::extension(
                &oid::SUBJECT_ALT_NAME,
                is_critical,
                &names,
            ));
        }
        if self.key_usage != 0 {
            let usage = write::key_usage(self.key_usage);
            extensions.extend(write::extension(&oid::KEY_USAGE, true, &usage));
        }
        if !self.extended_key_usages.is_empty() {
            let usages = self.extended_key_usages.iter().map(write::identifier);
            let usages = write::sequence(&[&usages.collect::<Vec<_>>().concat()]);
            extensions.extend(write::extension(&oid::EXTENDED_KEY_USAGE, false, &usages));
        }
        extensions
    }
}

impl ToBeSigned<'_> {
    /// Returns the certificate, signed with the key of the issuer.
    pub(crate) fn sign(&self, key: &PrivateKey) -> Result<Certificate, CreationError> {
        let now = SystemTime::now();
        if is_too_early(now) {
            tracing::warn!(
                clock = %DateTime::from(now),
                "the clock of this host is not right: the new certificate is valid as if it were 2026"
            );
        }
        let (begin, end) = period(now, self.validity).ok_or(CreationError::Validity)?;
        let time = |time: SystemTime| time::write(time).ok_or(CreationError::Validity);
        // Version 3 has the number 2 (RFC 5280, 4.1.2.1).
        let version = write::element(tag::INTEGER, &[&[2]]);
        let authority = write::element(tag::context(0), &[self.issuer_key_identifier]);
        let own = write::element(tag::OCTET_STRING, &[&key_identifier(self.public_key)]);
        let extensions = write::sequence(&[
            &write::extension(
                &oid::AUTHORITY_KEY_IDENTIFIER,
                false,
                &write::sequence(&[&authority]),
            ),
            &self.requested.encode(self.subject),
            &write::extension(&oid::SUBJECT_KEY_IDENTIFIER, false, &own),
            // No issuer (CA).
            &write::extension(&oid::BASIC_CONSTRAINTS, true, &write::sequence(&[])),
        ]);
        let content = write::sequence(&[
            &write::element(tag::constructed(0), &[&version]),
            &write::element(tag::INTEGER, &[&serial_number()?]),
            &write::algorithm(key.kind()),
            self.issuer,
            &write::sequence(&[&time(begin)?, &time(end)?]),
            self.subject,
            self.public_key,
            &write::element(tag::constructed(3), &[&extensions]),
        ]);
        Ok(Certificate::from_der(&sign(&content, key)?)?)
    }
}

fn is_too_early(now: SystemTime) -> bool {
    now.duration_since(UNIX_EPOCH)
        .map_or(true, |since| since < PAST)
}

/// Returns begin and end of a validity of this length. The begin is not before 1970, which certificates cannot express.
fn period(now: SystemTime, length: Duration) -> Option<(SystemTime, SystemTime)> {
    let begin = now.checked_sub(EARLIER).unwrap_or(UNIX_EPOCH);
    let from = match is_too_early(now) {
        true => UNIX_EPOCH.checked_add(PAST)?,
        false => now,
    };
    Some((begin.max(UNIX_EPOCH), from.checked_add(length)?))
}

/// Returns the signed structure with this content (DER).
pub(crate) fn sign(content: &[u8], key: &PrivateKey) -> Result<Vec<u8>, CreationError> {
    let signature = key.sign_certificate(content);
    let signature = signature.map_err(CreationError::Signature)?;
    Ok(write::sequence(&[
        content,
        &write::algorithm(key.kind()),
        &write::element(tag::BIT_STRING, &[&[0], &signature]),
    ]))
}

/// Returns the identifier of a public key: the first bytes of SHA-256 of its SubjectPublicKeyInfo (RFC 7093, 2).
pub(crate) fn key_identifier(public_key: &[u8]) -> Vec<u8> {
    let hash = digest(&SHA256, public_key);
    hash.as_ref().iter().copied().take(KEY_IDENTIFIER).collect()
}

/// Returns a random serial number.
fn serial_number() -> Result<[u8; 16], CreationError> {
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(|_| CreationError::Random)?;
    // Positive, with a constant length.
    serial[0] = serial[0] & 0x7F | 0x40;
    Ok(serial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_of_1970_is_valid_when_the_clock_is_right() {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        let right = at(1_800_000_000);
        assert_eq!(period(right, YEAR), Some((right - EARLIER, right + YEAR)));
        let end = UNIX_EPOCH + PAST + YEAR;
        // The first hour of 1970 has no hour before it.
        assert_eq!(period(at(0), YEAR), Some((UNIX_EPOCH, end)));
        assert_eq!(period(at(10), YEAR), Some((UNIX_EPOCH, end)));
        assert_eq!(period(at(7200), YEAR), Some((at(3600), end)));
        assert_eq!(period(UNIX_EPOCH - EARLIER, YEAR), Some((UNIX_EPOCH, end)));
        assert!(time::write(at(0)).is_some());
    }
}
