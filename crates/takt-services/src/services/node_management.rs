//! NodeManagement: AddNodes, AddReferences, DeleteNodes, DeleteReferences (OPC 10000-4, 5.8).
//!
//! Each operation is checked against the standard, then by the application's rules, committed by them, and then made
//! visible. The address space is locked for other changes meanwhile, and for nothing else.

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::{
    AddNodesItem, AddNodesRequest, AddNodesResponse, AddNodesResult, AddReferencesRequest,
    AddReferencesResponse, DeleteNodesRequest, DeleteNodesResponse, DeleteReferencesRequest,
    DeleteReferencesResponse,
};
use takt_ua::{NodeId, StatusCode};

use super::{Fault, Handled, Request, check_count, decode, encode};
use crate::address_space::{AddressSpaceError, Edit, Life};
use crate::caller::Caller;
use crate::node_management::{Change, NodeManagement};
use crate::session::Session;

/// What the operations of one request have in common.
struct Manager {
    rules: Arc<dyn NodeManagement>,
    caller: Arc<Caller>,
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
        })
    }

    /// One operation: plans it, asks the rules, and makes it visible.
    fn operate<T>(
        &self,
        request: &Request<'_>,
        plan: impl FnOnce(&mut Edit<'_>) -> Result<(T, Vec<Change>), AddressSpaceError>,
    ) -> Result<T, StatusCode> {
        let mut edit = request.server.space.edit();
        let (result, changes) = plan(&mut edit).map_err(|error| error.status_code())?;
        for change in &changes {
            self.rules.authorize(&self.caller, change)?;
        }
        self.rules.commit(&self.caller, &changes)?;
        let mut outcome = Ok(());
        for change in &changes {
            // Everything was checked under the lock that is still held, so this fails only if a limit is hit.
            outcome = outcome.and(edit.apply(change, self.life(change)));
        }
        drop(edit);
        self.rules.applied(&self.caller, &changes);
        outcome.map_err(|error| error.status_code())?;
        Ok(result)
    }

    /// After all operations: what was good stays so only if it is durable.
    fn settle<T>(&self, results: &mut [Result<T, StatusCode>]) {
        if let Err(status) = self.rules.settle(&self.caller) {
            for result in results.iter_mut().filter(|result| result.is_ok()) {
                *result = Err(status);
            }
        }
    }

    fn life(&self, change: &Change) -> Life {
        match change {
            Change::AddNode(item) => Life {
                value: self.rules.value(&self.caller, item),
                method: self.rules.method(&self.caller, item),
            },
            _ => Life::default(),
        }
    }
}

/// Handles an AddNodes request.
pub(crate) fn add_nodes(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let manager = Manager::new(request, session)?;
    let add: AddNodesRequest = decode(structure)?;
    check(request, add.nodes_to_add.len())?;
    let choose = |item: &AddNodesItem| manager.rules.new_node_id(&manager.caller, item);
    let mut results: Vec<_> = add
        .nodes_to_add
        .into_iter()
        .map(|item| manager.operate(request, |edit| edit.plan_add_node(item, &choose)))
        .collect();
    manager.settle(&mut results);
    let results = results
        .into_iter()
        .map(|result| match result {
            Ok(added_node_id) => AddNodesResult {
                status_code: StatusCode::Good,
                added_node_id,
            },
            Err(status_code) => AddNodesResult {
                status_code,
                added_node_id: NodeId::NULL,
            },
        })
        .collect();
    let response_header = request.response_header();
    encode(
        &AddNodesResponse {
            response_header,
            results,
            diagnostic_infos: Vec::new(),
        },
        response,
    )
}

/// Handles an AddReferences request.
pub(crate) fn add_references(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let manager = Manager::new(request, session)?;
    let add: AddReferencesRequest = decode(structure)?;
    check(request, add.references_to_add.len())?;
    let mut results: Vec<_> = add
        .references_to_add
        .into_iter()
        .map(|item| {
            manager.operate(request, |edit| {
                Ok(((), vec![edit.plan_add_reference(item)?]))
            })
        })
        .collect();
    manager.settle(&mut results);
    let results = results.into_iter().map(status).collect();
    let response_header = request.response_header();
    encode(
        &AddReferencesResponse {
            response_header,
            results,
            diagnostic_infos: Vec::new(),
        },
        response,
    )
}

/// Handles a DeleteNodes request.
pub(crate) fn delete_nodes(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let manager = Manager::new(request, session)?;
    let delete: DeleteNodesRequest = decode(structure)?;
    check(request, delete.nodes_to_delete.len())?;
    let mut results: Vec<_> = delete
        .nodes_to_delete
        .iter()
        .map(|item| manager.operate(request, |edit| Ok(((), edit.plan_delete_node(item)?))))
        .collect();
    manager.settle(&mut results);
    let results = results.into_iter().map(status).collect();
    let response_header = request.response_header();
    encode(
        &DeleteNodesResponse {
            response_header,
            results,
            diagnostic_infos: Vec::new(),
        },
        response,
    )
}

/// Handles a DeleteReferences request.
pub(crate) fn delete_references(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let manager = Manager::new(request, session)?;
    let delete: DeleteReferencesRequest = decode(structure)?;
    check(request, delete.references_to_delete.len())?;
    let mut results: Vec<_> = delete
        .references_to_delete
        .into_iter()
        .map(|item| {
            manager.operate(request, |edit| {
                Ok(((), vec![edit.plan_delete_reference(item)?]))
            })
        })
        .collect();
    manager.settle(&mut results);
    let results = results.into_iter().map(status).collect();
    let response_header = request.response_header();
    encode(
        &DeleteReferencesResponse {
            response_header,
            results,
            diagnostic_infos: Vec::new(),
        },
        response,
    )
}

fn check(request: &Request<'_>, count: usize) -> Result<(), Fault> {
    check_count(
        count,
        request
            .server
            .limits
            .operations
            .max_nodes_per_node_management,
    )
}

fn status(result: Result<(), StatusCode>) -> StatusCode {
    result.err().unwrap_or(StatusCode::Good)
}
