//! JSON Web Tokens that an authorization service has signed (RFC 7519; OPC 10000-6, 6.5.2): their signature, and the claims that
//! say for whom, for which server, and for how long they hold.
//!
//! The algorithm is the one of the key in this server's file, never one that a token chooses: `none`, HS256 with a public key as
//! the secret, and keys or addresses of keys in a token have no effect.

mod keys;

use serde_json::{Map, Value};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use keys::Algorithm;
pub use keys::{JwtKeys, JwtKeysError};

/// Longest token in bytes.
pub const MAX_JWT: usize = 16 << 10;

/// Longest name of a subject, and of a role, in bytes.
const MAX_NAME: usize = 256;

/// Largest number of roles in a token.
const MAX_ROLES: usize = 64;

/// Seconds by which the clocks of the authorization service and of this host may differ.
const LEEWAY: i64 = 60;

/// Reason for which a token is refused. It is for the log of the server; a client gets one answer for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// Text that is not a token of three parts with a JSON object each in the first two, or is too long.
    #[error("it is no signed JSON Web Token")]
    Form,
    /// The header names another algorithm than RS256 or ES256, or extensions that have to be understood.
    #[error("its algorithm is neither RS256 nor ES256, or it needs extensions")]
    Algorithm,
    /// The header has keys, or addresses of keys: only the keys of the file count.
    #[error("it brings keys, or addresses of keys")]
    Key,
    /// No key of the file has made the signature.
    #[error("no known key has signed it")]
    Signature,
    /// Token of another issuer (`iss`).
    #[error("another authorization service has issued it")]
    Issuer,
    /// Token for another server (`aud`).
    #[error("it is for another server")]
    Audience,
    /// The time of the claim `exp` is over, or it has none.
    #[error("it has expired, or does not expire at all")]
    Expired,
    /// Token that is not valid yet (`nbf`, `iat`).
    #[error("it is not valid yet")]
    NotYet,
    /// The claim `sub` is missing or too long.
    #[error("it names no subject")]
    Subject,
    /// The claim `roles` is not a list of names.
    #[error("its roles are not a list of names")]
    Roles,
}

/// Fields of a header with keys or their addresses (RFC 7515, 4.1.2 to 4.1.6).
const FOREIGN_KEYS: [&str; 4] = ["jku", "jwk", "x5u", "x5c"];

/// Expectations of a token.
#[derive(Debug, Clone, Copy)]
pub struct JwtExpectations<'a> {
    /// The authorization service: the value of `iss`.
    pub issuer: &'a str,
    /// The server: the value of `aud`, or one of its values.
    pub audience: &'a str,
    /// The present time in seconds since 1970.
    pub now: i64,
}

/// Claims of a token that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtClaims {
    /// The user: `sub`.
    pub subject: String,
    /// The entries of `roles`.
    pub roles: Vec<String>,
    /// End of its validity in seconds since 1970, with the tolerance for clocks.
    pub expires: i64,
}

impl JwtKeys {
    /// Checks a token and returns its claims.
    ///
    /// # Errors
    /// The check that failed.
    pub fn verify(
        &self,
        token: &str,
        expected: &JwtExpectations<'_>,
    ) -> Result<JwtClaims, JwtError> {
        if token.len() > MAX_JWT {
            return Err(JwtError::Form);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::Form)?;
        let (header, claims) = signed.split_once('.').ok_or(JwtError::Form)?;
        if claims.contains('.') {
            return Err(JwtError::Form);
        }
        let header = object(header)?;
        if FOREIGN_KEYS.iter().any(|name| header.contains_key(*name)) {
            return Err(JwtError::Key);
        }
        let algorithm = algorithm(&header)?;
        let key_id = match header.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(&**id),
            Some(_) => return Err(JwtError::Form),
        };
        let signature = URL_SAFE_NO_PAD.decode(signature);
        let signature = signature.map_err(|_| JwtError::Form)?;
        // Before the signature is verified, nothing of the claims is looked at.
        if !self.has_signed(algorithm, key_id, signed.as_bytes(), &signature) {
            return Err(JwtError::Signature);
        }
        check(&object(claims)?, expected)
    }
}

/// Returns the user that a token claims, for audit records. Nothing of the token is checked.
#[must_use]
pub fn claimed_subject(token: &str) -> Option<String> {
    if token.len() > MAX_JWT {
        return None;
    }
    let claims = object(token.split('.').nth(1)?).ok()?;
    let subject = claims.get("sub").and_then(Value::as_str)?;
    (subject.len() <= MAX_NAME).then(|| subject.to_owned())
}

/// Decodes a part of a token.
fn object(part: &str) -> Result<Map<String, Value>, JwtError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| JwtError::Form)?;
    serde_json::from_slice(&bytes).map_err(|_| JwtError::Form)
}

/// Returns the algorithm that the header names (RFC 7515, 4.1).
fn algorithm(header: &Map<String, Value>) -> Result<Algorithm, JwtError> {
    // `crit` lists extensions without which the token must not be used; `zip` and `enc` belong to other kinds of tokens.
    let is_extended = ["crit", "b64", "zip", "enc"]
        .iter()
        .any(|name| header.contains_key(*name));
    // A token within a token is not looked into.
    let is_nested = header.contains_key("cty");
    let typ = match header.get("typ") {
        None => "JWT",
        Some(Value::String(typ)) => typ,
        Some(_) => return Err(JwtError::Form),
    };
    let is_token = ["JWT", "at+jwt", "application/at+jwt"]
        .iter()
        .any(|known| typ.eq_ignore_ascii_case(known));
    let name = header.get("alg").and_then(Value::as_str);
    let algorithm = name.and_then(Algorithm::by_name);
    match algorithm {
        Some(algorithm) if is_token && !is_extended && !is_nested => Ok(algorithm),
        _ => Err(JwtError::Algorithm),
    }
}

/// Checks the claims (RFC 7519, 4.1; OPC 10000-6, Table 55).
fn check(
    claims: &Map<String, Value>,
    expected: &JwtExpectations<'_>,
) -> Result<JwtClaims, JwtError> {
    if claims.get("iss").and_then(Value::as_str) != Some(expected.issuer) {
        return Err(JwtError::Issuer);
    }
    let is_for_this = match claims.get("aud") {
        Some(Value::String(audience)) => audience == expected.audience,
        Some(Value::Array(all)) => all
            .iter()
            .any(|one| one.as_str() == Some(expected.audience)),
        _ => false,
    };
    if !is_for_this {
        return Err(JwtError::Audience);
    }
    let expires = time(claims, "exp").map_err(|()| JwtError::Expired)?;
    let expires = expires.ok_or(JwtError::Expired)?.saturating_add(LEEWAY);
    if expires <= expected.now {
        return Err(JwtError::Expired);
    }
    for name in ["nbf", "iat"] {
        let from = time(claims, name).map_err(|()| JwtError::NotYet)?;
        if from.is_some_and(|from| from.saturating_sub(LEEWAY) > expected.now) {
            return Err(JwtError::NotYet);
        }
    }
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or("");
    // The subject becomes the name of a user, which logs and audit records show.
    if subject.is_empty() || subject.len() > MAX_NAME || subject.chars().any(char::is_control) {
        return Err(JwtError::Subject);
    }
    Ok(JwtClaims {
        subject: subject.to_owned(),
        roles: roles(claims)?,
        expires,
    })
}

/// Returns a NumericDate (RFC 7519, 2) in whole seconds, if the claim is there.
fn time(claims: &Map<String, Value>, name: &str) -> Result<Option<i64>, ()> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => {
            // A NumericDate may have a fraction.
            let seconds = value.as_f64().filter(|seconds| seconds.is_finite());
            // Saturates; later times than the end of this range are all the same.
            seconds.map(|seconds| Some(seconds as i64)).ok_or(())
        }
    }
}

fn roles(claims: &Map<String, Value>) -> Result<Vec<String>, JwtError> {
    let name = |value: &Value| {
        let name = value.as_str().filter(|name| name.len() <= MAX_NAME);
        name.map(str::to_owned).ok_or(JwtError::Roles)
    };
    match claims.get("roles") {
        None => Ok(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MAX_ROLES => all.iter().map(name).collect(),
        Some(_) => Err(JwtError::Roles),
    }
}
