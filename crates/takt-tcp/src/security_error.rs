//! Errors of the security of messages.

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
    /// The peer's certificate, or the thumbprint that it sent of the own certificate, is not accepted.
    #[error("a certificate or certificate thumbprint is not acceptable")]
    Certificate,
    /// Keys cannot be derived from the nonces.
    #[error("no keys can be derived")]
    KeyDerivation,
    /// The system returned no random numbers for a nonce.
    #[error("the system has no random numbers")]
    Random,
}
