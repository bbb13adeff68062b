//! NodeManagement: AddNodes, AddReferences, DeleteNodes, DeleteReferences (OPC 10000-4, 5.8).
//!
//! Each operation is checked against the standard, then by the application's rules, committed by them, and then made visible.
//! Meanwhile the address space is locked for other changes only.

use takt_space::Edit;
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::structures::{
    AddNodesItem, AddNodesResult, AddReferencesItem, DeleteNodesItem, DeleteReferencesItem,
};
use takt_ua::{NodeId, StatusCode, ids};

use super::deletion::Deletion;
use super::list::{Items, Operations};
use super::manager::Manager;
use super::request::Request;
use super::service::Turn;
use crate::fault::Fault;
use crate::server::Server;
use crate::session::Session;

/// One of the four services; a value is one operation.
pub(super) trait Service: Send + Sized + 'static {
    type Item: for<'d> Decode<'d>;
    /// Result of a good operation.
    type Done: Send;
    const RESPONSE: u32;

    fn begin(item: Self::Item) -> Self;

    /// Continues the operation. Returns its result, or `None` if the slice is over first.
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
pub(super) struct Changes<S: Service> {
    manager: Manager,
    /// The operation that has begun and is not finished.
    operation: Option<S>,
    results: Vec<Result<S::Done, StatusCode>>,
}

impl<S: Service> Operations for Changes<S> {
    type Item = S::Item;

    fn parse(
        request: &Request<'_>,
        session: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<S::Item>), Fault> {
        let manager = Manager::new(request, session)?;
        let limits = &request.server.limits.operations;
        let items = Items::take(request, body, limits.max_nodes_per_node_management)?;
        let changes = Self {
            manager,
            operation: None,
            results: Vec::new(),
        };
        Ok((changes, items))
    }

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
        let choose = |item: &AddNodesItem| manager.new_node_id(item);
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
