//! AddNodes items with the NamespaceIndexes of another server.

use takt_client::NamespaceMap;
use takt_ua::ExtensionObject;
use takt_ua::Variant;
use takt_ua::structures::{AddNodesItem, GenericAttributes, VariableAttributes};

/// Replaces the NamespaceIndexes of an item.
pub(super) fn replace(map: &NamespaceMap, item: &mut AddNodesItem) {
    map.replace_expanded(&mut item.parent_node_id);
    map.replace_expanded(&mut item.requested_new_node_id);
    map.replace_expanded(&mut item.type_definition);
    map.replace_node_id(&mut item.reference_type_id);
    map.replace_name(&mut item.browse_name);
    let attributes = &mut item.node_attributes;
    if let Ok(mut variable) = attributes.decode_as::<VariableAttributes>() {
        map.replace_node_id(&mut variable.data_type);
        map.replace(&mut variable.value);
        *attributes = ExtensionObject::from_structure(&variable);
    } else if let Ok(mut generic) = attributes.decode_as::<GenericAttributes>() {
        for attribute in &mut generic.attribute_values {
            // RoleIds of RolePermissions are of namespace 0.
            if !matches!(attribute.value, Variant::ExtensionObject(_))
                || attribute.attribute_id == 13
            {
                map.replace(&mut attribute.value);
            }
        }
        *attributes = ExtensionObject::from_structure(&generic);
    }
}
