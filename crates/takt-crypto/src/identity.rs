//! An own certificate, the chain of its issuers, and its private key.

use std::fmt;

use crate::CryptoError;
use crate::certificate::{Certificate, Thumbprint};
use crate::certificate_error::CertificateError;
use crate::policy::AsymmetricSignature;
use crate::private_key::PrivateKey;
use crate::public_key::PublicKey;

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

    /// Checks a peer's proof of its key: its signature of this certificate and a nonce of this application (OPC 10000-4, 5.7.2.2 and
    /// 5.7.3.2).
    ///
    /// Only the certificate itself belongs to the signed bytes. Older peers sign the certificates of the issuers, too.
    ///
    /// # Errors
    /// [`CryptoError`] if the signature is wrong, or the algorithm is for keys of another kind.
    pub fn verify_proof(
        &self,
        peer: &PublicKey,
        algorithm: AsymmetricSignature,
        nonce: &[u8],
        signature: &[u8],
    ) -> Result<(), CryptoError> {
        let verify = |signed: &[u8]| peer.verify(algorithm, &[signed, nonce].concat(), signature);
        let (leaf, chain) = (self.certificate().der(), self.chain_der());
        match verify(leaf) {
            Err(_) if leaf != chain => verify(chain),
            verified => verified,
        }
    }
}

impl fmt::Debug for OwnCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OwnCertificate({:?})", self.certificate())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::creation::NewCertificate;
    use crate::policy::{EllipticCurve, KeyKind};

    fn created(name: &str) -> OwnCertificate {
        let new = NewCertificate {
            application_name: name.to_owned(),
            application_uri: format!("urn:{name}"),
            host_names: Vec::new(),
            addresses: Vec::new(),
            validity: Duration::from_secs(3600),
            key_bits: 2048,
        };
        new.create(KeyKind::Ec(EllipticCurve::NistP256)).unwrap()
    }

    #[test]
    fn a_proof_signs_the_certificate_alone_or_with_its_issuers() {
        let (own, issuer, peer) = (created("own"), created("issuer"), created("peer"));
        let chain = vec![own.certificate().clone(), issuer.certificate().clone()];
        let own = OwnCertificate::new(chain, own.key).unwrap();
        let key = PublicKey::from_spki(&peer.certificate().public_key).unwrap();
        let algorithm = EllipticCurve::NistP256.signature();
        let verified = |signed: &[u8]| {
            let mut signature = vec![0; peer.key().size()];
            let data = [signed, b"nonce"].concat();
            peer.key().sign(algorithm, &data, &mut signature).unwrap();
            let proof = own.verify_proof(&key, algorithm, b"nonce", &signature);
            proof.is_ok()
        };
        let leaf = own.certificate().der();
        assert!(verified(leaf) && verified(own.chain_der()));
        assert!(!verified(&[leaf, b"more"].concat()));
        assert!(!verified(issuer.certificate().der()) && !verified(b""));
    }
}
