//! One SecurityGroup: its keys, and the times at which they are current.

use std::collections::VecDeque;
use std::time::Duration;

use takt_pubsub::security::PubSubSecurityPolicy;
use takt_ua::binary::Encode;
use takt_ua::structures::SecurityGroupDataType;
use takt_ua::{DateTime, StatusCode};
use zeroize::Zeroizing;

use crate::database::SecurityGroupRecord;

/// Ticks of a DateTime in a millisecond.
const TICKS: f64 = 10_000.0;

/// KeyLifetime in milliseconds: the default for 0, and the limits of other values.
const DEFAULT_KEY_LIFETIME: f64 = 3_600_000.0;
const SHORTEST_KEY_LIFETIME: f64 = 1_000.0;
const LONGEST_KEY_LIFETIME: f64 = 30.0 * 24.0 * 3_600_000.0;

/// Numbers of future and past keys: the default for 0, and the maximum.
const DEFAULT_KEY_COUNT: u32 = 2;
const MAX_KEY_COUNT: u32 = 16;

/// Largest number of keys that are pushed together: the current one, and all future ones.
pub(crate) const MOST_KEYS: u16 = 17;

/// Largest length of a name.
pub(super) const LONGEST_NAME: usize = 255;

/// Largest number of tokens that are passed over at once: a fortnight of the shortest KeyLifetime. A longer time is a jump
/// of the clock, which must not use up the tokens.
const MOST_PASSED: u32 = 1 << 20;

/// Token of the first key, and of the key that follows the largest token (OPC 10000-14, 9.1.3.3).
pub(super) const FIRST_TOKEN_ID: u32 = 1;

/// Result of `GetSecurityKeys` (OPC 10000-14, 8.3.2).
pub(super) struct Keys {
    pub(super) first_token_id: u32,
    pub(super) keys: Vec<Zeroizing<Vec<u8>>>,
    pub(super) time_to_next_key: f64,
}

/// A SecurityGroup.
#[derive(Clone)]
pub(super) struct SecurityGroup {
    /// Configuration with the revised values.
    pub(super) configuration: SecurityGroupDataType,
    pub(super) security_policy: PubSubSecurityPolicy,
    /// The Unix user that added it.
    pub(super) user: u32,
    first_token_id: u32,
    current_token_id: u32,
    next_key_at: DateTime,
    /// Past keys, the current one, and future ones: their tokens follow each other.
    keys: VecDeque<Zeroizing<Vec<u8>>>,
}

/// Returns true if a SecurityGroup may have this name.
pub(super) fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// Revises a configuration that a client requests (OPC 10000-14, 8.5.2).
pub(super) fn revise(
    mut wanted: SecurityGroupDataType,
) -> Result<(SecurityGroupDataType, PubSubSecurityPolicy), StatusCode> {
    let name = wanted.name.as_str();
    if !is_name(name) {
        return Err(StatusCode::BadInvalidArgument);
    }
    let policy = match wanted.security_policy_uri.as_str() {
        "" => PubSubSecurityPolicy::PubSubAes256Ctr,
        uri => PubSubSecurityPolicy::from_uri(uri).ok_or(StatusCode::BadInvalidArgument)?,
    };
    let lifetime = wanted.key_lifetime;
    wanted.key_lifetime = match lifetime {
        0.0 => DEFAULT_KEY_LIFETIME,
        _ if lifetime.is_nan() || lifetime < 0.0 => return Err(StatusCode::BadInvalidArgument),
        _ => lifetime.clamp(SHORTEST_KEY_LIFETIME, LONGEST_KEY_LIFETIME),
    };
    for count in [
        &mut wanted.max_future_key_count,
        &mut wanted.max_past_key_count,
    ] {
        *count = match *count {
            0 => DEFAULT_KEY_COUNT,
            count => count.min(MAX_KEY_COUNT),
        };
    }
    wanted.security_group_id = wanted.name.clone();
    wanted.security_policy_uri = policy.uri().into();
    Ok((wanted, policy))
}

impl SecurityGroup {
    /// Creates a group whose first key has this token and is current from `now` on. It has keys after
    /// [`advance`](Self::advance).
    pub(super) fn new(
        (configuration, security_policy): (SecurityGroupDataType, PubSubSecurityPolicy),
        user: u32,
        first_token_id: u32,
        now: DateTime,
    ) -> Self {
        let mut group = Self {
            configuration,
            security_policy,
            user,
            first_token_id,
            current_token_id: first_token_id,
            next_key_at: now,
            keys: VecDeque::new(),
        };
        group.next_key_at = DateTime(now.0.saturating_add(group.lifetime_ticks()));
        group
    }

    /// Restores a group of the database; `None` if the record is invalid.
    pub(super) fn restore(record: SecurityGroupRecord) -> Option<Self> {
        let (configuration, security_policy) = revise(record.configuration).ok()?;
        let length = security_policy.key_data_length();
        let keys = record.key_data.chunks_exact(length);
        let later = u32::try_from(keys.len().saturating_sub(1)).ok()?;
        let last = record.first_token_id.checked_add(later)?;
        if !(record.first_token_id..=last).contains(&record.current_token_id) {
            return None;
        }
        Some(Self {
            configuration,
            security_policy,
            user: record.user,
            first_token_id: record.first_token_id,
            current_token_id: record.current_token_id,
            next_key_at: record.next_key_at,
            keys: keys.map(|key| key.to_vec().into()).collect(),
        })
    }

    pub(super) fn record(&self) -> SecurityGroupRecord {
        let length = self.security_policy.key_data_length();
        // The buffer is allocated in one piece, because a growing one would leave copies of keys behind.
        let mut key_data = Zeroizing::new(Vec::with_capacity(self.keys.len() * length));
        for key in &self.keys {
            key_data.extend_from_slice(key);
        }
        SecurityGroupRecord {
            configuration: self.configuration.clone(),
            user: self.user,
            first_token_id: self.first_token_id,
            current_token_id: self.current_token_id,
            next_key_at: self.next_key_at,
            key_data,
        }
    }

    /// Returns the bytes of memory of the group with the largest number of keys, approximately.
    pub(super) fn memory(&self) -> usize {
        let configuration = &self.configuration;
        let counts = [
            configuration.max_past_key_count,
            configuration.max_future_key_count,
        ];
        let keys = counts.iter().fold(1, |sum, count| sum + *count as usize);
        let key = size_of::<Zeroizing<Vec<u8>>>() + self.security_policy.key_data_length();
        size_of::<Self>() + configuration.encode_to_vec().len() + keys * key
    }

    fn lifetime_ticks(&self) -> i64 {
        // It fits: `revise` limits the lifetime to 30 days.
        (self.configuration.key_lifetime * TICKS) as i64
    }

    /// Returns the highest token that has a key.
    pub(super) fn last_token_id(&self) -> u32 {
        self.first_token_id
            .saturating_sub(1)
            .saturating_add(self.keys.len() as u32)
    }

    /// Brings keys and tokens up to date; returns whether anything changed. Keys come from `new_key`.
    ///
    /// A token is not reused: if the clock is set back, the current one stays for a KeyLifetime. Behind the largest token,
    /// tokens restart at 1, and all keys are new.
    pub(super) fn advance(
        &mut self,
        now: DateTime,
        mut new_key: impl FnMut(&mut [u8]) -> Result<(), StatusCode>,
    ) -> Result<bool, StatusCode> {
        let lifetime = self.lifetime_ticks();
        let mut changed = false;
        let behind = now.0.saturating_sub(self.next_key_at.0);
        if behind >= 0 {
            // The lifetime is at least a second: see `revise`.
            let periods = behind / lifetime + 1;
            let passed = u32::try_from(periods).map_or(MOST_PASSED, |it| it.min(MOST_PASSED));
            self.current_token_id = self.current_token_id.saturating_add(passed);
            let passed = periods.saturating_mul(lifetime);
            self.next_key_at = DateTime(self.next_key_at.0.saturating_add(passed));
            changed = true;
        } else if behind < -lifetime {
            self.next_key_at = DateTime(now.0.saturating_add(lifetime));
            changed = true;
        }
        let future = self.configuration.max_future_key_count;
        if self.current_token_id.checked_add(future).is_none() {
            self.current_token_id = FIRST_TOKEN_ID;
            self.first_token_id = FIRST_TOKEN_ID;
            self.keys.clear();
        }
        let current = self.current_token_id;
        let oldest = current.saturating_sub(self.configuration.max_past_key_count);
        while self.first_token_id < oldest && self.keys.pop_front().is_some() {
            self.first_token_id += 1;
        }
        // All keys are too old: the first new one is the current one.
        if self.keys.is_empty() {
            self.first_token_id = self.first_token_id.max(current);
        }
        let last = current.saturating_add(future);
        while self.keys.is_empty() || self.last_token_id() < last {
            let mut key = Zeroizing::new(vec![0; self.security_policy.key_data_length()]);
            new_key(&mut key)?;
            self.keys.push_back(key);
            changed = true;
        }
        Ok(changed)
    }

    /// Handles `InvalidateKeys` (OPC 10000-14, 8.4.2): all keys become invalid; the next one has a token above all
    /// previous ones. It has keys again after [`advance`](Self::advance).
    pub(super) fn invalidate(&mut self, now: DateTime) {
        self.current_token_id = self.last_token_id().saturating_add(1);
        self.first_token_id = self.current_token_id;
        self.keys.clear();
        self.next_key_at = DateTime(now.0.saturating_add(self.lifetime_ticks()));
    }

    /// Handles `ForceKeyRotation` (OPC 10000-14, 8.4.3): the next key becomes current for a KeyLifetime. The other
    /// keys stay valid.
    pub(super) fn rotate(&mut self, now: DateTime) {
        self.current_token_id = self.current_token_id.saturating_add(1);
        self.next_key_at = DateTime(now.0.saturating_add(self.lifetime_ticks()));
    }

    /// Returns the keys from a token on: 0 stands for the current token, an unknown one for the oldest. Returns at
    /// least one key, and at most those that exist.
    pub(super) fn keys(&self, starting_token_id: u32, count: u32, now: DateTime) -> Keys {
        let start = match starting_token_id {
            0 => self.current_token_id,
            token if (self.first_token_id..=self.last_token_id()).contains(&token) => token,
            _ => self.first_token_id,
        };
        // `advance` keeps the first token at or below the current one.
        let skipped = (start - self.first_token_id) as usize;
        let keys = self.keys.iter().skip(skipped).take(count.max(1) as usize);
        Keys {
            first_token_id: start,
            keys: keys.cloned().collect(),
            time_to_next_key: self.next_key_at.0.saturating_sub(now.0).max(0) as f64 / TICKS,
        }
    }

    /// Returns whether a requested configuration equals the present one.
    pub(super) fn is(&self, configuration: &SecurityGroupDataType) -> bool {
        self.configuration == *configuration
    }
}

/// Converts a KeyLifetime to a Duration of OPC UA, in milliseconds.
pub(super) fn milliseconds(lifetime: Duration) -> f64 {
    lifetime.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests;
