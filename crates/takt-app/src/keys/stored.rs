//! Keys of a push target in a file, so that it has them after a restart.
//!
//! The file is as secret as a private key, and beside those. Each SecurityGroup is the input arguments of SetSecurityKeys
//! (OPC 10000-14, 9.1.3.3) and the time at which they came, in UA binary. Stored keys are used for as long as they would have been
//! without the restart (OPC 10000-14, 6.2.12.2).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use takt_pubsub::security::SecurityKeyUpdate;
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::{ByteString, DateTime, Variant};
use zeroize::Zeroizing;

use super::arguments::read;

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// Number of values of each SecurityGroup.
const VALUES: usize = 8;

/// File of the keys of a push target.
pub(super) struct StoredKeys(PathBuf);

/// Keys with the time at which they came.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReceivedKeys {
    pub(super) update: SecurityKeyUpdate,
    pub(super) at: SystemTime,
}

impl StoredKeys {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces the file.
    pub(super) fn save<'a>(
        &self,
        groups: impl Iterator<Item = (&'a String, &'a ReceivedKeys)>,
    ) -> std::io::Result<()> {
        let bytes = encode(groups).map_err(std::io::Error::other)?;
        crate::private_file::write(&self.0, &bytes)
    }

    /// Returns the keys in the file; none if it is missing or damaged.
    pub(super) fn load(&self) -> Vec<(String, ReceivedKeys)> {
        let length = fs::metadata(&self.0).map_or(0, |file| file.len());
        if length == 0 || length > MAX_FILE {
            return Vec::new();
        }
        // The buffer contains all keys in clear.
        let bytes = Zeroizing::new(fs::read(&self.0).unwrap_or_default());
        let read = decode(&bytes);
        if read.is_none() {
            tracing::warn!(file = %self.0.display(), "the stored keys are damaged, and not used");
        }
        read.unwrap_or_default()
    }
}

fn values(id: &str, keys: &ReceivedKeys) -> [Variant; VALUES] {
    let update = &keys.update;
    let milliseconds = |time: Duration| Variant::from(time.as_secs_f64() * 1000.0);
    let mut all = update
        .keys
        .iter()
        .map(|key| ByteString::from(key.as_slice()));
    // SetSecurityKeys has the current key apart from the future ones.
    let current = all.next().unwrap_or_default();
    [
        Variant::from(id),
        Variant::from(update.security_policy_uri.as_str()),
        Variant::from(update.first_token_id),
        Variant::from(current),
        Variant::from(all.collect::<Vec<_>>()),
        milliseconds(update.time_to_next_key),
        milliseconds(update.key_lifetime),
        Variant::from(DateTime::from(keys.at)),
    ]
}

fn encode<'a>(
    groups: impl Iterator<Item = (&'a String, &'a ReceivedKeys)>,
) -> Result<Zeroizing<Vec<u8>>, EncodeError> {
    let mut bytes = Zeroizing::new(Vec::new());
    let mut encoder = Encoder::growing(&mut bytes, usize::MAX);
    for (id, keys) in groups {
        for value in values(id, keys) {
            value.encode(&mut encoder)?;
        }
    }
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Option<Vec<(String, ReceivedKeys)>> {
    let mut decoder = Decoder::new(bytes);
    let mut groups = Vec::new();
    while decoder.remaining() > 0 {
        let mut values = Vec::with_capacity(VALUES);
        for _ in 0..VALUES {
            values.push(Variant::decode(&mut decoder).ok()?);
        }
        // The time is last, behind the arguments of SetSecurityKeys.
        let Some(Variant::DateTime(at)) = values.pop() else {
            return None;
        };
        let (id, update) = read(&values)?;
        let at = SystemTime::from(at);
        groups.push((id, ReceivedKeys { update, at }));
    }
    Some(groups)
}

impl ReceivedKeys {
    /// Returns the keys as they are at `now`, and the time since the end of the last one. `None` if the clock was set back: then
    /// nobody knows how old they are.
    pub(super) fn aged(&self, now: SystemTime) -> Option<(SecurityKeyUpdate, Duration)> {
        let mut left = now.duration_since(self.at).ok()?;
        let mut update = self.update.clone();
        // The last key stays, however old: the caller decides for how long after its end it is used.
        while left >= update.time_to_next_key && update.keys.len() > 1 {
            left -= update.time_to_next_key;
            update.keys.remove(0);
            update.first_token_id = update.first_token_id.checked_add(1)?;
            update.time_to_next_key = update.key_lifetime;
        }
        let over = left.saturating_sub(update.time_to_next_key);
        update.time_to_next_key = update.time_to_next_key.saturating_sub(left);
        Some((update, over))
    }
}

/// Reads a file with these bytes, and lets the keys age. Returns whether it has keys.
///
/// # Panics
/// If the keys are not read again from the file that is written with them.
pub fn fuzz(bytes: &[u8], now: SystemTime) -> bool {
    let Some(groups) = decode(bytes) else {
        return false;
    };
    for (_, keys) in &groups {
        let Some((update, over)) = keys.aged(now) else {
            continue;
        };
        assert!(!update.keys.is_empty(), "the last key stays");
        assert!(over.is_zero() || update.time_to_next_key.is_zero());
    }
    let again = encode(groups.iter().map(|(id, keys)| (id, keys)));
    let again = again.ok().and_then(|bytes| decode(&bytes));
    let known = |groups: &[(String, ReceivedKeys)]| -> Vec<_> {
        let parts = |(id, keys): &(String, ReceivedKeys)| {
            let update = &keys.update;
            (id.clone(), update.first_token_id, update.keys.clone())
        };
        groups.iter().map(parts).collect()
    };
    assert_eq!(again.as_deref().map(known), Some(known(&groups)));
    !groups.is_empty()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use takt_pubsub::security::PubSubSecurityPolicy;

    use super::*;

    const LIFETIME: Duration = Duration::from_secs(100);

    fn keys() -> ReceivedKeys {
        let policy = PubSubSecurityPolicy::PubSubAes128Ctr;
        let key = |fill| vec![fill; policy.key_data_length()].into();
        ReceivedKeys {
            update: SecurityKeyUpdate {
                security_policy_uri: policy.uri().to_owned(),
                first_token_id: 7,
                keys: [1, 2, 3].map(key).to_vec(),
                time_to_next_key: LIFETIME / 2,
                key_lifetime: LIFETIME,
            },
            at: SystemTime::from(DateTime::now()),
        }
    }

    #[test]
    fn stored_keys_are_read_and_secret() {
        let folder = tempfile::tempdir().unwrap();
        let file = StoredKeys::new(folder.path().join("Press.keys"));
        assert!(file.load().is_empty());
        let (id, keys) = ("Plant".to_owned(), keys());
        file.save([(&id, &keys)].into_iter()).unwrap();
        assert_eq!(file.load(), [(id, keys)]);
        let mode = fs::metadata(file.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut bytes = fs::read(file.path()).unwrap();
        bytes.pop();
        fs::write(file.path(), &bytes).unwrap();
        assert!(file.load().is_empty());
    }

    #[test]
    fn keys_age_while_nobody_uses_them() {
        let keys = keys();
        let aged = |seconds| {
            let (update, over) = keys.aged(keys.at + Duration::from_secs(seconds)).unwrap();
            let next = update.time_to_next_key.as_secs();
            (
                update.first_token_id,
                update.keys.len(),
                next,
                over.as_secs(),
            )
        };
        assert_eq!(aged(0), (7, 3, 50, 0));
        assert_eq!(aged(49), (7, 3, 1, 0));
        assert_eq!(aged(50), (8, 2, 100, 0));
        assert_eq!(aged(200), (9, 1, 50, 0));
        assert_eq!(aged(260), (9, 1, 0, 10));
        assert!(keys.aged(keys.at - LIFETIME).is_none());
    }
}
