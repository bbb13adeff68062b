//! Channel between one client and the server: its memory, the protocol of the two sides, and the Unix socket beside it.

pub(crate) mod attention;
pub(crate) mod doorbell;
pub(crate) mod inbox;
pub(crate) mod layout;
pub(crate) mod liveness;
pub(crate) mod mail;
pub(crate) mod outbox;
#[allow(unsafe_code, reason = "borrows shared memory exclusively")]
mod places;
pub(crate) mod post;
pub(crate) mod protocol;
#[cfg(test)]
mod protocol_loom;
pub(crate) mod scratch;
mod shared_words;
pub(crate) mod socket;
#[cfg(test)]
mod tests;
