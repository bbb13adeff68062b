//! The rules of NodeManagement (OPC 10000-4, 5.8) for one request: check, commit and settlement of its operations.

use std::cell::Cell;
use std::sync::Arc;

use takt_space::{AddressSpaceError, Caller, Change, Edit, NewBinding};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use super::announced::Announced;
use super::request::Request;
use crate::interfaces::node_management::NodeManagement;
use crate::responses::fault::Fault;
use crate::responses::settled::Settled;
use crate::server::Server;
use crate::session::Session;
use crate::slices::gate::Gate;
use crate::slices::work::Work;

/// Units of work of one operation, and of each of its changes: an application may store each change in a database.
const OPERATION: u64 = 8;
const CHANGE: u64 = 8;

/// Shared state of the operations of one request.
pub(super) struct Manager {
    rules: Arc<dyn NodeManagement>,
    caller: Arc<Caller>,
    /// [`NodeManagement::losses`] as of the beginning of the request.
    losses: u64,
    /// True if the rules keep changes of this request.
    has_changes: Cell<bool>,
    /// Nodes that the request itself adds below others.
    pub(super) announced: Announced,
}

impl Manager {
    pub(super) fn new(request: &Request<'_>, session: &Session) -> Result<Self, Fault> {
        let rules = request.server.node_management();
        if !rules.is_supported() {
            return Err(Fault(StatusCode::BadServiceUnsupported));
        }
        Ok(Self {
            losses: rules.losses(),
            rules,
            caller: session.caller.load_full(),
            has_changes: Cell::new(false),
            announced: Announced::default(),
        })
    }

    /// Returns the gate at which the next operation waits, if the rules have no room for its changes.
    pub(super) fn gate(&self) -> Option<Arc<Gate>> {
        if self.rules.has_room() {
            return None;
        }
        let (gate, notice) = Gate::new();
        self.rules.wait_for_room(notice);
        Some(gate)
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
        let mut edit = server.space.edit();
        let (result, changes) = plan(&mut edit).map_err(|error| {
            self.rules.refused(&self.caller, &error);
            error.status_code()
        })?;
        // All changes are authorized before the first one is kept, so an operation is done as a whole or not at all.
        for change in &changes {
            self.authorize(change)?;
        }
        // Memory comes before the commit: what the rules have kept cannot be taken back.
        let memory = edit.reserve_memory(&changes);
        let memory = memory.map_err(|_| StatusCode::BadOutOfMemory)?;
        self.rules.commit(&self.caller, &changes, self.losses)?;
        self.has_changes.set(true);
        // From here on, the nodes themselves count in the budget.
        drop(memory);
        let mut outcome = Ok(());
        for change in &changes {
            work.spend(CHANGE);
            // All checks were made under the lock that is still held, so this fails only if a limit is reached.
            outcome = outcome.and(edit.apply(change, self.new_binding(change)));
        }
        for node in Change::instantiated(&changes) {
            edit.mark_instantiated(node);
        }
        // The application is called without the lock.
        drop(edit);
        self.rules.applied(&self.caller, &changes);
        outcome.map_err(|error| error.status_code())?;
        Ok(result)
    }

    /// Settles the request after all operations. `saw_changes` says that a result rests on changes that it saw.
    pub(super) fn settle(&self, saw_changes: bool, settled: Settled) {
        match self.has_changes.get() || saw_changes {
            true => self.rules.settle(&self.caller, self.losses, settled),
            false => settled.done(Ok(())),
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
