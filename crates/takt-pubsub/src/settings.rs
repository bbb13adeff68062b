//! Parameters of a mapping, which configurations hold in ExtensionObjects.

use std::time::Duration;

use takt_ua::structures::KeyValuePair;
use takt_ua::{ExtensionObject, Structure, UaString};

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

/// Converts a Duration of OPC UA in milliseconds; an invalid one becomes zero. It has a century at most, so that its multiples
/// are Durations, too.
pub(crate) fn milliseconds(value: f64) -> Duration {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    let time = Duration::try_from_secs_f64(value / 1000.0);
    time.unwrap_or_default().min(CENTURY)
}

/// Checks that a component without a SecurityMode has no SecurityGroup: its messages would be sent, or accepted, unprotected.
pub(crate) fn no_security_group(id: &UaString) -> Result<(), ConfigurationProblem> {
    match id.as_str() {
        "" => Ok(()),
        id => Err(ConfigurationProblem::parameter(
            "SecurityMode",
            format!("is missing, so messages of the SecurityGroup '{id}' would not be protected"),
        )),
    }
}

/// Returns the number in a property; `None` if there is no property of this name.
pub(crate) fn number_property(
    properties: &[KeyValuePair],
    name: &'static str,
) -> Result<Option<usize>, ConfigurationProblem> {
    let mut properties = properties.iter();
    let Some(found) = properties.find(|property| property.key.name.as_str() == name) else {
        return Ok(None);
    };
    let number = found.value.as_i64();
    match number.and_then(|number| usize::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(ConfigurationProblem::parameter(
            name,
            "not a whole number of at least 0",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_multiples() {
        assert_eq!(milliseconds(1.5), Duration::from_micros(1500));
        assert_eq!(milliseconds(-1.0), Duration::ZERO);
        assert!(milliseconds(1e21).checked_mul(1000).is_some());
    }
}
