//! Structures of a Provider's own types: the index of its namespace in their TypeIds is another one at the registry.

use takt_space::RemoteResults;
use takt_ua::structures::HistoryData;
use takt_ua::{Elements, ExtensionObject, Variant};

/// Indexes of a Provider's namespace at the sender and at the receiver of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Indexes {
    pub(super) from: u16,
    pub(super) to: u16,
}

impl Indexes {
    /// Replaces the index in the results of Reads, HistoryReads and Calls.
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
            RemoteResults::History(results) => {
                for result in results {
                    self.replace_in_history(&mut result.history_data);
                }
            }
            RemoteResults::Write(_) => {}
        }
    }

    /// Replaces the index in HistoryData.
    fn replace_in_history(self, data: &mut ExtensionObject) {
        if self.from == self.to {
            return;
        }
        // Other kinds of history have no values.
        if let Ok(mut history) = data.decode_as::<HistoryData>() {
            let values = history.data_values.iter_mut();
            for value in values.filter_map(|value| value.value.as_mut()) {
                self.replace(value);
            }
            *data = ExtensionObject::from_structure(&history);
        }
    }

    /// Replaces the index in values.
    pub(super) fn replace_in(self, values: &mut [Variant]) {
        for value in values {
            self.replace(value);
        }
    }

    /// Replaces the index in the TypeIds of structures. Bodies stay as they are: only their type knows their fields.
    pub(super) fn replace(self, value: &mut Variant) {
        match value {
            Variant::ExtensionObject(object) => self.replace_type(object),
            Variant::Array(array) => match &mut array.elements {
                Elements::ExtensionObject(objects) => {
                    for object in objects {
                        self.replace_type(object);
                    }
                }
                Elements::Variant(values) => self.replace_in(values),
                _ => {}
            },
            _ => {}
        }
    }

    fn replace_type(self, object: &mut ExtensionObject) {
        if object.type_id.namespace == self.from {
            object.type_id.namespace = self.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::{ExtensionObjectBody, NodeId};

    use super::*;

    fn structure(namespace: u16) -> ExtensionObject {
        ExtensionObject {
            type_id: NodeId::string(namespace, "#Recipe#Default Binary"),
            body: ExtensionObjectBody::Binary(vec![1]),
        }
    }

    #[test]
    fn type_ids_get_the_index_of_the_receiver() {
        let both = |namespace: u16| -> [Variant; 4] {
            [
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
