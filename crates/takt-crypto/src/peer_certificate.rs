//! Certificate of a peer as the peer has sent it, parsed once.

use crate::certificate::Certificate;

/// The certificate of a peer, followed by those of its issuers (OPC 10000-6, 6.2.6).
///
/// The certificate is parsed once, on arrival. The check of the peer, the services and the audit records take the parsed form. Bytes
/// that cannot be parsed are kept as they are; such a certificate has no [`leaf`](Self::leaf) and passes no check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerCertificate {
    der: Vec<u8>,
    chain: Vec<Certificate>,
}

impl PeerCertificate {
    /// Parses what a peer has sent (DER).
    #[must_use]
    pub fn parse(der: Vec<u8>) -> Self {
        let chain = Certificate::chain_from_der(&der).unwrap_or_default();
        Self { der, chain }
    }

    /// Returns the encoding as the peer has sent it (DER); empty if it has sent none.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns the certificate of the peer and those of its issuers; empty if there is none, or if they cannot be parsed.
    #[must_use]
    pub fn chain(&self) -> &[Certificate] {
        &self.chain
    }

    /// Returns the certificate of the peer.
    #[must_use]
    pub fn leaf(&self) -> Option<&Certificate> {
        self.chain.first()
    }

    /// Returns the encoding of the certificate of the peer without those of its issuers (DER), also if its content is not valid.
    #[must_use]
    pub fn leaf_der(&self) -> Option<&[u8]> {
        match self.leaf() {
            Some(leaf) => Some(leaf.der()),
            None => Certificate::leaf_of(&self.der),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_cannot_be_parsed_has_no_leaf() {
        let none = PeerCertificate::parse(Vec::new());
        assert_eq!(none, PeerCertificate::default());
        assert!(none.leaf().is_none() && none.leaf_der().is_none());
        // A SEQUENCE without content is an encoding, and no certificate.
        let wrong = PeerCertificate::parse(vec![0x30, 0, 7]);
        assert!(wrong.leaf().is_none() && wrong.chain().is_empty());
        assert_eq!(wrong.leaf_der(), Some(&[0x30, 0][..]));
        assert_eq!(wrong.der(), [0x30, 0, 7]);
    }
}
