//! Who may change the address space, and what happens before a change becomes visible (OPC 10000-4, 5.8).

use takt_space::{Caller, Change, MethodHandler, Value};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

/// The rules for clients that change the address space with the NodeManagement services.
///
/// An operation is checked against the standard first, then [`authorize`](Self::authorize) is asked for each change
/// that it consists of, then [`commit`](Self::commit) is told all of them, then they become visible. AddNodes with a
/// TypeDefinition that has mandatory children consists of several changes.
pub trait NodeManagement: Send + Sync {
    /// Whether the NodeManagement services exist at all; if not, requests get `BadServiceUnsupported`.
    fn is_supported(&self) -> bool {
        true
    }

    /// The NodeId for a new node for which the client requested none; `None` leaves the choice to the server.
    fn new_node_id(&self, caller: &Caller, item: &AddNodesItem) -> Option<NodeId> {
        let _ = (caller, item);
        None
    }

    /// Whether `caller` may do this.
    ///
    /// # Errors
    /// The StatusCode for the operation, usually `BadUserAccessDenied`.
    fn authorize(&self, caller: &Caller, change: &Change) -> Result<(), StatusCode>;

    /// Keeps the changes of one operation. They become visible only after this returned, and the client hears of them
    /// only after [`settle`](Self::settle).
    ///
    /// The address space is locked for changes meanwhile, so neither this nor the other methods may change it.
    ///
    /// # Errors
    /// The StatusCode for the operation; nothing of it becomes visible then.
    fn commit(&self, caller: &Caller, changes: &[Change]) -> Result<(), StatusCode>;

    /// Where the value of a new Variable comes from; `None`: it is stored, beginning with the value in `item`.
    fn value(&self, caller: &Caller, item: &AddNodesItem) -> Option<Value> {
        let _ = (caller, item);
        None
    }

    /// What runs when a new Method is called; `None`: nothing, it is not executable.
    fn method(&self, caller: &Caller, item: &AddNodesItem) -> Option<MethodHandler> {
        let _ = (caller, item);
        None
    }

    /// Makes durable what [`commit`](Self::commit) has kept: called once a request, after all its operations, good or bad,
    /// and before its response.
    ///
    /// # Errors
    /// The StatusCode for every operation of the request that was good so far. What they changed has been taken back.
    fn settle(&self, caller: &Caller) -> Result<(), StatusCode> {
        let _ = caller;
        Ok(())
    }

    /// The changes of one operation are visible now, and the address space is no longer locked.
    fn applied(&self, caller: &Caller, changes: &[Change]) {
        let _ = (caller, changes);
    }
}

/// Clients may not change anything: `BadServiceUnsupported`.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNodeManagement;

impl NodeManagement for NoNodeManagement {
    fn is_supported(&self) -> bool {
        false
    }

    fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
        Err(StatusCode::BadUserAccessDenied)
    }

    fn commit(&self, _: &Caller, _: &[Change]) -> Result<(), StatusCode> {
        Err(StatusCode::BadUserAccessDenied)
    }
}

/// Every client may change everything, and nothing is kept: for tests and trusted hosts.
#[derive(Debug, Clone, Copy, Default)]
pub struct EverybodyManages;

impl NodeManagement for EverybodyManages {
    fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
        Ok(())
    }

    fn commit(&self, _: &Caller, _: &[Change]) -> Result<(), StatusCode> {
        Ok(())
    }
}
