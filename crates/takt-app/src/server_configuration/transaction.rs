//! Changes of a Session that wait for ApplyChanges (OPC 10000-12, 7.10.2).

use std::time::{Duration, Instant};

use takt_crypto::{OwnUpdate, StoredLists};
use takt_rt::memory_budget::Charge;
use takt_space::{Caller, UserIdentity};
use takt_ua::NodeId;

/// Longest name of a user in the log, in characters.
const LONGEST: usize = 64;

/// Time without a request of its Session after which a transaction ends: a client that is there sends requests.
const IDLE: Duration = Duration::from_secs(60);

/// The changes that wait. There is one transaction at a time.
pub(super) struct Transaction {
    pub(super) session: NodeId,
    /// The administrator, for the log.
    pub(super) owner: String,
    /// Number of requests of the Session when it was looked at last, and the time since which the number is the same.
    requests: Option<u32>,
    used: Instant,
    pub(super) lists: StoredLists,
    /// At most one certificate of each kind.
    pub(super) certificates: Vec<OwnUpdate>,
    /// Memory of the changes.
    pub(super) charges: Vec<Charge>,
}

impl Transaction {
    /// Begins an empty transaction of a caller.
    pub(super) fn new(caller: &Caller) -> Self {
        let user = match &caller.user {
            UserIdentity::Anonymous => "an anonymous user",
            UserIdentity::UserName { name } | UserIdentity::Application { name } => name,
            UserIdentity::Certificate { subject, .. } | UserIdentity::Issued { subject, .. } => {
                subject
            }
        };
        // A name with line breaks could forge lines of the log.
        let user: String = user.escape_debug().take(LONGEST).collect();
        Self {
            session: caller.session_id.clone(),
            owner: format!("{user} at {}", caller.peer()),
            requests: None,
            used: Instant::now(),
            lists: StoredLists::default(),
            certificates: Vec::new(),
            charges: Vec::new(),
        }
    }

    /// Returns true if the Session, which has sent this number of requests so far, has sent none for [`IDLE`].
    pub(super) fn is_abandoned(&mut self, requests: u32, now: Instant) -> bool {
        if self.requests != Some(requests) {
            self.requests = Some(requests);
            self.used = now;
        }
        now.saturating_duration_since(self.used) >= IDLE
    }

    /// Adds a certificate; one of the same kind is replaced.
    pub(super) fn replace(&mut self, new: OwnUpdate) {
        self.certificates.retain(|old| old.kind() != new.kind());
        self.certificates.push(new);
    }

    /// Adds new lists; a list that was changed before is replaced.
    pub(super) fn change(&mut self, new: StoredLists) {
        let lists = &mut self.lists;
        fn replace<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        replace(&mut lists.trusted, new.trusted);
        replace(&mut lists.trusted_revocations, new.trusted_revocations);
        replace(&mut lists.issuers, new.issuers);
        replace(&mut lists.issuer_revocations, new.issuer_revocations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_ends_a_minute_after_the_last_request() {
        let mut caller = Caller::local();
        caller.user = UserIdentity::UserName {
            name: "anna\n".to_owned(),
        };
        let mut transaction = Transaction::new(&caller);
        assert!(transaction.owner.starts_with("anna\\n at "));
        let begin = Instant::now();
        let second = Duration::from_secs(1);
        assert!(!transaction.is_abandoned(3, begin));
        assert!(!transaction.is_abandoned(3, begin + IDLE - second));
        // A client that is there sends requests.
        assert!(!transaction.is_abandoned(4, begin + IDLE));
        assert!(!transaction.is_abandoned(4, begin + 2 * IDLE - second));
        assert!(transaction.is_abandoned(4, begin + 2 * IDLE));
    }
}
