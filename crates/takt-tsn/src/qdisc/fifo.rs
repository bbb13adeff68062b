//! `pfifo` and `bfifo`, which have a limit only.

use takt_scenario::Limit;

use crate::derivation::Derivation;

/// Returns the words of a `tc` command, for a limit in frames or in bytes.
pub(super) fn phrases(limit: u64) -> Vec<String> {
    vec![format!("limit {limit}")]
}

/// Returns the origin of the limit of a class.
pub(super) fn derivation(class: &str, limit: Limit) -> Derivation {
    let (number, unit) = match limit {
        Limit::Frames(frames) => (frames, "frames"),
        Limit::Bytes(bytes) => (bytes.0, "bytes of L2 frames"),
    };
    let origin = match limit == Limit::default() {
        true => "Linux's txqueuelen, the default of scenarios",
        false => "`limit` of the class",
    };
    let origin = format!("{unit} of class `{class}`: {origin}");
    Derivation::new(phrases(number).join(" "), origin)
}
