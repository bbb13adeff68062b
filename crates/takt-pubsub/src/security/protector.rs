//! Protection of an encoded message by a Publisher.

use std::ops::Range;
use std::time::Instant;

use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::SecurityLayout;

use super::key_ring::{KeyRing, NoSendingKey};
use super::policy::{MESSAGE_NONCE_LENGTH, SIGNATURE_LENGTH, SecurityModeError, encrypts};

/// Bits of SecurityFlags (OPC 10000-14, 7.2.4.4.2).
const SIGNED: u8 = 0x01;
const ENCRYPTED: u8 = 0x02;

/// Reason why a Publisher cannot protect messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtectorError {
    /// The SecurityMode does not protect messages.
    #[error(transparent)]
    SecurityMode(#[from] SecurityModeError),
    /// The operating system gave no random number.
    #[error("no random number from the operating system: {0}")]
    Random(#[from] getrandom::Error),
}

/// Reason why a message was not protected. It must not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtectError {
    /// There is no key to send with.
    #[error(transparent)]
    NoKey(#[from] NoSendingKey),
    /// The layout is not that of the message, or nonce and signature do not have the lengths of the SecurityPolicy.
    #[error(
        "the message has no room for the nonce and signature of its SecurityPolicy, or a different layout"
    )]
    Layout,
    /// The SecurityFlags of the message are not those of the SecurityMode.
    #[error("the SecurityFlags 0x{found:02X} of the message do not match SecurityMode {mode:?}")]
    SecurityFlags {
        /// SecurityFlags of the message.
        found: u8,
        /// MessageSecurityMode of the protector.
        mode: MessageSecurityMode,
    },
}

/// Protector that encrypts and signs the messages of a Publisher, in place. It allocates nothing.
///
/// No two messages have the same nonce with the same key: see the [module's](super) documentation for the conditions. It is not
/// `Clone`, because a copy would use the same nonces again. One protector may serve several WriterGroups that use one
/// SecurityGroup.
#[derive(Debug)]
pub struct MessageProtector {
    mode: MessageSecurityMode,
    flags: u8,
    nonces: Nonces,
}

impl MessageProtector {
    /// Creates a protector with a random part of nonces from the operating system.
    pub fn new(mode: MessageSecurityMode) -> Result<Self, ProtectorError> {
        let mut random_part = [0; 4];
        getrandom::fill(&mut random_part)?;
        Ok(Self::with_random_part(
            mode,
            u32::from_le_bytes(random_part),
        )?)
    }

    /// Creates a protector with a given random part. The caller guarantees that no other protector ever has, or reaches, the same
    /// random part with the same keys: a restart creates another protector. A protector changes to the next random part each time
    /// that the token changes or the sequence number is used up.
    pub fn with_random_part(
        mode: MessageSecurityMode,
        random_part: u32,
    ) -> Result<Self, SecurityModeError> {
        let flags = if encrypts(mode)? {
            SIGNED | ENCRYPTED
        } else {
            SIGNED
        };
        Ok(Self {
            mode,
            flags,
            nonces: Nonces {
                random_part,
                sequence_number: 0,
                security_token_id: None,
            },
        })
    }

    /// Fills in SecurityTokenId and MessageNonce, encrypts the payload if the SecurityMode wants it, and signs. The keys are
    /// those that are current at `now`. After an error the message must not be sent.
    pub fn protect(
        &mut self,
        keys: &KeyRing,
        message: &mut [u8],
        layout: &SecurityLayout,
        now: Instant,
    ) -> Result<(), ProtectError> {
        if layout.signature.end != message.len() || layout.signed != (0..layout.signature.start) {
            return Err(ProtectError::Layout);
        }
        let header = header_before_nonce(layout).ok_or(ProtectError::Layout)?;
        let (signed, signature) = message
            .split_at_mut_checked(layout.signature.start)
            .filter(|(_, signature)| signature.len() == SIGNATURE_LENGTH)
            .ok_or(ProtectError::Layout)?;
        let header = signed.get_mut(header).ok_or(ProtectError::Layout)?;
        let [flags, token @ .., nonce_length] = header else {
            return Err(ProtectError::Layout);
        };
        if usize::from(*nonce_length) != MESSAGE_NONCE_LENGTH {
            return Err(ProtectError::Layout);
        }
        // Subscribers read from the flags if the payload is encrypted: they must say what is done below.
        if *flags & (SIGNED | ENCRYPTED) != self.flags {
            return Err(ProtectError::SecurityFlags {
                found: *flags,
                mode: self.mode,
            });
        }
        let keys = keys.sending(now)?;
        // A nonce is used up even if the message is not sent after all: it must never be used twice.
        let nonce = self.nonces.next(keys.security_token_id());
        token.copy_from_slice(&keys.security_token_id().to_le_bytes());
        let place = signed.get_mut(layout.message_nonce.clone());
        place.ok_or(ProtectError::Layout)?.copy_from_slice(&nonce);
        if self.flags & ENCRYPTED != 0 {
            let payload = signed.get_mut(layout.encrypted.clone());
            let payload = payload.ok_or(ProtectError::Layout)?;
            keys.apply_keystream(nonce, payload)
                .map_err(|_| ProtectError::Layout)?;
        }
        // The signature covers the encrypted payload: a Subscriber refuses a forgery before it decrypts anything.
        signature.copy_from_slice(&keys.sign(signed));
        Ok(())
    }
}

/// Returns the place of SecurityFlags (1 byte), SecurityTokenId (4) and NonceLength (1): before the MessageNonce (OPC 10000-14,
/// 7.2.4.4.2).
fn header_before_nonce(layout: &SecurityLayout) -> Option<Range<usize>> {
    let nonce = &layout.message_nonce;
    let start = nonce.start.checked_sub(1 + size_of::<u32>() + 1)?;
    (nonce.len() == MESSAGE_NONCE_LENGTH).then_some(start..nonce.start)
}

/// Generator of nonces.
#[derive(Debug)]
struct Nonces {
    random_part: u32,
    sequence_number: u32,
    security_token_id: Option<u32>,
}

impl Nonces {
    /// Returns the next MessageNonce with a key: random part, and sequence number from 1 (OPC 10000-14, 7.2.4.4.3.2).
    fn next(&mut self, security_token_id: u32) -> [u8; MESSAGE_NONCE_LENGTH] {
        let begins = self.security_token_id != Some(security_token_id);
        // A sequence number that wraps would repeat nonces, so the random part changes instead.
        if begins || self.sequence_number == u32::MAX {
            // The random part changes with the token as well: if an older token ever comes back, its nonces are not used again.
            if self.security_token_id.is_some() {
                self.random_part = self.random_part.wrapping_add(1);
            }
            self.security_token_id = Some(security_token_id);
            self.sequence_number = 0;
        }
        self.sequence_number += 1;
        let random_part = self.random_part.to_le_bytes();
        let sequence_number = self.sequence_number.to_le_bytes();
        let mut nonce = [0; MESSAGE_NONCE_LENGTH];
        nonce[..4].copy_from_slice(&random_part);
        nonce[4..].copy_from_slice(&sequence_number);
        nonce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_random_part_changes_when_numbers_are_used_up_and_with_the_token() {
        let mut nonces = Nonces {
            random_part: u32::MAX,
            sequence_number: 0,
            security_token_id: None,
        };
        assert_eq!(nonces.next(7), [255, 255, 255, 255, 1, 0, 0, 0]);
        nonces.sequence_number = u32::MAX - 1;
        assert_eq!(nonces.next(7), [255; 8]);
        assert_eq!(nonces.next(7), [0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(nonces.next(7), [0, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(nonces.next(8), [1, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(nonces.next(7), [2, 0, 0, 0, 1, 0, 0, 0]);
    }
}
