//! JSON Web Tokens and sets of keys from outside: no input may do harm, and no token is accepted without a signature.

use std::sync::LazyLock;

use libfuzzer_sys::Corpus;
use takt_crypto::{JwtExpectations, JwtKeys};

/// The key of RFC 7517, A.1: its private key is published nowhere.
static KEYS: LazyLock<JwtKeys> = LazyLock::new(|| {
    let keys = r#"{"keys": [{"kty": "EC", "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;
    JwtKeys::from_json(keys).expect("a set of keys")
});

pub(crate) fn run(bytes: &[u8]) -> Corpus {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Corpus::Reject;
    };
    let expected = JwtExpectations {
        issuer: "https://login.plant.example",
        audience: "urn:plant",
        now: 1_800_000_000,
    };
    assert!(KEYS.verify(text, &expected).is_err());
    if let Ok(keys) = JwtKeys::from_json(text) {
        assert!(keys.verify(text, &expected).is_err());
    }
    Corpus::Keep
}
