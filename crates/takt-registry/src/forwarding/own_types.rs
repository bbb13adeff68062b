//! Values with NodeIds of a Provider, and structures of its own types: the index of its namespace is another one at the registry.

use takt_space::RemoteResults;
use takt_ua::{Elements, NodeId, Variant};

/// Indexes of a Provider's namespace at the sender and at the receiver of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Indexes {
    pub(super) from: u16,
    pub(super) to: u16,
}

impl Indexes {
    /// Replaces the index in the results of Reads and Calls.
    pub(super) fn replace_in_results(self, results: &mut RemoteResults) {
        match results {
            RemoteResults::Read(values) => {
                for value in values.iter_mut().filter_map(|value| value.value.as_mut()) {
                    self.replace(value);
                }
            }
            RemoteResults::Call(results) => {
                for result in results {
                    self.replace_in(&mut result.output_arguments);
                }
            }
            RemoteResults::Write(_) => {}
        }
    }

    /// Replaces the index in values.
    pub(super) fn replace_in(self, values: &mut [Variant]) {
        for value in values {
            self.replace(value);
        }
    }

    /// Replaces the index in NodeIds, and in the TypeIds of structures. Bodies of structures stay as they are: only their type
    /// knows their fields.
    pub(super) fn replace(self, value: &mut Variant) {
        match value {
            Variant::ExtensionObject(object) => self.replace_node(&mut object.type_id),
            Variant::NodeId(node) => self.replace_node(node),
            Variant::ExpandedNodeId(node) if node.is_local() => {
                self.replace_node(&mut node.node_id);
            }
            Variant::Array(array) => match &mut array.elements {
                Elements::ExtensionObject(objects) => {
                    for object in objects {
                        self.replace_node(&mut object.type_id);
                    }
                }
                Elements::NodeId(nodes) => {
                    for node in nodes {
                        self.replace_node(node);
                    }
                }
                Elements::Variant(values) => self.replace_in(values),
                _ => {}
            },
            _ => {}
        }
    }

    fn replace_node(self, node: &mut NodeId) {
        if node.namespace == self.from {
            node.namespace = self.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::{ExtensionObject, ExtensionObjectBody};

    use super::*;

    fn structure(namespace: u16) -> ExtensionObject {
        ExtensionObject {
            type_id: NodeId::string(namespace, "#Recipe#Default Binary"),
            body: ExtensionObjectBody::Binary(vec![1]),
        }
    }

    #[test]
    fn type_ids_get_the_index_of_the_receiver() {
        let both = |namespace: u16| -> [Variant; 6] {
            [
                NodeId::numeric(namespace, 5).into(),
                vec![NodeId::numeric(namespace, 6)].into(),
                structure(namespace).into(),
                vec![structure(namespace); 2].into(),
                vec![Variant::from(structure(namespace))].into(),
                1.5.into(),
            ]
        };
        let mut values = both(1);
        Indexes { from: 1, to: 7 }.replace_in(&mut values);
        assert_eq!(values, both(7));
        let mut other = both(2);
        Indexes { from: 1, to: 7 }.replace_in(&mut other);
        assert_eq!(other, both(2), "another namespace");
    }
}
