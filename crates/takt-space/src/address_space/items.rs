//! Conversion between AddNodesItem and node (OPC 10000-4, 5.8.2 and 7.24).

use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{
    AddNodesItem, MethodAttributes, ObjectAttributes, ObjectTypeAttributes,
    ReferenceTypeAttributes, VariableAttributes, VariableTypeAttributes, ViewAttributes,
};
use takt_ua::{ExpandedNodeId, ExtensionObject, LocalizedText, NodeId, Variant, ids};

use super::definition::{ClassAttributes, NodeDefinition, VariableDefinition, value_rank};
use super::generic_attributes::{access, decode, decode_data_type};
use super::{AddressSpaceError, View, specified};
use crate::access_level;

/// Returns the names in attributes of any NodeClass. Each NodeClass has a structure of its own, without a common type.
macro_rules! names {
    ($given:ident) => {
        Names::new(
            $given.specified_attributes,
            $given.display_name,
            $given.description,
        )
    };
}

/// Returns IsAbstract in attributes of any type.
macro_rules! is_abstract {
    ($given:ident) => {
        pick(
            $given.specified_attributes,
            specified::IS_ABSTRACT,
            $given.is_abstract,
            false,
        )
    };
}

/// A node that an AddNodesItem describes, and the initial value of a Variable.
pub(crate) struct Described {
    pub(crate) definition: NodeDefinition,
    pub(crate) value: Option<Variant>,
}

/// Converts an item to a node. Attributes that are not specified get their defaults; those of a Variable are taken from its
/// type.
pub(crate) fn describe(
    view: &View<'_>,
    item: &AddNodesItem,
) -> Result<Described, AddressSpaceError> {
    let object = &item.node_attributes;
    let (names, attributes, value) = match item.node_class {
        NodeClass::Object => {
            let given: ObjectAttributes = decode(object)?;
            let event_notifier = pick(
                given.specified_attributes,
                specified::EVENT_NOTIFIER,
                given.event_notifier,
                0,
            );
            (
                names!(given),
                ClassAttributes::Object { event_notifier },
                None,
            )
        }
        NodeClass::Variable => variable(view, item)?,
        NodeClass::Method => {
            let given: MethodAttributes = decode(object)?;
            let executable = pick(
                given.specified_attributes,
                specified::EXECUTABLE,
                given.executable,
                true,
            );
            (names!(given), ClassAttributes::Method { executable }, None)
        }
        NodeClass::ObjectType => {
            let given: ObjectTypeAttributes = decode(object)?;
            let is_abstract = is_abstract!(given);
            (
                names!(given),
                ClassAttributes::ObjectType { is_abstract },
                None,
            )
        }
        NodeClass::VariableType => variable_type(object)?,
        NodeClass::ReferenceType => reference_type(object)?,
        NodeClass::DataType => {
            let (given, definition) = decode_data_type(object)?;
            let is_abstract = is_abstract!(given);
            (
                names!(given),
                ClassAttributes::DataType {
                    is_abstract,
                    definition,
                },
                None,
            )
        }
        NodeClass::View => {
            let given: ViewAttributes = decode(object)?;
            let mask = given.specified_attributes;
            let contains_no_loops = pick(
                mask,
                specified::CONTAINS_NO_LOOPS,
                given.contains_no_loops,
                false,
            );
            let event_notifier = pick(mask, specified::EVENT_NOTIFIER, given.event_notifier, 0);
            (
                names!(given),
                ClassAttributes::View {
                    contains_no_loops,
                    event_notifier,
                },
                None,
            )
        }
        _ => return Err(AddressSpaceError::NodeClassInvalid),
    };
    // The text of the BrowseName is the default, which needs no memory.
    let is_other = |text: &LocalizedText| {
        !text.locale.is_null() || text.text.as_option() != item.browse_name.name.as_option()
    };
    let definition = NodeDefinition {
        node_id: item.requested_new_node_id.node_id.clone(),
        browse_name: item.browse_name.clone(),
        display_name: names.display_name.filter(|text| is_other(text)),
        description: names.description,
        access: access(object)?,
        attributes,
    };
    Ok(Described { definition, value })
}

struct Names {
    display_name: Option<Box<LocalizedText>>,
    description: Option<Box<LocalizedText>>,
}

impl Names {
    fn new(mask: u32, display_name: LocalizedText, description: LocalizedText) -> Self {
        let given = |bit, text: LocalizedText| {
            (mask & bit != 0 && text != LocalizedText::NULL).then(|| Box::new(text))
        };
        Self {
            display_name: given(specified::DISPLAY_NAME, display_name),
            description: given(specified::DESCRIPTION, description),
        }
    }
}

type Parts = (Names, ClassAttributes, Option<Variant>);

fn variable(view: &View<'_>, item: &AddNodesItem) -> Result<Parts, AddressSpaceError> {
    let given: VariableAttributes = decode(&item.node_attributes)?;
    let mask = given.specified_attributes;
    let type_definition = view.node(&item.type_definition.node_id);
    let of_type = type_definition.as_ref().and_then(|node| node.typed());
    let data_type = of_type.map_or(NodeId::from(ids::BASE_DATA_TYPE), |variable| {
        variable.data_type.to_owned()
    });
    let rank = of_type.map_or(value_rank::ANY, |variable| variable.value_rank);
    let dimensions = of_type.map_or(Vec::new(), |variable| variable.array_dimensions.to_vec());
    let level = u32::from(given.access_level);
    let attributes = VariableDefinition {
        data_type: pick(mask, specified::DATA_TYPE, given.data_type, data_type),
        value_rank: pick(mask, specified::VALUE_RANK, given.value_rank, rank),
        array_dimensions: pick(
            mask,
            specified::ARRAY_DIMENSIONS,
            given.array_dimensions,
            dimensions,
        ),
        access_level: pick(
            mask,
            specified::ACCESS_LEVEL,
            level,
            access_level::CURRENT_READ,
        ),
        minimum_sampling_interval: pick(
            mask,
            specified::MINIMUM_SAMPLING_INTERVAL,
            given.minimum_sampling_interval,
            0.0,
        ),
        historizing: pick(mask, specified::HISTORIZING, given.historizing, false),
    };
    // Bit 7 is reserved (OPC 10000-3, 8.57).
    if attributes.access_level & !0x7F != 0 {
        return Err(AddressSpaceError::NodeAttributesInvalid(
            "AccessLevel has unknown bits",
        ));
    }
    let value = (mask & specified::VALUE != 0 && !given.value.is_empty()).then_some(given.value);
    let names = names!(given);
    Ok((names, ClassAttributes::Variable(attributes), value))
}

fn variable_type(object: &ExtensionObject) -> Result<Parts, AddressSpaceError> {
    let given: VariableTypeAttributes = decode(object)?;
    let mask = given.specified_attributes;
    let has_value = mask & specified::VALUE != 0 && !given.value.is_empty();
    let attributes = ClassAttributes::VariableType {
        is_abstract: is_abstract!(given),
        data_type: pick(
            mask,
            specified::DATA_TYPE,
            given.data_type,
            NodeId::from(ids::BASE_DATA_TYPE),
        ),
        value_rank: pick(
            mask,
            specified::VALUE_RANK,
            given.value_rank,
            value_rank::ANY,
        ),
        array_dimensions: pick(
            mask,
            specified::ARRAY_DIMENSIONS,
            given.array_dimensions,
            Vec::new(),
        ),
        value: has_value.then(|| Box::new(given.value)),
    };
    Ok((names!(given), attributes, None))
}

fn reference_type(object: &ExtensionObject) -> Result<Parts, AddressSpaceError> {
    let given: ReferenceTypeAttributes = decode(object)?;
    let mask = given.specified_attributes;
    let has_inverse =
        mask & specified::INVERSE_NAME != 0 && given.inverse_name != LocalizedText::NULL;
    let attributes = ClassAttributes::ReferenceType {
        is_abstract: is_abstract!(given),
        symmetric: pick(mask, specified::SYMMETRIC, given.symmetric, false),
        inverse_name: has_inverse.then(|| Box::new(given.inverse_name)),
    };
    Ok((names!(given), attributes, None))
}

fn pick<T>(mask: u32, bit: u32, given: T, default: T) -> T {
    if mask & bit != 0 { given } else { default }
}

/// Returns an AddNodesItem for a copy of an instance declaration: an Object or a Variable (OPC 10000-3, 6.2.3).
pub(crate) fn copy_of(
    view: &View<'_>,
    declaration: &NodeId,
    parent: &NodeId,
    reference_type: &NodeId,
    node_id: NodeId,
) -> Option<AddNodesItem> {
    let node = view.node(declaration)?;
    let display_name = node.display_name().to_owned();
    let node_attributes = match node.variable() {
        None => ExtensionObject::from_structure(&ObjectAttributes {
            specified_attributes: specified::DISPLAY_NAME,
            display_name,
            ..ObjectAttributes::default()
        }),
        Some(variable) => {
            let value = view.declared_value(declaration);
            let [level, ..] = variable.access_level.to_le_bytes();
            ExtensionObject::from_structure(&VariableAttributes {
                specified_attributes: specified::DISPLAY_NAME
                    | specified::DATA_TYPE
                    | specified::VALUE_RANK
                    | specified::ARRAY_DIMENSIONS
                    | specified::ACCESS_LEVEL
                    | if value.is_some() { specified::VALUE } else { 0 },
                display_name,
                value: value.unwrap_or_default(),
                data_type: variable.data_type.to_owned(),
                value_rank: variable.value_rank,
                array_dimensions: variable.array_dimensions.to_vec(),
                // AddNodes accepts only these bits.
                access_level: level & 0x7F,
                ..VariableAttributes::default()
            })
        }
    };
    Some(AddNodesItem {
        parent_node_id: ExpandedNodeId::from(parent.clone()),
        reference_type_id: reference_type.clone(),
        requested_new_node_id: ExpandedNodeId::from(node_id),
        browse_name: node.browse_name().to_owned(),
        node_class: node.node_class(),
        node_attributes,
        type_definition: ExpandedNodeId::from(
            view.type_definition(declaration).unwrap_or_default(),
        ),
    })
}
