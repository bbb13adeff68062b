//! An own certificate, the chain of its issuers, and its private key.

use std::fmt;

use crate::certificate::{Certificate, Thumbprint};
use crate::certificate_error::CertificateError;
use crate::private_key::PrivateKey;

/// The identity of an application or user: certificate and private key.
pub struct OwnCertificate {
    chain: Vec<Certificate>,
    chain_der: Vec<u8>,
    key: PrivateKey,
}

impl OwnCertificate {
    /// Combines a certificate, followed by those of its issuers, with its key.
    ///
    /// # Errors
    /// [`CertificateError::Structure`] if the chain is empty, or the key is not that of the certificate.
    pub fn new(chain: Vec<Certificate>, key: PrivateKey) -> Result<Self, CertificateError> {
        let leaf = chain.first().ok_or(CertificateError::Structure)?;
        let public = key.public_spki().map_err(|_| CertificateError::Structure)?;
        if leaf.public_key != public {
            return Err(CertificateError::Structure);
        }
        let chain_der = chain.iter().flat_map(Certificate::der).copied().collect();
        Ok(Self {
            chain,
            chain_der,
            key,
        })
    }

    /// Returns the certificate.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        // `new` refuses an empty chain.
        &self.chain[0]
    }

    /// Returns the certificate and those of its issuers, as sent to peers (DER).
    #[must_use]
    pub fn chain_der(&self) -> &[u8] {
        &self.chain_der
    }

    /// Returns the thumbprint of the certificate.
    #[must_use]
    pub fn thumbprint(&self) -> Thumbprint {
        self.certificate().thumbprint
    }

    /// Returns the private key.
    #[must_use]
    pub const fn key(&self) -> &PrivateKey {
        &self.key
    }
}

impl fmt::Debug for OwnCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OwnCertificate({:?})", self.certificate())
    }
}
