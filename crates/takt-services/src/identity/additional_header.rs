//! AdditionalHeader of CreateSession and ActivateSession: the exchange of an EphemeralKey (OPC 10000-6, 6.8.2, Table 70).

use takt_ua::binary::Limits;
use takt_ua::structures::{AdditionalParametersType, EphemeralKeyType, KeyValuePair};
use takt_ua::{
    ByteString, ExtensionObject, ExtensionObjectRef, QualifiedName, StatusCode, Variant,
};

/// Name of the parameter with the SecurityPolicy of the secret.
const POLICY_URI: &str = "ECDHPolicyUri";

/// Name of the parameter with the key, or with the reason why there is none.
const KEY: &str = "ECDHKey";

/// Largest AdditionalHeader in bytes that is looked at.
const MAX_HEADER: usize = 4096;

/// Returns the URI of the SecurityPolicy for which the client wants an EphemeralKey, from the AdditionalHeader of its request.
pub(crate) fn requested_policy(header: ExtensionObjectRef<'_>) -> Option<String> {
    // The sender of this header is not authenticated yet, so the limits are narrow.
    let limits = Limits {
        max_string_length: MAX_HEADER,
        max_array_length: 32,
        ..Limits::DEFAULT
    };
    let parameters: AdditionalParametersType = header.decode_as(limits).ok()?;
    let mut parameters = parameters.parameters.into_iter();
    let wanted = parameters.find(|pair| is(pair, POLICY_URI))?;
    match wanted.value {
        Variant::String(uri) => Some(uri.as_str().to_owned()),
        _ => None,
    }
}

/// Returns the AdditionalHeader with an EphemeralKey.
pub(crate) fn key(policy_uri: &str, public_key: &[u8], signature: &[u8]) -> ExtensionObject {
    let key = EphemeralKeyType {
        public_key: ByteString::from(public_key),
        signature: ByteString::from(signature),
    };
    let key = Variant::ExtensionObject(Box::new(ExtensionObject::from_structure(&key)));
    header(policy_uri, key)
}

/// Returns the AdditionalHeader for a SecurityPolicy that cannot be used.
pub(crate) fn refusal(policy_uri: &str, reason: StatusCode) -> ExtensionObject {
    header(policy_uri, Variant::StatusCode(reason))
}

fn header(policy_uri: &str, key: Variant) -> ExtensionObject {
    let pair = |name: &str, value| KeyValuePair {
        key: QualifiedName::new(0, name),
        value,
    };
    ExtensionObject::from_structure(&AdditionalParametersType {
        parameters: vec![pair(POLICY_URI, Variant::from(policy_uri)), pair(KEY, key)],
    })
}

fn is(pair: &KeyValuePair, name: &str) -> bool {
    pair.key.namespace == 0 && pair.key.name.as_str() == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::structures::EndpointDescription;

    fn requested(header: &ExtensionObject) -> Option<String> {
        requested_policy(header.as_ref())
    }

    fn parameters(value: Variant) -> ExtensionObject {
        ExtensionObject::from_structure(&AdditionalParametersType {
            parameters: vec![KeyValuePair {
                key: QualifiedName::new(0, POLICY_URI),
                value,
            }],
        })
    }

    #[test]
    fn a_policy_is_requested_by_its_uri() {
        let uri = "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP256";
        assert_eq!(
            requested(&parameters(Variant::from(uri))).as_deref(),
            Some(uri)
        );
        for other in [
            ExtensionObject::default(),
            parameters(Variant::from(7_u32)),
            parameters(Variant::default()),
            ExtensionObject::from_structure(&AdditionalParametersType::default()),
            ExtensionObject::from_structure(&EndpointDescription::default()),
            parameters(Variant::from("x".repeat(MAX_HEADER + 1).as_str())),
        ] {
            assert_eq!(requested(&other), None);
        }
    }

    #[test]
    fn responses_have_a_key_or_the_reason_why_there_is_none() {
        let values = |header: ExtensionObject| -> Vec<Variant> {
            let decoded: AdditionalParametersType = header.decode_as().unwrap();
            decoded
                .parameters
                .into_iter()
                .map(|pair| pair.value)
                .collect()
        };
        let refused = StatusCode::BadSecurityPolicyRejected;
        assert_eq!(
            values(refusal("urn:x", refused)),
            [Variant::from("urn:x"), Variant::StatusCode(refused)]
        );
        let found = values(key("urn:x", &[1, 2], &[3]));
        let Some(Variant::ExtensionObject(key)) = found.last() else {
            panic!("{found:?}");
        };
        let key: EphemeralKeyType = key.decode_as().unwrap();
        assert_eq!(key.public_key.as_bytes(), [1, 2]);
        assert_eq!(key.signature.as_bytes(), [3]);
    }
}
