//! Rules for clients that change the address space, applied before a change becomes visible (OPC 10000-4, 5.8).

use takt_space::{AddressSpaceError, Caller, Change, MethodHandler, Value};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use crate::responses::settled::Settled;

/// The rules for clients that change the address space with the NodeManagement services.
///
/// An operation is first checked against the standard. Then [`authorize`](Self::authorize) is called for each change that it
/// consists of, then [`commit`](Self::commit) with all of them. Then they become visible. AddNodes with a TypeDefinition that
/// has mandatory children consists of several changes. After all operations of a request, [`settle`](Self::settle) makes its
/// changes durable.
pub trait NodeManagement: Send + Sync {
    /// Returns true if the NodeManagement services exist; if not, requests get `BadServiceUnsupported`.
    fn is_supported(&self) -> bool {
        true
    }

    /// Returns the NodeId for a new node for which the client requested none; `None` leaves the choice to the server.
    fn new_node_id(&self, caller: &Caller, item: &AddNodesItem) -> Option<NodeId> {
        let _ = (caller, item);
        None
    }

    /// Decides if `caller` may make this change.
    ///
    /// # Errors
    /// The StatusCode for the operation, usually `BadUserAccessDenied`.
    fn authorize(&self, caller: &Caller, change: &Change) -> Result<(), StatusCode>;

    /// Notes why an operation is refused before the rules are asked: it violates the standard, or there is no room. The client
    /// learns the StatusCode only.
    fn refused(&self, caller: &Caller, reason: &AddressSpaceError) {
        let _ = (caller, reason);
    }

    /// Returns the number of times that kept changes were lost because they could not be made durable.
    ///
    /// A request that began at another number has lost the changes that it made before.
    fn losses(&self) -> u64 {
        0
    }

    /// Returns true if there is room for the changes of another operation. Otherwise its request
    /// [waits](Self::wait_for_room), and other requests are served.
    fn has_room(&self) -> bool {
        true
    }

    /// Gives notice when there may be room for changes again, at once or later and from any thread; the result does not matter.
    /// The server then asks again.
    fn wait_for_room(&self, room: Settled) {
        room.done(Ok(()));
    }

    /// Keeps the changes of one operation. They become visible only after this returns, and the client gets the result only
    /// after [`settle`](Self::settle). `losses` is the number of [`losses`](Self::losses) when the request began.
    ///
    /// Meanwhile the address space is locked for changes, so neither this method nor the others may change it.
    ///
    /// # Errors
    /// The StatusCode for the operation; then none of its changes becomes visible.
    fn commit(&self, caller: &Caller, changes: &[Change], losses: u64) -> Result<(), StatusCode>;

    /// Returns the value source of a new Variable; `None`: the value is stored, beginning with the value in `item`.
    fn value(&self, caller: &Caller, item: &AddNodesItem) -> Option<Value> {
        let _ = (caller, item);
        None
    }

    /// Returns the handler of a new Method; `None`: the Method is not executable.
    fn method(&self, caller: &Caller, item: &AddNodesItem) -> Option<MethodHandler> {
        let _ = (caller, item);
        None
    }

    /// Makes the changes durable that [`commit`](Self::commit) has kept for a request, and gives notice then, at once or later
    /// and from any thread. The server serves other requests meanwhile. If the changes are lost, additions are reverted before
    /// the notice. Deletions are not reverted: what was deleted is missing although it was kept, and may be added again.
    ///
    /// It is called once per request, after all its operations, if the request has changes, or if one of its results says that
    /// something exists (such as `BadNodeIdExists`): it may have been made by changes that are not durable yet. `losses` is the
    /// number of [`losses`](Self::losses) when the request began.
    fn settle(&self, caller: &Caller, losses: u64, settled: Settled) {
        let _ = (caller, losses);
        settled.done(Ok(()));
    }

    /// Notifies that the changes of one operation are visible, and that the address space is no longer locked.
    fn applied(&self, caller: &Caller, changes: &[Change]) {
        let _ = (caller, changes);
    }
}

/// Rules that forbid every change: `BadServiceUnsupported`.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNodeManagement;

impl NodeManagement for NoNodeManagement {
    fn is_supported(&self) -> bool {
        false
    }

    fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
        Err(StatusCode::BadUserAccessDenied)
    }

    fn commit(&self, _: &Caller, _: &[Change], _: u64) -> Result<(), StatusCode> {
        Err(StatusCode::BadUserAccessDenied)
    }
}

/// Rules that allow every change to every client and store nothing: for tests and trusted hosts.
#[derive(Debug, Clone, Copy, Default)]
pub struct EverybodyManages;

impl NodeManagement for EverybodyManages {
    fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
        Ok(())
    }

    fn commit(&self, _: &Caller, _: &[Change], _: u64) -> Result<(), StatusCode> {
        Ok(())
    }
}
