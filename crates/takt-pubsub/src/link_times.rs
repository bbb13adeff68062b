//! Launch times and times of reception of a configuration: properties of Takt, because the standard has no parameters for
//! them.
//!
//! * The property `LaunchTimes` of a WriterGroup is `strict` or `deadline`: the kernel sends its messages at the
//!   PublishingOffset (SO_TXTIME).
//! * The property `ReceiveTimes` of a connection is `software` or `hardware`: its received messages have the time of the
//!   kernel, or of the network card.
//!
//! The namespace of a property's name does not count: a configuration in memory has no NamespaceArray.

#[cfg(feature = "runtime")]
use {crate::error::ConfigurationProblem, takt_ua::Variant, takt_ua::structures::KeyValuePair};

/// Property of WriterGroups.
pub(crate) const LAUNCH_TIMES: &str = "LaunchTimes";

/// Values of [`LAUNCH_TIMES`].
#[cfg(feature = "runtime")]
pub(crate) const LAUNCH_MODES: [&str; 2] = ["strict", "deadline"];

/// Property of connections.
pub(crate) const RECEIVE_TIMES: &str = "ReceiveTimes";

/// Values of [`RECEIVE_TIMES`].
#[cfg(feature = "runtime")]
pub(crate) const RECEIVE_CLOCKS: [&str; 2] = ["software", "hardware"];

/// Returns the property of this name as one of these words; `None` if there is no such property.
///
/// # Errors
/// The property has another value.
#[cfg(feature = "runtime")]
pub(crate) fn word_property(
    properties: &[KeyValuePair],
    name: &'static str,
    words: [&'static str; 2],
) -> Result<Option<&'static str>, ConfigurationProblem> {
    let mut properties = properties.iter();
    let Some(found) = properties.find(|property| property.key.name.as_str() == name) else {
        return Ok(None);
    };
    let known = match &found.value {
        Variant::String(text) => words.into_iter().find(|word| *word == text.as_str()),
        _ => None,
    };
    match known {
        Some(word) => Ok(Some(word)),
        None => Err(ConfigurationProblem::parameter(
            name,
            format!("neither \"{}\" nor \"{}\"", words[0], words[1]),
        )),
    }
}

#[cfg(all(test, feature = "runtime"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_ua::QualifiedName;

    use super::*;

    #[test]
    fn a_property_is_one_of_its_words() {
        let properties = |value: Variant| {
            [KeyValuePair {
                key: QualifiedName::new(7, LAUNCH_TIMES),
                value,
            }]
        };
        let word = |value| word_property(&properties(value), LAUNCH_TIMES, LAUNCH_MODES);
        assert_eq!(word(Variant::from("deadline")).unwrap(), Some("deadline"));
        for wrong in [
            Variant::from("Strict"),
            Variant::from(""),
            Variant::Int32(1),
        ] {
            let error = word(wrong).unwrap_err().to_string();
            assert!(
                error.contains("neither \"strict\" nor \"deadline\""),
                "{error}"
            );
        }
        let other = properties(Variant::from("deadline"));
        let found = word_property(&other, RECEIVE_TIMES, RECEIVE_CLOCKS);
        assert_eq!(found.unwrap(), None);
    }
}
