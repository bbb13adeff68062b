//! GenericAttributes (OPC 10000-4, 7.24.10): attributes of any NodeClass as pairs of AttributeId and value. They are the only form
//! of AddNodes in the standard that has a DataTypeDefinition.

use takt_ua::binary::{Decode, Decoder};
use takt_ua::structures::{
    DataTypeAttributes, GenericAttributeValue, GenericAttributes, MethodAttributes,
    ObjectAttributes, ObjectTypeAttributes, ReferenceTypeAttributes, RolePermissionType,
    VariableAttributes, VariableTypeAttributes, ViewAttributes,
};
use takt_ua::{ExtensionObject, ExtensionObjectBody, Structure, Variant};

use super::{AddressSpaceError, specified};
use crate::node_access::NodeAccess;
use crate::role::UserRole;

/// AttributeId of DataTypeDefinition (OPC 10000-6, A.1).
const DATA_TYPE_DEFINITION: u32 = 23;

/// AttributeIds of RolePermissions and AccessRestrictions, which [`access`] decodes.
const ROLE_PERMISSIONS: u32 = 24;
const ACCESS_RESTRICTIONS: u32 = 26;

/// Attributes of one NodeClass in AddNodes.
pub(super) trait NodeAttributes: Structure + Default {
    /// Converts GenericAttributes; `None` if one is not of this NodeClass, or has a value of another type.
    fn of(given: GenericAttributes) -> Option<Self>;
}

macro_rules! node_attributes {
    ($($type:ident { $($id:literal => $field:ident: $bit:ident),* $(,)? })*) => {$(
        impl NodeAttributes for $type {
            fn of(given: GenericAttributes) -> Option<Self> {
                let mut attributes = Self {
                    // The bits of the other attributes follow from the values that are given.
                    specified_attributes: given.specified_attributes
                        & (specified::DISPLAY_NAME | specified::DESCRIPTION),
                    display_name: given.display_name,
                    description: given.description,
                    ..Self::default()
                };
                for GenericAttributeValue { attribute_id, value } in given.attribute_values {
                    match attribute_id {
                        $($id => {
                            attributes.$field = value.try_into().ok()?;
                            attributes.specified_attributes |= specified::$bit;
                        })*
                        ROLE_PERMISSIONS | ACCESS_RESTRICTIONS => {}
                        _ => return None,
                    }
                }
                Some(attributes)
            }
        }
    )*};
}

node_attributes! {
    ObjectAttributes { 12 => event_notifier: EVENT_NOTIFIER }
    VariableAttributes {
        13 => value: VALUE,
        14 => data_type: DATA_TYPE,
        15 => value_rank: VALUE_RANK,
        16 => array_dimensions: ARRAY_DIMENSIONS,
        17 => access_level: ACCESS_LEVEL,
        18 => user_access_level: USER_ACCESS_LEVEL,
        19 => minimum_sampling_interval: MINIMUM_SAMPLING_INTERVAL,
        20 => historizing: HISTORIZING,
    }
    MethodAttributes { 21 => executable: EXECUTABLE, 22 => user_executable: USER_EXECUTABLE }
    ObjectTypeAttributes { 8 => is_abstract: IS_ABSTRACT }
    VariableTypeAttributes {
        8 => is_abstract: IS_ABSTRACT,
        13 => value: VALUE,
        14 => data_type: DATA_TYPE,
        15 => value_rank: VALUE_RANK,
        16 => array_dimensions: ARRAY_DIMENSIONS,
    }
    ReferenceTypeAttributes {
        8 => is_abstract: IS_ABSTRACT,
        9 => symmetric: SYMMETRIC,
        10 => inverse_name: INVERSE_NAME,
    }
    DataTypeAttributes { 8 => is_abstract: IS_ABSTRACT }
    ViewAttributes { 11 => contains_no_loops: CONTAINS_NO_LOOPS, 12 => event_notifier: EVENT_NOTIFIER }
}

/// Decodes the attributes of a NodeClass; a null object means that none is specified.
pub(super) fn decode<T: NodeAttributes>(object: &ExtensionObject) -> Result<T, AddressSpaceError> {
    if object.is_null() {
        return Ok(T::default());
    }
    if object.is::<GenericAttributes>() {
        return generic(object.decode_as().ok());
    }
    object.decode_as().map_err(|_| wrong())
}

/// Decodes the attributes of a DataType, and its DataTypeDefinition.
pub(super) fn decode_data_type(
    object: &ExtensionObject,
) -> Result<(DataTypeAttributes, Option<Box<ExtensionObject>>), AddressSpaceError> {
    if object.is::<DataTypeAttributes>() {
        return data_type_attributes(object);
    }
    if !object.is::<GenericAttributes>() {
        return Ok((decode(object)?, None));
    }
    let mut given: GenericAttributes = object.decode_as().map_err(|_| wrong())?;
    // `DataTypeAttributes` has no field for it.
    let is_definition = |value: &GenericAttributeValue| value.attribute_id == DATA_TYPE_DEFINITION;
    let definition = given.attribute_values.iter().position(is_definition);
    let definition = definition.map(|at| given.attribute_values.swap_remove(at).value);
    let attributes = generic(Some(given))?;
    let Some(definition) = definition else {
        return Ok((attributes, None));
    };
    let definition = ExtensionObject::try_from(definition).map_err(|_| wrong())?;
    Ok((attributes, Some(Box::new(definition))))
}

/// Decodes DataTypeAttributes. asyncua appends the DataTypeDefinition to the fields of the standard and sets the bit of it in
/// SpecifiedAttributes, in the way of a structure with a field of the type ExtensionObject.
fn data_type_attributes(
    object: &ExtensionObject,
) -> Result<(DataTypeAttributes, Option<Box<ExtensionObject>>), AddressSpaceError> {
    let ExtensionObjectBody::Binary(body) = &object.body else {
        return Err(wrong());
    };
    let mut decoder = Decoder::new(body);
    let attributes = DataTypeAttributes::decode(&mut decoder).map_err(|_| wrong())?;
    if decoder.remaining() == 0 {
        return Ok((attributes, None));
    }
    let definition = ExtensionObject::decode(&mut decoder).map_err(|_| wrong())?;
    let is_named = attributes.specified_attributes & specified::DATA_TYPE_DEFINITION != 0;
    if !is_named || decoder.remaining() != 0 {
        return Err(wrong());
    }
    // A client that writes the definition afterwards sends none here.
    if definition.is_null() {
        return Ok((attributes, None));
    }
    Ok((attributes, Some(Box::new(definition))))
}

/// Decodes RolePermissions and AccessRestrictions, of any NodeClass. Only well-known Roles exist.
pub(super) fn access(
    object: &ExtensionObject,
) -> Result<Option<Box<NodeAccess>>, AddressSpaceError> {
    if !object.is::<GenericAttributes>() {
        return Ok(None);
    }
    let given: GenericAttributes = object.decode_as().map_err(|_| wrong())?;
    let mut access = NodeAccess::default();
    for GenericAttributeValue {
        attribute_id,
        value,
    } in given.attribute_values
    {
        match attribute_id {
            ROLE_PERMISSIONS => grant(&mut access, value)?,
            ACCESS_RESTRICTIONS => {
                let restrictions = u16::try_from(value).map_err(|_| wrong())?;
                access.restrict(restrictions);
            }
            _ => {}
        }
    }
    // Without access of its own, a node is read by the hot path.
    Ok((!access.is_default()).then(|| Box::new(access)))
}

fn grant(access: &mut NodeAccess, value: Variant) -> Result<(), AddressSpaceError> {
    let wrong = || {
        AddressSpaceError::NodeAttributesInvalid(
            "RolePermissions are no list of permissions of well-known Roles",
        )
    };
    let list = Vec::<ExtensionObject>::try_from(value).map_err(|_| wrong())?;
    // With an empty list, no Role has a permission.
    access.grant(UserRole::Anonymous, 0);
    for entry in list {
        let entry: RolePermissionType = entry.decode_as().map_err(|_| wrong())?;
        let role = UserRole::of_node_id(&entry.role_id).ok_or_else(wrong)?;
        access.grant(role, entry.permissions);
    }
    Ok(())
}

fn generic<T: NodeAttributes>(given: Option<GenericAttributes>) -> Result<T, AddressSpaceError> {
    given.and_then(T::of).ok_or_else(wrong)
}

fn wrong() -> AddressSpaceError {
    AddressSpaceError::NodeAttributesInvalid("they are of another NodeClass, or damaged")
}
