//! The keys of an authorization service: a JWK Set (RFC 7517, 5) in a file.

use std::fmt;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// Largest number of keys in a file.
const MAX_KEYS: usize = 64;

/// Largest number of keys that are tried if a token does not name one.
const MAX_TRIED: usize = 8;

/// Length of a coordinate of P-256 in bytes.
const COORDINATE: usize = 32;

/// Length of an RSA modulus in bytes: 2048 to 8192 bits.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// Algorithm of the signature of a token (RFC 7518, 3.1). There are only asymmetric ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    Es256,
}

impl Algorithm {
    pub(super) fn by_name(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// Error of a file with keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwtKeysError {
    /// Text that is not a JWK Set.
    #[error("it is no JWK Set, `{{\"keys\": [...]}}`: {0}")]
    Form(String),
    /// A key is damaged.
    #[error("key {number} cannot be used: {reason}")]
    Key {
        /// Place of the key, from 1.
        number: usize,
        /// The reason.
        reason: &'static str,
    },
    /// JWK Set without a key for RS256 or ES256.
    #[error("it has no key for RS256 or ES256")]
    Empty,
}

/// A public key, with the one algorithm that it is for.
struct Key {
    id: Option<String>,
    material: Material,
}

enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// An uncompressed point (SEC 1, 2.3.3).
    P256(Vec<u8>),
}

impl Key {
    const fn algorithm(&self) -> Algorithm {
        match &self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
        }
    }

    fn has_signed(&self, signed: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Rsa { modulus, exponent } => RsaPublicKeyComponents {
                n: modulus,
                e: exponent,
            }
            .verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            .is_ok(),
            Material::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                .verify(signed, signature)
                .is_ok(),
        }
    }
}

/// The public keys of an authorization service.
pub struct JwtKeys(Vec<Key>);

impl JwtKeys {
    /// Reads a JWK Set. Keys of other kinds, for encryption for example, are left out.
    ///
    /// # Errors
    /// [`JwtKeysError`]; also for a set that contains a secret or private key: the file of a server must not have one.
    pub fn from_json(text: &str) -> Result<Self, JwtKeysError> {
        let set: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| JwtKeysError::Form(error.to_string()))?;
        let wrong = |reason: &str| JwtKeysError::Form(reason.to_owned());
        let listed = set.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| wrong("there is no list `keys`"))?;
        if listed.len() > MAX_KEYS {
            return Err(wrong("there are more than 64 keys"));
        }
        let mut keys = Vec::new();
        for (index, value) in listed.iter().enumerate() {
            let failed = |reason| JwtKeysError::Key {
                number: index + 1,
                reason,
            };
            let key = value.as_object().ok_or_else(|| failed("it is no object"))?;
            if key.contains_key("d") || key.contains_key("k") {
                return Err(failed(
                    "it is a private key or a secret; only public keys are needed",
                ));
            }
            keys.extend(read(key).map_err(failed)?);
        }
        match keys.is_empty() {
            true => Err(JwtKeysError::Empty),
            false => Ok(Self(keys)),
        }
    }

    /// Returns true if a key for this algorithm has made the signature. A token that names a key is verified with that one only.
    pub(super) fn has_signed(
        &self,
        algorithm: Algorithm,
        key_id: Option<&str>,
        signed: &[u8],
        signature: &[u8],
    ) -> bool {
        let fits = |key: &&Key| {
            key.algorithm() == algorithm && key_id.is_none_or(|id| key.id.as_deref() == Some(id))
        };
        let mut tried = self.0.iter().filter(fits).take(MAX_TRIED);
        tried.any(|key| key.has_signed(signed, signature))
    }
}

/// Reads a key; `None` if it is for another purpose or algorithm.
fn read(key: &Map<String, Value>) -> Result<Option<Key>, &'static str> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let bytes = |name: &str| {
        let decoded = text(name).map(|text| URL_SAFE_NO_PAD.decode(text));
        decoded
            .ok_or("a part of it is missing")?
            .map_err(|_| "a part of it is not base64url")
    };
    if text("use").is_some_and(|purpose| purpose != "sig") {
        return Ok(None);
    }
    let operations = key.get("key_ops").and_then(Value::as_array);
    let verifies = |all: &Vec<Value>| all.iter().any(|one| one.as_str() == Some("verify"));
    if operations.is_some_and(|all| !verifies(all)) {
        return Ok(None);
    }
    let material = match (text("kty"), text("crv")) {
        (Some("RSA"), _) => {
            let (modulus, exponent) = (bytes("n")?, bytes("e")?);
            if !MODULUS.contains(&modulus.len()) || modulus.first() == Some(&0) {
                return Err("its modulus does not have 2048 to 8192 bits");
            }
            // 1 would make every signature valid.
            if exponent == [1] || exponent.last().is_none_or(|last| last % 2 == 0) {
                return Err("its exponent is not an odd number from 3");
            }
            Material::Rsa { modulus, exponent }
        }
        (Some("EC"), Some("P-256")) => {
            let (x, y) = (bytes("x")?, bytes("y")?);
            if x.len() != COORDINATE || y.len() != COORDINATE {
                return Err("its coordinates do not have 32 bytes");
            }
            Material::P256([&[4], &*x, &*y].concat())
        }
        _ => return Ok(None),
    };
    let key = Key {
        id: text("kid").map(str::to_owned),
        material,
    };
    let is_for_this = text("alg").is_none_or(|alg| alg == key.algorithm().name());
    Ok(is_for_this.then_some(key))
}

impl fmt::Debug for JwtKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "JwtKeys({})", self.0.len())
    }
}
