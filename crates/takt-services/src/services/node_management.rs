//! NodeManagement: AddNodes, AddReferences, DeleteNodes, DeleteReferences (OPC 10000-4, 5.8).
//!
//! Each operation is checked against the standard, then by the application's rules, committed by them, and then made
//! visible. The address space is locked for other changes meanwhile, and for nothing else.

use std::sync::Arc;

use takt_space::{AddressSpaceError, Caller, Change, Edit, NewBinding};
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::structures::{
    AddNodesItem, AddNodesResult, AddReferencesItem, DeleteNodesItem, DeleteReferencesItem,
};
use takt_ua::{NodeId, StatusCode, ids};

use super::deletion::Deletion;
use super::list::{Items, List, Operations};
use super::slices::{self, Turn};
use super::{Fault, Handled, Request};
use crate::connection::Connection;
use crate::node_management::NodeManagement;
use crate::server::Server;
use crate::session::Session;
use crate::work::Work;

/// Units of work of one operation, and of each change that it consists of: an application may keep each in a database.
const OPERATION: u64 = 8;
const CHANGE: u64 = 8;

/// What the operations of one request have in common.
pub(super) struct Manager {
    rules: Arc<dyn NodeManagement>,
    caller: Arc<Caller>,
    /// How often requests could not be settled when this one began.
    unsettled: u64,
}

impl Manager {
    fn new(request: &Request<'_>, session: &Session) -> Result<Self, Fault> {
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

    /// Asks the rules for a change.
    pub(super) fn authorize(&self, change: &Change) -> Result<(), StatusCode> {
        self.rules.authorize(&self.caller, change)
    }

    /// One operation: plans it, asks the rules, and makes it visible.
    pub(super) fn operate<T>(
        &self,
        server: &Server,
        work: &mut Work,
        plan: impl FnOnce(&mut Edit<'_>) -> Result<(T, Vec<Change>), AddressSpaceError>,
    ) -> Result<T, StatusCode> {
        work.spend(OPERATION);
        if server.unsettled() != self.unsettled {
            // What this request has changed so far was taken back with what could not be settled.
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
        // They count when they are there.
        drop(memory);
        let mut outcome = Ok(());
        for change in &changes {
            work.spend(CHANGE);
            // Everything was checked under the lock that is still held, so this fails only if a limit is hit.
            outcome = outcome.and(edit.apply(change, self.new_binding(change)));
        }
        drop(edit);
        self.rules.applied(&self.caller, &changes);
        outcome.map_err(|error| error.status_code())?;
        Ok(result)
    }

    /// After all operations: what was good stays so only if it is durable.
    fn settle<T>(&self, server: &Server, results: &mut [Result<T, StatusCode>]) {
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

/// One of the four services: an operation of it.
pub(super) trait Service: Send + Sized {
    type Item: for<'d> Decode<'d>;
    /// What a good operation says.
    type Done: Send;
    const RESPONSE: u32;

    fn begin(item: Self::Item) -> Self;

    /// Goes on with the operation: its result, or `None` if the slice is over before.
    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<Self::Done, StatusCode>>;

    fn encode(
        result: Result<Self::Done, StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError>;
}

/// The operations of a request.
struct Changes<S: Service> {
    manager: Manager,
    /// The one that has been begun and not finished.
    operation: Option<S>,
    results: Vec<Result<S::Done, StatusCode>>,
}

impl<S: Service> Operations for Changes<S> {
    type Item = S::Item;

    fn begin(&mut self, _: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        self.results.reserve(count);
        Ok(())
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<S::Item>,
    ) -> Result<(), Fault> {
        loop {
            let operation = match &mut self.operation {
                Some(operation) => operation,
                None => match items.next(turn)? {
                    Some(item) => self.operation.insert(S::begin(item)),
                    None => return Ok(()),
                },
            };
            let Some(result) = operation.operate(&self.manager, turn) else {
                return Ok(());
            };
            self.results.push(result);
            self.operation = None;
        }
    }

    fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        self.manager.settle(turn.request.server, &mut self.results);
        turn.request.respond(S::RESPONSE, turn.response)?;
        turn.response.array_length(Some(self.results.len()))?;
        for result in self.results.drain(..) {
            S::encode(result, turn.response)?;
        }
        Ok(turn.response.array_length(Some(0))?)
    }

    fn abandon(&mut self, server: &Server, _: &Session) {
        self.manager.settle(server, &mut self.results);
    }
}

/// Handles a request of one of the four services.
pub(super) fn handle<S: Service + 'static>(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let manager = Manager::new(request, session)?;
    let limits = &request.server.limits.operations;
    let items = Items::take(request, &mut body, limits.max_nodes_per_node_management)?;
    let changes = Changes {
        manager,
        operation: None::<S>,
        results: Vec::new(),
    };
    let service = List::new(changes, items);
    slices::start(request, connection, session, service, response)
}

/// An operation of AddNodes.
pub(super) struct AddNode(Option<AddNodesItem>);

impl Service for AddNode {
    type Item = AddNodesItem;
    type Done = NodeId;
    const RESPONSE: u32 = ids::ADD_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;

    fn begin(item: AddNodesItem) -> Self {
        Self(Some(item))
    }

    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<NodeId, StatusCode>> {
        let item = self.0.take()?;
        let choose = |item: &AddNodesItem| manager.rules.new_node_id(&manager.caller, item);
        let plan = |edit: &mut Edit<'_>| edit.plan_add_node(item, &choose);
        Some(manager.operate(turn.request.server, turn.work, plan))
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

/// An operation of AddReferences.
pub(super) struct AddReference(Option<AddReferencesItem>);

impl Service for AddReference {
    type Item = AddReferencesItem;
    type Done = ();
    const RESPONSE: u32 = ids::ADD_REFERENCES_RESPONSE_ENCODING_DEFAULT_BINARY;

    fn begin(item: AddReferencesItem) -> Self {
        Self(Some(item))
    }

    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<(), StatusCode>> {
        let item = self.0.take()?;
        let plan = |edit: &mut Edit<'_>| Ok(((), vec![edit.plan_add_reference(item)?]));
        Some(manager.operate(turn.request.server, turn.work, plan))
    }

    fn encode(
        result: Result<(), StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        status(result).encode(response)
    }
}

/// An operation of DeleteNodes.
pub(super) struct DeleteNode(Deletion);

impl Service for DeleteNode {
    type Item = DeleteNodesItem;
    type Done = ();
    const RESPONSE: u32 = ids::DELETE_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;

    fn begin(item: DeleteNodesItem) -> Self {
        Self(Deletion::new(item))
    }

    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<(), StatusCode>> {
        self.0.run(manager, turn)
    }

    fn encode(
        result: Result<(), StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        status(result).encode(response)
    }
}

/// An operation of DeleteReferences.
pub(super) struct DeleteReference(Option<DeleteReferencesItem>);

impl Service for DeleteReference {
    type Item = DeleteReferencesItem;
    type Done = ();
    const RESPONSE: u32 = ids::DELETE_REFERENCES_RESPONSE_ENCODING_DEFAULT_BINARY;

    fn begin(item: DeleteReferencesItem) -> Self {
        Self(Some(item))
    }

    fn operate(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<(), StatusCode>> {
        let item = self.0.take()?;
        let plan = |edit: &mut Edit<'_>| Ok(((), vec![edit.plan_delete_reference(item)?]));
        Some(manager.operate(turn.request.server, turn.work, plan))
    }

    fn encode(
        result: Result<(), StatusCode>,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        status(result).encode(response)
    }
}

fn status(result: Result<(), StatusCode>) -> StatusCode {
    result.err().unwrap_or(StatusCode::Good)
}
