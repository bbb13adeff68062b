//! Creation of self-signed application certificates (OPC 10000-6, 6.2.2).

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use rcgen::{
    CertificateParams, DistinguishedName, DnType, IsCa, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
    PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256, PublicKeyData, SanType, SerialNumber,
    SignatureAlgorithm, SigningKey,
};

use crate::certificate::Certificate;
use crate::certificate_error::CertificateError;
use crate::identity::OwnCertificate;
use crate::key_usages::set_key_usages;
use crate::policy::{EllipticCurve, KeyKind};
use crate::private_key::{KeyError, PrivateKey};

/// Time by which the validity begins before the creation: clocks differ.
pub(crate) const EARLIER: Duration = Duration::from_secs(3600);

/// Facts of a certificate to be created.
#[derive(Debug, Clone)]
pub struct NewCertificate {
    /// ApplicationName, which becomes the common name.
    pub application_name: String,
    /// ApplicationUri.
    pub application_uri: String,
    /// Names of the host.
    pub host_names: Vec<String>,
    /// Addresses of the host.
    pub addresses: Vec<IpAddr>,
    /// Time of validity.
    pub validity: Duration,
    /// Length of an RSA key in bits: 2048, 3072 or 4096.
    pub key_bits: usize,
}

/// Error of a certificate that could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreationError {
    /// No key could be created.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A name contains characters that certificates do not allow, or the library failed.
    #[error("no certificate could be created: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The certificate that was created cannot be read.
    #[error(transparent)]
    Content(#[from] CertificateError),
    /// The subject of a signing request cannot be read.
    #[error("a subject is a list of names and values, for example CN=Press/O=Plant")]
    Subject,
    /// The system returned no random numbers.
    #[error("the system has no random numbers")]
    Random,
}

impl CreationError {
    /// Returns true if the names that were given are the reason, and not this host.
    #[must_use]
    pub const fn is_of_client(&self) -> bool {
        matches!(self, Self::Subject | Self::Certificate(_))
    }
}

impl NewCertificate {
    /// Creates a key of this kind and a self-signed certificate.
    ///
    /// # Errors
    /// [`CreationError`].
    pub fn create(&self, kind: KeyKind) -> Result<OwnCertificate, CreationError> {
        self.create_for(match kind {
            KeyKind::Rsa => PrivateKey::generate(self.key_bits)?,
            KeyKind::Ec(curve) => PrivateKey::generate_on(curve)?,
        })
    }

    /// Creates a self-signed certificate for a key.
    ///
    /// # Errors
    /// [`CreationError`].
    pub fn create_for(&self, key: PrivateKey) -> Result<OwnCertificate, CreationError> {
        let mut names = vec![SanType::URI(self.application_uri.as_str().try_into()?)];
        for host in &self.host_names {
            names.push(SanType::DnsName(host.as_str().try_into()?));
        }
        names.extend(self.addresses.iter().copied().map(SanType::IpAddress));
        let mut subject = DistinguishedName::new();
        subject.push(DnType::CommonName, self.application_name.as_str());
        subject.push(DnType::OrganizationName, "Takt");
        if let Some(host) = self.host_names.first() {
            // OPC 10000-6, Table 42: the subject of an application names its host.
            subject.push(
                DnType::CustomDnType(DOMAIN_COMPONENT.to_vec()),
                host.as_str(),
            );
        }
        let serial = serial_number()?;
        let now = SystemTime::now();
        let mut params = CertificateParams::default();
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.not_before = (now - EARLIER).into();
        params.not_after = (now + self.validity).into();
        params.subject_alt_names = names;
        params.distinguished_name = subject;
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        set_key_usages(&mut params, key.kind());
        // A self-signed certificate signs itself (OPC 10000-6, Table 42).
        params.key_usages.push(KeyUsagePurpose::KeyCertSign);
        let created = params.self_signed(&Signer(&key))?;
        let certificate = Certificate::from_der(created.der())?;
        Ok(OwnCertificate::new(vec![certificate], key)?)
    }
}

/// Returns a random serial number.
pub(crate) fn serial_number() -> Result<[u8; 16], CreationError> {
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(|_| CreationError::Random)?;
    // Positive, with a constant length.
    serial[0] = serial[0] & 0x7F | 0x40;
    Ok(serial)
}

/// OID of domainComponent (RFC 4519, 2.4).
pub(crate) const DOMAIN_COMPONENT: [u64; 7] = [0, 9, 2342, 19_200_300, 100, 1, 25];

/// A private key as the library uses it.
pub(crate) struct Signer<'a>(pub(crate) &'a PrivateKey);

impl PublicKeyData for Signer<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.0.public_bits()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        match self.0.kind() {
            KeyKind::Rsa => &PKCS_RSA_SHA256,
            KeyKind::Ec(EllipticCurve::NistP256) => &PKCS_ECDSA_P256_SHA256,
            KeyKind::Ec(EllipticCurve::NistP384) => &PKCS_ECDSA_P384_SHA384,
            KeyKind::Ec(EllipticCurve::Curve25519) => &PKCS_ED25519,
        }
    }
}

impl SigningKey for Signer<'_> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signed = self.0.sign_certificate(message);
        signed.map_err(|_| rcgen::Error::RemoteKeyError)
    }
}
