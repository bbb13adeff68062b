//! Passwords that were right once, recognised without the costly hash.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{CryptoError, PasswordHash};

/// Passwords of users that matched their hashes in this process. They are kept as HMAC-SHA256 with a random key, which exists in
/// the memory of this process only.
///
/// Guesses take Argon2 a bounded part of a processor; users whose passwords are proven do not wait for it.
pub struct PasswordProofs {
    key: Zeroizing<[u8; 32]>,
    /// Names with the hash that the password has matched, and its HMAC.
    proofs: Mutex<HashMap<String, (PasswordHash, [u8; 32])>>,
}

impl PasswordProofs {
    /// Creates an empty set with a new key.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> Result<Self, CryptoError> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(|_| CryptoError)?;
        Ok(Self {
            key,
            proofs: Mutex::default(),
        })
    }

    /// Returns whether a password has matched this hash of a user.
    #[must_use]
    pub fn knows(&self, name: &str, hash: &PasswordHash) -> bool {
        self.proof(name, hash).is_some()
    }

    /// Returns whether the password is the one that has matched this hash before; `None` if none has.
    #[must_use]
    pub fn check(&self, name: &str, hash: &PasswordHash, password: &[u8]) -> Option<bool> {
        let proof = self.proof(name, hash)?;
        let given = self.mac(password)?;
        // In constant time: how long the answer takes tells nothing of the password.
        Some(verify_slices_are_equal(&proof, &given).is_ok())
    }

    /// Keeps a password that has matched the hash of a user. Users that `is_user` does not name are forgotten.
    pub fn keep(
        &self,
        name: &str,
        hash: &PasswordHash,
        password: &[u8],
        is_user: impl Fn(&str) -> bool,
    ) {
        let Some(mac) = self.mac(password) else {
            return;
        };
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        proofs.retain(|name, _| is_user(name));
        proofs.insert(name.to_owned(), (hash.clone(), mac));
    }

    fn proof(&self, name: &str, hash: &PasswordHash) -> Option<[u8; 32]> {
        let proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, mac) = proofs.get(name)?;
        // After a change of the password the hash is another one, and the proof does not count.
        (known == hash).then_some(*mac)
    }

    fn mac(&self, password: &[u8]) -> Option<[u8; 32]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.key).ok()?;
        mac.update(password);
        Some(mac.finalize().into_bytes().into())
    }
}

impl std::fmt::Debug for PasswordProofs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PasswordProofs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_one_password_and_one_hash() {
        let proofs = PasswordProofs::new().unwrap();
        let [hash, changed] = [b"hammer", b"pliers"].map(|word| PasswordHash::of(word).unwrap());
        assert_eq!(proofs.check("anna", &hash, b"hammer"), None);
        proofs.keep("anna", &hash, b"hammer", |_| true);
        assert_eq!(proofs.check("anna", &hash, b"hammer"), Some(true));
        assert_eq!(proofs.check("anna", &hash, b"nail"), Some(false));
        assert_eq!(proofs.check("bert", &hash, b"hammer"), None);
        assert!(!proofs.knows("anna", &changed), "the password was changed");
        proofs.keep("bert", &changed, b"pliers", |name| name == "bert");
        assert!(!proofs.knows("anna", &hash), "no user any more");
    }
}
