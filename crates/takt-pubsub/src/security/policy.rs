//! SecurityPolicies of UADP, and the values that follow from them and the SecurityMode (OPC 10000-7; OPC 10000-14, 7.2.4.4.3).

use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::SecurityHeader;

/// Length of a signature in bytes: HMAC-SHA256, with both policies.
pub const SIGNATURE_LENGTH: usize = 32;

/// Length of the MessageNonce in bytes (OPC 10000-14, 7.2.4.4.3.2).
pub const MESSAGE_NONCE_LENGTH: usize = 8;

pub(super) const SIGNING_KEY_LENGTH: usize = 32;
pub(super) const KEY_NONCE_LENGTH: usize = 4;

/// SecurityPolicy of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PubSubSecurityPolicy {
    /// `PubSub-Aes128-CTR`: HMAC-SHA256 and AES-128 in counter mode.
    PubSubAes128Ctr,
    /// `PubSub-Aes256-CTR`: HMAC-SHA256 and AES-256 in counter mode.
    PubSubAes256Ctr,
}

/// Error: the SecurityMode does not protect messages. Those that do are Sign and SignAndEncrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("SecurityMode {0:?} does not protect messages: use Sign or SignAndEncrypt")]
pub struct SecurityModeError(pub MessageSecurityMode);

/// Returns true if a SecurityMode encrypts; an error if it does not protect.
pub(super) fn encrypts(mode: MessageSecurityMode) -> Result<bool, SecurityModeError> {
    match mode {
        MessageSecurityMode::Sign => Ok(false),
        MessageSecurityMode::SignAndEncrypt => Ok(true),
        _ => Err(SecurityModeError(mode)),
    }
}

impl PubSubSecurityPolicy {
    /// All policies.
    pub const ALL: [Self; 2] = [Self::PubSubAes128Ctr, Self::PubSubAes256Ctr];

    /// Returns the URI of the policy.
    pub fn uri(self) -> &'static str {
        match self {
            Self::PubSubAes128Ctr => "http://opcfoundation.org/UA/SecurityPolicy#PubSub-Aes128-CTR",
            Self::PubSubAes256Ctr => "http://opcfoundation.org/UA/SecurityPolicy#PubSub-Aes256-CTR",
        }
    }

    /// Returns the policy with a URI, if it is one of these.
    pub fn from_uri(uri: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.uri() == uri)
    }

    /// Returns the length of the encrypting key in bytes.
    pub fn encrypting_key_length(self) -> usize {
        match self {
            Self::PubSubAes128Ctr => 16,
            Self::PubSubAes256Ctr => 32,
        }
    }

    /// Returns the length in bytes of the key data of a token: signing key, encrypting key and key nonce (OPC 10000-14,
    /// 7.2.4.4.3.1).
    pub fn key_data_length(self) -> usize {
        SIGNING_KEY_LENGTH + self.encrypting_key_length() + KEY_NONCE_LENGTH
    }

    /// Returns the SecurityHeader of a message to protect. The [`MessageProtector`](super::MessageProtector) fills in
    /// SecurityTokenId and MessageNonce.
    pub fn security_header(
        self,
        mode: MessageSecurityMode,
    ) -> Result<SecurityHeader, SecurityModeError> {
        Ok(SecurityHeader {
            signed: true,
            encrypted: encrypts(mode)?,
            message_nonce: vec![0; MESSAGE_NONCE_LENGTH],
            ..SecurityHeader::default()
        })
    }
}
