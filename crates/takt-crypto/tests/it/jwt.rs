//! JSON Web Tokens: each check of a token, and the confusions of algorithms and keys that other verifiers have fallen for.

use std::sync::LazyLock;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256,
};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use takt_crypto::{JwtClaims, JwtError, JwtExpectations, JwtKeys, JwtKeysError};

const NOW: i64 = 1_800_000_000;
const ISSUER: &str = "https://login.plant.example";
const AUDIENCE: &str = "urn:plant:registry";

struct Service {
    rsa: RsaKeyPair,
    ecdsa: EcdsaKeyPair,
}

/// The authorization service; creating its keys takes long.
static SERVICE: LazyLock<Service> = LazyLock::new(|| Service {
    rsa: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
    ecdsa: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
});

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Service {
    fn rsa_key(&self) -> Value {
        // The encoding ends with the modulus and the exponent 65537 (RFC 8017, A.1.1).
        let der = self.rsa.public_key().as_ref();
        let n = encode(&der[der.len() - 5 - 256..der.len() - 5]);
        let e = encode([1, 0, 1]);
        json!({"kty": "RSA", "kid": "rsa", "use": "sig", "alg": "RS256", "n": n, "e": e})
    }

    fn ec_key(&self) -> Value {
        let point = self.ecdsa.public_key().as_ref().to_vec();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "kid": "ec", "x": x, "y": y})
    }

    fn keys(&self) -> JwtKeys {
        let set = json!({"keys": [self.rsa_key(), self.ec_key()]});
        JwtKeys::from_json(&set.to_string()).unwrap()
    }

    fn sign(&self, algorithm: &str, signed: &str) -> Vec<u8> {
        let random = SystemRandom::new();
        match algorithm {
            "ES256" => {
                let signature = self.ecdsa.sign(&random, signed.as_bytes()).unwrap();
                signature.as_ref().to_vec()
            }
            _ => {
                let mut signature = vec![0; self.rsa.public_modulus_len()];
                let bytes = signed.as_bytes();
                let algorithm = &RSA_PKCS1_SHA256;
                self.rsa
                    .sign(algorithm, &random, bytes, &mut signature)
                    .unwrap();
                signature
            }
        }
    }

    /// Returns a token with this header, signed with the key for `algorithm`.
    fn token(&self, algorithm: &str, header: &Value, claims: &Value) -> String {
        let signed = format!(
            "{}.{}",
            encode(header.to_string()),
            encode(claims.to_string())
        );
        let signature = self.sign(algorithm, &signed);
        format!("{signed}.{}", encode(signature))
    }
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "anna", "exp": NOW + 300, "iat": NOW - 10,
        "roles": ["operator", "fitter"],
    })
}

fn verify(token: &str) -> Result<JwtClaims, JwtError> {
    verify_with(&SERVICE.keys(), token)
}

fn verify_with(keys: &JwtKeys, token: &str) -> Result<JwtClaims, JwtError> {
    let expected = JwtExpectations {
        issuer: ISSUER,
        audience: AUDIENCE,
        now: NOW,
    };
    keys.verify(token, &expected)
}

/// Verifies a correctly signed token with a changed claim; null removes it.
fn with_claim(name: &str, value: Value) -> Result<JwtClaims, JwtError> {
    let mut claims = claims();
    let all = claims.as_object_mut().unwrap();
    match value {
        Value::Null => drop(all.remove(name)),
        value => drop(all.insert(name.to_owned(), value)),
    }
    verify(&SERVICE.token("ES256", &json!({"alg": "ES256"}), &claims))
}

#[test]
fn tokens_with_either_algorithm_and_with_or_without_a_key_id_are_accepted() {
    let expected = JwtClaims {
        subject: "anna".to_owned(),
        roles: vec!["operator".to_owned(), "fitter".to_owned()],
        expires: NOW + 360,
    };
    for (algorithm, id) in [("RS256", "rsa"), ("ES256", "ec")] {
        for header in [
            json!({"alg": algorithm, "typ": "JWT", "kid": id}),
            json!({"alg": algorithm, "typ": "at+jwt"}),
            json!({"alg": algorithm}),
        ] {
            let token = SERVICE.token(algorithm, &header, &claims());
            assert_eq!(verify(&token), Ok(expected.clone()), "{header}");
        }
    }
}

#[test]
fn an_algorithm_that_is_none_or_symmetric_is_refused() {
    let payload = encode(claims().to_string());
    for name in [
        "none", "None", "NONE", "", "RS384", "PS256", "ES256K", "HS256",
    ] {
        let header = encode(json!({"alg": name}).to_string());
        let signature = encode(SERVICE.sign("RS256", &format!("{header}.{payload}")));
        for signature in ["", &*signature] {
            let token = format!("{header}.{payload}.{signature}");
            assert_eq!(verify(&token), Err(JwtError::Algorithm), "{name}");
        }
    }
    let without = SERVICE.token("RS256", &json!({"typ": "JWT"}), &claims());
    assert_eq!(verify(&without), Err(JwtError::Algorithm));
    let list = SERVICE.token("RS256", &json!({"alg": ["RS256"]}), &claims());
    assert_eq!(verify(&list), Err(JwtError::Algorithm));
}

/// The public key is known to everybody. A verifier that takes it as the secret of HS256 accepts forged tokens.
#[test]
fn the_public_key_as_a_secret_is_refused() {
    let public = SERVICE.rsa.public_key();
    let der = public.as_ref().to_vec();
    let pem = format!(
        "-----BEGIN RSA PUBLIC KEY-----\n{}\n-----END RSA PUBLIC KEY-----\n",
        STANDARD.encode(&der)
    );
    let secrets = [
        der,
        pem.into_bytes(),
        SERVICE.rsa_key().to_string().into_bytes(),
    ];
    for secret in secrets {
        for (algorithm, expected) in [
            ("HS256", JwtError::Algorithm),
            ("RS256", JwtError::Signature),
            ("ES256", JwtError::Signature),
        ] {
            let header = encode(json!({"alg": algorithm, "kid": "rsa"}).to_string());
            let signed = format!("{header}.{}", encode(claims().to_string()));
            let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
            mac.update(signed.as_bytes());
            let token = format!("{signed}.{}", encode(mac.finalize().into_bytes()));
            assert_eq!(verify(&token), Err(expected));
        }
    }
}

#[test]
fn a_key_is_used_for_its_own_algorithm_and_name_only() {
    for (signs, says, id) in [
        ("RS256", "ES256", "rsa"),
        ("ES256", "RS256", "ec"),
        ("RS256", "RS256", "ec"),
        ("ES256", "ES256", "rsa"),
        ("RS256", "RS256", "unknown"),
        ("RS256", "RS256", "../../dev/null"),
    ] {
        let header = json!({"alg": says, "kid": id});
        let token = SERVICE.token(signs, &header, &claims());
        assert_eq!(verify(&token), Err(JwtError::Signature), "{header}");
    }
    let header = json!({"alg": "RS256", "kid": 7});
    let token = SERVICE.token("RS256", &header, &claims());
    assert_eq!(verify(&token), Err(JwtError::Form));
}

/// A token brings its own key, or an address of one.
#[test]
fn tokens_with_keys_or_addresses_of_keys_are_refused() {
    let stranger = Service {
        rsa: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
        ecdsa: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
    };
    for (name, value) in [
        ("jwk", stranger.rsa_key()),
        ("jku", json!("https://attacker.example/keys")),
        ("x5u", json!("https://attacker.example/certificate")),
        ("x5c", json!(["MIIB"])),
    ] {
        let header = json!({"alg": "RS256", name: value});
        // A known key does not make them better.
        for service in [&stranger, &*SERVICE] {
            let token = service.token("RS256", &header, &claims());
            assert_eq!(verify(&token), Err(JwtError::Key), "{name}");
        }
    }
    let header = json!({"alg": "RS256", "kid": "rsa"});
    let token = stranger.token("RS256", &header, &claims());
    assert_eq!(verify(&token), Err(JwtError::Signature));
}

#[test]
fn extensions_and_nested_or_encrypted_tokens_are_refused() {
    for (name, value) in [
        ("crit", json!(["exp"])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("enc", json!("A256GCM")),
        ("cty", json!("JWT")),
        ("typ", json!("logout+jwt")),
    ] {
        let header = json!({"alg": "ES256", name: value});
        let token = SERVICE.token("ES256", &header, &claims());
        assert_eq!(verify(&token), Err(JwtError::Algorithm), "{name}");
    }
}

#[test]
fn the_claimed_subject_is_read_from_refused_tokens_too() {
    let header = json!({"alg": "none"});
    let token = SERVICE.token("ES256", &header, &claims());
    assert!(verify(&token).is_err());
    let claimed = takt_crypto::claimed_subject(&token);
    assert_eq!(claimed.as_deref(), claims()["sub"].as_str());
    for text in ["", "a", "a.b.c", "..", "a.e30.c"] {
        assert_eq!(takt_crypto::claimed_subject(text), None, "{text}");
    }
}

#[test]
fn texts_that_are_no_tokens_are_refused() {
    let header = json!({"alg": "ES256"});
    let good = SERVICE.token("ES256", &header, &claims());
    let parts: Vec<&str> = good.split('.').collect();
    let padded = |part: &str| URL_SAFE.encode(URL_SAFE_NO_PAD.decode(part).unwrap());
    for wrong in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        parts[..2].join("."),
        format!("{good}."),
        format!("{good}.{}", parts[2]),
        format!(" {good}"),
        format!("{good}\n"),
        good.replace('.', "+"),
        format!("{}.{}.{}=", parts[0], parts[1], parts[2]),
        format!("{}.{}.{}", encode("[]"), parts[1], parts[2]),
        format!("{}.{}.{}", encode("{"), parts[1], parts[2]),
        format!("{}.{}.{}", padded(&encode("{\"a\":1}")), parts[1], parts[2]),
        "x".repeat(20_000),
    ] {
        assert_eq!(verify(&wrong), Err(JwtError::Form), "{wrong}");
    }
    // Claims are looked at after the signature.
    let signed = format!("{}.{}", parts[0], encode("no JSON"));
    let signature = encode(SERVICE.sign("ES256", &signed));
    assert_eq!(
        verify(&format!("{signed}.{signature}")),
        Err(JwtError::Form)
    );
    let unsigned = format!("{}.{}.{}", parts[0], encode("no JSON"), parts[2]);
    assert_eq!(verify(&unsigned), Err(JwtError::Signature));
}

#[test]
fn every_changed_character_is_noticed() {
    for algorithm in ["RS256", "ES256"] {
        let good = SERVICE.token(algorithm, &json!({"alg": algorithm}), &claims());
        for at in 0..good.len() {
            let mut changed = good.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(verify(&changed).is_err(), "{algorithm} {at}");
        }
    }
}

#[test]
fn signatures_of_zeros_and_in_other_forms_are_refused() {
    let header = encode(json!({"alg": "ES256"}).to_string());
    let signed = format!("{header}.{}", encode(claims().to_string()));
    let good = SERVICE.sign("ES256", &signed);
    // r and s of zero, none at all, and the form of ASN.1.
    let mut asn1 = vec![0x30, 68, 2, 32];
    asn1.extend_from_slice(&good[..32]);
    asn1.extend_from_slice(&[2, 32]);
    asn1.extend_from_slice(&good[32..]);
    for signature in [vec![0; 64], Vec::new(), vec![0; 63], asn1] {
        let token = format!("{signed}.{}", encode(signature));
        assert_eq!(verify(&token), Err(JwtError::Signature));
    }
}

#[test]
fn each_claim_is_checked() {
    for (name, value, expected) in [
        (
            "iss",
            json!("https://login.other.example"),
            JwtError::Issuer,
        ),
        ("iss", json!(format!("{ISSUER}/")), JwtError::Issuer),
        ("iss", json!([ISSUER]), JwtError::Issuer),
        ("iss", Value::Null, JwtError::Issuer),
        ("aud", json!("urn:plant"), JwtError::Audience),
        ("aud", json!(["urn:other", 7]), JwtError::Audience),
        ("aud", json!({}), JwtError::Audience),
        ("aud", Value::Null, JwtError::Audience),
        ("exp", json!(NOW - 60), JwtError::Expired),
        ("exp", json!("tomorrow"), JwtError::Expired),
        ("exp", json!(-1e300), JwtError::Expired),
        ("exp", Value::Null, JwtError::Expired),
        ("nbf", json!(NOW + 61), JwtError::NotYet),
        ("nbf", json!("yesterday"), JwtError::NotYet),
        ("iat", json!(NOW + 61), JwtError::NotYet),
        ("sub", json!(""), JwtError::Subject),
        ("sub", json!("an\nna"), JwtError::Subject),
        ("sub", json!("x".repeat(257)), JwtError::Subject),
        ("sub", json!(7), JwtError::Subject),
        ("sub", Value::Null, JwtError::Subject),
        ("roles", json!("operator"), JwtError::Roles),
        ("roles", json!([7]), JwtError::Roles),
        ("roles", json!(vec!["x"; 65]), JwtError::Roles),
    ] {
        assert_eq!(
            with_claim(name, value.clone()),
            Err(expected),
            "{name} {value}"
        );
    }
    // Clocks may differ by a minute.
    for (name, value) in [
        ("exp", json!(NOW - 59)),
        ("exp", json!(1e300)),
        ("nbf", json!(NOW + 60)),
        ("iat", Value::Null),
        ("aud", json!(["urn:other", AUDIENCE])),
    ] {
        assert!(with_claim(name, value.clone()).is_ok(), "{name} {value}");
    }
    let none = with_claim("roles", Value::Null).unwrap();
    assert_eq!(none.roles, [""; 0]);
}

#[test]
fn files_of_keys_are_checked() {
    let read = |keys: Value| JwtKeys::from_json(&json!({ "keys": keys }).to_string());
    for wrong in ["", "[]", "{}", r#"{"keys": {}}"#, r#"{"keys": 7}"#] {
        let refused = JwtKeys::from_json(wrong);
        assert!(matches!(refused, Err(JwtKeysError::Form(_))), "{wrong}");
    }
    let too_many = json!(vec![SERVICE.ec_key(); 65]);
    assert!(matches!(read(too_many), Err(JwtKeysError::Form(_))));
    let changed = |mut key: Value, name: &str, value: &str| {
        key[name] = json!(value);
        key
    };
    let (rsa, ec) = (SERVICE.rsa_key(), SERVICE.ec_key());
    for damaged in [
        changed(rsa.clone(), "e", "AQ"),
        changed(rsa.clone(), "e", "AA"),
        changed(rsa.clone(), "e", ""),
        changed(rsa.clone(), "n", "AQAB"),
        changed(rsa.clone(), "n", "no base64!"),
        changed(ec.clone(), "x", "AQAB"),
        // A private key, and a secret.
        changed(ec.clone(), "d", "AQAB"),
        json!({"kty": "oct", "k": "c2VjcmV0"}),
        json!({"kty": "RSA"}),
        json!("key"),
    ] {
        let refused = read(json!([damaged]));
        assert!(
            matches!(refused, Err(JwtKeysError::Key { number: 1, .. })),
            "{damaged}"
        );
    }
    // Keys for other purposes are left out.
    for other in [
        changed(rsa.clone(), "use", "enc"),
        changed(rsa.clone(), "alg", "RS512"),
        changed(ec.clone(), "alg", "RS256"),
        changed(ec.clone(), "crv", "P-384"),
        json!({"kty": "OKP", "crv": "Ed25519", "x": "AQAB"}),
    ] {
        assert!(
            matches!(read(json!([other])), Err(JwtKeysError::Empty)),
            "{other}"
        );
        assert!(read(json!([other, ec])).is_ok());
    }
    // A key for encryption verifies nothing.
    let keys = read(json!([changed(rsa, "use", "enc"), ec])).unwrap();
    let token = SERVICE.token("RS256", &json!({"alg": "RS256"}), &claims());
    assert_eq!(verify_with(&keys, &token), Err(JwtError::Signature));
}
