//! Sessions that make room for new ones (OPC 10000-4, 5.7.2.1).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use takt_ua::Guid;

use super::{HAS_CHANNEL, Session};

/// The order in which Sessions make room for a new one (OPC 10000-4, 5.7.2.1). A client that activates the Sessions that it
/// creates is not displaced by one that creates many Sessions, nor by new Sessions while there are abandoned ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Expendability {
    /// One of several Sessions that a channel created and did not activate: the channel with the most Sessions first, then the
    /// oldest Session.
    OneOfSeveral(Reverse<u32>, Instant),
    /// An activated Session whose channel is closed, with the number of the loss.
    WithoutChannel(u64),
    /// The only Session that a channel created and did not activate yet.
    NotActivated(Instant),
}

impl Session {
    /// Returns the rank in which the Session makes room for a new one, the lowest first; `None`: never. `created` holds the
    /// number of Sessions that each channel created and did not activate.
    fn expendability(&self, created: &HashMap<u64, u32>) -> Option<Expendability> {
        if self.is_activated() {
            let lost = self.channel_lost.load(Ordering::Relaxed);
            return (lost != HAS_CHANNEL).then_some(Expendability::WithoutChannel(lost));
        }
        let since = self.last_activity();
        Some(match created.get(&self.caller.load().channel.id) {
            Some(&count) if count > 1 => Expendability::OneOfSeveral(Reverse(count), since),
            _ => Expendability::NotActivated(since),
        })
    }
}

/// Returns the token of the Session that makes room for a new one, if one may be closed.
pub(super) fn expendable(table: &HashMap<Guid, Arc<Session>>) -> Option<Guid> {
    let mut created: HashMap<u64, u32> = HashMap::new();
    for session in table.values().filter(|session| !session.is_activated()) {
        let channel = session.caller.load().channel.id;
        *created.entry(channel).or_default() += 1;
    }
    let expendable = table
        .values()
        .filter_map(|session| Some((session.expendability(&created)?, session.token)));
    let (_, token) = expendable.min_by_key(|(expendability, _)| *expendability)?;
    Some(token)
}
