//! Access to nodes of a Provider: RolePermissions and AccessRestrictions in AddNodes (OPC 10000-3, 5.2.9 and 5.2.11).
//!
//! AddNodes carries these attributes as GenericAttributes only (OPC 10000-4, 7.24.10). The registry keeps them with the node, so
//! that it enforces the permissions of the Provider, also after a restart.

use takt_space::{NodeAccess, RoleSet, UserRole};
use takt_ua::enumerations::PermissionType;
use takt_ua::structures::{
    GenericAttributeValue, GenericAttributes, MethodAttributes, VariableAttributes,
};
use takt_ua::{ExtensionObject, Variant};

/// AttributeIds of RolePermissions and AccessRestrictions (OPC 10000-6, A.1).
const ROLE_PERMISSIONS: u32 = 24;
const ACCESS_RESTRICTIONS: u32 = 26;

/// Adds the methods that restrict the access to a declared node.
macro_rules! with_access {
    ($declared:ident) => {
        impl $declared {
            /// Grants callers with this role the permissions on it: bits of [`PermissionType`](takt_ua::enumerations::PermissionType)
            /// (OPC 10000-3, 8.55), for example `PermissionType::Browse | PermissionType::Read`. From the first grant on, it has
            /// RolePermissions of its own: roles that are not granted anything have no permission. A security-admin always sees it and
            /// its permissions. The registry enforces the same permissions for the clients that it forwards.
            #[must_use]
            pub fn permissions(mut self, role: takt_space::UserRole, permissions: u32) -> Self {
                $crate::provider::access::grant(&mut self.access, role, permissions);
                self
            }

            /// Requires an encrypted channel over `opc.tcp` for everything but browsing (AccessRestrictions, OPC 10000-3, 5.2.11). Shared
            /// memory needs no encryption.
            #[must_use]
            pub fn encrypted_only(mut self) -> Self {
                self.access
                    .restrict(takt_ua::enumerations::AccessRestrictionType::EncryptionRequired);
                self
            }
        }
    };
}
pub(super) use with_access;

/// Grants a role permissions. A security-admin always sees the node and its permissions.
pub(super) fn grant(access: &mut NodeAccess, role: UserRole, permissions: u32) {
    let seen = PermissionType::Browse | PermissionType::ReadRolePermissions;
    access.grant(UserRole::SecurityAdmin, seen);
    access.grant(role, permissions);
}

/// Returns the access to the Properties of a node: who sees the node reads them, and nobody writes them.
pub(super) fn of_properties(access: &NodeAccess) -> NodeAccess {
    let mut of_properties = NodeAccess::default();
    for role in UserRole::ALL {
        let Some(granted) = access.role_permissions(role.into()) else {
            return of_properties;
        };
        let granted = granted.iter().fold(0, |sum, entry| sum | entry.permissions);
        let kept = granted & (PermissionType::Browse | PermissionType::ReadRolePermissions);
        let read = match granted & PermissionType::Browse {
            0 => 0,
            _ => PermissionType::Read,
        };
        of_properties.grant(role, kept | read);
    }
    of_properties
}

/// Returns the attributes of a Variable in AddNodes; `mask` names the given ones besides DisplayName and Description.
pub(super) fn of_variable(attributes: VariableAttributes, access: &NodeAccess) -> ExtensionObject {
    if access.is_default() {
        return ExtensionObject::from_structure(&attributes);
    }
    let given = |bit: u32| attributes.specified_attributes & bit != 0;
    let mut values = Vec::new();
    let mut add = |is_given: bool, attribute_id, value: Variant| {
        if is_given {
            values.push(GenericAttributeValue {
                attribute_id,
                value,
            });
        }
    };
    // Bits of SpecifiedAttributes (OPC 10000-4, 7.24.1), and AttributeIds (OPC 10000-6, A.1).
    add(given(1 << 21), 13, attributes.value);
    add(given(1 << 4), 14, attributes.data_type.into());
    add(given(1 << 19), 15, attributes.value_rank.into());
    add(given(1 << 1), 16, attributes.array_dimensions.into());
    add(given(1), 17, attributes.access_level.into());
    add(given(1 << 16), 18, attributes.user_access_level.into());
    generic(
        GenericAttributes {
            specified_attributes: attributes.specified_attributes,
            display_name: attributes.display_name,
            description: attributes.description,
            attribute_values: values,
            ..GenericAttributes::default()
        },
        access,
    )
}

/// Returns the attributes of a Method in AddNodes.
pub(super) fn of_method(attributes: MethodAttributes, access: &NodeAccess) -> ExtensionObject {
    if access.is_default() {
        return ExtensionObject::from_structure(&attributes);
    }
    let values = [
        (21, attributes.executable),
        (22, attributes.user_executable),
    ];
    let values = values.map(|(attribute_id, value)| GenericAttributeValue {
        attribute_id,
        value: value.into(),
    });
    generic(
        GenericAttributes {
            specified_attributes: attributes.specified_attributes,
            display_name: attributes.display_name,
            description: attributes.description,
            attribute_values: values.into(),
            ..GenericAttributes::default()
        },
        access,
    )
}

fn generic(mut attributes: GenericAttributes, access: &NodeAccess) -> ExtensionObject {
    if let Some(list) = access.role_permissions(RoleSet::ALL) {
        let list: Vec<ExtensionObject> = list.iter().map(ExtensionObject::from_structure).collect();
        attributes.attribute_values.push(GenericAttributeValue {
            attribute_id: ROLE_PERMISSIONS,
            value: list.into(),
        });
    }
    if access.restrictions() != 0 {
        attributes.attribute_values.push(GenericAttributeValue {
            attribute_id: ACCESS_RESTRICTIONS,
            value: access.restrictions().into(),
        });
    }
    ExtensionObject::from_structure(&attributes)
}
