//! Rules for the nodes that a reference may connect, and for instances of types (OPC 10000-3, 5 and 7).

use takt_ua::enumerations::NodeClass;
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, NodeIdRef, ids};

use super::{AddressSpaceError, NodeRef, View};

/// Properties of one end of a reference that the rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) node_class: NodeClass,
    /// True for a Variable of PropertyType.
    pub(super) is_property: bool,
}

impl End {
    pub(super) fn of(view: &View<'_>, node: &NodeRef<'_>) -> Self {
        let node_class = node.node_class();
        let is_property = node_class == NodeClass::Variable
            && view
                .type_definition(node.node_id())
                .is_some_and(|id| view.is_subtype_of(&id, NodeIdRef::from(ids::PROPERTY_TYPE)));
        Self {
            node_class,
            is_property,
        }
    }
}

/// Returns true for the eight NodeClasses (OPC 10000-3, 8.29).
pub(super) fn is_node_class(node_class: NodeClass) -> bool {
    matches!(
        node_class,
        NodeClass::Object
            | NodeClass::Variable
            | NodeClass::Method
            | NodeClass::ObjectType
            | NodeClass::VariableType
            | NodeClass::ReferenceType
            | NodeClass::DataType
            | NodeClass::View
    )
}

/// Checks that references of a ReferenceType may exist.
pub(super) fn check_reference_type(
    view: &View<'_>,
    reference_type: &NodeId,
) -> Result<(), AddressSpaceError> {
    let node = view
        .node(reference_type)
        .filter(|node| node.node_class() == NodeClass::ReferenceType);
    match node {
        None => Err(AddressSpaceError::ReferenceTypeIdInvalid(
            reference_type.clone(),
        )),
        Some(node) if node.is_abstract() => Err(AddressSpaceError::ReferenceNotAllowed(
            reference_type.clone(),
        )),
        Some(_) => Ok(()),
    }
}

/// Checks that a ReferenceType leads from a parent to a new node. HasEncoding does although it is not hierarchical: no other
/// ReferenceType leads from a DataType to its encodings (OPC 10000-3, 5.8.3).
pub(super) fn check_parent(
    view: &View<'_>,
    reference_type: &NodeId,
) -> Result<(), AddressSpaceError> {
    check_reference_type(view, reference_type)?;
    let is = |ancestor: u32| view.is_subtype_of(reference_type, NodeIdRef::from(ancestor));
    if is(ids::HIERARCHICAL_REFERENCES) || is(ids::HAS_ENCODING) {
        Ok(())
    } else {
        Err(AddressSpaceError::ReferenceNotAllowed(
            reference_type.clone(),
        ))
    }
}

/// Checks the TypeDefinition of a new node: required for Objects and Variables, and forbidden for others.
pub(super) fn check_type_definition(
    view: &View<'_>,
    item: &AddNodesItem,
) -> Result<(), AddressSpaceError> {
    let type_definition = &item.type_definition.node_id;
    let wanted = match item.node_class {
        NodeClass::Object => NodeClass::ObjectType,
        NodeClass::Variable => NodeClass::VariableType,
        _ if type_definition.is_null() => return Ok(()),
        _ => {
            return Err(AddressSpaceError::TypeDefinitionInvalid(
                type_definition.clone(),
            ));
        }
    };
    match view.node(type_definition) {
        Some(node) if node.node_class() == wanted && !node.is_abstract() => Ok(()),
        _ => Err(AddressSpaceError::TypeDefinitionInvalid(
            type_definition.clone(),
        )),
    }
}

/// Checks that a reference may lead from one node to another. It always may if the standard does not define its ReferenceType.
pub(super) fn check_reference(
    view: &View<'_>,
    reference_type: &NodeId,
    source: End,
    target: End,
) -> Result<(), AddressSpaceError> {
    use NodeClass as C;
    let is = |ancestor: u32| view.is_subtype_of(reference_type, NodeIdRef::from(ancestor));
    let is_type = |class: C| {
        matches!(
            class,
            C::ObjectType | C::VariableType | C::ReferenceType | C::DataType
        )
    };
    let allowed = if is(ids::HAS_PROPERTY) {
        // OPC 10000-3, 7.8
        target.is_property && !source.is_property
    } else if is(ids::HAS_COMPONENT) {
        // OPC 10000-3, 7.7
        !target.is_property
            && match target.node_class {
                C::Variable => {
                    matches!(
                        source.node_class,
                        C::Object | C::ObjectType | C::Variable | C::VariableType
                    ) && !source.is_property
                }
                C::Object | C::Method => matches!(source.node_class, C::Object | C::ObjectType),
                _ => false,
            }
    } else if is(ids::ORGANIZES) {
        // OPC 10000-3, 7.11
        matches!(source.node_class, C::Object | C::ObjectType | C::View) && !target.is_property
    } else if is(ids::HAS_SUBTYPE) {
        // OPC 10000-3, 7.10
        is_type(source.node_class) && source.node_class == target.node_class
    } else if is(ids::HAS_ENCODING) {
        // OPC 10000-3, 7.14
        (source.node_class, target.node_class) == (C::DataType, C::Object)
    } else if is(ids::HAS_EVENT_SOURCE) {
        // OPC 10000-3, 7.17 and 7.18
        matches!(source.node_class, C::Object | C::ObjectType | C::View)
    } else if is(ids::HAS_TYPE_DEFINITION) {
        // OPC 10000-3, 7.13
        matches!(
            (source.node_class, target.node_class),
            (C::Object, C::ObjectType) | (C::Variable, C::VariableType)
        )
    } else if is(ids::HAS_MODELLING_RULE) {
        // OPC 10000-3, 7.12
        matches!(source.node_class, C::Object | C::Variable | C::Method)
            && target.node_class == C::Object
    } else {
        true
    };
    if allowed {
        Ok(())
    } else {
        Err(AddressSpaceError::ReferenceNotAllowed(
            reference_type.clone(),
        ))
    }
}

/// Rejects ReferenceTypes whose references a node gets only when it is added, and keeps.
pub(super) fn check_added_reference(
    view: &View<'_>,
    reference_type: &NodeId,
) -> Result<(), AddressSpaceError> {
    let fixed = [ids::HAS_TYPE_DEFINITION, ids::HAS_SUBTYPE];
    if fixed
        .iter()
        .any(|fixed| view.is_subtype_of(reference_type, NodeIdRef::from(*fixed)))
    {
        return Err(AddressSpaceError::ReferenceNotAllowed(
            reference_type.clone(),
        ));
    }
    Ok(())
}
