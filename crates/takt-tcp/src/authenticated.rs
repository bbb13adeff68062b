//! Security of messages with authenticated encryption: one operation signs and encrypts (OPC 10000-6, 6.7.2 and 6.8.1).

use std::sync::atomic::{AtomicU64, Ordering};

use takt_crypto::{AuthenticatedKey, NonceMask, TAG_LENGTH};

use crate::chunk::{self, SEQUENCE_HEADER_SIZE, SYMMETRIC_HEADER_SIZE, SequenceHeader};
use crate::security::{ChunkSecurity, SecuritySizes};
use crate::security_error::SecurityError;

/// Number of chunks after which SequenceNumbers, and so nonces, repeat.
const MAX_CHUNKS: u64 = 1 << 32;

/// Security of `MSG` and `CLO` chunks of one direction under one token. Nothing here allocates.
///
/// In mode SignAndEncrypt everything behind the security header is encrypted, and the headers are signed as well. In mode Sign the
/// whole chunk is only signed. There is no padding.
#[derive(Debug)]
pub(crate) struct Authenticated {
    key: AuthenticatedKey,
    encrypts: bool,
    /// Number of sealed chunks.
    sealed: AtomicU64,
}

impl Authenticated {
    pub(crate) const fn new(key: AuthenticatedKey, encrypts: bool) -> Self {
        Self {
            key,
            encrypts,
            sealed: AtomicU64::new(0),
        }
    }

    /// Returns where the signed and the encrypted part of a chunk end: the tag follows.
    fn parts(&self, chunk: &[u8], header: usize) -> Result<(usize, usize), SecurityError> {
        let end = chunk.len().checked_sub(TAG_LENGTH);
        let end = end.filter(|end| *end >= header + SEQUENCE_HEADER_SIZE);
        let end = end.ok_or(SecurityError::Length)?;
        // The TokenId is part of the nonce, and only symmetric chunks have one.
        if header != SYMMETRIC_HEADER_SIZE {
            return Err(SecurityError::Length);
        }
        Ok((if self.encrypts { header } else { end }, end))
    }
}

impl ChunkSecurity for Authenticated {
    fn sizes(&self) -> SecuritySizes {
        SecuritySizes {
            signature: TAG_LENGTH,
            ..SecuritySizes::NONE
        }
    }

    // `seal` and `open` do not use the following four.

    fn sign(&self, _data: &[u8], _signature: &mut [u8]) -> Result<(), SecurityError> {
        Err(SecurityError::Signature)
    }

    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), SecurityError> {
        Err(SecurityError::Signature)
    }

    fn encrypt(&self, _buffer: &mut [u8], _plain: usize) -> Result<(), SecurityError> {
        Err(SecurityError::Cipher)
    }

    fn decrypt(&self, _buffer: &mut [u8]) -> Result<usize, SecurityError> {
        Err(SecurityError::Cipher)
    }

    fn seal(&self, chunk: &mut [u8], header: usize, body: usize) -> Result<(), SecurityError> {
        if chunk.len() != self.sealed_size(header, body) {
            return Err(SecurityError::Length);
        }
        // A second chunk under the same nonce would reveal both.
        // It is atomic only because `seal` takes `&self`: chunks of one direction are sealed one after the other.
        if self.sealed.fetch_add(1, Ordering::Relaxed) >= MAX_CHUNKS {
            return Err(SecurityError::Cipher);
        }
        let (signed, end) = self.parts(chunk, header)?;
        let sequence = SequenceHeader::parse(chunk, header).ok_or(SecurityError::Length)?;
        let mask = NonceMask {
            token_id: chunk::token_id(chunk),
            // The first number, 0, is that of an `OPN` chunk, so there is always a chunk before.
            last_sequence_number: sequence.sequence_number.wrapping_sub(1),
        };
        let (signed, rest) = chunk.split_at_mut(signed);
        let (text, tag) = rest.split_at_mut(end - signed.len());
        let sealed = self.key.seal(mask, signed, text);
        tag.copy_from_slice(&sealed.map_err(|_| SecurityError::Cipher)?);
        Ok(())
    }

    fn open(
        &self,
        chunk: &mut [u8],
        header: usize,
        last_sequence_number: u32,
    ) -> Result<usize, SecurityError> {
        let (signed, end) = self.parts(chunk, header)?;
        // The chunk's own number may be encrypted, so the nonce depends on the number before it.
        let mask = NonceMask {
            token_id: chunk::token_id(chunk),
            last_sequence_number,
        };
        let (signed, rest) = chunk.split_at_mut(signed);
        let (text, tag) = rest.split_at_mut(end - signed.len());
        let opened = self.key.open(mask, signed, text, tag);
        opened.map_err(|_| SecurityError::Signature)?;
        Ok(end)
    }
}
