//! Checks that several tables share: times, names, properties, NumericRanges.

use std::collections::HashSet;

use takt_ua::NumericRange;
use takt_ua::structures::KeyValuePair;

use super::mistake::Place;

/// Longest time in milliseconds: a year.
const LONGEST: f64 = 365.0 * 86_400_000.0;

/// Checks a time in milliseconds, which may be 0; returns true if it can be used.
pub(super) fn time(place: &mut Place<'_>, key: &'static str, value: f64) -> bool {
    let is_time = value.is_finite() && (0.0..=LONGEST).contains(&value);
    if !is_time {
        place.error(
            key,
            format!("{value} ms is no time from 0 to a year"),
            "Write a time with its unit, such as \"10ms\"",
        );
    }
    is_time
}

/// Checks a time that is not configured if it is negative: the standard gives each negative number this meaning.
pub(super) fn optional_time(place: &mut Place<'_>, key: &'static str, value: f64) -> bool {
    // A NaN is not negative: it is refused.
    value < 0.0 || time(place, key, value)
}

/// Checks an offset into the publishing interval, in milliseconds (OPC 10000-14, 6.3.1.1.5, 6.3.1.1.6, 6.3.1.4.8 and 6.3.1.4.9).
pub(super) fn offset(place: &mut Place<'_>, key: &'static str, offset: f64, interval: f64) {
    if optional_time(place, key, offset) && interval > 0.0 && offset >= interval {
        place.error(
            key,
            format!("{offset} ms is not within the publishing_interval of {interval} ms"),
            "Use a time below the publishing_interval, or a negative one for none",
        );
    }
}

/// Reports names that occur twice. Empty names are not compared.
pub(super) fn unique<'n>(
    place: &mut Place<'_>,
    table: &'static str,
    key: &'static str,
    names: impl Iterator<Item = &'n str>,
) {
    let mut known = HashSet::new();
    for (index, name) in names.enumerate() {
        if !name.is_empty() && !known.insert(name) {
            let mut entry = place.entry(table, name, index);
            let what = format!("entry #{} has the name of an earlier one", index + 1);
            entry.error(key, what, "Give each entry a name of its own");
        }
    }
}

/// Reports properties that are not known.
pub(super) fn properties(
    place: &mut Place<'_>,
    key: &'static str,
    properties: &[KeyValuePair],
    known: &[&str],
) {
    for property in properties {
        let name = property.key.name.as_str();
        if !known.contains(&name) {
            let what = format!("Takt ignores the property '{name}'");
            let fix = match known {
                [] => "Remove it".to_owned(),
                known => format!("Known here: {}", known.join(", ")),
            };
            place.warning(key, what, fix);
        }
    }
}

/// Checks a NumericRange; an empty one is none.
pub(super) fn range(place: &mut Place<'_>, key: &'static str, text: &str) {
    if NumericRange::of_request(Some(text)).is_err() {
        place.error(
            key,
            format!("'{text}' is no NumericRange"),
            "Write the first and the last index, such as \"1:2\", for each dimension",
        );
    }
}
