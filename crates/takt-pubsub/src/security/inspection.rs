//! Inspection of recorded messages by tools. A Subscriber must not accept messages with it.

use takt_wire::NetworkMessageRef;

use super::keys::SecurityKeys;
use super::policy::{MESSAGE_NONCE_LENGTH, SIGNATURE_LENGTH};
use super::verifier::VerifyError;

/// Result of inspecting a message with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspection {
    /// True if the signature was made with the key.
    pub genuine: bool,
    /// True if the payload was encrypted, and has been decrypted.
    pub decrypted: bool,
}

impl SecurityKeys {
    /// Verifies the signature of a message and decrypts it in place, even if the signature is wrong or the message is a replay.
    /// It is for showing messages, not for a Subscriber. After an error the message is unchanged.
    ///
    /// The key must be the one that the SecurityTokenId of the message names.
    pub fn inspect(&self, message: &mut [u8]) -> Result<Inspection, VerifyError> {
        let read = NetworkMessageRef::new_checked(message)?;
        let header = read.security_header.unwrap_or_default();
        if header.security_token_id != self.security_token_id() {
            return Err(VerifyError::UnknownToken(header.security_token_id));
        }
        let layout = read.security_layout(SIGNATURE_LENGTH)?;
        let (signed, signature) = read.as_bytes().split_at(layout.signature.start);
        let genuine = self.verify(signed, signature);
        let decrypted = header.encrypted;
        if decrypted {
            let nonce = <[u8; MESSAGE_NONCE_LENGTH]>::try_from(header.message_nonce)
                .map_err(|_| VerifyError::MessageNonce(header.message_nonce.len()))?;
            if let Some(payload) = message.get_mut(layout.encrypted) {
                // A message has no 64 GiB.
                self.apply_keystream(nonce, payload)
                    .map_err(|_| VerifyError::Signature)?;
            }
        }
        Ok(Inspection { genuine, decrypted })
    }
}
