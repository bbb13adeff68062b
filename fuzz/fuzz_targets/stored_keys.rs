//! Files of keys: the PubSub keys of a push target, and private keys in PEM and PKCS #8.

use std::time::{Duration, SystemTime};

use takt_crypto::PrivateKey;
use takt_fuzz::choice;

pub(crate) fn run(data: &[u8]) {
    let Some((kind, bytes)) = choice(data) else {
        return;
    };
    match kind % 3 {
        0 => {
            // In the year 2027, so that an input has the same result every time.
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
            let _ = takt_app::fuzzing::stored_keys(bytes, now);
        }
        1 => {
            let text = String::from_utf8_lossy(bytes);
            check(PrivateKey::from_pem(&text).ok());
        }
        _ => check(PrivateKey::from_pkcs8(bytes).ok()),
    }
}

/// Checks that a key that was accepted can be stored and read again.
fn check(key: Option<PrivateKey>) {
    let Some(key) = key else {
        return;
    };
    let pem = key.to_pem().expect("the key can be stored");
    let again = PrivateKey::from_pem(&pem).expect("it is read again");
    assert_eq!(again.public_spki().ok(), key.public_spki().ok());
}
