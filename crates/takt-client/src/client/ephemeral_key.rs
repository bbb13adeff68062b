//! Exchange of an EphemeralKey with CreateSession, for passwords over SecurityPolicies with elliptic curves (OPC 10000-6, 6.8.2).

use takt_crypto::{Certificate, PolicyProfile, PublicKey};
use takt_ua::structures::{AdditionalParametersType, EphemeralKeyType, KeyValuePair};
use takt_ua::{ExtensionObject, QualifiedName, Variant};

use super::security::Secured;

/// Name of the parameter with the SecurityPolicy.
const POLICY_URI: &str = "ECDHPolicyUri";

/// Name of the parameter with the key.
const KEY: &str = "ECDHKey";

/// Returns the AdditionalHeader that asks for a key; null if the channel has no elliptic curve.
pub(super) fn request(secured: Option<&Secured>) -> ExtensionObject {
    let on_curve = secured.filter(|secured| secured.profile.curve().is_some());
    let Some(secured) = on_curve else {
        return ExtensionObject::default();
    };
    ExtensionObject::from_structure(&AdditionalParametersType {
        parameters: vec![KeyValuePair {
            key: QualifiedName::new(0, POLICY_URI),
            value: Variant::from(secured.profile.uri),
        }],
    })
}

/// Returns the public key in the AdditionalHeader of a response, if the server has signed it.
pub(super) fn received(
    header: &ExtensionObject,
    profile: &PolicyProfile,
    server: &Certificate,
) -> Option<Vec<u8>> {
    let parameters: AdditionalParametersType = header.decode_as().ok()?;
    let mut parameters = parameters.parameters.into_iter();
    let found = parameters.find(|pair| pair.key == QualifiedName::new(0, KEY))?;
    let Variant::ExtensionObject(key) = found.value else {
        return None;
    };
    let key: EphemeralKeyType = key.decode_as().ok()?;
    let server = PublicKey::from_spki(&server.public_key).ok()?;
    let (public, signature) = (key.public_key.as_bytes(), key.signature.as_bytes());
    let algorithm = profile.asymmetric_signature;
    server.verify(algorithm, public, signature).ok()?;
    Some(public.to_vec())
}
