//! Parameters of a mapping, which configurations hold in ExtensionObjects.

use std::time::Duration;

use takt_ua::{ExtensionObject, Structure};

use crate::error::ConfigurationProblem;

/// Decodes the parameters; returns their defaults if there are none.
pub(crate) fn decode_settings<T: Structure + Default>(
    settings: &ExtensionObject,
) -> Result<T, ConfigurationProblem> {
    if settings.is_null() {
        return Ok(T::default());
    }
    settings
        .decode_as()
        .map_err(|error| ConfigurationProblem::parameter("MessageSettings", error.to_string()))
}

/// Converts a Duration of OPC UA in milliseconds; an invalid one becomes zero.
pub(crate) fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1000.0).unwrap_or_default()
}
