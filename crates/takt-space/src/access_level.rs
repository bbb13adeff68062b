//! AccessLevel bits (OPC 10000-3, 8.57).

/// Permission to read the current value.
pub const CURRENT_READ: u32 = 0x01;
/// Permission to write the current value.
pub const CURRENT_WRITE: u32 = 0x02;
/// Permission to read the history.
pub const HISTORY_READ: u32 = 0x04;
/// Permission to write the StatusCode along with the value.
pub const STATUS_WRITE: u32 = 0x20;
/// Permission to write the source timestamp along with the value.
pub const TIMESTAMP_WRITE: u32 = 0x40;
/// Permission to write the current value with a StatusCode and a source timestamp.
pub const WRITE: u32 = CURRENT_WRITE | STATUS_WRITE | TIMESTAMP_WRITE;
