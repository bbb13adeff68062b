//! Subject of the measurement: a server with a Variable for each payload, and the requests to it.

use std::sync::Arc;

use takt_cell::Cell;
use takt_services::Server;
use takt_space::{
    ClassAttributes, NewReference, NodeDefinition, Value, VariableDefinition, access_level,
    value_rank,
};
use takt_ua::structures::{ReadResponse, WriteRequest, WriteResponse, WriteValue};
use takt_ua::{DataValue, NodeId, QualifiedName, Variant, ids};

pub(crate) use takt_attack::request::{decode, header, message, read_request};

use super::error::BenchError;
use super::payload::Payload;

/// The attribute Value (OPC 10000-6, A.1).
const VALUE: u32 = 13;

/// Creates a server whose Variables (`ns=1;s=UInt32`, `ns=1;s=UInt32Array` …) are cells, as a real-time thread would set them. If
/// `shared` is true, other processes can read the values without a request.
pub(crate) fn server(payloads: &[Payload], shared: bool) -> Result<Arc<Server>, BenchError> {
    fn failed<E: std::fmt::Display>(error: E) -> BenchError {
        BenchError::RoundTrip {
            what: "the server to be measured".to_owned(),
            reason: error.to_string(),
        }
    }
    let server = Server::builder("TaktBench", "urn:takt:bench")
        .build()
        .map_err(failed)?;
    let space = server.address_space();
    for &payload in payloads {
        let node = node_id(1, payload);
        let definition = VariableDefinition {
            data_type: NodeId::numeric(0, ids::UINT32),
            value_rank: if payload.is_scalar() {
                value_rank::SCALAR
            } else {
                value_rank::ONE_DIMENSION
            },
            access_level: access_level::CURRENT_READ | access_level::CURRENT_WRITE,
            ..VariableDefinition::default()
        };
        let references = [
            NewReference::inverse(
                NodeId::numeric(0, ids::ORGANIZES),
                NodeId::numeric(0, ids::OBJECTS_FOLDER),
            ),
            NewReference::forward(
                NodeId::numeric(0, ids::HAS_TYPE_DEFINITION),
                NodeId::numeric(0, ids::BASE_DATA_VARIABLE_TYPE),
            ),
        ];
        let definition = NodeDefinition::new(
            node.clone(),
            QualifiedName::new(1, payload.variable()),
            ClassAttributes::Variable(definition),
        );
        space
            .edit()
            .add_node(definition, &references)
            .map_err(failed)?;
        let mut cell = Cell::of(&value(payload));
        if shared {
            cell = cell.share().map_err(failed)?;
        }
        space
            .set_value(&node, Value::Cell(Arc::new(cell)))
            .map_err(failed)?;
    }
    Ok(server)
}

/// Returns the NodeId of the Variable with such a value.
pub(crate) fn node_id(namespace: u16, payload: Payload) -> NodeId {
    NodeId::string(namespace, &payload.variable())
}

/// Returns a value of this payload.
pub(crate) fn value(payload: Payload) -> Variant {
    if payload.is_scalar() {
        return Variant::from(42_u32);
    }
    let elements: Vec<u32> = (0..).take(payload.elements()).collect();
    Variant::from(elements)
}

/// Returns the Write of one Value.
pub(crate) fn write_request(token: &NodeId, node: &NodeId, payload: Payload) -> WriteRequest {
    WriteRequest {
        request_header: header(token),
        nodes_to_write: vec![WriteValue {
            node_id: node.clone(),
            attribute_id: VALUE,
            value: DataValue {
                value: Some(value(payload)),
                ..DataValue::default()
            },
            ..WriteValue::default()
        }],
    }
}

/// Checks that `response` is the expected one of a Read of `payload`: Good, with the expected number of elements.
pub(crate) fn check_read(response: &[u8], payload: Payload) -> Result<(), String> {
    let response: ReadResponse = decode(response)?;
    let status = response.response_header.service_result;
    if status.is_bad() {
        return Err(format!("the Read was answered with {status}"));
    }
    let [result] = response.results.as_slice() else {
        return Err(format!(
            "the Read of one value has {} results",
            response.results.len()
        ));
    };
    if result.status_code().is_bad() {
        return Err(format!("the value is {}", result.status_code()));
    }
    let elements = match &result.value {
        Some(Variant::UInt32(_)) if payload.is_scalar() => 1,
        Some(Variant::Array(array)) if !payload.is_scalar() => array.elements.len(),
        _ => 0,
    };
    if elements == payload.elements() {
        Ok(())
    } else {
        Err(format!("the value is not {}", payload.variable()))
    }
}

/// Checks that `response` is the expected one of a Write: Good.
pub(crate) fn check_write(response: &[u8]) -> Result<(), String> {
    let response: WriteResponse = decode(response)?;
    match response.results.as_slice() {
        [status] if status.is_good() => Ok(()),
        results => Err(format!(
            "the Write was answered with {}, {results:?}",
            response.response_header.service_result
        )),
    }
}
