//! Creation of self-signed application certificates (OPC 10000-6, 6.2.2).

use std::net::IpAddr;
use std::time::Duration;

use crate::creation_error::CreationError;
use crate::identity::OwnCertificate;
use crate::issuance::{Requested, ToBeSigned, key_identifier};
use crate::key_usages::{usage, usages_of_application};
use crate::policy::KeyKind;
use crate::private_key::PrivateKey;
use crate::x509::{oid, write};

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
        let uri = Some(&*self.application_uri);
        check_names(
            uri.into_iter()
                .chain(self.host_names.iter().map(|host| &**host)),
        )?;
        let mut subject = vec![
            (oid::COMMON_NAME, &*self.application_name),
            (oid::ORGANIZATION_NAME, "Takt"),
        ];
        if let Some(host) = self.host_names.first() {
            // OPC 10000-6, Table 42: the subject of an application names its host.
            subject.push((oid::DOMAIN_COMPONENT, host));
        }
        let subject = write::name(&subject);
        let public_key = key.public_spki()?;
        let certificate = ToBeSigned {
            issuer: &subject,
            issuer_key_identifier: &key_identifier(&public_key),
            subject: &subject,
            public_key: &public_key,
            validity: self.validity,
            requested: Requested {
                names: write::general_names(uri, &self.host_names, &self.addresses),
                // A self-signed certificate signs itself (OPC 10000-6, Table 42).
                key_usage: usages_of_application(key.kind()) | usage::KEY_CERT_SIGN,
                extended_key_usages: vec![oid::SERVER_AUTH, oid::CLIENT_AUTH],
            },
        };
        let certificate = certificate.sign(&key)?;
        Ok(OwnCertificate::new(vec![certificate], key)?)
    }
}

/// Checks that names for a SubjectAltName are IA5Strings (RFC 5280, 4.2.1.6).
pub(crate) fn check_names<'a>(
    mut names: impl Iterator<Item = &'a str>,
) -> Result<(), CreationError> {
    match names.find(|name| !name.is_ascii()) {
        None => Ok(()),
        Some(name) => Err(CreationError::Name(name.to_owned())),
    }
}
