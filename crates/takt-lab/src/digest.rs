//! Digests that tell contents apart.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of bytes in hexadecimal.
pub(crate) fn full(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect()
}

/// Returns the first 64 bits of the SHA-256 of bytes in hexadecimal.
pub(crate) fn short(bytes: &[u8]) -> String {
    let mut text = full(bytes);
    text.truncate(16);
    text
}
