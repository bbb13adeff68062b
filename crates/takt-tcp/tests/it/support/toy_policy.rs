//! A SecurityPolicy with signatures, padding, a cipher that makes blocks longer, nonces and certificates: all that a
//! real one requires of the channel, but no protection.

use takt_crypto::{CertificateError, KeyShare, PeerCertificate};
use takt_tcp::{
    AsymmetricSecurity, ChunkSecurity, Role, SecurityError, SecurityPolicy, SecuritySizes,
    TokenSecurity,
};
use takt_ua::enumerations::MessageSecurityMode;

/// Certificate of all peers.
pub(crate) const CERTIFICATE: &[u8] = b"a certificate";

#[derive(Debug)]
pub(crate) struct ToyPolicy {
    /// Sizes of a plain text block and of its cipher text, in bytes.
    pub(crate) blocks: (usize, usize),
    pub(crate) legacy: bool,
}

#[derive(Debug)]
struct Toy {
    key: u8,
    signs: bool,
    blocks: (usize, usize),
}

impl Toy {
    fn sum(&self, data: &[u8]) -> [u8; 4] {
        let start = u32::from(self.key);
        let sum = data
            .iter()
            .fold(start, |sum, &byte| sum.rotate_left(5) ^ u32::from(byte));
        sum.to_le_bytes()
    }
}

impl ChunkSecurity for Toy {
    fn sizes(&self) -> SecuritySizes {
        SecuritySizes {
            signature: if self.signs { 4 } else { 0 },
            plain_block: self.blocks.0,
            cipher_block: self.blocks.1,
        }
    }

    fn sign(&self, data: &[u8], signature: &mut [u8]) -> Result<(), SecurityError> {
        signature.copy_from_slice(&self.sum(data));
        Ok(())
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), SecurityError> {
        if signature == self.sum(data) {
            Ok(())
        } else {
            Err(SecurityError::Signature)
        }
    }

    fn encrypt(&self, buffer: &mut [u8], plain: usize) -> Result<(), SecurityError> {
        let (from, to) = self.blocks;
        assert_eq!(plain % from, 0);
        assert_eq!(buffer.len(), plain / from * to);
        for block in (0..plain / from).rev() {
            buffer.copy_within(block * from..(block + 1) * from, block * to);
            let (text, rest) = buffer[block * to..(block + 1) * to].split_at_mut(from);
            text.iter_mut().for_each(|byte| *byte ^= self.key);
            rest.fill(self.key);
        }
        Ok(())
    }

    fn decrypt(&self, buffer: &mut [u8]) -> Result<usize, SecurityError> {
        let (from, to) = self.blocks;
        let blocks = buffer.len() / to;
        for block in 0..blocks {
            let (text, rest) = buffer[block * to..(block + 1) * to].split_at_mut(from);
            if rest.iter().any(|&byte| byte != self.key) {
                return Err(SecurityError::Cipher);
            }
            text.iter_mut().for_each(|byte| *byte ^= self.key);
            buffer.copy_within(block * to..block * to + from, block * from);
        }
        Ok(blocks * from)
    }
}

impl SecurityPolicy for ToyPolicy {
    fn uri(&self) -> &str {
        "urn:toy"
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        mode == MessageSecurityMode::Sign || mode == MessageSecurityMode::SignAndEncrypt
    }

    fn nonce_length(&self) -> usize {
        8
    }

    fn legacy_sequence_numbers(&self) -> bool {
        self.legacy
    }

    fn accept_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        match peer.der() {
            CERTIFICATE => Ok(()),
            _ => Err(CertificateError::Untrusted.into()),
        }
    }

    fn keep_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        self.accept_peer(peer)
    }

    fn asymmetric(
        &self,
        _: &PeerCertificate,
        thumbprint: Option<&[u8]>,
    ) -> Result<AsymmetricSecurity, SecurityError> {
        let own: Vec<u8> = CERTIFICATE.iter().rev().copied().collect();
        if thumbprint.is_some_and(|print| print != own) {
            return Err(SecurityError::Thumbprint);
        }
        let toy = || {
            Box::new(Toy {
                key: 0x55,
                signs: true,
                blocks: self.blocks,
            })
        };
        Ok(AsymmetricSecurity {
            chunks: TokenSecurity {
                send: toy(),
                receive: toy(),
            },
            certificate: CERTIFICATE.to_vec(),
            peer_thumbprint: own,
        })
    }

    fn symmetric(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError> {
        let encrypts = mode == MessageSecurityMode::SignAndEncrypt;
        let toy = |nonce: &[u8]| {
            Box::new(Toy {
                key: nonce.iter().fold(0, |sum, byte| sum ^ byte),
                signs: true,
                blocks: if encrypts { self.blocks } else { (1, 1) },
            })
        };
        let _ = role;
        Ok(TokenSecurity {
            send: toy(own.nonce()),
            receive: toy(peer_nonce),
        })
    }
}
