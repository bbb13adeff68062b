//! Settings that choose a case.

use std::collections::BTreeMap;
use std::path::Path;

/// Name of the setting that stands for the file of the scenario.
pub(crate) const SCENARIO: &str = "scenario";

/// Returns true if a case of this scenario has these settings. `value` returns the value of a setting.
pub(crate) fn has<'v>(
    scenario: &str,
    value: impl Fn(&str) -> Option<&'v str>,
    settings: &BTreeMap<String, String>,
) -> bool {
    settings.iter().all(|(name, wanted)| {
        if name == SCENARIO {
            let file = Path::new(scenario).file_name();
            return file.is_some_and(|file| file.to_string_lossy() == wanted.as_str());
        }
        value(name) == Some(wanted)
    })
}
