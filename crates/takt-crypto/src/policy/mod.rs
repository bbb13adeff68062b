//! SecurityPolicies: which algorithms they name, and the only list of them. A new policy is one file here.

mod aes128_sha256_rsaoaep;
mod aes256_sha256_rsapss;
mod algorithms;
mod basic256sha256;
mod ecc_curve25519;
mod ecc_nistp256;
mod ecc_nistp384;

pub use algorithms::{
    AsymmetricEncryption, AsymmetricSignature, Cipher, EllipticCurve, KeyDerivation, KeyExchange,
    KeyKind, PolicyProfile, SymmetricSignature,
};

impl PolicyProfile {
    /// All policies, those with the highest rank first.
    pub const ALL: [&'static Self; 6] = [
        &aes256_sha256_rsapss::PROFILE,
        &basic256sha256::PROFILE,
        &aes128_sha256_rsaoaep::PROFILE,
        &ecc_nistp384::PROFILE,
        &ecc_curve25519::PROFILE,
        &ecc_nistp256::PROFILE,
    ];

    /// Returns the policy with this URI.
    #[must_use]
    pub fn by_uri(uri: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|profile| profile.uri == uri)
    }

    /// Returns the policy with this name; upper and lower case do not matter.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|profile| profile.name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_found_and_ordered() {
        for profile in PolicyProfile::ALL {
            assert_eq!(PolicyProfile::by_uri(profile.uri), Some(profile));
            assert_eq!(PolicyProfile::by_name(profile.name), Some(profile));
            assert_eq!(
                profile.uri,
                format!(
                    "http://opcfoundation.org/UA/SecurityPolicy#{}",
                    profile.name
                )
            );
        }
        assert!(PolicyProfile::ALL.is_sorted_by(|a, b| a.rank > b.rank));
        assert_eq!(PolicyProfile::by_name("None"), None);
    }

    #[test]
    fn nonces_on_a_curve_are_ephemeral_keys() {
        for profile in PolicyProfile::ALL {
            if let Some(curve) = profile.curve() {
                assert_eq!(profile.nonce_length, curve.ephemeral_key_length());
                assert_eq!(profile.asymmetric_signature, curve.signature());
                assert_eq!(profile.min_key_bits, curve.bits());
                assert_eq!(profile.max_key_bits, curve.bits());
                assert_eq!(profile.name, format!("ECC_{}", curve.name()));
            }
        }
    }
}
