//! The common trait of generated structures.

use crate::binary::{Decode, Encode};

/// A structure of namespace 0 (OPC 10000-6, 5.2.6).
pub trait Structure: Encode + for<'a> Decode<'a> {
    /// Numeric identifier of its DataType.
    const TYPE_ID: u32;
    /// Numeric identifier of its Default Binary encoding: the TypeId of ExtensionObjects and messages.
    const BINARY_ENCODING_ID: u32;
    /// BrowseName of its DataType.
    const NAME: &'static str;
}
