//! What a SecurityPolicy adds to a SecureChannel, and the one that adds nothing (OPC 10000-6 6.1, 6.7.2 and
//! 6.7.5; OPC 10000-7 for the policies themselves).
//!
//! A [`SecurityPolicy`] makes [`ChunkSecurity`] objects: one for the `OPN` messages of a peer (asymmetric), and a
//! pair for each security token (symmetric). A [`ChunkSecurity`] knows sizes and can sign, verify, encrypt and decrypt;
//! where in a chunk that happens is the same for all policies and lives in its provided methods `seal` and `open`.
//! A policy with authenticated encryption replaces those two.

use std::fmt;
use std::sync::Arc;

use takt_ua::enumerations::MessageSecurityMode;

use crate::chunk::SEQUENCE_HEADER_SIZE;

/// The URI of SecurityPolicy None.
pub const SECURITY_POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// The most bytes of a SecurityPolicyUri (OPC 10000-6 Table 58).
pub const MAX_SECURITY_POLICY_URI_LENGTH: usize = 255;

/// A security check failed. What exactly stays in the log: the peer is told only that it failed (6.7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecurityError {
    /// The chunk is shorter than signature and padding, or not a multiple of the cipher's block.
    #[error("a chunk is too short for its signature and padding")]
    Length,
    /// The padding bytes are not what they must be.
    #[error("the padding of a chunk is wrong")]
    Padding,
    /// The signature does not fit the bytes.
    #[error("the signature of a chunk is wrong")]
    Signature,
    /// The cipher failed.
    #[error("a chunk cannot be encrypted or decrypted")]
    Cipher,
    /// The peer's certificate or its thumbprint of ours is not acceptable.
    #[error("a certificate or certificate thumbprint is not acceptable")]
    Certificate,
    /// Keys cannot be made from the nonces.
    #[error("no keys can be derived")]
    KeyDerivation,
    /// The system gave no random numbers for a nonce.
    #[error("the system has no random numbers")]
    Random,
}

/// How much room a [`ChunkSecurity`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecuritySizes {
    /// Bytes of a signature; 0 when nothing is signed.
    pub signature: usize,
    /// Bytes that the cipher takes at a time; 1 when nothing is encrypted.
    pub plain_block: usize,
    /// Bytes that come out of the cipher for each `plain_block`; 1 when nothing is encrypted.
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

    /// Bytes of the padding's own length: one more for keys above 2048 bits (OPC 10000-6 Table 61).
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
    /// How much room signature and padding take.
    fn sizes(&self) -> SecuritySizes;

    /// Fills `signature` ([`SecuritySizes::signature`] bytes) with the signature of `data`.
    ///
    /// # Errors
    /// [`SecurityError::Signature`] when the keys do not allow it.
    fn sign(&self, data: &[u8], signature: &mut [u8]) -> Result<(), SecurityError>;

    /// Checks `signature` over `data`, in constant time.
    ///
    /// # Errors
    /// [`SecurityError::Signature`].
    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), SecurityError>;

    /// Encrypts in place: the first `plain` bytes of `buffer`, whole plain blocks, become as many cipher blocks, which
    /// fill it.
    ///
    /// # Errors
    /// [`SecurityError::Cipher`].
    fn encrypt(&self, buffer: &mut [u8], plain: usize) -> Result<(), SecurityError>;

    /// Decrypts in place whole cipher blocks; returns how many bytes at the front of `buffer` are plain text.
    ///
    /// # Errors
    /// [`SecurityError::Cipher`].
    fn decrypt(&self, buffer: &mut [u8]) -> Result<usize, SecurityError>;

    /// The most bytes of body that fit a chunk of `chunk_size` bytes whose encryption begins at `header`
    /// (the end of the security header). Zero if not even the headers fit.
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

    /// Bytes of the finished chunk for `body` bytes of body.
    fn sealed_size(&self, header: usize, body: usize) -> usize {
        let sizes = self.sizes();
        let plain = SEQUENCE_HEADER_SIZE + body + sizes.padding_size_bytes() + sizes.signature;
        if sizes.encrypts() {
            header + plain.div_ceil(sizes.plain_block) * sizes.cipher_block
        } else {
            header + plain
        }
    }

    /// Completes a chunk: `chunk` has [`sealed_size`](Self::sealed_size) bytes, of which headers and `body` bytes of body are
    /// written. Adds padding and signature, then encrypts (OPC 10000-6 6.7.2.5).
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
            let padding = header + plain - sizes.signature - size_bytes - end;
            // The low byte of the count is also what the padding consists of.
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

    /// Undoes [`seal`](Self::seal) on a whole chunk and returns where its body ends.
    ///
    /// # Errors
    /// Any [`SecurityError`]; the chunk is not to be looked at then.
    fn open(&self, chunk: &mut [u8], header: usize) -> Result<usize, SecurityError> {
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
    /// Secures what is sent.
    pub send: Box<dyn ChunkSecurity>,
    /// Checks what is received.
    pub receive: Box<dyn ChunkSecurity>,
}

/// Who derives keys: client and server use the same two sets the other way round (OPC 10000-6 6.7.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The one that sends OpenSecureChannel.
    Client,
    /// The one that answers it.
    Server,
}

/// A set of algorithms, with this application's own certificate and key where it needs them.
pub trait SecurityPolicy: Send + Sync + fmt::Debug {
    /// Its URI, as sent in the asymmetric security header.
    fn uri(&self) -> &str;

    /// Whether `mode` goes with it.
    fn allows(&self, mode: MessageSecurityMode) -> bool;

    /// Bytes of the nonces in OpenSecureChannel: SecureChannelNonceLength. Zero for none.
    fn nonce_length(&self) -> usize;

    /// LegacySequenceNumbers (OPC 10000-6 6.7.2.4): true for None and the RSA policies.
    fn legacy_sequence_numbers(&self) -> bool {
        true
    }

    /// This application's certificate chain (DER), sent as SenderCertificate; empty for none.
    fn certificate(&self) -> &[u8];

    /// SHA-1 of `peer_certificate`'s leaf, sent as ReceiverCertificateThumbprint; empty for none.
    fn thumbprint(&self, peer_certificate: &[u8]) -> Vec<u8>;

    /// Checks the peer's certificate and its thumbprint of ours, and gives the security of the `OPN` messages exchanged
    /// with it. `thumbprint` is `None` before the peer has sent one (a client's first message).
    ///
    /// # Errors
    /// [`SecurityError::Certificate`].
    fn asymmetric(
        &self,
        peer_certificate: &[u8],
        thumbprint: Option<&[u8]>,
    ) -> Result<TokenSecurity, SecurityError>;

    /// Derives the keys of a token.
    ///
    /// # Errors
    /// [`SecurityError::KeyDerivation`].
    fn symmetric(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        client_nonce: &[u8],
        server_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError>;
}

/// SecurityPolicy None: no signature, no encryption; whoever can connect, can do everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecurity;

impl NoSecurity {
    /// The policy as configurations take it.
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

    fn certificate(&self) -> &[u8] {
        &[]
    }

    fn thumbprint(&self, _peer_certificate: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    // OPC 10000-4 5.6.2.2: with None, a certificate is ignored.
    fn asymmetric(
        &self,
        _peer_certificate: &[u8],
        _thumbprint: Option<&[u8]>,
    ) -> Result<TokenSecurity, SecurityError> {
        Ok(Self::token())
    }

    fn symmetric(
        &self,
        _role: Role,
        _mode: MessageSecurityMode,
        _client_nonce: &[u8],
        _server_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError> {
        Ok(Self::token())
    }
}
