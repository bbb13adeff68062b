//! Torn data: the evidence of a message that was changed while it was read or written.

/// Received message whose fields have different counters: it, or the cells, were changed between two fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "torn data: field {field} has {value}, the first field has {counter}; all fields: {values:?}"
)]
pub struct TornData {
    /// Value of the first field.
    pub counter: u64,
    /// Index of the first different field.
    pub field: usize,
    /// Its value.
    pub value: u64,
    /// Values of all fields.
    pub values: Vec<u64>,
}
