//! A Provider in classical OPC UA: a server with its own address space, over `opc.tcp`.

use std::sync::Arc;

use takt_app::serve::{ServeOptions, Serving};
use takt_app::{Endpoint, loopback};
use takt_services::Server;
use takt_space::{
    ClassAttributes, NewReference, NodeDefinition, Value, VariableDefinition, access_level,
    value_rank,
};
use takt_ua::{NodeId, QualifiedName, Variant, ids};

use super::providers::VARIABLES;
use crate::error::BenchError;

/// Starts a server. Below its Objects folder is an Object with the name of the Provider, and below that are the Variables.
pub(super) fn start(name: &str) -> Result<Serving, BenchError> {
    let server = server(name).map_err(BenchError::round_trip(name))?;
    let endpoint = Endpoint::Tcp(loopback(0));
    Serving::start(&server, &[endpoint], ServeOptions::default())
        .map_err(BenchError::round_trip(name))
}

fn server(name: &str) -> Result<Arc<Server>, String> {
    let server = Server::builder(name, format!("urn:takt:bench:{name}"))
        .build()
        .map_err(|error| error.to_string())?;
    let standard = |id| NodeId::numeric(0, id);
    let typed = |id| NewReference::forward(standard(ids::HAS_TYPE_DEFINITION), standard(id));
    let object = NodeId::string(1, name);
    let add = |node: &NodeId, name: &str, attributes, references: [NewReference; 2]| {
        let definition = NodeDefinition::new(node.clone(), QualifiedName::new(1, name), attributes);
        let mut space = server.address_space().edit();
        space
            .add_node(definition, &references)
            .map_err(|error| error.to_string())
    };
    add(
        &object,
        name,
        ClassAttributes::Object { event_notifier: 0 },
        [
            NewReference::inverse(standard(ids::ORGANIZES), standard(ids::OBJECTS_FOLDER)),
            typed(ids::BASE_OBJECT_TYPE),
        ],
    )?;
    for number in 0..VARIABLES {
        let variable = format!("Value{number}");
        let node = NodeId::string(1, &format!("{name}/{variable}"));
        let definition = VariableDefinition {
            data_type: standard(ids::DOUBLE),
            value_rank: value_rank::SCALAR,
            access_level: access_level::CURRENT_READ,
            ..VariableDefinition::default()
        };
        add(
            &node,
            &variable,
            ClassAttributes::Variable(definition),
            [
                NewReference::inverse(standard(ids::HAS_COMPONENT), object.clone()),
                typed(ids::BASE_DATA_VARIABLE_TYPE),
            ],
        )?;
        let space = server.address_space();
        let value = Value::stored(Variant::from(1.5));
        space
            .set_value(&node, value)
            .map_err(|error| error.to_string())?;
    }
    Ok(server)
}
