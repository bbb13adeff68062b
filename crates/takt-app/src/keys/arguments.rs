//! Input arguments of SetSecurityKeys (OPC 10000-14, 9.1.3.3).

use std::time::Duration;

use takt_pubsub::security::SecurityKeyUpdate;
use takt_ua::{Elements, Variant};

/// Returns the SecurityGroup and the keys of the input arguments.
pub(super) fn read(inputs: &[Variant]) -> Option<(String, SecurityKeyUpdate)> {
    let [
        Variant::String(security_group_id),
        Variant::String(security_policy_uri),
        Variant::UInt32(current_token_id),
        Variant::ByteString(current_key),
        future_keys,
        Variant::Double(time_to_next_key),
        Variant::Double(key_lifetime),
    ] = inputs
    else {
        return None;
    };
    let future_keys = match future_keys {
        Variant::Array(keys) => match &keys.elements {
            Elements::ByteString(keys) => keys.as_slice(),
            _ => return None,
        },
        // A null array.
        Variant::Empty => &[],
        _ => return None,
    };
    let time = |milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    let keys = std::iter::once(current_key).chain(future_keys);
    let update = SecurityKeyUpdate {
        security_policy_uri: security_policy_uri.as_str().to_owned(),
        first_token_id: *current_token_id,
        keys: keys.map(|key| key.as_bytes().to_vec().into()).collect(),
        time_to_next_key: time(*time_to_next_key)?,
        key_lifetime: time(*key_lifetime)?,
    };
    Some((security_group_id.as_str().to_owned(), update))
}
