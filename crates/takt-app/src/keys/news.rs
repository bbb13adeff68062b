//! News about the keys of a SecurityGroup.

use std::time::Instant;

use takt_client::ClientError;
use takt_pubsub::security::KeyRing;

/// News about the keys of a SecurityGroup.
#[derive(Debug)]
pub enum KeyNews {
    /// There are new keys, for [`PubSub::set_keys`](takt_pubsub::runtime::PubSub::set_keys).
    Keys {
        /// The SecurityGroup.
        security_group_id: String,
        /// All its keys that are used or accepted.
        ring: KeyRing,
        /// True if missing keys were reported before.
        again: bool,
    },
    /// No new keys come. It is reported once for each reason, until there are new keys.
    Missing {
        /// The SecurityGroup.
        security_group_id: String,
        /// The reason.
        reason: MissingKeys,
        /// Time after which no present key is used or accepted; `None` if there are none.
        until: Option<Instant>,
    },
}

/// Reason why no new keys come.
#[derive(Debug, thiserror::Error)]
pub enum MissingKeys {
    /// The SecurityKeyService does not answer, or returns no keys.
    #[error(transparent)]
    NotReturned(#[from] ClientError),
    /// No SecurityKeyService has pushed keys in time.
    #[error("no SecurityKeyService has pushed any in time")]
    NotPushed,
}
