//! NodeManagement: AddNodes, AddReferences, DeleteNodes, DeleteReferences (OPC 10000-4, 5.8).
//!
//! Each operation is checked against the standard, then by the application's rules, committed by them, and then made visible.
//! Meanwhile the address space is locked for other changes only. The response is sent when all changes are durable.

use std::sync::Arc;

use takt_rt::memory_budget::Charge;
use takt_space::{AddressSpaceError, Change, Edit};
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::structures::{
    AddNodesItem, AddNodesResult, AddReferencesItem, DeleteNodesItem, DeleteReferencesItem,
};
use takt_ua::{DateTime, ExpandedNodeId, NodeId, QualifiedName, StatusCode, ids};

use super::deletion::Deletion;
use super::manager::Manager;
use super::request::Request;
use super::settling::{Meeting, Reserved, Settling};
use super::sliced::operation_list::{Items, Operations};
use super::sliced::service::{Progress, Turn, response_size};
use super::subscriptions::status_of;
use crate::audit::record::{AuditedAction, NodeService};
use crate::responses::fault::Fault;
use crate::responses::message::response_header;
use crate::responses::settled::Settled;
use crate::server::Server;
use crate::session::Session;
use crate::slices::gate::Gate;

/// An operation of one of the four services.
pub(super) trait Operation: Send + Sized + 'static {
    type Item: for<'d> Decode<'d>;
    type Done: Done;
    /// TypeId of the response.
    const RESPONSE: u32;
    /// The service.
    const SERVICE: NodeService;

    fn begin(item: Self::Item) -> Self;

    /// Returns the node of an item for the audit log: see [`AuditedAction::NodeManagement`].
    fn node(item: &Self::Item) -> &NodeId;

    /// Returns the parent and the BrowseName of a node that the item adds.
    fn child(_: &Self::Item) -> Option<(&ExpandedNodeId, &QualifiedName)> {
        None
    }

    /// Continues the operation. Returns its result, or `None` if the slice is over first.
    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<Self::Done, StatusCode>>;
}

/// Result of a good operation.
pub(super) trait Done: Send + Sized {
    /// Bytes of an encoded result at most, beside what the client has sent.
    const SIZE: usize;

    /// Returns the node that was added.
    fn added(&self) -> Option<&NodeId> {
        None
    }

    /// Encodes the result of an operation, good or bad.
    fn encode(
        result: Result<Self, StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError>;
}

impl Done for () {
    const SIZE: usize = 4;

    fn encode(
        result: Result<(), StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        status_of(result).encode(response)
    }
}

impl Done for NodeId {
    // A NodeId that the rules choose is a number or a Guid.
    const SIZE: usize = 4 + 19;

    fn added(&self) -> Option<&NodeId> {
        Some(self)
    }

    fn encode(
        result: Result<NodeId, StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        match result {
            Ok(added_node_id) => AddNodesResult {
                status_code: StatusCode::Good,
                added_node_id,
            },
            Err(status_code) => AddNodesResult {
                status_code,
                added_node_id: NodeId::NULL,
            },
        }
        .encode(response)
    }
}

/// The operations of a request.
pub(super) struct Changes<O: Operation> {
    manager: Manager,
    /// The operation that has begun and is not finished.
    operation: Option<O>,
    /// Its node, if it is audited.
    node: Option<NodeId>,
    results: Vec<Result<O::Done, StatusCode>>,
    /// Memory that is reserved from the first operation on.
    reserved: Option<Reserved>,
    /// Gate at which the next operation, or the rest of one, waits.
    gate: Option<Arc<Gate>>,
}

impl<O: Operation> Operations for Changes<O> {
    type Item = O::Item;

    fn parse(
        request: &Request<'_>,
        session: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<O::Item>), Fault> {
        let manager = Manager::new(request, session)?;
        let limits = &request.server.budgets.operations;
        let items = Items::take(request, body, limits.max_nodes_per_node_management)?;
        let changes = Self {
            manager,
            operation: None,
            node: None,
            results: Vec::new(),
            reserved: None,
            gate: None,
        };
        Ok((changes, items))
    }

    fn check(&mut self, item: &O::Item) {
        if let Some((parent, name)) = O::child(item) {
            self.manager.announced.add(parent, name);
        }
    }

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        // NodeIds that the client has chosen are as long as in its message.
        let message = turn.request.message.len();
        let announced = self.manager.announced.memory();
        let response = response_size(count, O::Done::SIZE) + message + announced;
        let waiting = turn.is_inline.then_some(message);
        // No operation begins unless there is memory for its result.
        self.reserved = Some(Reserved::new(&turn.session.memory, waiting, response)?);
        self.results.reserve(count);
        Ok(())
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<O::Item>,
    ) -> Result<(), Fault> {
        loop {
            let has_more = items.len() > 0 || self.operation.is_some();
            if has_more && let Some(gate) = self.manager.gate() {
                self.gate = Some(gate);
                return Ok(());
            }
            let operation = match &mut self.operation {
                Some(operation) => operation,
                None => match items.next(turn)? {
                    Some(item) => {
                        let audit = turn.request.server.audit();
                        self.node = audit.map(|_| O::node(&item).clone());
                        self.operation.insert(O::begin(item))
                    }
                    None => return Ok(()),
                },
            };
            let Some(result) = operation.operate(&self.manager, turn) else {
                return Ok(());
            };
            if let Some(node) = self.node.take() {
                let added = result.as_ref().ok().and_then(|done| done.added());
                let status = result.as_ref().err().copied().unwrap_or(StatusCode::Good);
                turn.request
                    .audit(status, || AuditedAction::NodeManagement {
                        service: O::SERVICE,
                        node_id: added.unwrap_or(&node).as_ref(),
                    });
            }
            self.results.push(result);
            self.operation = None;
        }
    }

    fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    fn take_gate(&mut self) -> Option<Arc<Gate>> {
        self.gate.take()
    }

    fn take_reserved(&mut self) -> Option<Charge> {
        self.reserved.as_mut()?.take_waiting()
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        // It is there from the first operation on.
        let reserved = self.reserved.take();
        let reserved = reserved.ok_or(Fault(StatusCode::BadInternalError))?;
        let (meeting, settled) = Meeting::new();
        let saw_changes = self.results.iter().any(rests_on_changes);
        self.manager.settle(saw_changes, settled);
        let results = std::mem::take(&mut self.results);
        let Some(settled) = meeting.result() else {
            let respond = Box::new(move |settled, handle, now, response: &mut Encoder<'_>| {
                respond::<O>(results, settled, handle, now, response)
            });
            return Ok(Progress::Settling(Settling::new(
                meeting, respond, reserved,
            )));
        };
        let (handle, now) = (turn.request.header.request_handle, turn.request.now);
        respond::<O>(results, settled, handle, now, turn.response)?;
        Ok(Progress::Complete)
    }

    fn abandon(&mut self, _: &Server, _: &Session) {
        // Nobody waits for the result.
        self.manager.settle(false, Settled::new(|_| {}));
    }
}

/// Returns true if a result holds only if changes become durable: those of the operation, or those of another request that
/// made what exists. A Provider that gets `BadNodeIdExists`, for example, relies on the node.
fn rests_on_changes<T>(result: &Result<T, StatusCode>) -> bool {
    match result {
        Ok(_) => true,
        Err(status) => matches!(
            *status,
            StatusCode::BadNodeIdExists
                | StatusCode::BadBrowseNameDuplicated
                | StatusCode::BadDuplicateReferenceNotAllowed
        ),
    }
}

/// Encodes the response: results that rest on changes get the StatusCode of their loss.
fn respond<O: Operation>(
    results: Vec<Result<O::Done, StatusCode>>,
    settled: Result<(), StatusCode>,
    handle: u32,
    now: DateTime,
    response: &mut Encoder<'_>,
) -> Result<(), Fault> {
    response_header(response, O::RESPONSE, now, handle, StatusCode::Good)?;
    response.array_length(Some(results.len()))?;
    for result in results {
        let result = match settled {
            Err(lost) if rests_on_changes(&result) => Err(lost),
            _ => result,
        };
        O::Done::encode(result, response)?;
    }
    Ok(response.array_length(Some(0))?)
}

/// An item whose operation is planned and executed at once.
pub(super) trait Planned: for<'d> Decode<'d> + Send + 'static {
    type Done: Done;
    /// TypeId of the response.
    const RESPONSE: u32;
    /// The service.
    const SERVICE: NodeService;

    /// Returns the node for the audit log.
    fn node(&self) -> &NodeId;

    /// Returns the parent and the BrowseName of a node that it adds.
    fn child(&self) -> Option<(&ExpandedNodeId, &QualifiedName)> {
        None
    }

    /// Plans the changes of the operation.
    fn plan(
        self,
        manager: &Manager,
        edit: &mut Edit<'_>,
    ) -> Result<(Self::Done, Vec<Change>), AddressSpaceError>;
}

/// An operation that is executed at once; afterwards it has no item.
pub(super) struct AtOnce<I>(Option<I>);

impl<I: Planned> Operation for AtOnce<I> {
    type Item = I;
    type Done = I::Done;
    const RESPONSE: u32 = I::RESPONSE;
    const SERVICE: NodeService = I::SERVICE;

    fn begin(item: I) -> Self {
        Self(Some(item))
    }

    fn node(item: &I) -> &NodeId {
        item.node()
    }

    fn child(item: &I) -> Option<(&ExpandedNodeId, &QualifiedName)> {
        item.child()
    }

    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<I::Done, StatusCode>> {
        let item = self.0.take()?;
        let plan = |edit: &mut Edit<'_>| item.plan(manager, edit);
        Some(manager.operate(turn.request.server, turn.work, plan))
    }
}

/// The operations of an AddNodes request.
pub(super) type AddNodes = Changes<AtOnce<AddNodesItem>>;

impl Planned for AddNodesItem {
    type Done = NodeId;
    const RESPONSE: u32 = ids::ADD_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: NodeService = NodeService::AddNodes;

    fn node(&self) -> &NodeId {
        &self.requested_new_node_id.node_id
    }

    fn child(&self) -> Option<(&ExpandedNodeId, &QualifiedName)> {
        Some((&self.parent_node_id, &self.browse_name))
    }

    fn plan(
        self,
        manager: &Manager,
        edit: &mut Edit<'_>,
    ) -> Result<(NodeId, Vec<Change>), AddressSpaceError> {
        let choose = |item: &AddNodesItem| manager.new_node_id(item);
        let is_announced =
            |parent: &NodeId, name: &QualifiedName| manager.announced.contains(parent, name);
        edit.plan_add_instance(self, &choose, &is_announced)
    }
}

/// The operations of an AddReferences request.
pub(super) type AddReferences = Changes<AtOnce<AddReferencesItem>>;

impl Planned for AddReferencesItem {
    type Done = ();
    const RESPONSE: u32 = ids::ADD_REFERENCES_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: NodeService = NodeService::AddReferences;

    fn node(&self) -> &NodeId {
        &self.source_node_id
    }

    fn plan(
        self,
        _: &Manager,
        edit: &mut Edit<'_>,
    ) -> Result<((), Vec<Change>), AddressSpaceError> {
        Ok(((), vec![edit.plan_add_reference(self)?]))
    }
}

/// The operations of a DeleteReferences request.
pub(super) type DeleteReferences = Changes<AtOnce<DeleteReferencesItem>>;

impl Planned for DeleteReferencesItem {
    type Done = ();
    const RESPONSE: u32 = ids::DELETE_REFERENCES_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: NodeService = NodeService::DeleteReferences;

    fn node(&self) -> &NodeId {
        &self.source_node_id
    }

    fn plan(
        self,
        _: &Manager,
        edit: &mut Edit<'_>,
    ) -> Result<((), Vec<Change>), AddressSpaceError> {
        Ok(((), vec![edit.plan_delete_reference(self)?]))
    }
}

/// The operations of a DeleteNodes request.
pub(super) type DeleteNodes = Changes<Deletion>;

impl Operation for Deletion {
    type Item = DeleteNodesItem;
    type Done = ();
    const RESPONSE: u32 = ids::DELETE_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: NodeService = NodeService::DeleteNodes;

    fn begin(item: DeleteNodesItem) -> Self {
        Self::new(item)
    }

    fn node(item: &DeleteNodesItem) -> &NodeId {
        &item.node_id
    }

    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<(), StatusCode>> {
        self.run(manager, turn)
    }
}
