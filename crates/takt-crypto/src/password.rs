//! Hashes of passwords: Argon2id (RFC 9106).

use std::fmt;

use argon2::password_hash::phc::PasswordHash as Encoded;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::CryptoError;

/// Memory in KiB, passes and lanes: the second recommendation of OWASP, of 19 MiB and 2 passes.
const MEMORY: u32 = 19 << 10;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Largest length of a password in bytes.
const MAX_PASSWORD: usize = 1024;

/// Hash of a password in the PHC form, with its salt and parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Returns the hash of a password with a new salt.
    ///
    /// # Errors
    /// [`CryptoError`] if the password is empty or longer than 1024 bytes, or the system has no random numbers.
    pub fn of(password: &[u8]) -> Result<Self, CryptoError> {
        if password.is_empty() || password.len() > MAX_PASSWORD {
            return Err(CryptoError);
        }
        let hash = argon2().hash_password(password).map_err(|_| CryptoError)?;
        Ok(Self(hash.to_string()))
    }

    /// Reads a hash from its PHC form.
    ///
    /// # Errors
    /// [`CryptoError`] if it is not a hash of Argon2id with at most 256 MiB and 16 passes.
    pub fn from_phc(text: &str) -> Result<Self, CryptoError> {
        let hash = Encoded::new(text).map_err(|_| CryptoError)?;
        let params = Params::try_from(&hash).map_err(|_| CryptoError)?;
        // A damaged file must not make each check take all memory, or minutes.
        let bounded = params.m_cost() <= 256 << 10 && params.t_cost() <= 16;
        match hash.algorithm.as_str() == "argon2id" && bounded {
            true => Ok(Self(text.to_owned())),
            false => Err(CryptoError),
        }
    }

    /// Returns the PHC form, for a file.
    #[must_use]
    pub fn as_phc(&self) -> &str {
        &self.0
    }

    /// Checks a password. An empty one never matches, also the hash of one in an older file. Takes about 20 ms, whatever the result
    /// is.
    #[must_use]
    pub fn matches(&self, password: &[u8]) -> bool {
        let Ok(hash) = Encoded::new(&self.0) else {
            return false;
        };
        password.len() <= MAX_PASSWORD
            && argon2().verify_password(password, &hash).is_ok()
            // Last, so that an empty password takes as long as a wrong one.
            && !password.is_empty()
    }
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY, PASSES, LANES, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordHash")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_matches() {
        let hash = PasswordHash::of(b"correct horse").unwrap();
        assert!(hash.matches(b"correct horse"));
        assert!(!hash.matches(b"correct horse "));
        assert!(!hash.matches(b""));
        assert!(hash.as_phc().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        let again = PasswordHash::of(b"correct horse").unwrap();
        assert_ne!(hash, again, "each hash has its own salt");
        assert_eq!(PasswordHash::from_phc(hash.as_phc()).unwrap(), hash);
    }

    #[test]
    fn an_empty_password_never_matches() {
        assert!(PasswordHash::of(b"").is_err());
        let hash = argon2().hash_password(b"").unwrap().to_string();
        assert!(!PasswordHash::from_phc(&hash).unwrap().matches(b""));
    }

    #[test]
    fn hashes_that_would_take_too_long_are_refused() {
        let phc = PasswordHash::of(b"x").unwrap().as_phc().to_owned();
        for (from, to) in [
            ("m=19456", "m=4000000"),
            ("t=2", "t=99"),
            ("argon2id", "argon2d"),
        ] {
            assert!(PasswordHash::from_phc(&phc.replace(from, to)).is_err());
        }
        assert!(PasswordHash::from_phc("").is_err());
        assert!(PasswordHash::of(&[b'x'; 1025]).is_err());
    }
}
