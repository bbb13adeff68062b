//! SecurityGroup Objects in the address space (OPC 10000-14, 8.4).

use takt_space::{AddressSpace, AddressSpaceError, NodeAccess, UserRole, Value};
use takt_ua::enumerations::PermissionType as P;
use takt_ua::structures::SecurityGroupDataType;
use takt_ua::{NodeId, QualifiedName, Variant, ids};

/// The registry's own namespace.
const NAMESPACE: u16 = 1;

const PROPERTIES: [&str; 5] = [
    "SecurityGroupId",
    "KeyLifetime",
    "SecurityPolicyUri",
    "MaxFutureKeyCount",
    "MaxPastKeyCount",
];

/// The Methods of a SecurityGroupType.
pub(super) const METHODS: [&str; 2] = ["InvalidateKeys", "ForceKeyRotation"];

/// Returns the NodeId of the Object of the group with this name.
pub(crate) fn node_id(name: &str) -> NodeId {
    NodeId::string(NAMESPACE, &format!("SecurityGroups/{name}"))
}

/// Returns the NodeId of a Property or Method of a group, which is unique for every name.
pub(super) fn property_id(name: &str, property: &str) -> NodeId {
    NodeId::string(NAMESPACE, &format!("SecurityGroups.{property}/{name}"))
}

/// Adds the Object of a group below the folder SecurityGroups.
pub(super) fn show(
    space: &AddressSpace,
    group: &SecurityGroupDataType,
) -> Result<(), AddressSpaceError> {
    let name = group.name.as_str();
    let object = space
        .add_object(QualifiedName::new(NAMESPACE, name))
        .node_id(node_id(name))
        .component_of(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS)
        .type_definition(ids::SECURITY_GROUP_TYPE)
        .add()?;
    let values: [(u32, Variant); 5] = [
        (ids::STRING, group.security_group_id.clone().into()),
        (ids::DURATION, group.key_lifetime.into()),
        (ids::STRING, group.security_policy_uri.clone().into()),
        (ids::UINT32, group.max_future_key_count.into()),
        (ids::UINT32, group.max_past_key_count.into()),
    ];
    for (property, (data_type, value)) in PROPERTIES.into_iter().zip(values) {
        space
            .add_variable(QualifiedName::new(0, property))
            .node_id(property_id(name, property))
            .property_of(object.clone())
            .data_type(data_type)
            .value(Value::stored(value))
            .add()?;
    }
    for method in METHODS {
        space
            .add_method(QualifiedName::new(0, method))
            .node_id(property_id(name, method))
            .component_of(object.clone())
            .access(checked_by_method())
            .add()?;
    }
    Ok(())
}

/// Returns the access to a Method that checks its callers itself, as those of namespace 0 do: an administrator of security may call
/// no other Methods.
pub(crate) fn checked_by_method() -> NodeAccess {
    let mut access = NodeAccess::default();
    let permissions = P::Browse | P::ReadRolePermissions | P::Call;
    access.grant(UserRole::Anonymous, permissions);
    access
}

/// Removes the Object of a group.
pub(super) fn hide(space: &AddressSpace, name: &str) {
    let mut edit = space.edit();
    let parts = PROPERTIES.iter().chain(&METHODS);
    let parts = parts.map(|part| property_id(name, part));
    for node in parts.chain([node_id(name)]) {
        // A missing node needs no deletion.
        let _ = edit.delete_node(&node, true);
    }
}
