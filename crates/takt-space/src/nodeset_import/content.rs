//! Attributes and values of imported nodes.

use takt_nodeset::{Attributes, BodyEncoder, DataTypes, NodeSet, ParseLimits, UaNode, UaVariable};
use takt_ua::binary::{Decode, Decoder};
use takt_ua::structures::StructureDefinition;
use takt_ua::{
    BuiltInType, Elements, ExtensionObject, ExtensionObjectBody, LocalizedText, NodeId, NodeIdRef,
    Variant, ids,
};

use crate::address_space::{
    AddressSpaceError, ClassAttributes, Edit, NodeDefinition, VariableDefinition, View,
};
use crate::value::Value;

/// Returns the definition of the node for the address space.
pub(super) fn definition(
    node: &UaNode,
    data_type_definition: Option<&ExtensionObject>,
) -> NodeDefinition {
    let attributes = match &node.attributes {
        Attributes::Object { event_notifier } => ClassAttributes::Object {
            event_notifier: *event_notifier,
        },
        Attributes::Variable(variable) => ClassAttributes::Variable(variable_definition(variable)),
        Attributes::Method { executable, .. } => ClassAttributes::Method {
            executable: *executable,
        },
        Attributes::ObjectType { is_abstract } => ClassAttributes::ObjectType {
            is_abstract: *is_abstract,
        },
        Attributes::VariableType { is_abstract, value } => ClassAttributes::VariableType {
            is_abstract: *is_abstract,
            data_type: value.data_type.clone(),
            value_rank: value.value_rank,
            array_dimensions: value.array_dimensions.clone(),
            value: value.value.clone().map(Box::new),
        },
        Attributes::ReferenceType {
            is_abstract,
            symmetric,
            inverse_name,
        } => ClassAttributes::ReferenceType {
            is_abstract: *is_abstract,
            symmetric: *symmetric,
            inverse_name: first(inverse_name),
        },
        Attributes::DataType { is_abstract, .. } => ClassAttributes::DataType {
            is_abstract: *is_abstract,
            definition: data_type_definition.cloned().map(Box::new),
        },
        Attributes::View {
            contains_no_loops,
            event_notifier,
        } => ClassAttributes::View {
            contains_no_loops: *contains_no_loops,
            event_notifier: *event_notifier,
        },
    };
    let mut definition =
        NodeDefinition::new(node.node_id.clone(), node.browse_name.clone(), attributes);
    // Most DisplayNames are the same as the BrowseName.
    definition.display_name = first(&node.display_name).filter(|name| {
        !name.locale.is_empty() || name.text.as_str() != node.browse_name.name.as_str()
    });
    definition.description = first(&node.description);
    definition
}

fn variable_definition(variable: &UaVariable) -> VariableDefinition {
    VariableDefinition {
        data_type: variable.value.data_type.clone(),
        value_rank: variable.value.value_rank,
        array_dimensions: variable.value.array_dimensions.clone(),
        access_level: variable.access_level,
        minimum_sampling_interval: variable.minimum_sampling_interval,
        historizing: variable.historizing,
    }
}

fn first(texts: &[LocalizedText]) -> Option<Box<LocalizedText>> {
    texts.first().cloned().map(Box::new)
}

/// Binds the values of the Variables of a document. An error is returned with the line of the node.
pub(super) fn bind_values(
    edit: &mut Edit<'_>,
    nodeset: &NodeSet,
) -> Result<(), (u32, AddressSpaceError)> {
    let view = edit.view();
    let types = Known(&view);
    let encoder = BodyEncoder::new(&types, &ParseLimits::DEFAULT);
    for node in &nodeset.nodes {
        let Attributes::Variable(variable) = &node.attributes else {
            continue;
        };
        let value = match &variable.value.value {
            Some(value) => {
                let mut value = value.clone();
                encode_bodies(&encoder, &view, &mut value);
                Value::stored(value)
            }
            None => Value::not_set(),
        };
        edit.set_value(&node.node_id, value)
            .map_err(|source| (node.line, source))?;
    }
    Ok(())
}

/// Replaces XML bodies by binary ones, if the DataType is known and the XML is of that type.
fn encode_bodies(encoder: &BodyEncoder<'_>, view: &View<'_>, value: &mut Variant) {
    match value {
        Variant::ExtensionObject(object) => encode_body(encoder, view, object),
        Variant::Array(array) => match &mut array.elements {
            Elements::ExtensionObject(objects) => {
                objects
                    .iter_mut()
                    .for_each(|object| encode_body(encoder, view, object));
            }
            Elements::Variant(values) => {
                values
                    .iter_mut()
                    .for_each(|value| encode_bodies(encoder, view, value));
            }
            _ => {}
        },
        _ => {}
    }
}

fn encode_body(encoder: &BodyEncoder<'_>, view: &View<'_>, object: &mut ExtensionObject) {
    let ExtensionObjectBody::Xml(xml) = &object.body else {
        return;
    };
    let Some(data_type) = encoded_type(view, object.type_id.as_ref()) else {
        return;
    };
    let Some(definition) = view.structure_definition(&data_type) else {
        return;
    };
    // An abstract structure has no encoding.
    if definition.default_encoding_id.is_null() {
        return;
    }
    if let Some(bytes) = encoder.encode(&data_type, xml) {
        object.type_id = definition.default_encoding_id;
        object.body = ExtensionObjectBody::Binary(bytes);
    }
}

/// Returns the DataType of an encoding; a DataType is returned unchanged.
fn encoded_type(view: &View<'_>, encoding: NodeIdRef<'_>) -> Option<NodeId> {
    let references = view.node(encoding)?.references();
    let data_type = references.targets(ids::HAS_ENCODING, false).next();
    Some(data_type.unwrap_or(encoding).to_owned())
}

impl View<'_> {
    /// Returns the DataTypeDefinition of a DataType that is a structure, with the inherited fields.
    pub fn structure_definition(&self, data_type: &NodeId) -> Option<StructureDefinition> {
        let node = self.node(data_type)?;
        let object = match node.definition() {
            Some(NodeDefinition {
                attributes: ClassAttributes::DataType { definition, .. },
                ..
            }) => {
                return definition.as_deref()?.decode_as().ok();
            }
            Some(_) => return None,
            None => node.standard()?.data_type_definition()?,
        };
        ExtensionObject::decode(&mut Decoder::new(object))
            .ok()?
            .decode_as()
            .ok()
    }
}

/// The DataTypes of the address space, for the encoder.
struct Known<'a, 'v>(&'a View<'v>);

impl DataTypes for Known<'_, '_> {
    fn structure(&self, data_type: &NodeId) -> Option<StructureDefinition> {
        self.0.structure_definition(data_type)
    }

    fn built_in_type(&self, data_type: &NodeId) -> Option<BuiltInType> {
        self.0.built_in_type(data_type)
    }
}
