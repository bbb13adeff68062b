//! Diagnostics of the server (OPC 10000-5, 6.3.3 to 6.3.5).
//!
//! * [`counts`]: the counts since the start of the server.
//! * [`summary`]: the ServerDiagnosticsSummary.
//! * [`sessions`]: the arrays of all Sessions and Subscriptions.
//! * [`nodes`]: a Variable for each entry of the arrays, and an Object for each Session; [`fields`]: their components.

pub(crate) mod counts;
mod fields;
pub(crate) mod nodes;
pub(crate) mod sessions;
pub(crate) mod summary;
