//! Properties: KeyValuePairs in TOML.

use serde::{Deserialize, Serialize};
use takt_ua::QualifiedName;
use takt_ua::structures::KeyValuePair;

use super::scalar::Text;
use super::value::AnyValue;

/// KeyValuePair: `{ key = "0:Name", value = 5 }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Property {
    key: Text<QualifiedName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<AnyValue>,
}

pub(super) fn read_properties(properties: Vec<Property>) -> Vec<KeyValuePair> {
    let pair = |property: Property| KeyValuePair {
        key: property.key.0,
        value: property.value.map(|value| value.0).unwrap_or_default(),
    };
    properties.into_iter().map(pair).collect()
}

pub(super) fn write_properties(pairs: &[KeyValuePair]) -> Vec<Property> {
    let property = |pair: &KeyValuePair| Property {
        key: Text(pair.key.clone()),
        value: (!pair.value.is_empty()).then(|| AnyValue(pair.value.clone())),
    };
    pairs.iter().map(property).collect()
}
