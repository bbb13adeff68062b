//! A server whose NodeIds and namespaces a test chooses.

use std::path::Path;
use std::sync::Arc;

use takt_app::Endpoint;
use takt_app::serve::Serving;
use takt_services::Server;
use takt_space::{
    AddressSpace, ClassAttributes, NewReference, NodeDefinition, StoredValue, Value,
    VariableDefinition,
};
use takt_ua::{NodeId, QualifiedName, Variant, ids};

use crate::mirror::support::serve;

/// A running server. Dropping it ends it.
pub(crate) struct Foreign {
    serving: Serving,
}

impl Foreign {
    /// Starts a server with nodes; port 0 stands for a free one.
    pub(crate) fn start(directory: &Path, port: u16, fill: impl FnOnce(&AddressSpace)) -> Self {
        let server = Server::builder("Foreign", "urn:test:foreign").build();
        let server = server.unwrap();
        fill(server.address_space());
        // A test may start it again at the same port.
        let port = if port == 0 {
            takt_ports::reserve()
        } else {
            port
        };
        let endpoint = format!("opc.tcp://127.0.0.1:{port}").parse().unwrap();
        let serving = Serving::start(&server, &[endpoint], serve(directory)).unwrap();
        Self { serving }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        self.serving.endpoints()[0].clone()
    }
}

/// Adds an Object below the Objects folder.
pub(crate) fn object(
    space: &AddressSpace,
    node: &NodeId,
    name: &str,
    type_definition: impl Into<NodeId>,
) {
    let class = ClassAttributes::Object { event_notifier: 0 };
    let name = QualifiedName::new(node.namespace, name);
    let references = [
        NewReference::forward(ids::HAS_TYPE_DEFINITION, type_definition),
        NewReference::inverse(ids::ORGANIZES, ids::OBJECTS_FOLDER),
    ];
    let definition = NodeDefinition::new(node.clone(), name, class);
    space.edit().add_node(definition, &references).unwrap();
}

/// Adds a Property with this value.
pub(crate) fn property(
    space: &AddressSpace,
    parent: &NodeId,
    node: &NodeId,
    name: QualifiedName,
    value: impl Into<Variant>,
) {
    let class = ClassAttributes::Variable(VariableDefinition {
        data_type: ids::DOUBLE.into(),
        access_level: 3,
        ..VariableDefinition::default()
    });
    let references = [
        NewReference::forward(ids::HAS_TYPE_DEFINITION, ids::PROPERTY_TYPE),
        NewReference::inverse(ids::HAS_PROPERTY, parent.clone()),
    ];
    let definition = NodeDefinition::new(node.clone(), name, class);
    let mut edit = space.edit();
    edit.add_node(definition, &references).unwrap();
    let value = Arc::new(StoredValue::new(&value.into()));
    edit.set_value(node, Value::Stored(value)).unwrap();
}

/// Adds an ObjectType below BaseObjectType.
pub(crate) fn object_type(space: &AddressSpace, node: &NodeId, name: &str) {
    let class = ClassAttributes::ObjectType { is_abstract: false };
    let name = QualifiedName::new(node.namespace, name);
    let supertype = NewReference::inverse(ids::HAS_SUBTYPE, ids::BASE_OBJECT_TYPE);
    let definition = NodeDefinition::new(node.clone(), name, class);
    space.edit().add_node(definition, &[supertype]).unwrap();
}
