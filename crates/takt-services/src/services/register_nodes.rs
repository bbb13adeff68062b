//! RegisterNodes and UnregisterNodes (OPC 10000-4, 5.9.5 and 5.9.6).
//!
//! A node is found with one look-up in a hash table, for every kind of NodeId, so there is nothing to prepare: a registered
//! NodeId is the NodeId itself.

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encode, Encoder};
use takt_ua::{NodeId, ids};

use super::list::{Items, List, Operations};
use super::request::{Handled, Request};
use super::service::Turn;
use super::slices;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::session::Session;

/// Handles a RegisterNodes request.
pub(crate) fn register(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let nodes = Nodes { registers: true };
    handle(nodes, request, connection, session, body, response)
}

/// Handles an UnregisterNodes request.
pub(crate) fn unregister(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let nodes = Nodes { registers: false };
    handle(nodes, request, connection, session, body, response)
}

fn handle(
    nodes: Nodes,
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let limits = &request.server.limits.operations;
    let items = Items::take(request, &mut body, limits.max_nodes_per_register_nodes)?;
    let service = List::new(nodes, items);
    slices::start(request, connection, session, service, response)
}

/// NodeIds that are registered and returned unchanged, or unregistered.
struct Nodes {
    registers: bool,
}

impl Operations for Nodes {
    type Item = NodeId;

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        if !self.registers {
            let response = ids::UNREGISTER_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;
            return turn.request.respond(response, turn.response);
        }
        let response = ids::REGISTER_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;
        turn.request.respond(response, turn.response)?;
        Ok(turn.response.array_length(Some(count))?)
    }

    fn operate(&mut self, turn: &mut Turn<'_, '_>, items: &mut Items<NodeId>) -> Result<(), Fault> {
        while let Some(node_id) = items.next(turn)? {
            if self.registers {
                node_id.encode(turn.response)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Turn<'_, '_>) -> Result<(), Fault> {
        Ok(())
    }
}
