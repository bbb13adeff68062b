//! SecurityPolicies: what they add to a SecureChannel, and SecurityPolicy None, which adds nothing (OPC 10000-6, 6.1,
//! 6.7.2 and 6.7.5; OPC 10000-7 for the policies themselves).
//!
//! A [`SecurityPolicy`] creates [`ChunkSecurity`] objects: one for the `OPN` messages of a peer (asymmetric), and a
//! pair for each security token (symmetric). A [`ChunkSecurity`] knows sizes and can sign, verify, encrypt and
//! decrypt; the places in a chunk are the same for all policies and are implemented by its provided methods `seal`
//! and `open`. A policy with authenticated encryption replaces those two.

use std::fmt;
use std::sync::Arc;

use takt_crypto::{KeyShare, PeerCertificate, TrustList};
use takt_ua::SECURITY_POLICY_NONE;
use takt_ua::enumerations::MessageSecurityMode;

use crate::chunk::SEQUENCE_HEADER_SIZE;
use crate::key_log::LoggedKeys;
use crate::security_error::SecurityError;

/// Largest length in bytes of a SecurityPolicyUri (OPC 10000-6, Table 58).
pub const MAX_SECURITY_POLICY_URI_LENGTH: usize = 255;

/// Sizes of the signature and of the cipher's blocks of a [`ChunkSecurity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecuritySizes {
    /// Length of a signature in bytes; 0 if nothing is signed.
    pub signature: usize,
    /// Size of a plain text block in bytes; 1 if nothing is encrypted.
    pub plain_block: usize,
    /// Size of the cipher text for each `plain_block`, in bytes; 1 if nothing is encrypted.
    pub cipher_block: usize,
}

impl SecuritySizes {
    /// Neither signature nor encryption.
    pub const NONE: Self = Self {
        signature: 0,
        plain_block: 1,
        cipher_block: 1,
    };

    const fn encrypts(self) -> bool {
        self.cipher_block > 1
    }

    /// Returns the number of bytes that hold the length of the padding: two for keys above 2048 bits (OPC 10000-6,
    /// Table 61).
    const fn padding_size_bytes(self) -> usize {
        match self.cipher_block {
            0..=1 => 0,
            2..=256 => 1,
            _ => 2,
        }
    }
}

/// Secures the chunks of one direction under one set of keys.
pub trait ChunkSecurity: Send + Sync + fmt::Debug {
    /// Returns the sizes of signature and blocks.
    fn sizes(&self) -> SecuritySizes;

    /// Fills `signature` ([`SecuritySizes::signature`] bytes) with the signature of `data`.
    ///
    /// # Errors
    /// [`SecurityError::Signature`] if the keys do not allow it.
    fn sign(&self, data: &[u8], signature: &mut [u8]) -> Result<(), SecurityError>;

    /// Checks `signature` over `data`, in constant time.
    ///
    /// # Errors
    /// [`SecurityError::Signature`].
    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), SecurityError>;

    /// Encrypts in place. The first `plain` bytes of `buffer`, which are whole plain blocks, become as many cipher
    /// blocks, which fill the buffer.
    ///
    /// # Errors
    /// [`SecurityError::Cipher`].
    fn encrypt(&self, buffer: &mut [u8], plain: usize) -> Result<(), SecurityError>;

    /// Decrypts whole cipher blocks in place; returns the number of bytes of plain text at the front of `buffer`.
    ///
    /// # Errors
    /// [`SecurityError::Cipher`].
    fn decrypt(&self, buffer: &mut [u8]) -> Result<usize, SecurityError>;

    /// Returns the largest number of body bytes that fit a chunk of `chunk_size` bytes whose encryption begins at
    /// `header` (the end of the security header). Returns 0 if the headers do not fit.
    fn max_body(&self, header: usize, chunk_size: usize) -> usize {
        let sizes = self.sizes();
        let room = chunk_size.saturating_sub(header);
        let plain = if sizes.encrypts() {
            room / sizes.cipher_block * sizes.plain_block
        } else {
            room
        };
        plain.saturating_sub(SEQUENCE_HEADER_SIZE + sizes.padding_size_bytes() + sizes.signature)
    }

    /// Returns the size in bytes of the finished chunk for a body of `body` bytes.
    fn sealed_size(&self, header: usize, body: usize) -> usize {
        let sizes = self.sizes();
        let plain = SEQUENCE_HEADER_SIZE + body + sizes.padding_size_bytes() + sizes.signature;
        if sizes.encrypts() {
            header + plain.div_ceil(sizes.plain_block) * sizes.cipher_block
        } else {
            header + plain
        }
    }

    /// Completes a chunk: `chunk` has [`sealed_size`](Self::sealed_size) bytes, of which headers and `body` bytes of
    /// body are written. Adds padding and signature, then encrypts (OPC 10000-6, 6.7.2.5).
    ///
    /// # Errors
    /// Those of [`sign`](Self::sign) and [`encrypt`](Self::encrypt), [`SecurityError::Length`] for a wrong size.
    fn seal(&self, chunk: &mut [u8], header: usize, body: usize) -> Result<(), SecurityError> {
        let sizes = self.sizes();
        let mut end = header + SEQUENCE_HEADER_SIZE + body;
        if chunk.len() != self.sealed_size(header, body) {
            return Err(SecurityError::Length);
        }
        let mut plain = chunk.len() - header;
        if sizes.encrypts() {
            let size_bytes = sizes.padding_size_bytes();
            plain = plain / sizes.cipher_block * sizes.plain_block;
            // Not negative: `sealed_size` has rounded up to whole blocks.
            let padding = header + plain - sizes.signature - size_bytes - end;
            // Each padding byte has the value of the count's low byte.
            let [low, high] = u16::try_from(padding)
                .map_err(|_| SecurityError::Padding)?
                .to_le_bytes();
            chunk[end..=end + padding].fill(low);
            end += 1 + padding;
            if size_bytes == 2 {
                chunk[end] = high;
                end += 1;
            }
        }
        let (data, rest) = chunk.split_at_mut(end);
        if sizes.signature > 0 {
            let signature = rest
                .get_mut(..sizes.signature)
                .ok_or(SecurityError::Length)?;
            self.sign(data, signature)?;
        }
        if sizes.encrypts() {
            self.encrypt(&mut chunk[header..], plain)?;
        }
        Ok(())
    }

    /// Undoes [`seal`](Self::seal) on a whole chunk and returns the end of its body. `last_sequence_number` is that of the chunk
    /// received before, which only policies with authenticated encryption need.
    ///
    /// # Errors
    /// Any [`SecurityError`]; the chunk must not be used then.
    fn open(
        &self,
        chunk: &mut [u8],
        header: usize,
        last_sequence_number: u32,
    ) -> Result<usize, SecurityError> {
        let _ = last_sequence_number;
        let sizes = self.sizes();
        let mut end = chunk.len();
        if sizes.encrypts() {
            let cipher = chunk.get_mut(header..).ok_or(SecurityError::Length)?;
            if cipher.is_empty() || !cipher.len().is_multiple_of(sizes.cipher_block) {
                return Err(SecurityError::Length);
            }
            end = header + self.decrypt(cipher)?;
        }
        let body = header + SEQUENCE_HEADER_SIZE;
        if end > chunk.len() || end < body + sizes.signature + sizes.padding_size_bytes() {
            return Err(SecurityError::Length);
        }
        end -= sizes.signature;
        if sizes.signature > 0 {
            self.verify(&chunk[..end], &chunk[end..end + sizes.signature])?;
        }
        // After the signature only, so that nobody learns from errors about the padding.
        match sizes.padding_size_bytes() {
            0 => {}
            size_bytes => {
                let mut padding = 0;
                if size_bytes == 2 {
                    end -= 1;
                    padding = usize::from(chunk[end]) << 8;
                }
                // The last padding byte repeats the low byte of the count, which stands before the first.
                let low = chunk[end - 1];
                padding |= usize::from(low);
                let start = end
                    .checked_sub(1 + padding)
                    .filter(|&start| start >= body)
                    .ok_or(SecurityError::Padding)?;
                if chunk[start..end].iter().any(|&byte| byte != low) {
                    return Err(SecurityError::Padding);
                }
                end = start;
            }
        }
        Ok(end)
    }
}

/// The two directions of a security token.
#[derive(Debug)]
pub struct TokenSecurity {
    /// Security of sent chunks.
    pub send: Box<dyn ChunkSecurity>,
    /// Security of received chunks.
    pub receive: Box<dyn ChunkSecurity>,
}

/// Security of the `OPN` messages that are exchanged with a peer.
#[derive(Debug)]
pub struct AsymmetricSecurity {
    /// Security of sent and received chunks.
    pub chunks: TokenSecurity,
    /// This application's certificate, followed by those of its issuers (DER), sent as SenderCertificate; empty if there
    /// is none.
    pub certificate: Vec<u8>,
    /// SHA-1 thumbprint of the peer's certificate, sent as ReceiverCertificateThumbprint; empty if there is none.
    pub peer_thumbprint: Vec<u8>,
}

/// Side that derives keys: client and server use the same two sets in reversed roles (OPC 10000-6, 6.7.6 and 6.8.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The sender of OpenSecureChannel requests.
    Client,
    /// The receiver of OpenSecureChannel requests.
    Server,
}

/// A set of algorithms, with this application's own certificate and key if it needs them.
///
/// A policy decides twice for a peer: [before a channel opens](Self::accept_peer), and [while it lives](Self::keep_peer). Neither
/// decision has a default, so that none can be forgotten:
///
/// ```compile_fail,E0046
/// # use takt_crypto::{KeyShare, PeerCertificate};
/// # use takt_tcp::{AsymmetricSecurity, Role, SecurityError, SecurityPolicy, TokenSecurity};
/// # use takt_ua::enumerations::MessageSecurityMode;
/// # #[derive(Debug)]
/// # struct Policy;
/// impl SecurityPolicy for Policy {
///     fn accept_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
///         # let _ = peer;
///         Ok(())
///     }
///     // `keep_peer` is missing.
/// #   fn uri(&self) -> &str { "urn:policy" }
/// #   fn allows(&self, _: MessageSecurityMode) -> bool { true }
/// #   fn nonce_length(&self) -> usize { 0 }
/// #   fn asymmetric(&self, _: &PeerCertificate, _: Option<&[u8]>) -> Result<AsymmetricSecurity, SecurityError> { todo!() }
/// #   fn symmetric(&self, _: Role, _: MessageSecurityMode, _: &KeyShare, _: &[u8]) -> Result<TokenSecurity, SecurityError> { todo!() }
/// }
/// ```
pub trait SecurityPolicy: Send + Sync + fmt::Debug {
    /// Returns the URI, as sent in the asymmetric security header.
    fn uri(&self) -> &str;

    /// Returns whether the policy allows `mode`.
    fn allows(&self, mode: MessageSecurityMode) -> bool;

    /// Returns the SecureChannelNonceLength: the length in bytes of the nonces in OpenSecureChannel. 0 stands for no
    /// nonces.
    fn nonce_length(&self) -> usize;

    /// Returns LegacySequenceNumbers (OPC 10000-6, 6.7.2.4): true for None and the RSA policies.
    fn legacy_sequence_numbers(&self) -> bool {
        true
    }

    /// Decides whether a channel may be opened with this peer.
    ///
    /// # Errors
    /// [`SecurityError::Certificate`]: the channel is not opened.
    fn accept_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError>;

    /// Decides whether the token of the channel with this peer may be renewed.
    ///
    /// # Errors
    /// [`SecurityError::Certificate`]: the channel ends.
    fn keep_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError>;

    /// Decides whether the open channel with this peer may live on after a change of the [trust list](Self::trust_list). Validity in
    /// time need not be judged here: renewals judge it, and a change of the list says nothing about it.
    ///
    /// # Errors
    /// [`SecurityError::Certificate`]: the channel ends.
    fn reconsider_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        self.keep_peer(peer)
    }

    /// Returns the security of the `OPN` messages that are exchanged with a peer for which the policy has decided. `thumbprint` is
    /// what the peer has sent of the own certificate, `None` before it has sent one (a client's first message).
    ///
    /// # Errors
    /// [`SecurityError::Thumbprint`], [`SecurityError::OwnCertificate`] and [`SecurityError::Cipher`].
    fn asymmetric(
        &self,
        peer: &PeerCertificate,
        thumbprint: Option<&[u8]>,
    ) -> Result<AsymmetricSecurity, SecurityError>;

    /// Returns the trust list as it is now; `None` for policies without certificates. It is another object if it has changed.
    fn trust_list(&self) -> Option<Arc<TrustList>> {
        None
    }

    /// Creates the own part in the keys of a new token: its nonce is as long as [`nonce_length`](Self::nonce_length) says.
    ///
    /// # Errors
    /// [`SecurityError::Random`].
    fn key_share(&self) -> Result<KeyShare, SecurityError> {
        let mut nonce = vec![0; self.nonce_length()];
        if !nonce.is_empty() {
            getrandom::fill(&mut nonce).map_err(|_| SecurityError::Random)?;
        }
        Ok(KeyShare::from_nonce(nonce))
    }

    /// Derives the keys of a token from the own part and the nonce of the peer.
    ///
    /// # Errors
    /// [`SecurityError::KeyDerivation`].
    fn symmetric(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError>;

    /// Returns the keys of a token for a [`KeyLog`](crate::KeyLog); `None` for policies that encrypt nothing, and for
    /// authenticated encryption, for which the file has no form.
    fn logged_keys(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Option<LoggedKeys> {
        let _ = (role, mode, own, peer_nonce);
        None
    }
}

/// SecurityPolicy None: no signature and no encryption; every client that can connect has all rights.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecurity;

impl NoSecurity {
    /// Returns the policy in the form that configurations take.
    #[must_use]
    pub fn policy() -> Arc<dyn SecurityPolicy> {
        Arc::new(Self)
    }

    fn token() -> TokenSecurity {
        // Boxes of a type without fields take no memory.
        TokenSecurity {
            send: Box::new(Self),
            receive: Box::new(Self),
        }
    }
}

impl ChunkSecurity for NoSecurity {
    fn sizes(&self) -> SecuritySizes {
        SecuritySizes::NONE
    }

    fn sign(&self, _data: &[u8], _signature: &mut [u8]) -> Result<(), SecurityError> {
        Ok(())
    }

    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), SecurityError> {
        Ok(())
    }

    fn encrypt(&self, _buffer: &mut [u8], _plain: usize) -> Result<(), SecurityError> {
        Ok(())
    }

    fn decrypt(&self, buffer: &mut [u8]) -> Result<usize, SecurityError> {
        Ok(buffer.len())
    }
}

impl SecurityPolicy for NoSecurity {
    fn uri(&self) -> &str {
        SECURITY_POLICY_NONE
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        mode == MessageSecurityMode::None
    }

    fn nonce_length(&self) -> usize {
        0
    }

    // Every client that can connect has all rights.
    fn accept_peer(&self, _peer: &PeerCertificate) -> Result<(), SecurityError> {
        Ok(())
    }

    fn keep_peer(&self, _peer: &PeerCertificate) -> Result<(), SecurityError> {
        Ok(())
    }

    fn asymmetric(
        &self,
        _peer: &PeerCertificate,
        _thumbprint: Option<&[u8]>,
    ) -> Result<AsymmetricSecurity, SecurityError> {
        Ok(AsymmetricSecurity {
            chunks: Self::token(),
            certificate: Vec::new(),
            peer_thumbprint: Vec::new(),
        })
    }

    fn symmetric(
        &self,
        _role: Role,
        _mode: MessageSecurityMode,
        _own: &KeyShare,
        _peer_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError> {
        Ok(Self::token())
    }
}
