//! Verification of a message by a Subscriber, before it reads the payload.

use std::hash::BuildHasher;
use std::time::Instant;

use foldhash::fast::RandomState;
use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::{NetworkMessageRef, SecurityHeaderRef, WireError};

use super::key_ring::KeyRing;
use super::policy::{MESSAGE_NONCE_LENGTH, SIGNATURE_LENGTH, SecurityModeError, encrypts};
use super::replay::{Replay, ReplayLimits, ReplayWindows};

/// Reason why a message was refused. Its content must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The headers are wrong, or the message is too short for its signature.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The message is not signed or not encrypted, but the Subscriber is configured for it.
    #[error("the message is less protected than SecurityMode {0:?} requires")]
    SecurityModeTooLow(MessageSecurityMode),
    /// The MessageNonce has another length than that of the SecurityPolicies (OPC 10000-14, 7.2.4.4.3.2).
    #[error("the MessageNonce has {0} bytes; the SecurityPolicy requires 8")]
    MessageNonce(usize),
    /// There is no key with this SecurityTokenId, or it is not accepted any more. See [`KeyRing::unknown_token`].
    #[error("no key with SecurityTokenId {0} is known, or it has expired")]
    UnknownToken(u32),
    /// The message was made or changed without the key.
    #[error("the signature is wrong")]
    Signature,
    /// The message is authentic, but it was received before, or this cannot be checked.
    #[error(transparent)]
    Replay(#[from] Replay),
}

/// Verified message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// SecurityTokenId of the key.
    pub security_token_id: u32,
    /// True if all keys become invalid soon: request new ones from the SecurityKeyService.
    pub force_key_reset: bool,
}

/// Verifier that verifies and decrypts messages for a Subscriber, in place. It allocates nothing after its creation.
///
/// It remembers received messages: use the same verifier for as long as keys are the same.
#[derive(Debug)]
pub struct MessageVerifier {
    mode: MessageSecurityMode,
    encrypted: bool,
    windows: ReplayWindows,
    fingerprints: RandomState,
}

impl MessageVerifier {
    /// Creates a verifier that accepts messages with at least the protection of this SecurityMode.
    pub fn new(mode: MessageSecurityMode) -> Result<Self, SecurityModeError> {
        Self::with_limits(mode, ReplayLimits::default())
    }

    /// Creates a verifier with other limits.
    pub fn with_limits(
        mode: MessageSecurityMode,
        limits: ReplayLimits,
    ) -> Result<Self, SecurityModeError> {
        Ok(Self {
            mode,
            encrypted: encrypts(mode)?,
            windows: ReplayWindows::new(limits),
            // The hash has a random key, so nobody can choose PublisherIds with the same fingerprint.
            fingerprints: RandomState::default(),
        })
    }

    /// Verifies the signature, refuses replayed messages, and decrypts. After that the message can be read with a
    /// [`signature_length`](takt_wire::PayloadParameters::signature_length) of [`SIGNATURE_LENGTH`]; after an error it is
    /// unchanged.
    pub fn verify(
        &mut self,
        keys: &KeyRing,
        message: &mut [u8],
        now: Instant,
    ) -> Result<Verified, VerifyError> {
        let read = NetworkMessageRef::new_checked(message)?;
        // Before the key is looked up: without this check, an attacker could just leave out the signature.
        let header = self.check_mode(&read)?;
        let nonce = <[u8; MESSAGE_NONCE_LENGTH]>::try_from(header.message_nonce)
            .map_err(|_| VerifyError::MessageNonce(header.message_nonce.len()))?;
        let layout = read.security_layout(SIGNATURE_LENGTH)?;
        let token = header.security_token_id;
        let (encrypted, force_key_reset) = (header.encrypted, header.force_key_reset);
        let key = keys
            .receiving(token, now)
            .ok_or(VerifyError::UnknownToken(token))?;
        let (signed, signature) = read.as_bytes().split_at(layout.signature.start);
        if !key.verify(signed, signature) {
            return Err(VerifyError::Signature);
        }
        // Only authentic messages are noted: a forger can neither fill the memory nor use up a nonce of a Publisher.
        let writer_group_id = read.group_header.and_then(|group| group.writer_group_id);
        let source = (read.publisher_id, writer_group_id);
        let id = (token, self.fingerprints.hash_one(source));
        self.windows
            .note(id, nonce, |token| keys.receiving(token, now).is_some())?;
        if encrypted && let Some(payload) = message.get_mut(layout.encrypted) {
            // A message has no 64 GiB.
            key.apply_keystream(nonce, payload)
                .map_err(|_| VerifyError::Signature)?;
        }
        Ok(Verified {
            security_token_id: token,
            force_key_reset,
        })
    }

    fn check_mode<'a>(
        &self,
        message: &NetworkMessageRef<'a>,
    ) -> Result<SecurityHeaderRef<'a>, VerifyError> {
        message
            .security_header
            .filter(|header| header.signed && (header.encrypted || !self.encrypted))
            .ok_or(VerifyError::SecurityModeTooLow(self.mode))
    }
}
