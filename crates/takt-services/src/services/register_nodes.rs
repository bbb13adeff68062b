//! RegisterNodes and UnregisterNodes (OPC 10000-4, 5.9.5 and 5.9.6).
//!
//! A node is found with one look-up in a hash table, for every kind of NodeId, so there is nothing to prepare: a registered
//! NodeId is the NodeId itself.

use takt_ua::binary::{Decoder, Encode};
use takt_ua::{NodeId, ids};

use super::request::Request;
use super::sliced::operation_list::{Items, Operations};
use super::sliced::service::{Progress, Turn};
use crate::responses::fault::Fault;
use crate::session::Session;

/// A RegisterNodes request.
pub(super) type RegisterNodes = Nodes<true>;
/// An UnregisterNodes request.
pub(super) type UnregisterNodes = Nodes<false>;

/// NodeIds that are registered and returned unchanged, or unregistered.
pub(super) struct Nodes<const REGISTERS: bool>;

impl<const REGISTERS: bool> Operations for Nodes<REGISTERS> {
    type Item = NodeId;

    fn parse(
        request: &Request<'_>,
        _: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<NodeId>), Fault> {
        let limits = &request.server.budgets.operations;
        let items = Items::take(request, body, limits.max_nodes_per_register_nodes)?;
        Ok((Self, items))
    }

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        if !REGISTERS {
            let response = ids::UNREGISTER_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;
            return turn.request.respond(response, turn.response);
        }
        let response = ids::REGISTER_NODES_RESPONSE_ENCODING_DEFAULT_BINARY;
        turn.request.respond(response, turn.response)?;
        Ok(turn.response.array_length(Some(count))?)
    }

    fn operate(&mut self, turn: &mut Turn<'_, '_>, items: &mut Items<NodeId>) -> Result<(), Fault> {
        while let Some(node_id) = items.next(turn)? {
            if REGISTERS {
                node_id.encode(turn.response)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        Ok(Progress::Complete)
    }
}
