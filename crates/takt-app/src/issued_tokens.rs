//! Users with a JSON Web Token of an authorization service (OPC 10000-6, 6.5.2).

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use takt_crypto::{FileState, JwtExpectations, JwtKeys, JwtKeysError, now};
use takt_services::IssuedUser;
use takt_space::RoleSet;
use takt_ua::StatusCode;

use crate::private_file;
use crate::refusals::{Refusals, shown};

/// Largest file of keys in bytes.
const MAX_FILE: u64 = 1 << 20;

/// An authorization service whose tokens a server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtOptions {
    /// Issuer of the tokens: the value of their claim `iss`, and the URL at which clients get them.
    pub issuer: String,
    /// Name of the server in the tokens: the value of their claim `aud`; by default its ApplicationUri.
    pub audience: Option<String>,
    /// File with the public keys of the issuer (JWK Set). It is read again when it has changed.
    pub keys: PathBuf,
    /// Roles of entries in the claim `roles`. Entries that are not listed name a Role themselves.
    pub roles: BTreeMap<String, RoleSet>,
}

/// Error of a file of keys.
#[derive(Debug, thiserror::Error)]
pub enum JwtOptionsError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// File without usable keys.
    #[error("{}: {source}", path.display())]
    Keys {
        /// The file.
        path: PathBuf,
        /// The mistake.
        source: JwtKeysError,
    },
}

/// The authorization service, and its keys as they were read last.
#[derive(Debug)]
pub(crate) struct IssuedTokens {
    options: JwtOptions,
    audience: String,
    keys: Mutex<ReadKeys>,
    /// Refused tokens in the log.
    refusals: Refusals,
}

/// Keys of a file.
#[derive(Debug)]
struct ReadKeys {
    read_at: Option<FileState>,
    /// The keys, or the reason why there are none: then no token is accepted. No token of a removed key is accepted.
    keys: Result<Arc<JwtKeys>, String>,
}

impl IssuedTokens {
    /// Reads the keys.
    pub(crate) fn open(
        options: JwtOptions,
        application_uri: &str,
    ) -> Result<Self, JwtOptionsError> {
        // Before the file is read, so that a change in between is noticed later.
        let state =
            FileState::of(&options.keys).filter(|state| state.has_passed(FileState::SAME_TIME));
        let keys = Mutex::new(ReadKeys {
            read_at: state,
            keys: Ok(Arc::new(read(&options)?)),
        });
        let audience = options.audience.clone();
        Ok(Self {
            audience: audience.unwrap_or_else(|| application_uri.to_owned()),
            options,
            keys,
            refusals: Refusals::default(),
        })
    }

    /// Returns the issuerEndpointUrl for clients (OPC 10000-6, Table 54): a JSON object.
    pub(crate) fn issuer_endpoint_url(&self) -> String {
        let string = |text: &str| {
            let mut quoted = String::from('"');
            for c in text.chars() {
                match c {
                    '"' | '\\' => quoted.extend(['\\', c]),
                    c if c.is_control() => quoted += &format!("\\u{:04x}", u32::from(c)),
                    c => quoted.push(c),
                }
            }
            quoted.push('"');
            quoted
        };
        format!(
            r#"{{"ua:resourceId":{},"ua:authorityUrl":{},"ua:authorityProfileUri":"http://opcfoundation.org/UA/Authorization#OAuth2"}}"#,
            string(&self.audience),
            string(&self.options.issuer)
        )
    }

    /// Checks a token. The client is not told why it is refused; the log is.
    pub(crate) fn user(&self, token: &[u8]) -> Result<IssuedUser, StatusCode> {
        let rejected = StatusCode::BadIdentityTokenRejected;
        let text = std::str::from_utf8(token).map_err(|_| StatusCode::BadIdentityTokenInvalid)?;
        let expected = JwtExpectations {
            issuer: &self.options.issuer,
            audience: &self.audience,
            now: now(),
        };
        let refused = |error: &dyn std::fmt::Display| {
            self.refusals
                .warn(&format_args!("a token of a user is refused: {error}"));
            rejected
        };
        let keys = self.keys().map_err(|error| {
            refused(&format_args!(
                "the server has no keys of the authorization service: {error}"
            ))
        })?;
        let claims = keys.verify(text, &expected);
        let claims = claims.map_err(|error| refused(&error))?;
        let known = claims.roles.iter().filter_map(|name| self.roles(name));
        let Some(roles) = known.reduce(RoleSet::union) else {
            self.refusals.warn(&format_args!(
                "a token of the user {} is refused: none of its roles is one of this server: {}",
                shown(&claims.subject),
                shown(&claims.roles.join(", "))
            ));
            return Err(StatusCode::BadUserAccessDenied);
        };
        Ok(IssuedUser {
            issuer: self.options.issuer.clone(),
            subject: claims.subject,
            roles,
            expires: claims.expires,
        })
    }

    fn roles(&self, name: &str) -> Option<RoleSet> {
        let listed = self.options.roles.get(name).copied();
        listed.or_else(|| name.parse().ok())
    }

    /// Returns the keys. A file that was replaced is read again; without a usable file there are none.
    fn keys(&self) -> Result<Arc<JwtKeys>, String> {
        let changed = FileState::of(&self.options.keys);
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.read_at.is_none() || keys.read_at != changed {
            // A file that has just changed can change again within the resolution of its time stamp.
            keys.read_at = changed.filter(|state| state.has_passed(FileState::SAME_TIME));
            let before = keys.keys.as_ref().err().cloned();
            keys.keys = read(&self.options)
                .map(Arc::new)
                .map_err(|error| error.to_string());
            if let Err(error) = &keys.keys
                && before.as_ref() != Some(error)
            {
                tracing::error!(
                    %error,
                    "no token of the authorization service is accepted until its keys can be read"
                );
            }
        }
        keys.keys.clone()
    }
}

fn read(options: &JwtOptions) -> Result<JwtKeys, JwtOptionsError> {
    let path = || options.keys.clone();
    let failed = |source| JwtOptionsError::Io {
        path: path(),
        source,
    };
    let text = private_file::read(&options.keys, MAX_FILE).map_err(failed)?;
    private_file::warn_of_writers(&options.keys);
    JwtKeys::from_json(&text).map_err(|source| JwtOptionsError::Keys {
        path: path(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use takt_space::UserRole;

    use super::*;

    /// A set with one key of P-256, whose private key nobody has.
    const KEYS: &str = r#"{"keys": [{"kty": "EC", "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;

    fn options(folder: &tempfile::TempDir) -> JwtOptions {
        let keys = folder.path().join("keys.json");
        fs::write(&keys, KEYS).unwrap();
        JwtOptions {
            issuer: "https://login.plant.example".to_owned(),
            audience: None,
            keys,
            roles: BTreeMap::from([("fitter".to_owned(), UserRole::Operator.into())]),
        }
    }

    #[test]
    fn clients_are_told_where_to_get_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = IssuedTokens::open(options(&folder), "urn:\"a\\b\n").unwrap();
        let url = tokens.issuer_endpoint_url();
        assert!(
            url.contains(r#""ua:resourceId":"urn:\"a\\b\u000a","#),
            "{url}"
        );
        assert!(url.contains(r#""ua:authorityUrl":"https://login.plant.example""#));
    }

    #[test]
    fn roles_are_listed_or_name_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = IssuedTokens::open(options(&folder), "urn:a").unwrap();
        assert_eq!(tokens.roles("fitter"), Some(UserRole::Operator.into()));
        assert_eq!(tokens.roles("observer"), Some(UserRole::Observer.into()));
        assert_eq!(tokens.roles("admin"), None);
        let refused = StatusCode::BadIdentityTokenRejected;
        assert_eq!(tokens.user(b"a.b.c").unwrap_err(), refused);
        let invalid = StatusCode::BadIdentityTokenInvalid;
        assert_eq!(tokens.user(&[0xFF]).unwrap_err(), invalid);
    }

    #[test]
    fn files_of_keys_are_read_at_the_start_and_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(&folder);
        let tokens = IssuedTokens::open(options.clone(), "urn:a").unwrap();
        let first = tokens.keys().unwrap();
        let mut later = SystemTime::now();
        let mut write = |text: &str| {
            fs::write(&options.keys, text).unwrap();
            later += std::time::Duration::from_secs(10);
            let file = fs::File::options().write(true).open(&options.keys).unwrap();
            file.set_modified(later).unwrap();
        };
        // Removed keys are revoked, in whatever way they are removed.
        for damage in [
            "{}",
            r#"{"keys": []}"#,
            "",
            "[",
            r#"{"keys": [{"kty": "oct"}]}"#,
        ] {
            write(damage);
            let error = tokens.keys().unwrap_err();
            assert!(error.contains("keys.json"), "{error}");
            let refused = tokens.user(b"a.b.c").unwrap_err();
            assert_eq!(refused, StatusCode::BadIdentityTokenRejected);
            let lines = tokens.refusals.lines();
            assert!(lines.iter().any(|line| line.contains(&error)), "{lines:?}");
            let damaged = IssuedTokens::open(options.clone(), "urn:a");
            assert!(
                matches!(damaged, Err(JwtOptionsError::Keys { .. })),
                "{damage}"
            );
        }
        write(KEYS);
        assert!(!Arc::ptr_eq(&first, &tokens.keys().unwrap()));
        fs::remove_file(&options.keys).unwrap();
        assert!(tokens.keys().unwrap_err().contains("keys.json"));
        assert!(tokens.keys().is_err());
        let missing = IssuedTokens::open(options.clone(), "urn:a");
        assert!(matches!(missing, Err(JwtOptionsError::Io { .. })));
    }
}
