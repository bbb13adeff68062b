//! Derivations: each number of a plan, and where it comes from.

/// A number of a plan and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// Parameter with its value, as in the command: `idleslope 3232`.
    pub number: String,
    /// Origin: formula, or field of the scenario.
    pub origin: String,
}

impl Derivation {
    pub(crate) fn new(number: impl Into<String>, origin: impl Into<String>) -> Self {
        Self {
            number: number.into(),
            origin: origin.into(),
        }
    }
}
