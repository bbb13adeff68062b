//! The keys of a SecurityGroup over time (OPC 10000-14, 6.2.12.2 and 8.3.2).

use std::sync::Arc;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::keys::{KeyDataError, SecurityKeys};
use super::policy::SecurityPolicy;

/// How many keys a ring holds at most. Of an answer with more, the first are taken.
pub const MAX_KEYS: usize = 64;

/// For how many times the KeyLifetime a key is still used by a Publisher that got no newer one, and accepted by Subscribers
/// (6.2.12.2).
const GRACE: u32 = 2;

/// Requests to the SecurityKeyService are at least this part of a KeyLifetime apart.
const REQUEST_INTERVAL: u32 = 16;

/// What `GetSecurityKeys` answered (8.3.2), asked with a StartingTokenId of 0: the current key comes first.
#[derive(Clone, PartialEq, Eq)]
pub struct SecurityKeyUpdate {
    /// URI of the SecurityPolicy that the keys are for.
    pub security_policy_uri: String,
    /// SecurityTokenId of the first key; those that follow have the numbers that follow.
    pub first_token_id: u32,
    /// Key data: see [`SecurityKeys::new`].
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
            .field("keys", &self.keys.len())
            .field("time_to_next_key", &self.time_to_next_key)
            .field("key_lifetime", &self.key_lifetime)
            .finish()
    }
}

/// Error in an answer of the SecurityKeyService. The ring is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyRingError {
    /// The SecurityPolicy is not known.
    #[error("SecurityPolicy {0:?} is not supported")]
    SecurityPolicy(String),
    /// A key is not what the policy asks for.
    #[error("key with SecurityTokenId {security_token_id}: {source}")]
    Key {
        /// Index of the key.
        security_token_id: u32,
        /// Error of the key.
        source: KeyDataError,
    },
    /// There is no key.
    #[error("no key in the answer")]
    NoKey,
    /// A KeyLifetime of nothing, or a time of centuries.
    #[error("a KeyLifetime of {0:?} is none")]
    KeyLifetime(Duration),
}

/// Reason why there is no key for sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSendingKey {
    /// The ring was never filled.
    #[error("there is no key yet")]
    Empty,
    /// The last key expired, and no other has come within two times the KeyLifetime: the Publisher goes into the state
    /// Error (6.2.12.2).
    #[error("the last key, with SecurityTokenId {0}, has expired")]
    Expired(u32),
}

/// The keys of a SecurityGroup: current, past and future. Times are handed in.
///
/// A Publisher sends with the key that is current, and changes to the next one on time without asking anybody. A Subscriber
/// accepts any key of the ring: future ones too, because a Publisher's clock may be ahead, and past ones for
/// two times the KeyLifetime, because a Publisher that cannot reach the SecurityKeyService uses its last key for so long. So nothing is lost
/// while keys change, if there is a future key: ask for two keys or more.
///
/// A clone shares the keys.
#[derive(Debug, Clone, Default)]
pub struct KeyRing {
    /// In the order of their tokens.
    keys: Vec<TimedKeys>,
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone)]
struct TimedKeys {
    keys: Arc<SecurityKeys>,
    /// When they become current; `None` for those that were from the start.
    starts_at: Option<Instant>,
    /// When they are no longer used or accepted.
    expires_at: Instant,
}

impl TimedKeys {
    fn token(&self) -> u32 {
        self.keys.security_token_id()
    }

    fn have_started(&self, now: Instant) -> bool {
        self.starts_at.is_none_or(|start| start <= now)
    }
}

#[derive(Debug, Clone, Copy)]
struct Schedule {
    /// The token that was current when the service answered.
    current: u32,
    next_key_at: Instant,
    key_lifetime: Duration,
    updated_at: Instant,
    request_at: Instant,
}

impl Schedule {
    /// When the token after this one becomes current; `None` if that is further away than time can say.
    fn ends_at(&self, token: u32) -> Option<Instant> {
        let distance = self
            .key_lifetime
            .checked_mul(token.abs_diff(self.current))?;
        match token < self.current {
            true => self.next_key_at.checked_sub(distance),
            false => self.next_key_at.checked_add(distance),
        }
    }

    /// `None` if the keys are too far in the past or in the future to be of use.
    fn timed(&self, keys: Arc<SecurityKeys>) -> Option<TimedKeys> {
        let token = keys.security_token_id();
        let starts_at = (token > self.current).then(|| self.ends_at(token - 1));
        let expires_at = self
            .ends_at(token)?
            .checked_add(self.key_lifetime.checked_mul(GRACE)?)?;
        Some(TimedKeys {
            keys,
            starts_at: match starts_at {
                Some(start) => Some(start?),
                None => None,
            },
            expires_at,
        })
    }
}

/// Longer times cannot be meant, and would not fit into an [`Instant`] everywhere.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl KeyRing {
    /// A ring without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what the SecurityKeyService answered at `now`.
    ///
    /// Keys that were known before stay for as long as they are accepted. But if the current token is newer than all
    /// that are known, and the last of these has not had its time yet, then the keys were invalidated (8.4.2), and the
    /// old ones are forgotten at once.
    pub fn update(&mut self, update: &SecurityKeyUpdate, now: Instant) -> Result<(), KeyRingError> {
        let policy = SecurityPolicy::from_uri(&update.security_policy_uri)
            .ok_or_else(|| KeyRingError::SecurityPolicy(update.security_policy_uri.clone()))?;
        for time in [update.key_lifetime, update.time_to_next_key] {
            if time > LONGEST || update.key_lifetime.is_zero() {
                return Err(KeyRingError::KeyLifetime(time));
            }
        }
        let tokens = update.first_token_id..=u32::MAX;
        let new = tokens.zip(&update.keys).take(MAX_KEYS);
        let new = new.map(
            |(token, data)| match SecurityKeys::new(policy, token, data) {
                Ok(keys) => Ok(Arc::new(keys)),
                Err(source) => Err(KeyRingError::Key {
                    security_token_id: token,
                    source,
                }),
            },
        );
        let new = new.collect::<Result<Vec<_>, _>>()?;
        let invalidated = self.invalidated_by(update.first_token_id, now);
        let Some(last) = new.last().map(|keys| keys.security_token_id()) else {
            return Err(KeyRingError::NoKey);
        };
        let mut schedule = Schedule {
            current: update.first_token_id,
            next_key_at: now + update.time_to_next_key,
            key_lifetime: update.key_lifetime,
            updated_at: now,
            request_at: now,
        };
        let until_last_ends = schedule.ends_at(last).unwrap_or(now) - now;
        // 8.3.2 asks for half the KeyLifetime; without a future key it has to be sooner.
        let wait = (update.key_lifetime / 2)
            .min(until_last_ends)
            .max(update.key_lifetime / REQUEST_INTERVAL);
        schedule.request_at = now + wait;

        let mut old = std::mem::take(&mut self.keys);
        if invalidated {
            old.clear();
        }
        // What has expired stays so, whatever the KeyLifetime is now: what came with it may be forgotten already.
        old.retain(|old| {
            old.keys.security_policy() == policy
                && old.token() < update.first_token_id
                && now <= old.expires_at
        });
        let old = old.into_iter().map(|old| old.keys);
        let timed = old.chain(new).filter_map(|keys| schedule.timed(keys));
        self.keys = timed.filter(|keys| now <= keys.expires_at).collect();
        let too_many = self.keys.len().saturating_sub(MAX_KEYS);
        self.keys.drain(..too_many);
        self.schedule = Some(schedule);
        Ok(())
    }

    fn invalidated_by(&self, current: u32, now: Instant) -> bool {
        let last = self.keys.last();
        last.is_some_and(|last| current > last.token() && !last.have_started(now))
    }

    /// The key to send with.
    #[inline]
    pub fn sending(&self, now: Instant) -> Result<&SecurityKeys, NoSendingKey> {
        let mut newest_first = self.keys.iter().rev();
        let keys = newest_first
            .find(|keys| keys.have_started(now))
            .ok_or(NoSendingKey::Empty)?;
        match now <= keys.expires_at {
            true => Ok(&keys.keys),
            false => Err(NoSendingKey::Expired(keys.token())),
        }
    }

    /// The key of a message that was received, if it is known and accepted.
    #[inline]
    pub fn receiving(&self, security_token_id: u32, now: Instant) -> Option<&SecurityKeys> {
        let keys = self
            .keys
            .iter()
            .find(|keys| keys.token() == security_token_id)?;
        (now <= keys.expires_at).then_some(&*keys.keys)
    }

    /// When to call `GetSecurityKeys` again: after half the KeyLifetime (8.3.2), or when the last key ends if that is sooner.
    /// `None` if the ring was never filled: now.
    pub fn request_at(&self) -> Option<Instant> {
        self.schedule.map(|schedule| schedule.request_at)
    }

    /// The SecurityKeyService did not answer: it is asked again after a sixteenth of the KeyLifetime.
    pub fn request_failed(&mut self, now: Instant) {
        if let Some(schedule) = &mut self.schedule {
            schedule.request_at = now + schedule.key_lifetime / REQUEST_INTERVAL;
        }
    }

    /// A message came with a token that is not known. If it is newer than all that are, the service is asked
    /// soon; not at once, because anybody can send such messages.
    pub fn unknown_token(&mut self, security_token_id: u32) {
        let newer = self
            .keys
            .last()
            .is_some_and(|last| security_token_id > last.token());
        if let Some(schedule) = self.schedule.as_mut().filter(|_| newer) {
            let soon = schedule.updated_at + schedule.key_lifetime / REQUEST_INTERVAL;
            schedule.request_at = schedule.request_at.min(soon);
        }
    }
}
