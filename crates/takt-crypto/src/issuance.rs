//! Certificates as an issuer makes them (RFC 5280, 4.1).

use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{SHA256, digest};
use der::asn1::ObjectIdentifier;

use crate::certificate::Certificate;
use crate::creation_error::CreationError;
use crate::private_key::PrivateKey;
use crate::x509::element::tag;
use crate::x509::{oid, time, write};

/// Time by which the validity begins before the creation: clocks differ.
const EARLIER: Duration = Duration::from_secs(3600);

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
        let time = |time: Option<SystemTime>| {
            let time = time.and_then(time::write);
            time.ok_or(CreationError::Validity)
        };
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
            &write::sequence(&[
                &time(now.checked_sub(EARLIER))?,
                &time(now.checked_add(self.validity))?,
            ]),
            self.subject,
            self.public_key,
            &write::element(tag::constructed(3), &[&extensions]),
        ]);
        Ok(Certificate::from_der(&sign(&content, key)?)?)
    }
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
