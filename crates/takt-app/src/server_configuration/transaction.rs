//! Changes of a Session that wait for ApplyChanges (OPC 10000-12, 7.10.2).

use takt_crypto::{OwnUpdate, StoredLists};
use takt_rt::memory_budget::Charge;
use takt_ua::{NodeId, StatusCode};

use super::administration::State;

/// The changes that wait. There is one transaction at a time.
pub(super) struct Transaction {
    pub(super) session: NodeId,
    pub(super) lists: StoredLists,
    pub(super) certificate: Option<OwnUpdate>,
    _charges: Vec<Charge>,
}

impl State {
    /// Checks that no other Session has a transaction.
    pub(super) fn check_transaction(&self, session: &NodeId) -> Result<(), StatusCode> {
        match &self.transaction {
            Some(transaction) if transaction.session != *session => {
                Err(StatusCode::BadTransactionPending)
            }
            _ => Ok(()),
        }
    }

    /// Begins or continues the transaction of a Session. `charge` is the memory of the change.
    pub(super) fn transaction(
        &mut self,
        session: &NodeId,
        charge: Charge,
    ) -> Result<&mut Transaction, StatusCode> {
        self.check_transaction(session)?;
        let transaction = self.transaction.get_or_insert_with(|| Transaction {
            session: session.clone(),
            lists: StoredLists::default(),
            certificate: None,
            _charges: Vec::new(),
        });
        transaction._charges.push(charge);
        Ok(transaction)
    }

    /// Ends the transaction of a Session.
    pub(super) fn take_transaction(&mut self, session: &NodeId) -> Result<Transaction, StatusCode> {
        self.check_transaction(session)?;
        self.transaction.take().ok_or(StatusCode::BadNothingToDo)
    }
}

impl Transaction {
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
