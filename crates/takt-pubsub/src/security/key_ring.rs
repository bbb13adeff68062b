//! Keys of a SecurityGroup over time (OPC 10000-14, 6.2.12.2 and 8.3.2).

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_ua::SecurityKeyUpdate;

use super::keys::{KeyDataError, SecurityKeys};
use super::policy::PubSubSecurityPolicy;

/// Maximum number of keys in a ring. Of an answer with more keys, the first are used.
pub const MAX_KEYS: usize = 64;

/// Number of KeyLifetimes for which a Publisher without a newer key still uses a key, and Subscribers accept it (OPC 10000-14,
/// 6.2.12.2).
const GRACE: u32 = 2;

/// Fraction of a KeyLifetime that is the shortest time between two requests to the SecurityKeyService.
const REQUEST_INTERVAL: u32 = 16;

/// Error in an answer of the SecurityKeyService. The ring is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyRingError {
    /// The SecurityPolicy is unknown.
    #[error("SecurityPolicy {0:?} is not supported")]
    SecurityPolicy(String),
    /// A key does not match the SecurityPolicy.
    #[error("key with SecurityTokenId {security_token_id}: {source}")]
    Key {
        /// SecurityTokenId of the key.
        security_token_id: u32,
        /// Error of the key.
        source: KeyDataError,
    },
    /// There is no key.
    #[error("the answer contains no key")]
    NoKey,
    /// The KeyLifetime is zero, or a time is centuries long.
    #[error("a KeyLifetime of {0:?} is not valid")]
    KeyLifetime(Duration),
}

/// Reason why there is no key for sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSendingKey {
    /// The ring has never had keys.
    #[error("there is no key yet")]
    Empty,
    /// The last key has expired, and no other has come within two times the KeyLifetime: the Publisher goes into the state Error
    /// (OPC 10000-14, 6.2.12.2).
    #[error("the last key, with SecurityTokenId {0}, has expired")]
    Expired(u32),
}

/// Keys of a SecurityGroup: current, past and future. Times are passed in.
///
/// A Publisher sends with the current key, and changes to the next one on time without a request. A Subscriber accepts any key of
/// the ring: future ones too, because a Publisher's clock may be ahead, and past ones for two times the KeyLifetime, because a
/// Publisher that cannot reach the SecurityKeyService uses its last key for this time. So nothing is lost while keys change, if
/// there is a future key: request two keys or more.
///
/// A clone shares the keys.
#[derive(Debug, Clone, Default)]
pub struct KeyRing {
    /// Keys in the order of their tokens.
    keys: Vec<TimedKeys>,
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone)]
struct TimedKeys {
    keys: Arc<SecurityKeys>,
    /// Time at which the keys become current; `None` if the service had them as current.
    starts_at: Option<Instant>,
    /// Time after which the keys are no longer used or accepted.
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
    /// Token that was current when the service answered.
    current: u32,
    next_key_at: Instant,
    key_lifetime: Duration,
    updated_at: Instant,
    request_at: Instant,
}

impl Schedule {
    /// Returns the time at which the token after this one becomes current; `None` if an [`Instant`] cannot represent it.
    fn ends_at(&self, token: u32) -> Option<Instant> {
        let distance = self
            .key_lifetime
            .checked_mul(token.abs_diff(self.current))?;
        match token < self.current {
            true => self.next_key_at.checked_sub(distance),
            false => self.next_key_at.checked_add(distance),
        }
    }

    /// Adds times to keys; `None` if the keys are too far in the past or in the future to be used.
    fn timed(&self, keys: Arc<SecurityKeys>) -> Option<TimedKeys> {
        let token = keys.security_token_id();
        // A token after another one is not 0.
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

/// Longest accepted time. Longer times are errors, and would not fit into an [`Instant`] on every system.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl KeyRing {
    /// Creates a ring without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the answer of the SecurityKeyService, received at `now`.
    ///
    /// Known keys stay for as long as they are accepted. But if the current token is newer than all known tokens, and the last of
    /// these has not had its time yet, then the keys were invalidated (OPC 10000-14, 8.4.2), and the old ones are forgotten at
    /// once.
    pub fn update(&mut self, update: &SecurityKeyUpdate, now: Instant) -> Result<(), KeyRingError> {
        let policy = PubSubSecurityPolicy::from_uri(&update.security_policy_uri)
            .ok_or_else(|| KeyRingError::SecurityPolicy(update.security_policy_uri.clone()))?;
        for time in [update.key_lifetime, update.time_to_next_key] {
            // With a KeyLifetime of zero, the next request would be due at once, again and again.
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
        // All keys are checked before the ring changes: a wrong answer leaves the keys that work.
        let new = new.collect::<Result<Vec<_>, _>>()?;
        let invalidated = self.invalidated_by(update.first_token_id, now);
        let Some(last) = new.last().map(|keys| keys.security_token_id()) else {
            return Err(KeyRingError::NoKey);
        };
        let mut schedule = Schedule {
            current: update.first_token_id,
            next_key_at: after(now, update.time_to_next_key),
            key_lifetime: update.key_lifetime,
            updated_at: now,
            request_at: now,
        };
        let until_last_ends = schedule.ends_at(last).unwrap_or(now) - now;
        // OPC 10000-14, 8.3.2, requires half the KeyLifetime; without a future key, the time is shorter.
        let wait = (update.key_lifetime / 2)
            .min(until_last_ends)
            .max(update.key_lifetime / REQUEST_INTERVAL);
        schedule.request_at = after(now, wait);

        let mut old = std::mem::take(&mut self.keys);
        if invalidated {
            old.clear();
        }
        // An expired key stays expired with any new KeyLifetime: the received messages of its token may be forgotten already.
        old.retain(|old| {
            old.keys.security_policy() == policy
                // The answer replaces the keys from its first token on.
                && old.token() < update.first_token_id
                && now <= old.expires_at
        });
        let old = old.into_iter().map(|old| old.keys);
        // The latest answer dates all keys, so that the time of each begins where the one before ends.
        let timed = old.chain(new).filter_map(|keys| schedule.timed(keys));
        self.keys = timed.filter(|keys| now <= keys.expires_at).collect();
        // The oldest keys come first, and are needed least.
        let too_many = self.keys.len().saturating_sub(MAX_KEYS);
        self.keys.drain(..too_many);
        self.schedule = Some(schedule);
        Ok(())
    }

    fn invalidated_by(&self, current: u32, now: Instant) -> bool {
        let last = self.keys.last();
        last.is_some_and(|last| current > last.token() && !last.have_started(now))
    }

    /// Returns the key to send with.
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

    /// Returns the key of a received message, if it is known and accepted.
    #[inline]
    pub fn receiving(&self, security_token_id: u32, now: Instant) -> Option<&SecurityKeys> {
        let keys = self
            .keys
            .iter()
            .find(|keys| keys.token() == security_token_id)?;
        (now <= keys.expires_at).then_some(&*keys.keys)
    }

    /// Returns the time of the next call of `GetSecurityKeys`: after half the KeyLifetime (OPC 10000-14, 8.3.2), or when the last
    /// key ends if that is sooner. `None` if the ring has never had keys: now.
    pub fn request_at(&self) -> Option<Instant> {
        self.schedule.map(|schedule| schedule.request_at)
    }

    /// Returns the end of the last key's own time. Later the key is still used and accepted, until
    /// [`expires_at`](Self::expires_at). `None` without keys.
    pub fn ends_at(&self) -> Option<Instant> {
        let last = self.keys.last()?;
        self.schedule?.ends_at(last.token())
    }

    /// Returns the time after which no key is used or accepted: two KeyLifetimes after the end of the last key's time (OPC
    /// 10000-14, 6.2.12.2). `None` without keys.
    pub fn expires_at(&self) -> Option<Instant> {
        self.keys.last().map(|last| last.expires_at)
    }

    /// Notes that the SecurityKeyService did not answer: the next request is after a sixteenth of the KeyLifetime.
    pub fn request_failed(&mut self, now: Instant) {
        if let Some(schedule) = &mut self.schedule {
            schedule.request_at = after(now, schedule.key_lifetime / REQUEST_INTERVAL);
        }
    }

    /// Notes a message with an unknown token. If it is newer than all known tokens, the next request is soon; it is not
    /// immediate, because any sender can send such messages.
    pub fn unknown_token(&mut self, security_token_id: u32) {
        // The service returns current and future keys. A request does not bring a past key back.
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
