//! Namespace indexes of two servers: NodeIds, names and values of the one, with the indexes of the other.
//!
//! The same namespace has different indexes at two servers (OPC 10000-3, 8.2.2). A server that shows nodes of another one
//! replaces the indexes in both directions.

use crate::structures::{
    Argument, AttributeOperand, EventFilter, LiteralOperand, SimpleAttributeOperand,
};
use crate::{DataValue, Elements, ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, Variant};

/// Index of a namespace that the receiver does not have. A NamespaceArray never grows to it.
const UNKNOWN: u16 = u16::MAX;

/// Largest depth of values in values; deeper ones keep their indexes.
const MAX_DEPTH: usize = 16;

/// Map from the namespace indexes of one server to those of another.
///
/// Bodies of structures stay as they are, except for Arguments: only the DataType of a body tells where it has NodeIds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamespaceMap {
    /// Index at the other server, by the index at the first one.
    to: Vec<Option<u16>>,
    /// The same for DataTypes and encodings, where they have other indexes.
    types: Option<Vec<Option<u16>>>,
}

impl NamespaceMap {
    /// Creates the map between two NamespaceArrays. An empty URI names no namespace.
    pub fn between<A: AsRef<str>, B: AsRef<str>>(from: &[A], to: &[B]) -> Self {
        let index = |uri: &A| {
            if uri.as_ref().is_empty() {
                return None;
            }
            let position = to.iter().position(|known| known.as_ref() == uri.as_ref());
            position.and_then(|position| u16::try_from(position).ok())
        };
        Self {
            to: from.iter().map(index).collect(),
            types: None,
        }
    }

    /// Creates the map from indexes at the other server, by the index at the first one: those of instances, and those of types.
    pub fn from_indexes(to: Vec<Option<u16>>, types: Vec<Option<u16>>) -> Self {
        Self {
            to,
            types: Some(types),
        }
    }

    /// Returns the index at the other server; `None` if it does not have the namespace.
    pub fn index(&self, index: u16) -> Option<u16> {
        self.to.get(usize::from(index)).copied().flatten()
    }

    /// Returns a NodeId at the other server. It does not exist there if the namespace does not.
    pub fn node_id(&self, node: &NodeId) -> NodeId {
        NodeId {
            namespace: self.index(node.namespace).unwrap_or(UNKNOWN),
            identifier: node.identifier.clone(),
        }
    }

    /// Returns the NodeId of a type, or of an encoding, at the other server.
    pub fn type_id(&self, node: &NodeId) -> NodeId {
        NodeId {
            namespace: self.type_index(node.namespace).unwrap_or(UNKNOWN),
            identifier: node.identifier.clone(),
        }
    }

    /// Returns a name that types declare, for themselves and their instances, at the other server.
    pub fn type_name(&self, name: &QualifiedName) -> QualifiedName {
        QualifiedName {
            namespace: self.type_index(name.namespace).unwrap_or(UNKNOWN),
            name: name.name.clone(),
        }
    }

    fn type_index(&self, index: u16) -> Option<u16> {
        let types = self.types.as_ref().unwrap_or(&self.to);
        types.get(usize::from(index)).copied().flatten()
    }

    /// Replaces the index in a NodeId.
    pub fn replace_node_id(&self, node: &mut NodeId) {
        node.namespace = self.index(node.namespace).unwrap_or(UNKNOWN);
    }

    /// Replaces the index in an ExpandedNodeId of the same server that has no namespace URI.
    pub fn replace_expanded(&self, node: &mut ExpandedNodeId) {
        if node.namespace_uri.is_null() && node.server_index == 0 {
            self.replace_node_id(&mut node.node_id);
        }
    }

    /// Replaces the index in a name.
    pub fn replace_name(&self, name: &mut QualifiedName) {
        name.namespace = self.index(name.namespace).unwrap_or(UNKNOWN);
    }

    /// Replaces the indexes in the TypeId of a structure, and in an Argument (OPC 10000-3, 8.6).
    pub fn replace_structure(&self, object: &mut ExtensionObject) {
        if object.type_id.namespace != 0 {
            object.type_id = self.type_id(&object.type_id);
        } else if object.is::<Argument>()
            && let Ok(mut argument) = object.decode_as::<Argument>()
        {
            argument.data_type = self.type_id(&argument.data_type);
            *object = ExtensionObject::from_structure(&argument);
        }
    }

    /// Replaces the indexes in the filter of a MonitoredItem (OPC 10000-4, 7.22): only that of Events has any.
    pub fn replace_filter(&self, filter: &mut ExtensionObject) {
        let Ok(mut events) = filter.decode_as::<EventFilter>() else {
            return;
        };
        for clause in &mut events.select_clauses {
            self.replace_operand(clause);
        }
        let elements = events.where_clause.elements.iter_mut();
        for operand in elements.flat_map(|element| &mut element.filter_operands) {
            if let Ok(mut field) = operand.decode_as::<SimpleAttributeOperand>() {
                self.replace_operand(&mut field);
                *operand = ExtensionObject::from_structure(&field);
            } else if let Ok(mut literal) = operand.decode_as::<LiteralOperand>() {
                self.replace(&mut literal.value);
                *operand = ExtensionObject::from_structure(&literal);
            } else if let Ok(mut attribute) = operand.decode_as::<AttributeOperand>() {
                attribute.node_id = self.type_id(&attribute.node_id);
                for element in &mut attribute.browse_path.elements {
                    element.reference_type_id = self.type_id(&element.reference_type_id);
                    element.target_name = self.type_name(&element.target_name);
                }
                *operand = ExtensionObject::from_structure(&attribute);
            }
        }
        *filter = ExtensionObject::from_structure(&events);
    }

    fn replace_operand(&self, operand: &mut SimpleAttributeOperand) {
        operand.type_definition_id = self.type_id(&operand.type_definition_id);
        for name in &mut operand.browse_path {
            *name = self.type_name(name);
        }
    }

    /// Replaces the indexes in a value.
    pub fn replace(&self, value: &mut Variant) {
        self.replace_to_depth(value, MAX_DEPTH);
    }

    /// Replaces the indexes in values.
    pub fn replace_all(&self, values: &mut [Variant]) {
        for value in values {
            self.replace(value);
        }
    }

    fn replace_to_depth(&self, value: &mut Variant, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match value {
            Variant::NodeId(node) => self.replace_node_id(node),
            Variant::ExpandedNodeId(node) => self.replace_expanded(node),
            Variant::QualifiedName(name) => self.replace_name(name),
            Variant::ExtensionObject(object) => self.replace_structure(object),
            Variant::DataValue(value) => self.replace_in_data_value(value, depth),
            Variant::Array(array) => match &mut array.elements {
                Elements::NodeId(nodes) => {
                    nodes.iter_mut().for_each(|node| self.replace_node_id(node));
                }
                Elements::ExpandedNodeId(nodes) => {
                    nodes
                        .iter_mut()
                        .for_each(|node| self.replace_expanded(node));
                }
                Elements::QualifiedName(names) => {
                    names.iter_mut().for_each(|name| self.replace_name(name));
                }
                Elements::ExtensionObject(objects) => {
                    objects
                        .iter_mut()
                        .for_each(|object| self.replace_structure(object));
                }
                Elements::Variant(values) => {
                    for value in values {
                        self.replace_to_depth(value, depth);
                    }
                }
                Elements::DataValue(values) => {
                    for value in values {
                        self.replace_in_data_value(value, depth);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn replace_in_data_value(&self, value: &mut DataValue, depth: usize) {
        if let Some(value) = &mut value.value {
            self.replace_to_depth(value, depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ExtensionObjectBody;

    use super::*;
    use crate::structures::{ContentFilter, ContentFilterElement, DataChangeFilter};

    fn map() -> NamespaceMap {
        NamespaceMap::between(&["ua", "a", "b", "c"], &["ua", "x", "c", "a"])
    }

    fn structure(namespace: u16) -> ExtensionObject {
        ExtensionObject {
            type_id: NodeId::string(namespace, "#Recipe#Default Binary"),
            body: ExtensionObjectBody::Binary(vec![1]),
        }
    }

    #[test]
    fn indexes_follow_the_uris() {
        let map = map();
        let indexes = (0..5).map(|index| map.index(index));
        let expected = [Some(0), Some(3), None, Some(2), None];
        assert_eq!(indexes.collect::<Vec<_>>(), expected);
        assert_eq!(map.node_id(&NodeId::numeric(1, 7)), NodeId::numeric(3, 7));
        assert_eq!(map.node_id(&NodeId::numeric(2, 7)).namespace, UNKNOWN);
    }

    #[test]
    fn values_get_the_indexes_of_the_receiver() {
        let all = |namespace: u16| -> [Variant; 7] {
            [
                structure(namespace).into(),
                vec![structure(namespace); 2].into(),
                vec![Variant::from(structure(namespace))].into(),
                NodeId::numeric(namespace, 1).into(),
                vec![QualifiedName::new(namespace, "A")].into(),
                DataValue::good(NodeId::numeric(namespace, 1)).into(),
                1.5.into(),
            ]
        };
        let mut values = all(3);
        map().replace_all(&mut values);
        assert_eq!(values, all(2));
        let argument = Argument {
            data_type: NodeId::numeric(1, 5),
            ..Argument::default()
        };
        let mut value = Variant::from(vec![ExtensionObject::from_structure(&argument)]);
        map().replace(&mut value);
        let expected = Argument {
            data_type: NodeId::numeric(3, 5),
            ..Argument::default()
        };
        assert_eq!(
            value,
            Variant::from(vec![ExtensionObject::from_structure(&expected)])
        );
    }

    #[test]
    fn filters_of_events_get_the_indexes_of_the_receiver() {
        let filter = |namespace: u16| {
            let operand = SimpleAttributeOperand {
                type_definition_id: NodeId::numeric(namespace, 1),
                browse_path: vec![QualifiedName::new(namespace, "Field")],
                ..SimpleAttributeOperand::default()
            };
            let literal = LiteralOperand {
                value: NodeId::numeric(namespace, 2).into(),
            };
            let attribute = AttributeOperand {
                node_id: NodeId::numeric(namespace, 3),
                ..AttributeOperand::default()
            };
            ExtensionObject::from_structure(&EventFilter {
                select_clauses: vec![operand.clone()],
                where_clause: ContentFilter {
                    elements: vec![ContentFilterElement {
                        filter_operands: vec![
                            ExtensionObject::from_structure(&operand),
                            ExtensionObject::from_structure(&literal),
                            ExtensionObject::from_structure(&attribute),
                        ],
                        ..ContentFilterElement::default()
                    }],
                },
            })
        };
        let mut renumbered = filter(3);
        map().replace_filter(&mut renumbered);
        assert_eq!(renumbered, filter(2));
        // A filter of values has no NodeIds.
        let unchanged = ExtensionObject::from_structure(&DataChangeFilter::default());
        let mut renumbered = unchanged.clone();
        map().replace_filter(&mut renumbered);
        assert_eq!(renumbered, unchanged);
    }

    #[test]
    fn an_empty_uri_names_no_namespace() {
        let map = NamespaceMap::between(&["ua", ""], &["ua", ""]);
        assert_eq!((map.index(0), map.index(1)), (Some(0), None));
    }
}
