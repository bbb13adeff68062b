//! Keys of PubSub between hosts (OPC 10000-14, 5.4.5.3): requested from a SecurityKeyService, or pushed by one.
//!
//! These threads work beside those of PubSub, which get whole rings of keys. Nothing here is configured for a PubSub: the application
//! passes the [`KeyNews`] on.

mod arguments;
mod keeper;
mod news;
mod receiver;
mod stored;

pub use keeper::KeyKeeper;
pub use news::{KeyNews, MissingKeys};
pub use receiver::{KeyReceiver, KeyReceiverError, KeyReceiverOptions};
pub use stored::fuzz as stored_keys;
