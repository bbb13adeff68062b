//! All attributes except Value (OPC 10000-3, 5; their numbers: OPC 10000-6, A.1).

use takt_space::{Caller, ClassAttributes, NodeRef, RoleSet};

use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::{NodeClass, PermissionType};
use takt_ua::{
    ArrayRef, ExtensionObject, ExtensionObjectRef, LocalizedTextRef, StatusCode, Variant,
    VariantRef,
};

use crate::identity::access;

pub(crate) const NODE_ID: u32 = 1;
pub(crate) const NODE_CLASS: u32 = 2;
pub(crate) const BROWSE_NAME: u32 = 3;
pub(crate) const DISPLAY_NAME: u32 = 4;
pub(crate) const DESCRIPTION: u32 = 5;
pub(crate) const WRITE_MASK: u32 = 6;
pub(crate) const USER_WRITE_MASK: u32 = 7;
pub(crate) const IS_ABSTRACT: u32 = 8;
pub(crate) const SYMMETRIC: u32 = 9;
pub(crate) const INVERSE_NAME: u32 = 10;
pub(crate) const CONTAINS_NO_LOOPS: u32 = 11;
pub(crate) const EVENT_NOTIFIER: u32 = 12;
pub(crate) const VALUE: u32 = 13;
pub(crate) const DATA_TYPE: u32 = 14;
pub(crate) const VALUE_RANK: u32 = 15;
pub(crate) const ARRAY_DIMENSIONS: u32 = 16;
pub(crate) const ACCESS_LEVEL: u32 = 17;
pub(crate) const USER_ACCESS_LEVEL: u32 = 18;
pub(crate) const MINIMUM_SAMPLING_INTERVAL: u32 = 19;
pub(crate) const HISTORIZING: u32 = 20;
pub(crate) const EXECUTABLE: u32 = 21;
pub(crate) const USER_EXECUTABLE: u32 = 22;
pub(crate) const DATA_TYPE_DEFINITION: u32 = 23;
pub(crate) const ROLE_PERMISSIONS: u32 = 24;
pub(crate) const USER_ROLE_PERMISSIONS: u32 = 25;
pub(crate) const ACCESS_RESTRICTIONS: u32 = 26;
pub(crate) const ACCESS_LEVEL_EX: u32 = 27;

const NONE: Result<VariantRef<'static>, StatusCode> = Err(StatusCode::BadAttributeIdInvalid);

/// Returns the value of an attribute other than Value; `BadAttributeIdInvalid` if the node does not have it. The values of
/// RolePermissions and UserRolePermissions are made by [`role_permissions`] instead.
pub(crate) fn attribute<'v>(
    caller: &Caller,
    node: &NodeRef<'v>,
    attribute: u32,
) -> Result<VariantRef<'v>, StatusCode> {
    access::check_browse(caller, node)?;
    match attribute {
        NODE_ID => Ok(node.node_id().into()),
        NODE_CLASS => Ok(node.node_class().0.into()),
        BROWSE_NAME => Ok(node.browse_name().into()),
        DISPLAY_NAME => Ok(node.display_name().into()),
        DESCRIPTION => match node
            .definition()
            .and_then(|definition| definition.description.as_deref())
        {
            Some(description) => Ok(description.as_ref().into()),
            None => NONE,
        },
        // Rules for Writes of attributes replace it.
        WRITE_MASK | USER_WRITE_MASK => Ok(0_u32.into()),
        IS_ABSTRACT => match node.node_class() {
            NodeClass::ObjectType
            | NodeClass::VariableType
            | NodeClass::ReferenceType
            | NodeClass::DataType => Ok(node.is_abstract().into()),
            _ => NONE,
        },
        SYMMETRIC | INVERSE_NAME => reference_type(node, attribute),
        EVENT_NOTIFIER | CONTAINS_NO_LOOPS => object_or_view(node, attribute),
        DATA_TYPE
        | VALUE_RANK
        | ARRAY_DIMENSIONS
        | ACCESS_LEVEL
        | USER_ACCESS_LEVEL
        | ACCESS_LEVEL_EX
        | MINIMUM_SAMPLING_INTERVAL
        | HISTORIZING => variable(caller, node, attribute),
        EXECUTABLE if node.node_class() == NodeClass::Method => {
            Ok(access::is_executable(node).into())
        }
        USER_EXECUTABLE if node.node_class() == NodeClass::Method => {
            let may_call = access::check_call(caller, node).is_ok();
            Ok((may_call && access::is_executable(node)).into())
        }
        ROLE_PERMISSIONS | USER_ROLE_PERMISSIONS => {
            role_permissions(caller, node, attribute).map(|_| VariantRef::Empty)
        }
        ACCESS_RESTRICTIONS => match node.access() {
            Some(access) => Ok(access.restrictions().into()),
            None => NONE,
        },
        DATA_TYPE_DEFINITION => data_type_definition(node),
        _ => NONE,
    }
}

/// Returns the value of RolePermissions or UserRolePermissions (OPC 10000-3, 5.2.9 and 5.2.10). Nodes without permissions of their
/// own do not have the attributes.
pub(crate) fn role_permissions(
    caller: &Caller,
    node: &NodeRef<'_>,
    attribute: u32,
) -> Result<Variant, StatusCode> {
    access::check_browse(caller, node)?;
    let roles = match attribute {
        ROLE_PERMISSIONS => RoleSet::ALL,
        _ => caller.roles,
    };
    let list = node
        .access()
        .and_then(|access| access.role_permissions(roles));
    let list = list.ok_or(StatusCode::BadAttributeIdInvalid)?;
    // UserRolePermissions are the caller's own.
    if attribute == ROLE_PERMISSIONS {
        access::check(caller, node, PermissionType::ReadRolePermissions)?;
    }
    let list: Vec<ExtensionObject> = list.iter().map(ExtensionObject::from_structure).collect();
    Ok(list.into())
}

fn reference_type<'v>(node: &NodeRef<'v>, attribute: u32) -> Result<VariantRef<'v>, StatusCode> {
    if node.node_class() != NodeClass::ReferenceType {
        return NONE;
    }
    let (symmetric, inverse_name) = match (
        node.standard(),
        node.definition().map(|node| &node.attributes),
    ) {
        (Some(standard), _) => {
            let text = standard.inverse_name();
            (
                standard.symmetric(),
                text.map(|text| LocalizedTextRef {
                    locale: None,
                    text: Some(text),
                }),
            )
        }
        (
            None,
            Some(ClassAttributes::ReferenceType {
                symmetric,
                inverse_name,
                ..
            }),
        ) => (
            *symmetric,
            inverse_name.as_deref().map(|name| name.as_ref()),
        ),
        _ => return NONE,
    };
    match (attribute, inverse_name) {
        (SYMMETRIC, _) => Ok(symmetric.into()),
        (_, Some(inverse_name)) => Ok(inverse_name.into()),
        _ => NONE,
    }
}

/// Returns the EventNotifier of a node: HistoryRead if this server records its Events (OPC 10000-3, 8.59).
fn notifier(node: &NodeRef<'_>, declared: u8) -> u8 {
    match node.is_historized() {
        true => declared | access::EVENT_HISTORY_READ,
        false => declared,
    }
}

fn object_or_view<'v>(node: &NodeRef<'v>, attribute: u32) -> Result<VariantRef<'v>, StatusCode> {
    let attributes = node.definition().map(|definition| &definition.attributes);
    match (attribute, node.standard(), attributes) {
        (EVENT_NOTIFIER, Some(standard), _) if standard.node_class() == NodeClass::Object => {
            Ok(notifier(node, standard.event_notifier()).into())
        }
        (
            EVENT_NOTIFIER,
            None,
            Some(
                ClassAttributes::Object { event_notifier }
                | ClassAttributes::View { event_notifier, .. },
            ),
        ) => Ok(notifier(node, *event_notifier).into()),
        (
            CONTAINS_NO_LOOPS,
            None,
            Some(ClassAttributes::View {
                contains_no_loops, ..
            }),
        ) => Ok((*contains_no_loops).into()),
        _ => NONE,
    }
}

fn variable<'v>(
    caller: &Caller,
    node: &NodeRef<'v>,
    attribute: u32,
) -> Result<VariantRef<'v>, StatusCode> {
    let Some(variable) = node.typed() else {
        return NONE;
    };
    let is_variable = node.node_class() == NodeClass::Variable;
    match attribute {
        DATA_TYPE => Ok(variable.data_type.into()),
        VALUE_RANK => Ok(variable.value_rank.into()),
        ARRAY_DIMENSIONS => dimensions(variable.array_dimensions),
        // VariableTypes have only the attributes above.
        ACCESS_LEVEL if is_variable => Ok(low_byte(variable.access_level)),
        USER_ACCESS_LEVEL if is_variable => {
            let level = access::user_access_level(caller, node, variable.access_level);
            Ok(low_byte(level))
        }
        ACCESS_LEVEL_EX if is_variable => Ok(variable.access_level.into()),
        MINIMUM_SAMPLING_INTERVAL | HISTORIZING if is_variable => {
            let (interval, historizing) = match node.definition().map(|node| &node.attributes) {
                Some(ClassAttributes::Variable(variable)) => {
                    (variable.minimum_sampling_interval, variable.historizing)
                }
                _ => (0.0, false),
            };
            Ok(if attribute == HISTORIZING {
                (historizing || node.is_historized()).into()
            } else {
                interval.into()
            })
        }
        _ => NONE,
    }
}

/// Returns AccessLevel or UserAccessLevel: the low byte of AccessLevelEx.
fn low_byte(access_level: u32) -> VariantRef<'static> {
    let [level, ..] = access_level.to_le_bytes();
    level.into()
}

#[cfg(target_endian = "little")]
fn dimensions(dimensions: &[u32]) -> Result<VariantRef<'_>, StatusCode> {
    if dimensions.is_empty() {
        NONE
    } else {
        Ok(ArrayRef::from_u32s(dimensions).into())
    }
}

/// Returns no ArrayDimensions: the attribute is optional, and on a big-endian machine its bytes would have to be converted
/// first.
#[cfg(target_endian = "big")]
fn dimensions(_: &[u32]) -> Result<VariantRef<'_>, StatusCode> {
    NONE
}

fn data_type_definition<'v>(node: &NodeRef<'v>) -> Result<VariantRef<'v>, StatusCode> {
    match (
        node.standard(),
        node.definition().map(|node| &node.attributes),
    ) {
        (Some(standard), _) => {
            let encoded = standard
                .data_type_definition()
                .ok_or(StatusCode::BadAttributeIdInvalid)?;
            let object = ExtensionObjectRef::decode(&mut Decoder::new(encoded));
            object
                .map(VariantRef::from)
                .map_err(|_| StatusCode::BadInternalError)
        }
        (
            None,
            Some(ClassAttributes::DataType {
                definition: Some(definition),
                ..
            }),
        ) => Ok(definition.as_ref().as_ref().into()),
        _ => NONE,
    }
}
