//! Changes of a Session that wait for ApplyChanges (OPC 10000-12, 7.10.2).

use takt_crypto::{OwnUpdate, StoredLists};
use takt_rt::memory_budget::Charge;
use takt_ua::NodeId;

/// The changes that wait. There is one transaction at a time.
pub(super) struct Transaction {
    pub(super) session: NodeId,
    pub(super) lists: StoredLists,
    /// At most one certificate of each kind.
    pub(super) certificates: Vec<OwnUpdate>,
    /// Memory of the changes.
    pub(super) charges: Vec<Charge>,
}

impl Transaction {
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
