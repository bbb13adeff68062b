//! Open files, and the transaction.

use takt_crypto::StoredLists;
use takt_rt::memory_budget::Charge;
use takt_ua::{NodeId, StatusCode};

use super::open_files::OpenFiles;
use super::transaction::Transaction;

/// State that Sessions share.
#[derive(Default)]
pub(super) struct State {
    pub(super) files: OpenFiles,
    pub(super) transaction: Option<Transaction>,
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
            certificates: Vec::new(),
            charges: Vec::new(),
        });
        transaction.charges.push(charge);
        Ok(transaction)
    }

    /// Ends the transaction of a Session.
    pub(super) fn take_transaction(&mut self, session: &NodeId) -> Result<Transaction, StatusCode> {
        self.check_transaction(session)?;
        self.transaction.take().ok_or(StatusCode::BadNothingToDo)
    }
}
