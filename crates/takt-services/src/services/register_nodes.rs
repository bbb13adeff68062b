//! RegisterNodes and UnregisterNodes (OPC 10000-4, 5.9.5 and 5.9.6).
//!
//! Finding a node costs one look-up in a hash table, whatever its NodeId, so there is nothing to prepare: a registered
//! NodeId is the NodeId itself.

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::{
    RegisterNodesRequest, RegisterNodesResponse, UnregisterNodesRequest, UnregisterNodesResponse,
};

use super::{Handled, Request, check_count, decode, encode};
use crate::session::Session;

/// Handles a RegisterNodes request.
pub(crate) fn register(
    request: &Request<'_>,
    _: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let register: RegisterNodesRequest = decode(structure)?;
    let limit = request
        .server
        .limits
        .operations
        .max_nodes_per_register_nodes;
    check_count(register.nodes_to_register.len(), limit)?;
    let registered = RegisterNodesResponse {
        response_header: request.response_header(),
        registered_node_ids: register.nodes_to_register,
    };
    encode(&registered, response)
}

/// Handles an UnregisterNodes request.
pub(crate) fn unregister(
    request: &Request<'_>,
    _: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let unregister: UnregisterNodesRequest = decode(structure)?;
    let limit = request
        .server
        .limits
        .operations
        .max_nodes_per_register_nodes;
    check_count(unregister.nodes_to_unregister.len(), limit)?;
    encode(
        &UnregisterNodesResponse {
            response_header: request.response_header(),
        },
        response,
    )
}
