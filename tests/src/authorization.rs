//! Authorization service that issues JSON Web Tokens (OPC 10000-6, 6.5.2) for users of a registry.

use std::path::PathBuf;

use serde_json::{Value, json};
use takt_crypto::{AsymmetricSignature, PrivateKey};

/// Issuer in its tokens.
const ISSUER: &str = "https://login.plant.example";

/// Audience in its tokens.
const AUDIENCE: &str = "urn:plant:registry";

/// The authorization service, and the folder of its files.
pub struct AuthorizationService {
    key: PrivateKey,
    folder: PathBuf,
}

impl AuthorizationService {
    /// Creates a service with a new key.
    ///
    /// # Panics
    /// If the key cannot be made.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        let key = PrivateKey::generate(2048).unwrap();
        Self { key, folder }
    }

    /// Returns the folder of its files.
    #[must_use]
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Returns the SubjectPublicKeyInfo, which ends with the modulus and the exponent 65537 (RFC 8017, A.1.1).
    ///
    /// # Panics
    /// If the key cannot be encoded.
    #[must_use]
    pub fn public_key(&self) -> Vec<u8> {
        self.key.public_spki().unwrap()
    }

    /// Writes the file of keys, and returns the arguments of a registry that accepts its tokens.
    ///
    /// # Panics
    /// If the file cannot be written.
    #[must_use]
    pub fn registry_arguments(&self) -> Vec<String> {
        let spki = self.public_key();
        let modulus = &spki[spki.len() - 5 - 256..spki.len() - 5];
        let key =
            json!({"kty": "RSA", "use": "sig", "kid": "1", "n": encode(modulus), "e": "AQAB"});
        let path = self.folder.join("keys.json");
        std::fs::write(&path, json!({"keys": [key]}).to_string()).unwrap();
        let arguments = [
            "--jwt-issuer",
            ISSUER,
            "--jwt-audience",
            AUDIENCE,
            "--jwt-keys",
            path.to_str().unwrap(),
        ];
        arguments.map(str::to_owned).to_vec()
    }

    /// Returns the claims of a token that lasts for five minutes.
    #[must_use]
    pub fn claims(roles: &[&str]) -> Value {
        json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": "anna", "roles": roles,
            "exp": takt_crypto::now() + 300,
        })
    }

    /// Returns a token with these claims.
    ///
    /// # Panics
    /// If it cannot be signed.
    #[must_use]
    pub fn issue(&self, claims: &Value) -> String {
        let signed = signed("RS256", claims);
        let mut signature = vec![0; self.key.size()];
        let algorithm = AsymmetricSignature::RsaPkcs1Sha256;
        self.key
            .sign(algorithm, signed.as_bytes(), &mut signature)
            .unwrap();
        format!("{signed}.{}", encode(&signature))
    }
}

/// Returns header and claims of a token, without the signature.
#[must_use]
pub fn signed(algorithm: &str, claims: &Value) -> String {
    let header = json!({"alg": algorithm, "typ": "JWT", "kid": "1"});
    let part = |value: &Value| encode(value.to_string().as_bytes());
    format!("{}.{}", part(&header), part(claims))
}

/// Returns bytes in base64url without padding (RFC 7515, 2).
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let groups = bytes.chunks(3).flat_map(|group| {
        let byte = |at: usize| group.get(at).copied().unwrap_or_default();
        let bits = u32::from_be_bytes([0, byte(0), byte(1), byte(2)]);
        let digit = move |shift: u32| char::from(DIGITS[(bits >> shift & 63) as usize]);
        [18, 12, 6, 0].map(digit).into_iter().take(group.len() + 1)
    });
    groups.collect()
}
