//! Keys for PubSub from a SecurityKeyService (OPC 10000-14, 8.3.2), or for a push target (OPC 10000-14, 9.1.3.3).

use std::time::Duration;

use takt_ua::SecurityKeyUpdate;
use takt_ua::{ByteString, Elements, NodeId, Variant, ids};

use super::Client;
use crate::error::ClientError;

impl Client {
    /// Requests the keys of a SecurityGroup, for the `KeyRing` of a Publisher or Subscriber: the current key and the
    /// following ones, as many as the service returns. Request at least two, so that no key is missing when keys
    /// change.
    ///
    /// # Errors
    /// `BadSecurityModeInsufficient`: the connection is not encrypted. `BadNotFound`: no such group. `BadUserAccessDenied`: this
    /// Unix user or application may not get the keys.
    pub fn get_security_keys(
        &mut self,
        security_group_id: &str,
        requested_key_count: u32,
    ) -> Result<SecurityKeyUpdate, ClientError> {
        let inputs = vec![
            Variant::from(security_group_id),
            // StartingTokenId: the current one.
            Variant::from(0_u32),
            Variant::from(requested_key_count),
        ];
        let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_GET_SECURITY_KEYS);
        let outputs = self.call_method(&NodeId::from(ids::PUBLISH_SUBSCRIBE), &method, inputs);
        update(outputs.map_err(|error| named("GetSecurityKeys", error))?)
            .ok_or_else(|| self.protocol("the output arguments are not those of GetSecurityKeys"))
    }

    /// Sets the keys of a SecurityGroup at a push target: a server with PubSub, which takes them over an encrypted connection.
    ///
    /// # Errors
    /// `BadSecurityModeInsufficient`: the connection is not encrypted. `BadUserAccessDenied`: the target does not name this
    /// application as a SecurityKeyService of the group. `BadNotFound`: it has no such group. [`ClientError::Invalid`]: `update`
    /// has no key.
    pub fn set_security_keys(
        &mut self,
        security_group_id: &str,
        update: &SecurityKeyUpdate,
    ) -> Result<(), ClientError> {
        let mut keys = update
            .keys
            .iter()
            .map(|key| ByteString::from(key.as_slice()));
        let Some(current_key) = keys.next() else {
            return Err(ClientError::Invalid("there is no key to set".to_owned()));
        };
        let milliseconds = |time: Duration| Variant::from(time.as_secs_f64() * 1000.0);
        let inputs = vec![
            Variant::from(security_group_id),
            Variant::from(update.security_policy_uri.as_str()),
            Variant::from(update.first_token_id),
            Variant::from(current_key),
            Variant::from(keys.collect::<Vec<_>>()),
            milliseconds(update.time_to_next_key),
            milliseconds(update.key_lifetime),
        ];
        let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_SET_SECURITY_KEYS);
        let set = self.call_method(&NodeId::from(ids::PUBLISH_SUBSCRIBE), &method, inputs);
        set.map(drop)
            .map_err(|error| named("SetSecurityKeys", error))
    }
}

/// Returns the error of a Method with the name of the Method instead of its NodeId.
pub(super) fn named(method: &str, error: ClientError) -> ClientError {
    match error {
        ClientError::Operation { status, .. } => ClientError::operation(method, status),
        error => error,
    }
}

fn update(outputs: Vec<Variant>) -> Option<SecurityKeyUpdate> {
    let [
        Variant::String(security_policy_uri),
        Variant::UInt32(first_token_id),
        Variant::Array(keys),
        Variant::Double(time_to_next_key),
        Variant::Double(key_lifetime),
    ] = <[Variant; 5]>::try_from(outputs).ok()?
    else {
        return None;
    };
    let Elements::ByteString(keys) = keys.elements else {
        return None;
    };
    let time = |milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    Some(SecurityKeyUpdate {
        security_policy_uri: security_policy_uri.as_str().to_owned(),
        first_token_id,
        keys: keys
            .iter()
            .map(|key| key.as_bytes().to_vec().into())
            .collect(),
        time_to_next_key: time(time_to_next_key)?,
        key_lifetime: time(key_lifetime)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outputs_of_the_method_are_taken() {
        let good = vec![
            Variant::from("urn:policy"),
            Variant::from(7_u32),
            Variant::from(vec![ByteString::from(b"key")]),
            Variant::from(1500.0),
            Variant::from(3000.0),
        ];
        let read = update(good.clone()).unwrap();
        assert_eq!((read.first_token_id, read.keys.len()), (7, 1));
        assert_eq!(read.time_to_next_key, Duration::from_millis(1500));
        assert_eq!(read.key_lifetime, Duration::from_secs(3));
        for (index, wrong) in [
            (0, Variant::from(0_u8)),
            (2, 1.0.into()),
            (3, (-1.0).into()),
        ] {
            let mut outputs = good.clone();
            outputs[index] = wrong;
            assert!(update(outputs).is_none(), "{index}");
        }
        assert!(update(Vec::new()).is_none());
    }
}
