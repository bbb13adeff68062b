//! Kinds of DataSetMessages (OPC 10000-14, 7.2.4.5.4).

/// Kind of a DataSetMessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataSetKind {
    /// The message has all fields.
    KeyFrame,
    /// The message has the fields that changed.
    DeltaFrame,
    /// The message has the fields of an event.
    Event,
    /// The message has no fields, and shows that the Publisher is running.
    KeepAlive,
}
