//! Keys of a SecurityGroup, as the Methods `GetSecurityKeys` and `SetSecurityKeys` carry them.

use std::time::Duration;

use zeroize::Zeroizing;

/// Answer to `GetSecurityKeys` (OPC 10000-14, 8.3.2) with a StartingTokenId of 0: the current key comes first.
#[derive(Clone, PartialEq, Eq)]
pub struct SecurityKeyUpdate {
    /// URI of the SecurityPolicy of the keys.
    pub security_policy_uri: String,
    /// SecurityTokenId of the first key; the following keys have the following numbers.
    pub first_token_id: u32,
    /// Key data: see OPC 10000-14, 7.2.4.4.3.1.
    pub keys: Vec<Zeroizing<Vec<u8>>>,
    /// Time until the second key becomes the current one.
    pub time_to_next_key: Duration,
    /// KeyLifetime: the time for which each of the following keys is current.
    pub key_lifetime: Duration,
}

impl std::fmt::Debug for SecurityKeyUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecurityKeyUpdate")
            .field("security_policy_uri", &self.security_policy_uri)
            .field("first_token_id", &self.first_token_id)
            // Never the keys themselves: debug output ends up in logs.
            .field("keys", &self.keys.len())
            .field("time_to_next_key", &self.time_to_next_key)
            .field("key_lifetime", &self.key_lifetime)
            .finish()
    }
}
