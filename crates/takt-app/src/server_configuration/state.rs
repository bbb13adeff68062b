//! Open files, and the transaction.

use std::time::Instant;

use takt_rt::memory_budget::Charge;
use takt_space::Caller;
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

    /// Closes the files and discards the transaction of Sessions that have ended, or that nobody uses. `requests` returns the number
    /// of requests of a Session.
    pub(super) fn forget(&mut self, now: Instant, requests: impl Fn(&NodeId) -> Option<u32>) {
        self.files.retain(|session| requests(session).is_some());
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        let reason = match requests(&transaction.session) {
            None => "its Session has ended",
            Some(requests) if transaction.is_abandoned(requests, now) => {
                "its Session has sent no request for a minute"
            }
            Some(_) => return,
        };
        tracing::warn!(
            owner = transaction.owner,
            "a transaction of certificates ends without ApplyChanges: {reason}"
        );
        self.transaction = None;
    }

    /// Returns true if [`forget`](Self::forget) may have something to do later.
    pub(super) fn is_in_use(&self) -> bool {
        self.transaction.is_some() || !self.files.is_empty()
    }

    /// Begins or continues the transaction of a caller. `charge` is the memory of the change.
    pub(super) fn transaction(
        &mut self,
        caller: &Caller,
        charge: Charge,
    ) -> Result<&mut Transaction, StatusCode> {
        self.check_transaction(&caller.session_id)?;
        let transaction = self
            .transaction
            .get_or_insert_with(|| Transaction::new(caller));
        transaction.charges.push(charge);
        Ok(transaction)
    }

    /// Ends the transaction of a Session.
    pub(super) fn take_transaction(&mut self, session: &NodeId) -> Result<Transaction, StatusCode> {
        self.check_transaction(session)?;
        self.transaction.take().ok_or(StatusCode::BadNothingToDo)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use takt_rt::memory_budget::MemoryBudget;

    use super::*;

    #[test]
    fn an_abandoned_transaction_keeps_nobody_out() {
        let caller = |session: u32| {
            let mut caller = Caller::local();
            caller.session_id = NodeId::from(session);
            caller
        };
        let (gone, other) = (caller(1), caller(2));
        let memory = MemoryBudget::unlimited();
        let mut state = State::default();
        let begin = Instant::now();
        state.transaction(&gone, memory.empty_charge()).unwrap();
        state.forget(begin, |_| Some(7));
        let pending = Err(StatusCode::BadTransactionPending);
        assert_eq!(state.check_transaction(&other.session_id), pending);
        state.forget(begin + Duration::from_secs(60), |_| Some(7));
        assert_eq!(state.check_transaction(&other.session_id), Ok(()));
        assert!(!state.is_in_use());
    }
}
