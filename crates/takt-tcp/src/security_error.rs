//! Errors of the security of messages.

use takt_crypto::CertificateError;
use takt_ua::StatusCode;

/// Failed security check. The details stay in the log: the peer is told only that a check failed
/// (OPC 10000-6, 6.7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecurityError {
    /// The chunk is shorter than signature and padding, or not a multiple of the cipher's block.
    #[error("a chunk is too short for its signature and padding")]
    Length,
    /// The padding bytes are wrong.
    #[error("the padding of a chunk is wrong")]
    Padding,
    /// The signature does not fit the bytes.
    #[error("the signature of a chunk is wrong")]
    Signature,
    /// The cipher failed.
    #[error("a chunk cannot be encrypted or decrypted")]
    Cipher,
    /// The peer's certificate is not accepted.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// This application has no certificate with a key of the kind that the policy demands.
    #[error("this application has no certificate for the SecurityPolicy")]
    OwnCertificate,
    /// The peer sent the thumbprint of another certificate than the own one.
    #[error("the peer expects another certificate of this application")]
    Thumbprint,
    /// The peer uses another certificate than the one that the channel was opened with.
    #[error("the peer changed its certificate")]
    OtherCertificate,
    /// The peer repeated the nonce of its last token.
    #[error("the peer repeated a nonce")]
    NonceRepeated,
    /// Keys cannot be derived from the nonces.
    #[error("no keys can be derived")]
    KeyDerivation,
    /// The system returned no random numbers for a nonce.
    #[error("the system has no random numbers")]
    Random,
}

impl SecurityError {
    /// Returns the StatusCode for this application.
    #[must_use]
    pub const fn status_code(self) -> StatusCode {
        match self {
            Self::Certificate(error) => error.status_code(),
            _ => self.public_status_code(),
        }
    }

    /// Returns the StatusCode that is sent to the peer: one for all failed checks of signatures, padding and ciphers.
    #[must_use]
    pub const fn public_status_code(self) -> StatusCode {
        match self {
            Self::Certificate(error) => error.public_status_code(),
            // OPC 10000-6, 6.7.4.
            Self::Thumbprint => StatusCode::BadCertificateInvalid,
            Self::OwnCertificate => StatusCode::BadSecurityPolicyRejected,
            Self::NonceRepeated => StatusCode::BadNonceInvalid,
            _ => StatusCode::BadSecurityChecksFailed,
        }
    }
}
