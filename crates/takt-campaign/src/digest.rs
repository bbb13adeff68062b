//! Digests that tell contents apart.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of parts in hexadecimal. The length of each part counts, so parts do not run into each other.
pub(crate) fn of_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let bytes = digest.finalize();
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(of_parts(["a", "bc"]), of_parts(["ab", "c"]));
        assert_ne!(of_parts(["a", ""]), of_parts(["a"]));
        assert_eq!(of_parts(["a"]).len(), 64);
    }
}
