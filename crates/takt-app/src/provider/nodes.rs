//! Address space of a Provider: a map from NodeId to source, without the model of its Variables (section 4.3 of the paper).
//!
//! The Objects folder contains only the Server object and an Object that names the registry, which has the model. This Object
//! has the folders of all paths and the Methods, because a Call names the Object of its Method.

use std::sync::Arc;

use takt_services::{Server, ServerLimits};
use takt_space::{
    AddressSpace, AddressSpaceError, Change, ClassAttributes, NewReference, NodeDefinition, Value,
    VariableDefinition,
};
use takt_ua::{NodeId, QualifiedName, Variant, ids};

use super::declarations::Declarations;
use super::error::{NodeError, ProviderError};
use super::method::Method;
use super::own_type::OwnType;
use super::property::{self, Property};
use super::texts::Texts;
use super::variable::Variable;
use crate::model::{self, OWN_NAMESPACE, provider};
use crate::workers::Workers;

/// Returns a server of everything that is declared.
pub(super) fn server(
    application_name: &str,
    limits: ServerLimits,
    registry: Option<&str>,
    declarations: &Declarations,
    workers: &Workers,
) -> Result<Arc<Server>, ProviderError> {
    let failed = |path: &str, cause: NodeError| ProviderError::Node {
        path: path.to_owned(),
        cause,
    };
    let server = Server::builder(application_name, model::provider_uri(application_name))
        .limits(limits)
        .build()
        .map_err(|error| failed(application_name, error.into()))?;
    let space = server.address_space();
    add_provider(space, application_name, registry)
        .map_err(|error| failed(application_name, error.into()))?;
    for data_type in &declarations.data_types {
        add_data_type(space, data_type)
            .map_err(|error| failed(data_type.data_type().path(), error.into()))?;
    }
    for object in &declarations.objects {
        add_folder(space, &object.path, &object.texts)
            .map_err(|error| failed(&object.path, error.into()))?;
    }
    for variable in &declarations.variables {
        let value = variable
            .value()
            .map_err(|error| failed(&variable.path, error.into()))?;
        let value = match variable.is_inline {
            true => value,
            false => workers.value(value),
        };
        parent_of(space, &variable.path).map_err(|error| failed(&variable.path, error.into()))?;
        add_variable(space, variable, value)
            .map_err(|error| failed(&variable.path, error.into()))?;
    }
    for method in &declarations.methods {
        add_method(space, method, workers).map_err(|error| failed(&method.path, error.into()))?;
    }
    Ok(server)
}

/// Returns the Object to which the last segment of a path belongs: that of the Provider, or a folder, which is added if it is
/// new.
fn parent_of(space: &AddressSpace, path: &str) -> Result<NodeId, AddressSpaceError> {
    let Some((folder, _)) = path.rsplit_once('/') else {
        return Ok(NodeId::numeric(OWN_NAMESPACE, provider::OBJECT));
    };
    add_folder(space, folder, &Texts::default())?;
    Ok(NodeId::string(OWN_NAMESPACE, folder))
}

/// Adds an Object if it is new.
fn add_folder(space: &AddressSpace, path: &str, texts: &Texts) -> Result<(), AddressSpaceError> {
    let node = NodeId::string(OWN_NAMESPACE, path);
    if space.view().node(&node).is_some() {
        return Ok(());
    }
    let parent = parent_of(space, path)?;
    space.edit().add_node(
        definition(
            node,
            path,
            texts,
            ClassAttributes::Object { event_notifier: 0 },
        ),
        &[
            NewReference::inverse(standard(ids::HAS_COMPONENT), parent),
            NewReference::forward(
                standard(ids::HAS_TYPE_DEFINITION),
                standard(ids::FOLDER_TYPE),
            ),
        ],
    )
}

/// Returns the definition of a node with a path.
fn definition(
    node: NodeId,
    path: &str,
    texts: &Texts,
    attributes: ClassAttributes,
) -> NodeDefinition {
    NodeDefinition {
        display_name: texts.display_name.clone().map(Box::new),
        description: texts.description.clone().map(Box::new),
        ..NodeDefinition::new(node, name_of(path), attributes)
    }
}

/// Adds the Object that stands for the Provider, with the registry's endpoint as its Property `SemanticRegistry`.
fn add_provider(
    space: &AddressSpace,
    application_name: &str,
    registry: Option<&str>,
) -> Result<(), AddressSpaceError> {
    let object = NodeId::numeric(OWN_NAMESPACE, provider::OBJECT);
    space.edit().add_node(
        NodeDefinition::new(
            object.clone(),
            QualifiedName::new(OWN_NAMESPACE, application_name),
            ClassAttributes::Object { event_notifier: 0 },
        ),
        &[
            NewReference::inverse(standard(ids::ORGANIZES), standard(ids::OBJECTS_FOLDER)),
            NewReference::forward(
                standard(ids::HAS_TYPE_DEFINITION),
                standard(ids::BASE_OBJECT_TYPE),
            ),
        ],
    )?;
    let Some(registry) = registry else {
        return Ok(());
    };
    add_property(
        space,
        &object,
        NodeId::numeric(OWN_NAMESPACE, provider::SEMANTIC_REGISTRY),
        QualifiedName::new(OWN_NAMESPACE, "SemanticRegistry"),
        scalar(ids::STRING),
        registry.into(),
    )
}

fn add_data_type(space: &AddressSpace, data_type: &OwnType) -> Result<(), AddressSpaceError> {
    for item in data_type.nodes(OWN_NAMESPACE) {
        space.apply(&Change::AddNode(Box::new(item)))?;
    }
    add_properties(space, data_type.data_type().path(), data_type.properties())
}

fn add_variable(
    space: &AddressSpace,
    variable: &Variable,
    value: Value,
) -> Result<(), AddressSpaceError> {
    let node = NodeId::string(OWN_NAMESPACE, &variable.path);
    space.edit().add_node(
        definition(
            node.clone(),
            &variable.path,
            &variable.texts,
            ClassAttributes::Variable(VariableDefinition {
                data_type: variable.data_type.node_id(OWN_NAMESPACE),
                value_rank: variable.value_rank,
                array_dimensions: variable.array_dimensions.clone(),
                access_level: variable.access_level(),
                ..VariableDefinition::default()
            }),
        ),
        &[NewReference::forward(
            standard(ids::HAS_TYPE_DEFINITION),
            standard(variable.type_definition()),
        )],
    )?;
    space.set_value(&node, value)?;
    add_properties(space, &variable.path, property::of_variable(variable))
}

fn add_method(
    space: &AddressSpace,
    method: &Method,
    workers: &Workers,
) -> Result<(), AddressSpaceError> {
    let node = NodeId::string(OWN_NAMESPACE, &method.path);
    let object = parent_of(space, &method.path)?;
    space.edit().add_node(
        definition(
            node.clone(),
            &method.path,
            &method.texts,
            ClassAttributes::Method { executable: true },
        ),
        &[NewReference::inverse(standard(ids::HAS_COMPONENT), object)],
    )?;
    add_properties(
        space,
        &method.path,
        property::of_method(method, OWN_NAMESPACE),
    )?;
    let handler = match method.is_inline {
        true => method.handler.clone(),
        false => workers.handler(&method.handler),
    };
    space.set_method(&node, handler)
}

/// Adds Properties: Calls are checked against the arguments, and a PercentDeadband refers to the EURange.
fn add_properties(
    space: &AddressSpace,
    path: &str,
    properties: Vec<Property>,
) -> Result<(), AddressSpaceError> {
    for property in properties {
        add_property(
            space,
            &NodeId::string(OWN_NAMESPACE, path),
            NodeId::string(OWN_NAMESPACE, &property.identifier(path)),
            QualifiedName::new(0, property.name),
            VariableDefinition {
                data_type: standard(property.data_type),
                value_rank: property.value_rank,
                array_dimensions: property.value.array_dimensions().unwrap_or_default(),
                ..VariableDefinition::default()
            },
            property.value,
        )?;
    }
    Ok(())
}

fn add_property(
    space: &AddressSpace,
    parent: &NodeId,
    node: NodeId,
    browse_name: QualifiedName,
    definition: VariableDefinition,
    value: Variant,
) -> Result<(), AddressSpaceError> {
    space.edit().add_node(
        NodeDefinition::new(
            node.clone(),
            browse_name,
            ClassAttributes::Variable(definition),
        ),
        &[
            NewReference::inverse(standard(ids::HAS_PROPERTY), parent.clone()),
            NewReference::forward(
                standard(ids::HAS_TYPE_DEFINITION),
                standard(ids::PROPERTY_TYPE),
            ),
        ],
    )?;
    space.set_value(&node, Value::stored(value))
}

fn scalar(data_type: u32) -> VariableDefinition {
    VariableDefinition {
        data_type: standard(data_type),
        ..VariableDefinition::default()
    }
}

fn standard(id: u32) -> NodeId {
    NodeId::numeric(0, id)
}

fn name_of(path: &str) -> QualifiedName {
    QualifiedName::new(OWN_NAMESPACE, path.rsplit('/').next().unwrap_or(path))
}
