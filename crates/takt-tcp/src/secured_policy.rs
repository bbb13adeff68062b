//! The SecurityPolicies with signatures and encryption, on the primitives of `takt-crypto` (OPC 10000-6, 6.7; OPC 10000-7).

use std::sync::Arc;

use takt_crypto::{
    ApplicationSecurity, Certificate, CertificateError, ChannelKeys, KeyMaterial, KeyShare,
    OwnCertificate, PeerCertificate, PeerExpectations, PolicyProfile, PublicKey, SymmetricKeys,
    TrustList,
};
use takt_ua::enumerations::MessageSecurityMode;

use crate::authenticated::Authenticated;
use crate::key_log::LoggedKeys;
use crate::security::{
    AsymmetricSecurity, ChunkSecurity, Role, SecurityPolicy, SecuritySizes, TokenSecurity,
};
use crate::security_error::SecurityError;

/// Largest number of cipher text blocks in an `OPN` chunk. Each takes half a millisecond and more to decrypt, before the
/// sender is known; the longest sensible request takes half as many.
const MAX_BLOCKS: usize = 12;

/// A SecurityPolicy with the certificate, key and trust list of an application.
#[derive(Debug)]
pub struct SecuredPolicy {
    profile: &'static PolicyProfile,
    application: Arc<ApplicationSecurity>,
    peer: Peer,
}

/// The peers that the policy is for.
#[derive(Debug)]
enum Peer {
    Clients,
    Server {
        /// The certificate of the client: a channel keeps it, also if the files are replaced meanwhile. `None` if it has none
        /// with a key of the kind that the policy demands.
        own: Option<Arc<OwnCertificate>>,
        host: Option<String>,
        application_uri: Option<String>,
    },
}

impl SecuredPolicy {
    /// Creates the policy of a server.
    #[must_use]
    pub fn for_server(
        profile: &'static PolicyProfile,
        application: Arc<ApplicationSecurity>,
    ) -> Arc<dyn SecurityPolicy> {
        Arc::new(Self {
            profile,
            application,
            peer: Peer::Clients,
        })
    }

    /// Creates the policy of a client, whose server has to be `host` (`None` stands for any) and the application with this
    /// ApplicationUri.
    #[must_use]
    pub fn for_client(
        profile: &'static PolicyProfile,
        application: Arc<ApplicationSecurity>,
        host: Option<String>,
        application_uri: Option<String>,
    ) -> Arc<dyn SecurityPolicy> {
        Arc::new(Self {
            profile,
            peer: Peer::Server {
                own: application.identity_of(profile.key_kind()),
                host,
                application_uri,
            },
            application,
        })
    }

    fn derive(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Result<ChannelKeys, SecurityError> {
        let encrypts = mode == MessageSecurityMode::SignAndEncrypt;
        let is_client = role == Role::Client;
        ChannelKeys::derive(self.profile, own, peer_nonce, is_client, encrypts)
            .map_err(|_| SecurityError::KeyDerivation)
    }

    /// Returns the own certificate: that of which the peer has sent the thumbprint.
    fn own(&self, thumbprint: Option<&[u8]>) -> Result<Arc<OwnCertificate>, SecurityError> {
        let kind = self.profile.key_kind();
        match (&self.peer, thumbprint) {
            (Peer::Server { own, .. }, _) => own.clone().ok_or(SecurityError::OwnCertificate),
            (Peer::Clients, None) => {
                let own = self.application.identity_of(kind);
                own.ok_or(SecurityError::OwnCertificate)
            }
            // A certificate for another SecurityPolicy of this application is as wrong as an unknown one.
            (Peer::Clients, Some(thumbprint)) => {
                let own = self.application.identity_with(thumbprint);
                own.filter(|own| own.key().kind() == kind)
                    .ok_or(SecurityError::Thumbprint)
            }
        }
    }

    /// Returns the security of the `OPN` messages between this application and a peer.
    fn asymmetric_between(
        &self,
        own: &Arc<OwnCertificate>,
        peer: &Certificate,
    ) -> Result<AsymmetricSecurity, SecurityError> {
        let key = PublicKey::from_spki(&peer.public_key).map_err(|_| SecurityError::Cipher)?;
        let key = Arc::new(key);
        let chunks = |sends| {
            Box::new(Asymmetric {
                profile: self.profile,
                own: Arc::clone(own),
                peer: Arc::clone(&key),
                sends,
            })
        };
        Ok(AsymmetricSecurity {
            chunks: TokenSecurity {
                send: chunks(true),
                receive: chunks(false),
            },
            certificate: own.chain_der().to_vec(),
            peer_thumbprint: peer.thumbprint.0.to_vec(),
        })
    }

    fn expectations(&self) -> PeerExpectations<'_> {
        let (is_server, host, application_uri) = match &self.peer {
            Peer::Clients => (false, None, None),
            Peer::Server {
                host,
                application_uri,
                ..
            } => (true, host.as_deref(), application_uri.as_deref()),
        };
        PeerExpectations {
            profile: self.profile,
            is_server,
            host,
            application_uri,
        }
    }
}

impl SecurityPolicy for SecuredPolicy {
    fn uri(&self) -> &str {
        self.profile.uri
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        mode == MessageSecurityMode::Sign || mode == MessageSecurityMode::SignAndEncrypt
    }

    fn nonce_length(&self) -> usize {
        self.profile.nonce_length
    }

    fn legacy_sequence_numbers(&self) -> bool {
        self.profile.curve().is_none()
    }

    fn accept_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        Ok(self.application.accept_peer(peer, &self.expectations())?)
    }

    fn keep_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        Ok(self.application.keep_peer(peer, &self.expectations())?)
    }

    fn reconsider_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        let expected = self.expectations();
        Ok(self.application.reconsider_peer(peer, &expected)?)
    }

    fn asymmetric(
        &self,
        peer: &PeerCertificate,
        thumbprint: Option<&[u8]>,
    ) -> Result<AsymmetricSecurity, SecurityError> {
        let own = self.own(thumbprint)?;
        let peer = peer.leaf().ok_or(CertificateError::Structure)?;
        self.asymmetric_between(&own, peer)
    }

    fn trust_list(&self) -> Option<Arc<TrustList>> {
        Some(self.application.trust_list())
    }

    fn key_share(&self) -> Result<KeyShare, SecurityError> {
        KeyShare::generate(self.profile).map_err(|_| SecurityError::Random)
    }

    fn symmetric(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError> {
        let keys = self.derive(role, mode, own, peer_nonce)?;
        let encrypts = mode == MessageSecurityMode::SignAndEncrypt;
        let security = |keys: &KeyMaterial| -> Result<Box<dyn ChunkSecurity>, SecurityError> {
            let failed = |_| SecurityError::KeyDerivation;
            if self.profile.cipher.is_authenticated() {
                let key = keys.authenticated(encrypts).map_err(failed)?;
                return Ok(Box::new(Authenticated::new(key, encrypts)));
            }
            let keys = keys.symmetric(self.profile).map_err(failed)?;
            Ok(Box::new(Symmetric { keys, encrypts }))
        };
        let (client, server) = (security(&keys.client)?, security(&keys.server)?);
        Ok(match role {
            Role::Client => TokenSecurity {
                send: client,
                receive: server,
            },
            Role::Server => TokenSecurity {
                send: server,
                receive: client,
            },
        })
    }

    fn logged_keys(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Option<LoggedKeys> {
        if self.profile.cipher.is_authenticated() {
            return None;
        }
        let keys = self.derive(role, mode, own, peer_nonce).ok()?;
        // In mode Sign there is nothing to decrypt, and so no key for it.
        let encrypts = !keys.client.encrypting_key().is_empty();
        encrypts.then(|| LoggedKeys::new(self.profile, keys))
    }
}

/// Security of `OPN` chunks of one direction: signed with the sender's key and, with RSA, encrypted with the receiver's.
#[derive(Debug)]
struct Asymmetric {
    profile: &'static PolicyProfile,
    own: Arc<OwnCertificate>,
    peer: Arc<PublicKey>,
    sends: bool,
}

impl ChunkSecurity for Asymmetric {
    fn sizes(&self) -> SecuritySizes {
        // The sender's key signs and the receiver's key encrypts: their sizes may differ.
        let (own, peer) = (self.own.key().size(), self.peer.size());
        let (signature, cipher_block) = if self.sends { (own, peer) } else { (peer, own) };
        match self.profile.asymmetric_encryption() {
            Some(algorithm) => SecuritySizes {
                signature,
                // Positive: RSA keys have 2048 bits at least.
                plain_block: cipher_block - algorithm.overhead(),
                cipher_block,
            },
            None => SecuritySizes {
                signature,
                ..SecuritySizes::NONE
            },
        }
    }

    fn sign(&self, data: &[u8], signature: &mut [u8]) -> Result<(), SecurityError> {
        let algorithm = self.profile.asymmetric_signature;
        let signed = self.own.key().sign(algorithm, data, signature);
        signed.map_err(|_| SecurityError::Signature)
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), SecurityError> {
        let algorithm = self.profile.asymmetric_signature;
        let verified = self.peer.verify(algorithm, data, signature);
        verified.map_err(|_| SecurityError::Signature)
    }

    fn encrypt(&self, buffer: &mut [u8], plain: usize) -> Result<(), SecurityError> {
        let plain = buffer.get(..plain).ok_or(SecurityError::Length)?;
        let algorithm = self.profile.asymmetric_encryption();
        let algorithm = algorithm.ok_or(SecurityError::Cipher)?;
        let encrypted = self.peer.encrypt(algorithm, plain);
        let encrypted = encrypted.map_err(|_| SecurityError::Cipher)?;
        if encrypted.len() != buffer.len() {
            return Err(SecurityError::Length);
        }
        buffer.copy_from_slice(&encrypted);
        Ok(())
    }

    fn decrypt(&self, buffer: &mut [u8]) -> Result<usize, SecurityError> {
        let key = self.own.key();
        if buffer.len() > MAX_BLOCKS * key.size() {
            return Err(SecurityError::Length);
        }
        let algorithm = self.profile.asymmetric_encryption();
        let algorithm = algorithm.ok_or(SecurityError::Cipher)?;
        let decrypted = key.decrypt(algorithm, buffer);
        decrypted.map_err(|_| SecurityError::Cipher)
    }
}

/// Security of `MSG` and `CLO` chunks of one direction under one token. Nothing here allocates.
#[derive(Debug)]
struct Symmetric {
    keys: SymmetricKeys,
    encrypts: bool,
}

impl ChunkSecurity for Symmetric {
    fn sizes(&self) -> SecuritySizes {
        // AES, the cipher of all these policies, has blocks of 16 bytes.
        let block = if self.encrypts { 16 } else { 1 };
        SecuritySizes {
            signature: self.keys.signature_length(),
            plain_block: block,
            cipher_block: block,
        }
    }

    fn sign(&self, data: &[u8], signature: &mut [u8]) -> Result<(), SecurityError> {
        let signed = self.keys.sign(data, signature);
        signed.map_err(|_| SecurityError::Length)
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), SecurityError> {
        let verified = self.keys.verify(data, signature);
        verified.map_err(|_| SecurityError::Signature)
    }

    fn encrypt(&self, buffer: &mut [u8], plain: usize) -> Result<(), SecurityError> {
        if plain != buffer.len() {
            return Err(SecurityError::Length);
        }
        let encrypted = self.keys.encrypt(buffer);
        encrypted.map_err(|_| SecurityError::Cipher)
    }

    fn decrypt(&self, buffer: &mut [u8]) -> Result<usize, SecurityError> {
        let decrypted = self.keys.decrypt(buffer);
        decrypted.map_err(|_| SecurityError::Cipher)?;
        Ok(buffer.len())
    }
}
