//! Keys of a SecurityGroup on the command line.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use takt_pubsub::security::{PubSubSecurityPolicy, SecurityKeyUpdate, SecurityKeys};

/// Lifetime of a key on the command line: a year. The key does not change.
const LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// Key `TOKEN:SIGNING:ENCRYPTING:NONCE`: the token as a number, the others in hexadecimal digits. The length of the encrypting key
/// determines the SecurityPolicy.
#[derive(Debug, Clone)]
pub struct SecurityKey {
    /// Keys for decoding.
    pub keys: Arc<SecurityKeys>,
    /// Keys for publishing and subscribing, in the form of an answer of a SecurityKeyService.
    pub update: SecurityKeyUpdate,
}

impl FromStr for SecurityKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split(':').collect();
        let [token, signing, encrypting, nonce] = parts[..] else {
            return Err("write TOKEN:SIGNING:ENCRYPTING:NONCE".to_owned());
        };
        let token = token.parse().map_err(|_| {
            format!("`{token}` is not a SecurityTokenId: a number from 1 to 4294967295")
        })?;
        let hex = |name: &str, digits: &str, lengths: &[usize]| {
            let bytes = crate::hex::parse(digits)
                .ok_or_else(|| format!("the {name} is not in hex digits"))?;
            match lengths.contains(&bytes.len()) {
                true => Ok(bytes),
                false => Err(format!(
                    "a {name} has {lengths:?} bytes, not {}",
                    bytes.len()
                )),
            }
        };
        let mut data = hex("signing key", signing, &[32])?;
        let encrypting = hex("encrypting key", encrypting, &[16, 32])?;
        let policy = match encrypting.len() {
            16 => PubSubSecurityPolicy::PubSubAes128Ctr,
            _ => PubSubSecurityPolicy::PubSubAes256Ctr,
        };
        data.extend(encrypting);
        data.extend(hex("key nonce", nonce, &[4])?);
        let keys = SecurityKeys::new(policy, token, &data).map_err(|error| error.to_string())?;
        let update = SecurityKeyUpdate {
            security_policy_uri: policy.uri().to_owned(),
            first_token_id: token,
            keys: vec![data.into()],
            time_to_next_key: LIFETIME,
            key_lifetime: LIFETIME,
        };
        Ok(Self {
            keys: Arc::new(keys),
            update,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_keys_are_explained() {
        let key = |token: &str, lengths: [usize; 3]| {
            let [signing, encrypting, nonce] = lengths.map(|length| "0a".repeat(length));
            format!("{token}:{signing}:{encrypting}:{nonce}").parse::<SecurityKey>()
        };
        let policy = |lengths| key("1", lengths).map(|key| key.keys.security_policy());
        assert_eq!(
            policy([32, 16, 4]),
            Ok(PubSubSecurityPolicy::PubSubAes128Ctr)
        );
        assert_eq!(
            policy([32, 32, 4]),
            Ok(PubSubSecurityPolicy::PubSubAes256Ctr)
        );
        for lengths in [[31, 32, 4], [32, 24, 4], [32, 32, 8]] {
            assert!(policy(lengths).unwrap_err().contains("bytes, not"));
        }
        assert!(key("0", [32, 32, 4]).unwrap_err().contains("0 is not"));
        assert!(key("x", [32, 32, 4]).is_err());
        assert!("1:2".parse::<SecurityKey>().is_err());
        assert!(
            "1:zz:00:00"
                .parse::<SecurityKey>()
                .unwrap_err()
                .contains("hex")
        );
    }
}
