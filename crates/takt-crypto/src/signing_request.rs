//! Certificate signing requests (PKCS #10, RFC 2986), and the certificates that an issuer makes of them.

use std::time::{Duration, SystemTime};

use rcgen::{
    CertificateParams, CertificateSigningRequestParams, DistinguishedName, DnType, IsCa, Issuer,
    SanType, SerialNumber,
};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use crate::certificate::Certificate;
use crate::certificate_error::CertificateError;
use crate::creation::{CreationError, DOMAIN_COMPONENT, EARLIER, Signer, serial_number};
use crate::identity::OwnCertificate;
use crate::key_usages::set_key_usages;
use crate::private_key::PrivateKey;

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
    let mut names = Vec::new();
    if let Some(uri) = &current.application_uri {
        names.push(SanType::URI(uri.as_str().try_into()?));
    }
    for host in &current.host_names {
        names.push(SanType::DnsName(host.as_str().try_into()?));
    }
    names.extend(current.addresses.iter().copied().map(SanType::IpAddress));
    let mut params = CertificateParams::default();
    params.distinguished_name = match subject {
        Some(subject) => parse_subject(subject).ok_or(CreationError::Subject)?,
        None => subject_of(current)?,
    };
    params.subject_alt_names = names;
    set_key_usages(&mut params, key.kind());
    let request = params.serialize_request(&Signer(key))?;
    Ok(request.der().to_vec())
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
    let mut request = CertificateSigningRequestParams::from_der(&request.to_vec().into())?;
    let now = SystemTime::now();
    let params = &mut request.params;
    params.serial_number = Some(SerialNumber::from_slice(&serial_number()?));
    params.not_before = (now - EARLIER).into();
    params.not_after = (now + validity).into();
    params.is_ca = IsCa::ExplicitNoCa;
    params.use_authority_key_identifier_extension = true;
    let issuer =
        Issuer::from_ca_cert_der(&ca.certificate().der().to_vec().into(), Signer(ca.key()))?;
    let signed = request.signed_by(&issuer)?;
    Ok(Certificate::from_der(signed.der())?)
}

/// Returns the subject of a certificate.
fn subject_of(certificate: &Certificate) -> Result<DistinguishedName, CreationError> {
    let parsed = X509Certificate::from_der(certificate.der());
    let (_, parsed) = parsed.map_err(|_| CertificateError::Structure)?;
    let mut subject = DistinguishedName::new();
    for attribute in parsed.subject().iter_attributes() {
        let oid = attribute.attr_type().iter();
        let oid: Vec<u64> = oid.into_iter().flatten().collect();
        if let Ok(value) = attribute.as_str() {
            subject.push(DnType::from_oid(&oid), value);
        }
    }
    Ok(subject)
}

/// Reads a subject: pairs of name and value with `/` or `,` between them. A value with such a character is in double quotes.
fn parse_subject(text: &str) -> Option<DistinguishedName> {
    let mut subject = DistinguishedName::new();
    let mut is_quoted = false;
    let parts = text.split(|c: char| {
        is_quoted ^= c == '"';
        !is_quoted && matches!(c, '/' | ',')
    });
    let mut is_empty = true;
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let value = value.trim();
        let value = match value.strip_prefix('"') {
            Some(value) => value.strip_suffix('"')?,
            None => value,
        };
        let kind = match &*name.trim().to_ascii_uppercase() {
            "CN" => DnType::CommonName,
            "O" => DnType::OrganizationName,
            "OU" => DnType::OrganizationalUnitName,
            "DC" => DnType::CustomDnType(DOMAIN_COMPONENT.to_vec()),
            "L" => DnType::LocalityName,
            "S" | "ST" => DnType::StateOrProvinceName,
            "C" => DnType::CountryName,
            _ => return None,
        };
        if value.is_empty() || value.len() > 256 || value.chars().any(char::is_control) {
            return None;
        }
        subject.push(kind, value);
        is_empty = false;
    }
    (!is_empty).then_some(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_in_the_form_of_the_standard() {
        let read = |text: &str| {
            let subject = parse_subject(text)?;
            let of = |kind| match subject.get(kind) {
                Some(rcgen::DnValue::Utf8String(text)) => text.clone(),
                _ => String::new(),
            };
            Some([of(&DnType::CommonName), of(&DnType::OrganizationName)])
        };
        let press = Some(["Press".to_owned(), "Plant".to_owned()]);
        for text in ["CN=Press/O=Plant", "/CN=Press/O=Plant", "CN=Press, O=Plant"] {
            assert_eq!(read(text), press, "{text}");
        }
        let slash = Some(["A/B=C".to_owned(), String::new()]);
        assert_eq!(read("CN=\"A/B=C\"/DC=host"), slash);
        for text in ["", "/", "Press", "XX=Press", "CN=", "CN=\"open", "CN=a\nb"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
