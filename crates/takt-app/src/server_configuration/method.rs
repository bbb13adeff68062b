//! Methods of ServerConfiguration in a table.

use takt_ua::{StatusCode, Variant};

use super::administration::{Administration, Call};

/// A Method, which gets its own NodeId, and that of its Object, for audit records.
pub(super) struct Method {
    pub(super) id: u32,
    pub(super) run: fn(&Administration, &Call<'_>, &[Variant]) -> MethodResult,
}

/// Output arguments, or the StatusCode.
pub(super) type MethodResult = Result<Vec<Variant>, StatusCode>;
