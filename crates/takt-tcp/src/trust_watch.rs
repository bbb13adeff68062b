//! State of a server's watch over its trust list.

use std::sync::Arc;
use std::time::Instant;

use takt_crypto::TrustList;

/// State of the watch.
#[derive(Debug, Default)]
pub(crate) struct TrustWatch {
    /// The list that all open channels were checked against.
    pub(crate) seen: Option<Arc<TrustList>>,
    /// Time of the next look, or of the next checks. `None` if there are no secured channels.
    pub(crate) next: Option<Instant>,
    /// Place of the connection that is checked next.
    pub(crate) place: Option<usize>,
}
