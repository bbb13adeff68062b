//! Derivation of symmetric keys: P_SHA256 (RFC 5246, section 5; OPC 10000-6, 6.7.6) and HKDF (RFC 5869; OPC 10000-6, 6.8).

use aws_lc_rs::hkdf::{HKDF_SHA256, HKDF_SHA384, KeyType, Salt};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use crate::CryptoError;
use crate::ephemeral::SharedSecret;
use crate::policy::{KeyDerivation, PolicyProfile};

/// Fills `out` with P_SHA256 of `secret` and `seed`.
pub fn p_sha256(secret: &[u8], seed: &[u8], out: &mut [u8]) {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        // HMAC accepts keys of every length.
        return;
    };
    let hash = |parts: [&[u8]; 2]| -> [u8; 32] {
        let mut mac = mac.clone();
        parts.into_iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    };
    let mut a = hash([seed, &[]]);
    for block in out.chunks_mut(a.len()) {
        let mut derived = hash([&a, seed]);
        block.copy_from_slice(&derived[..block.len()]);
        derived.zeroize();
        a = hash([&a, &[]]);
    }
    a.zeroize();
}

/// Length of keys that HKDF returns, in bytes.
#[derive(Clone, Copy)]
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// Fills `out` with HKDF of `secret`.
///
/// # Errors
/// [`CryptoError`] if the derivation is not HKDF, or `out` is too long for it.
pub fn hkdf(
    derivation: KeyDerivation,
    secret: &[u8],
    salt: &[u8],
    info: &[u8],
    out: &mut [u8],
) -> Result<(), CryptoError> {
    let algorithm = match derivation {
        KeyDerivation::HkdfSha256 => HKDF_SHA256,
        KeyDerivation::HkdfSha384 => HKDF_SHA384,
        KeyDerivation::PSha256 => return Err(CryptoError),
    };
    let key = Salt::new(algorithm, salt).extract(secret);
    let info = [info];
    let derived = key.expand(&info, Length(out.len()));
    derived
        .and_then(|derived| derived.fill(out))
        .map_err(|_| CryptoError)
}

/// Derives `length` bytes from a shared secret. Salt and info are the length (16 bits), a label, and both public parts: those of
/// the sender first (OPC 10000-6, 6.8.1 and 6.8.3).
pub(crate) fn agreed_keys(
    profile: &PolicyProfile,
    secret: &SharedSecret,
    label: &str,
    [first, second]: [&[u8]; 2],
    length: usize,
) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let prefix = u16::try_from(length).map_err(|_| CryptoError)?;
    let salt = [&prefix.to_le_bytes(), label.as_bytes(), first, second].concat();
    let mut derived = Zeroizing::new(vec![0; length]);
    hkdf(
        profile.key_derivation,
        secret.bytes(),
        &salt,
        &salt,
        &mut derived,
    )?;
    Ok(derived)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let digit = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.chunks(2).map(|pair| digit(pair).unwrap()).collect()
    }

    /// The known answer for P_SHA256 that circulates with TLS 1.2 (IETF mailing list of the TLS working group).
    #[test]
    fn known_answer() {
        let secret = bytes("9bbe436ba940f017b17652849a71db35");
        let mut seed = b"test label".to_vec();
        seed.extend(bytes("a0ba9f936cda311827a6f796ffd5198c"));
        let expected = bytes(
            "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a
             6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab
             4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff701
             87347b66",
        );
        for length in [1, 31, 32, 33, 80, 100] {
            let mut out = vec![0; length];
            p_sha256(&secret, &seed, &mut out);
            assert_eq!(out, expected[..length]);
        }
    }
}
