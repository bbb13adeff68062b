//! Parameters of a mapping, which configurations hold in ExtensionObjects.

use takt_ua::{ExtensionObject, Structure};

use crate::error::ConfigurationProblem;

/// The parameters; their defaults if there are none.
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
