//! Certificate signing requests (PKCS #10, RFC 2986), and the certificates that an issuer makes of them.

use std::time::Duration;

use der::asn1::ObjectIdentifier;

use crate::certificate::Certificate;
use crate::certificate_error::CertificateError;
use crate::creation::check_names;
use crate::creation_error::CreationError;
use crate::identity::OwnCertificate;
use crate::issuance::{Requested, ToBeSigned, key_identifier, sign};
use crate::key_usages::usages_of_application;
use crate::private_key::PrivateKey;
use crate::x509::element::{Element, Elements, tag};
use crate::x509::extension::{self, Extension};
use crate::x509::fields::CertificateFields;
use crate::x509::key::KeyInfo;
use crate::x509::name::Name;
use crate::x509::signed::Signed;
use crate::x509::{oid, write};

/// Extended key usages that are issued.
const ISSUED_USAGES: [ObjectIdentifier; 7] = [
    oid::ANY_EXTENDED_KEY_USAGE,
    oid::SERVER_AUTH,
    oid::CLIENT_AUTH,
    oid::CODE_SIGNING,
    oid::EMAIL_PROTECTION,
    oid::TIME_STAMPING,
    oid::OCSP_SIGNING,
];

/// Returns a signing request (DER) for `key`, with ApplicationUri, host names and addresses of the `current` certificate.
///
/// `subject` is a subject in the form of OPC 10000-12, 7.9.3, for example `CN=Press/O=Plant`; `None` is that of `current`.
///
/// # Errors
/// [`CreationError`], also if the subject cannot be read.
pub fn signing_request(
    key: &PrivateKey,
    current: &Certificate,
    subject: Option<&str>,
) -> Result<Vec<u8>, CreationError> {
    let uri = current.application_uri.as_deref();
    let hosts = &current.host_names;
    check_names(uri.into_iter().chain(hosts.iter().map(|host| &**host)))?;
    let subject = match subject {
        Some(subject) => {
            let subject = parse_subject(subject);
            write::name(&subject.ok_or(CreationError::Subject)?)
        }
        None => current.subject_name().to_vec(),
    };
    let requested = Requested {
        names: write::general_names(uri, hosts, &current.addresses),
        key_usage: usages_of_application(key.kind()),
        extended_key_usages: vec![oid::SERVER_AUTH, oid::CLIENT_AUTH],
    };
    let extensions = write::sequence(&[&requested.encode(&subject)]);
    let attribute = write::sequence(&[
        &write::identifier(&oid::EXTENSION_REQUEST),
        &write::element(tag::SET, &[&extensions]),
    ]);
    let content = write::sequence(&[
        // Version 1 has the number 0 (RFC 2986, 4.1).
        &write::element(tag::INTEGER, &[&[0]]),
        &subject,
        &key.public_spki()?,
        &write::element(tag::constructed(0), &[&attribute]),
    ]);
    sign(&content, key)
}

/// Returns the certificate that the issuer `ca` makes of a signing request (DER), whose signature is checked.
///
/// # Errors
/// [`CreationError`].
pub fn issue(
    request: &[u8],
    ca: &OwnCertificate,
    validity: Duration,
) -> Result<Certificate, CreationError> {
    let request = Request::read(request).map_err(|_| CreationError::Request)?;
    // The signature proves that the requester has the private key.
    let signature = request.signed.verify(request.public_key);
    signature.map_err(|_| CreationError::RequestSignature)?;
    let requested = request.extensions();
    let issuer = CertificateFields::read(&mut Elements::of(ca.certificate().der()))?;
    let issuer_key_identifier = match issuer.key_identifier() {
        Some(identifier) => identifier.to_vec(),
        None => key_identifier(&ca.key().public_spki()?),
    };
    let certificate = ToBeSigned {
        issuer: issuer.subject.encoded,
        issuer_key_identifier: &issuer_key_identifier,
        subject: request.subject,
        public_key: request.public_key,
        validity,
        requested: requested.map_err(|_| CreationError::Request)?,
    };
    certificate.sign(ca.key())
}

/// Fields of a signing request (RFC 2986, 4).
struct Request<'a> {
    signed: Signed<'a>,
    /// Name of the subject (DER).
    subject: &'a [u8],
    /// SubjectPublicKeyInfo (DER).
    public_key: &'a [u8],
    extensions: Vec<Extension<'a>>,
}

impl<'a> Request<'a> {
    fn read(der: &'a [u8]) -> Result<Self, CertificateError> {
        let mut whole = Elements::of(der);
        let signed = Signed::read(&mut whole)?;
        whole.end()?;
        let mut parts = signed.content.parts();
        parts.expect(tag::INTEGER)?.unsigned()?;
        let subject = parts.expect(tag::SEQUENCE)?;
        Name::read(&subject)?;
        let public_key = KeyInfo::read(&mut parts)?.encoded;
        let attributes = parts.expect(tag::constructed(0))?.parts().all()?;
        parts.end()?;
        let mut extensions = Vec::new();
        for attribute in attributes {
            let mut attribute = match attribute.tag {
                tag::SEQUENCE => attribute.parts(),
                _ => return Err(CertificateError::Structure),
            };
            let kind = attribute.expect(tag::OBJECT_IDENTIFIER)?;
            let mut values = attribute.expect(tag::SET)?.parts();
            if oid::is(kind.content, &oid::EXTENSION_REQUEST) {
                extensions.extend(extension::read_all(&mut values)?);
                values.end()?;
            }
        }
        match extension::are_unique(&extensions) {
            true => Ok(Self {
                signed,
                subject: subject.encoded,
                public_key,
                extensions,
            }),
            false => Err(CertificateError::Structure),
        }
    }

    /// Returns the extensions to be issued. BasicConstraints are not among them: an application is no issuer (CA).
    fn extensions(&self) -> Result<Requested, CertificateError> {
        let mut requested = Requested::default();
        for extension in &self.extensions {
            if extension.is(&oid::SUBJECT_ALT_NAME) {
                let names = extension.general_names()?;
                if !names.iter().all(is_issued) {
                    return Err(CertificateError::Structure);
                }
                let names: Vec<_> = names.iter().map(|name| name.encoded).collect();
                requested.names = names.concat();
            } else if extension.is(&oid::KEY_USAGE) {
                requested.key_usage = extension.key_usage()?;
            } else if extension.is(&oid::EXTENDED_KEY_USAGE) {
                let usages = extension.extended_key_usages()?;
                let is_issued = |usage: &&[u8]| ISSUED_USAGES.iter().any(|one| oid::is(usage, one));
                if !usages.iter().all(is_issued) {
                    return Err(CertificateError::Structure);
                }
                let is_requested = |one: &ObjectIdentifier| usages.contains(&one.as_bytes());
                let issued = ISSUED_USAGES.into_iter().filter(is_requested);
                requested.extended_key_usages = issued.collect();
            } else if extension.is(&oid::BASIC_CONSTRAINTS) {
                extension.basic_constraints()?;
            } else {
                return Err(CertificateError::Structure);
            }
        }
        Ok(requested)
    }
}

/// Returns true if a certificate with this name is issued: a name in ASCII, an address, or another name in UTF-8.
fn is_issued(name: &Element<'_>) -> bool {
    const OTHER: u8 = tag::constructed(0);
    const MAIL: u8 = tag::context(1);
    const HOST: u8 = tag::context(2);
    const URI: u8 = tag::context(6);
    const ADDRESS: u8 = tag::context(7);
    match name.tag {
        MAIL | HOST | URI => name.content.is_ascii(),
        ADDRESS => matches!(name.content.len(), 4 | 16),
        OTHER => is_text(name).is_ok(),
        _ => false,
    }
}

/// Checks that an OtherName is a UTF8String.
fn is_text(name: &Element<'_>) -> Result<(), CertificateError> {
    let mut parts = name.parts();
    parts.expect(tag::OBJECT_IDENTIFIER)?;
    let mut value = parts.expect(tag::constructed(0))?.parts();
    parts.end()?;
    let text = value.expect(tag::UTF8_STRING)?;
    value.end()?;
    match str::from_utf8(text.content) {
        Ok(_) => Ok(()),
        Err(_) => Err(CertificateError::Structure),
    }
}

/// Reads a subject: pairs of name and value with `/` or `,` between them. A value with such a character is in double quotes.
fn parse_subject(text: &str) -> Option<Vec<(ObjectIdentifier, &str)>> {
    let mut subject = Vec::new();
    let mut is_quoted = false;
    // `split` asks for the characters in their order, so the closure can follow the quotes.
    let parts = text.split(|c: char| {
        is_quoted ^= c == '"';
        !is_quoted && matches!(c, '/' | ',')
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let value = value.trim();
        let value = match value.strip_prefix('"') {
            Some(value) => value.strip_suffix('"')?,
            None => value,
        };
        let kind = match &*name.trim().to_ascii_uppercase() {
            "CN" => oid::COMMON_NAME,
            "O" => oid::ORGANIZATION_NAME,
            "OU" => oid::ORGANIZATIONAL_UNIT_NAME,
            "DC" => oid::DOMAIN_COMPONENT,
            "L" => oid::LOCALITY_NAME,
            "S" | "ST" => oid::STATE_OR_PROVINCE_NAME,
            "C" => oid::COUNTRY_NAME,
            _ => return None,
        };
        if value.is_empty() || value.len() > 256 || value.chars().any(char::is_control) {
            return None;
        }
        subject.push((kind, value));
    }
    (!subject.is_empty()).then_some(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_in_the_form_of_the_standard() {
        let press = Some(vec![
            (oid::COMMON_NAME, "Press"),
            (oid::ORGANIZATION_NAME, "Plant"),
        ]);
        for text in ["CN=Press/O=Plant", "/CN=Press/O=Plant", "CN=Press, O=Plant"] {
            assert_eq!(parse_subject(text), press, "{text}");
        }
        let slash = Some(vec![
            (oid::COMMON_NAME, "A/B=C"),
            (oid::DOMAIN_COMPONENT, "host"),
        ]);
        assert_eq!(parse_subject("CN=\"A/B=C\"/DC=host"), slash);
        for text in ["", "/", "Press", "XX=Press", "CN=", "CN=\"open", "CN=a\nb"] {
            assert_eq!(parse_subject(text), None, "{text}");
        }
    }
}
