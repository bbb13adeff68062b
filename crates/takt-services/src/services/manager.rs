//! The rules of NodeManagement (OPC 10000-4, 5.8) for one request: check, commit and settlement of its operations.

use std::sync::Arc;

use takt_space::{AddressSpaceError, Caller, Change, Edit, NewBinding};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use super::request::Request;
use crate::fault::Fault;
use crate::node_management::NodeManagement;
use crate::server::Server;
use crate::session::Session;
use crate::work::Work;

/// Units of work of one operation, and of each of its changes: an application may store each change in a database.
const OPERATION: u64 = 8;
const CHANGE: u64 = 8;

/// Shared state of the operations of one request.
pub(super) struct Manager {
    rules: Arc<dyn NodeManagement>,
    caller: Arc<Caller>,
    /// Number of requests that could not be settled, as of the beginning of this one.
    unsettled: u64,
}

impl Manager {
    pub(super) fn new(request: &Request<'_>, session: &Session) -> Result<Self, Fault> {
        let rules = request.server.node_management();
        if !rules.is_supported() {
            return Err(Fault(StatusCode::BadServiceUnsupported));
        }
        Ok(Self {
            rules,
            caller: session.caller.load_full(),
            unsettled: request.server.unsettled(),
        })
    }

    /// Returns the NodeId that the rules choose for a new node.
    pub(super) fn new_node_id(&self, item: &AddNodesItem) -> Option<NodeId> {
        self.rules.new_node_id(&self.caller, item)
    }

    /// Asks the rules for a change.
    pub(super) fn authorize(&self, change: &Change) -> Result<(), StatusCode> {
        self.rules.authorize(&self.caller, change)
    }

    /// Executes one operation: plans it, asks the rules, and makes it visible.
    pub(super) fn operate<T>(
        &self,
        server: &Server,
        work: &mut Work,
        plan: impl FnOnce(&mut Edit<'_>) -> Result<(T, Vec<Change>), AddressSpaceError>,
    ) -> Result<T, StatusCode> {
        work.spend(OPERATION);
        if server.unsettled() != self.unsettled {
            // The changes of this request so far were reverted with those that could not be settled.
            return Err(StatusCode::BadResourceUnavailable);
        }
        let mut edit = server.space.edit();
        let (result, changes) = plan(&mut edit).map_err(|error| error.status_code())?;
        for change in &changes {
            self.authorize(change)?;
        }
        let memory = edit.reserve_memory(&changes);
        let memory = memory.map_err(|_| StatusCode::BadOutOfMemory)?;
        self.rules.commit(&self.caller, &changes)?;
        // From here on, the nodes themselves count in the budget.
        drop(memory);
        let mut outcome = Ok(());
        for change in &changes {
            work.spend(CHANGE);
            // All checks were made under the lock that is still held, so this fails only if a limit is reached.
            outcome = outcome.and(edit.apply(change, self.new_binding(change)));
        }
        drop(edit);
        self.rules.applied(&self.caller, &changes);
        outcome.map_err(|error| error.status_code())?;
        Ok(result)
    }

    /// Settles the request after all operations: good results stay good only if the changes are durable.
    pub(super) fn settle<T>(&self, server: &Server, results: &mut [Result<T, StatusCode>]) {
        let settled = match server.unsettled() == self.unsettled {
            true => self.rules.settle(&self.caller),
            false => {
                let _ = self.rules.settle(&self.caller);
                Err(StatusCode::BadResourceUnavailable)
            }
        };
        if let Err(status) = settled {
            server.note_unsettled();
            for result in results.iter_mut().filter(|result| result.is_ok()) {
                *result = Err(status);
            }
        }
    }

    fn new_binding(&self, change: &Change) -> NewBinding {
        match change {
            Change::AddNode(item) => NewBinding {
                value: self.rules.value(&self.caller, item),
                method: self.rules.method(&self.caller, item),
            },
            _ => NewBinding::default(),
        }
    }
}
