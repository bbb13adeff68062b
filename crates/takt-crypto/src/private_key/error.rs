//! Errors of private keys.

/// Error of a private key that cannot be made or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The library could not create a key.
    #[error("no private key could be created")]
    Creation,
    /// The text is not PEM, or of another kind.
    #[error("not a private key in PEM: it must begin with -----BEGIN PRIVATE KEY-----")]
    Pem,
    /// The key is of another kind, too short or too long, or it is damaged.
    #[error("not a private key: RSA of 2048 to 8192 bits, P-256, P-384 or Ed25519")]
    Content,
}
