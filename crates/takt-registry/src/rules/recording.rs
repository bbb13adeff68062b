//! Changes on their way to the database.

use std::sync::Arc;

use takt_rt::memory_budget::Charge;
use takt_space::Change;
use takt_ua::StatusCode;
use takt_ua::binary::Encode;
use takt_ua::structures::AddNodesItem;

use super::{Rules, refuse};
use crate::database::{DatabaseError, NewProvider, OfClient, Registration};

impl Rules {
    /// Records changes that are the registry's own.
    pub(crate) fn record_own(&self, changes: Vec<Change>) -> Result<(), DatabaseError> {
        self.record_as("", changes)
    }

    /// Records changes of nodes of a Provider that no client waits for.
    pub(super) fn record_as(&self, owner: &str, changes: Vec<Change>) -> Result<(), DatabaseError> {
        let registration = Registration {
            owner: owner.to_owned(),
            newcomer: None,
            changes: changes.into(),
        };
        self.database.record(registration, None)
    }

    /// Reserves memory of a client's change that waits for the disk; `BadTooManyOperations` if there is not enough.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Charge, StatusCode> {
        let mut charge = self.waiting()?;
        let reserved = charge.resize(bytes);
        reserved.map_err(|_| StatusCode::BadTooManyOperations)?;
        Ok(charge)
    }

    /// Counts memory of a change that waits for the disk and cannot be refused.
    pub(crate) fn reserve_anyway(&self, bytes: usize) -> Result<Charge, StatusCode> {
        let mut charge = self.waiting()?;
        charge.force(bytes);
        Ok(charge)
    }

    /// Returns a charge of no bytes for changes that wait for the disk.
    fn waiting(&self) -> Result<Charge, StatusCode> {
        let bound = self.bound.get().ok_or(StatusCode::BadShutdown)?;
        Ok(bound.waiting.empty_charge())
    }

    /// Hands over changes of a request to the database, and the Provider if it is new. `losses` are those when the
    /// request began.
    pub(super) fn keep(
        &self,
        owner: &str,
        newcomer: Option<NewProvider>,
        changes: &[Change],
        losses: u64,
    ) -> Result<(), StatusCode> {
        let charge = self.reserve(changes.iter().map(size_of_change).sum())?;
        let changes: Arc<[Change]> = changes.into();
        let (rules, lost) = (self.weak(), Arc::clone(&changes));
        let undo = move || {
            if let Some(rules) = rules.upgrade() {
                rules.take_back(&lost);
            }
        };
        let registration = Registration {
            owner: owner.to_owned(),
            newcomer,
            changes,
        };
        let of_client = OfClient {
            losses,
            undo: Box::new(undo),
            charge,
        };
        let recorded = self.database.record(registration, Some(of_client));
        recorded.map_err(|error| refuse(&error))
    }
}

/// Returns the bytes of memory of a change that waits for the disk, approximately.
fn size_of_change(change: &Change) -> usize {
    let encoded = match change {
        Change::AddNamespace { uri, .. } => uri.len(),
        Change::AddNode(item) => item.encode_to_vec().len(),
        Change::AddReference(item) => item.encode_to_vec().len(),
        Change::DeleteNode(item) => item.encode_to_vec().len(),
        Change::DeleteReference(item) => item.encode_to_vec().len(),
        Change::SetAttribute(change) => {
            change.value.encode_to_vec().len() + change.previous.encode_to_vec().len()
        }
    };
    // Boxes, and places in lists.
    2 * size_of::<Change>() + size_of::<AddNodesItem>() + encoded
}
