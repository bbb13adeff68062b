//! Nodes of an alarm that its type leaves to the server: limits and their states, the ConfirmedState and the ShelvingState
//! (OPC 10000-9, 5.7 and 5.8).

use std::time::Duration;

use takt_client::model::provider;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem, ObjectAttributes, VariableAttributes};
use takt_ua::{
    ExpandedNodeId, ExtensionObject, LocalizedText, NodeId, QualifiedName, UaString, Variant, ids,
};

use super::alarm::LimitAlarm;
use super::mask;
use crate::alarms::Kind;
use crate::alarms::fields::state_names;
use crate::alarms::shelving::milliseconds;

/// Longest MaxTimeShelved that an alarm can have: one year.
pub(super) const LONGEST_SHELVED: Duration = Duration::from_secs(365 * 24 * 3600);

/// State of an alarm that operators confirm.
const CONFIRMED_STATE: &str = "ConfirmedState";

/// Access of Variables that clients only read: CurrentRead (OPC 10000-3, 8.57).
const CURRENT_READ: u8 = 1;

/// Returns the components of an alarm in the Provider's own namespace, parents before children. Their types require the rest.
pub(super) fn components(alarm: &LimitAlarm, own: u16) -> Vec<AddNodesItem> {
    let node = |name: &str, class, attributes: ExtensionObject, of_type: u32| AddNodesItem {
        parent_node_id: NodeId::string(own, &alarm.path).into(),
        reference_type_id: NodeId::numeric(0, ids::HAS_COMPONENT),
        requested_new_node_id: identifier(alarm, own, name),
        browse_name: QualifiedName::new(0, name),
        node_class: class,
        node_attributes: attributes,
        type_definition: NodeId::numeric(0, of_type).into(),
    };
    let property = |name: &str, data_type: u32, value: Variant| {
        let attributes = variable(name, data_type, value);
        let mut property = node(name, NodeClass::Variable, attributes, ids::PROPERTY_TYPE);
        property.reference_type_id = NodeId::numeric(0, ids::HAS_PROPERTY);
        property
    };
    let limits = alarm.limits.named();
    let mut nodes: Vec<_> = limits
        .map(|(name, limit)| property(name, ids::DOUBLE, limit.into()))
        .collect();
    let confirmed = alarm.needs_confirmation.then_some(CONFIRMED_STATE);
    let states = match alarm.kind {
        Kind::Exclusive => None,
        Kind::NonExclusive => Some(state_names(&alarm.limits)),
    };
    for name in confirmed.into_iter().chain(states.into_iter().flatten()) {
        let text = LocalizedText::NULL.into();
        let attributes = variable(name, ids::LOCALIZED_TEXT, text);
        let of_type = ids::TWO_STATE_VARIABLE_TYPE;
        nodes.push(node(name, NodeClass::Variable, attributes, of_type));
    }
    if let Some(longest) = alarm.max_time_shelved {
        let name = "ShelvingState";
        let attributes = ExtensionObject::from_structure(&ObjectAttributes {
            specified_attributes: mask::DISPLAY_NAME,
            display_name: LocalizedText::from(name),
            ..ObjectAttributes::default()
        });
        let of_type = ids::SHELVED_STATE_MACHINE_TYPE;
        nodes.push(node(name, NodeClass::Object, attributes, of_type));
        let name = "MaxTimeShelved";
        nodes.push(property(name, ids::DURATION, milliseconds(longest).into()));
    }
    nodes
}

/// Returns the references to the source of an alarm from its notifier, and from the source to the alarm (OPC 10000-9, 5.12); for an
/// alarm that needs it, also the one to the Method Confirm, which it shares with its type.
pub(super) fn references(alarm: &LimitAlarm, own: u16) -> Vec<AddReferencesItem> {
    let variable = NodeId::string(own, &alarm.variable);
    let condition = NodeId::string(own, &alarm.path);
    let notifier = NodeId::numeric(own, provider::OBJECT);
    let reference = |source: &NodeId, reference_type, target: &NodeId, class| AddReferencesItem {
        source_node_id: source.clone(),
        reference_type_id: NodeId::numeric(0, reference_type),
        is_forward: true,
        target_server_uri: UaString::null(),
        target_node_id: target.clone().into(),
        target_node_class: class,
    };
    let source = ids::HAS_EVENT_SOURCE;
    let mut references = vec![
        reference(&notifier, source, &variable, NodeClass::Variable),
        reference(&variable, ids::HAS_CONDITION, &condition, NodeClass::Object),
    ];
    if alarm.needs_confirmation {
        let confirm = NodeId::from(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_CONFIRM);
        let component = ids::HAS_COMPONENT;
        references.push(reference(
            &condition,
            component,
            &confirm,
            NodeClass::Method,
        ));
    }
    references
}

fn identifier(alarm: &LimitAlarm, own: u16, name: &str) -> ExpandedNodeId {
    NodeId::string(own, &format!("{}/{name}", alarm.path)).into()
}

fn variable(name: &str, data_type: u32, value: Variant) -> ExtensionObject {
    /// ValueRank of a scalar (OPC 10000-3, 5.6.2).
    const SCALAR: i32 = -1;
    ExtensionObject::from_structure(&VariableAttributes {
        specified_attributes: mask::ACCESS_LEVEL
            | mask::USER_ACCESS_LEVEL
            | mask::DATA_TYPE
            | mask::DISPLAY_NAME
            | mask::VALUE
            | mask::VALUE_RANK,
        display_name: LocalizedText::from(name),
        data_type: NodeId::numeric(0, data_type),
        value_rank: SCALAR,
        value,
        access_level: CURRENT_READ,
        user_access_level: CURRENT_READ,
        ..VariableAttributes::default()
    })
}
