//! Replacement of single attributes of nodes (OPC 10000-4, 5.11.4): those that the owner of a node may write.
//!
//! NodeId, NodeClass and BrowseName identify a node, and IsAbstract, DataType, ValueRank and ArrayDimensions are conditions under which
//! values and instances of it were accepted. A node is deleted and added again to change them.

use std::sync::Arc;

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::{DateTime, ExtensionObject, LocalizedText, NodeId, StatusCode, Variant, VariantRef};

use super::counted::Counted;
use super::data_type_definition;
use super::edit::Edit;
use super::node::{Base, Binding, Node, NodeRef};
use super::{AddressSpaceError, ClassAttributes, Fit, NodeDefinition};
use crate::change::{AttributeChange, Change, ValueStamp};
use crate::stored::StoredValue;
use crate::value::Value;

/// AttributeIds (OPC 10000-6, A.1).
const DISPLAY_NAME: u32 = 4;
const DESCRIPTION: u32 = 5;
const EVENT_NOTIFIER: u32 = 12;
pub(super) const VALUE: u32 = 13;
const ACCESS_LEVEL: u32 = 17;
const USER_ACCESS_LEVEL: u32 = 18;
const DATA_TYPE_DEFINITION: u32 = 23;

/// Bits of an AccessLevel that exist (OPC 10000-3, 8.57).
const ACCESS_LEVELS: u8 = 0x7F;

impl NodeRef<'_> {
    /// Returns the WriteMask that the owner of an added node has (OPC 10000-3, 8.60); 0 for nodes of the standard.
    #[must_use]
    pub fn owner_write_mask(&self) -> u32 {
        const ACCESS_LEVEL: u32 = 1 << 0;
        const DESCRIPTION: u32 = 1 << 5;
        const DISPLAY_NAME: u32 = 1 << 6;
        const EVENT_NOTIFIER: u32 = 1 << 7;
        const DATA_TYPE_DEFINITION: u32 = 1 << 22;
        let Some(definition) = self.definition() else {
            return 0;
        };
        let of_class = match &definition.attributes {
            ClassAttributes::Object { .. } | ClassAttributes::View { .. } => EVENT_NOTIFIER,
            ClassAttributes::Variable(_) => ACCESS_LEVEL,
            ClassAttributes::DataType { .. } => DATA_TYPE_DEFINITION,
            _ => 0,
        };
        DISPLAY_NAME | DESCRIPTION | of_class
    }
}

impl Edit<'_> {
    /// Checks the replacement of an attribute of a node and returns the change. The caller has checked that the client owns the
    /// node. Value is written only if it is stored; `time` is its source timestamp, or else now.
    ///
    /// # Errors
    /// The StatusCode of the Write.
    pub fn plan_set_attribute(
        &self,
        node_id: &NodeId,
        attribute_id: u32,
        value: Variant,
        time: Option<DateTime>,
    ) -> Result<Change, StatusCode> {
        let view = self.view();
        let node = view.node(node_id).ok_or(StatusCode::BadNodeIdUnknown)?;
        let definition = node.definition().ok_or(StatusCode::BadNotWritable)?;
        let mut previous_stamp = None;
        let previous = match attribute_id {
            VALUE => {
                let Some(Value::Stored(stored)) = node.value() else {
                    return Err(StatusCode::BadNotWritable);
                };
                let variable = node.variable().ok_or(StatusCode::BadAttributeIdInvalid)?;
                let encoded = value.encode_to_vec();
                let value = VariantRef::decode(&mut Decoder::new(&encoded));
                let value = value.map_err(|error| error.status_code())?;
                if view.check_value(&node, &variable, &value, false)? != Fit::Exactly {
                    return Err(StatusCode::BadTypeMismatch);
                }
                stored.read_encoded(|encoded, status, source_timestamp| {
                    let mut decoder = Decoder::with_limits(encoded, StoredValue::LIMITS);
                    previous_stamp = Some(ValueStamp {
                        status,
                        source_timestamp,
                    });
                    Variant::decode(&mut decoder).unwrap_or_default()
                })
            }
            DISPLAY_NAME | DESCRIPTION | DATA_TYPE_DEFINITION if value.is_empty() => {
                return Err(StatusCode::BadTypeMismatch);
            }
            _ => {
                let mut definition = definition.clone();
                let previous = replace(&mut definition, attribute_id, value.clone())?;
                data_type_definition::check_node(&definition)
                    .map_err(|error| error.status_code())?;
                previous
            }
        };
        Ok(Change::SetAttribute(Box::new(AttributeChange {
            node_id: node_id.clone(),
            attribute_id,
            value,
            stamp: (attribute_id == VALUE).then(|| ValueStamp {
                status: StatusCode::Good,
                source_timestamp: time.unwrap_or_else(DateTime::now),
            }),
            previous,
            previous_stamp,
        })))
    }

    /// Replaces an attribute of an added node.
    ///
    /// # Errors
    /// There is no such node, or it has no such attribute.
    pub(super) fn set_attribute(
        &mut self,
        change: &AttributeChange,
    ) -> Result<(), AddressSpaceError> {
        let node_id = &change.node_id;
        let unknown = || AddressSpaceError::NodeIdUnknown(node_id.clone());
        let nodes = self.space.nodes.pin();
        let node = nodes.get(node_id).map(Arc::clone).ok_or_else(unknown)?;
        let Base::Added(definition) = &node.base else {
            return Err(AddressSpaceError::NoDeleteRights(node_id.clone()));
        };
        // The value before was counted, too.
        let grown = size(&change.value);
        let shrunk = size(&change.previous);
        if change.attribute_id == VALUE {
            let binding = node.binding();
            let Some(Binding::Value(Value::Stored(stored))) = binding.as_deref() else {
                return Err(AddressSpaceError::NoBinding(node_id.clone()));
            };
            let (encoded, memory) = (change.value.encode_to_vec(), &self.space.memory);
            let stamp = change.stamp.unwrap_or_else(|| ValueStamp {
                status: StatusCode::Good,
                source_timestamp: DateTime::now(),
            });
            // The change may be durable already, so it is not refused for want of memory.
            stored.set_accepted(&encoded, stamp.status, stamp.source_timestamp, memory);
        } else {
            let mut definition = definition.clone();
            replace(&mut definition, change.attribute_id, change.value.clone())
                .map_err(AddressSpaceError::Refused)?;
            let mut changed = node.redefined(definition);
            changed.counted = node
                .counted
                .as_ref()
                .map(|counted| counted.resized(grown, shrunk));
            let changed = Arc::new(changed);
            // A binding that becomes writable counts before clients see it, and one that does not counts until then.
            self.count_remote(&changed);
            nodes.insert(node_id.clone(), Arc::clone(&changed));
            self.discount_remote(&node);
            let total = |node: &Node| node.counted.as_deref().map_or(0, Counted::total);
            self.recount(total(&node), total(&changed));
        }
        Ok(())
    }
}

/// Returns the bytes that a value of an attribute counts.
fn size(value: &Variant) -> usize {
    match value {
        Variant::ExtensionObject(object) => object.encode_to_vec().len(),
        Variant::LocalizedText(text) => text.encode_to_vec().len(),
        _ => 0,
    }
}

/// Replaces an attribute, and returns the value before. An empty value stands for a missing attribute.
fn replace(
    definition: &mut NodeDefinition,
    attribute_id: u32,
    value: Variant,
) -> Result<Variant, StatusCode> {
    let mismatch = StatusCode::BadTypeMismatch;
    match (attribute_id, &mut definition.attributes) {
        (DISPLAY_NAME, _) => replace_text(&mut definition.display_name, value),
        (DESCRIPTION, _) => replace_text(&mut definition.description, value),
        (
            EVENT_NOTIFIER,
            ClassAttributes::Object { event_notifier }
            | ClassAttributes::View { event_notifier, .. },
        ) => {
            let new = u8::try_from(value).map_err(|_| mismatch)?;
            Ok(std::mem::replace(event_notifier, new).into())
        }
        (ACCESS_LEVEL, ClassAttributes::Variable(variable)) => {
            let new = u8::try_from(value).map_err(|_| mismatch)?;
            if new & !ACCESS_LEVELS != 0 {
                return Err(StatusCode::BadOutOfRange);
            }
            let [before, ..] = variable.access_level.to_le_bytes();
            variable.access_level = variable.access_level & !0xFF | u32::from(new);
            Ok(before.into())
        }
        (USER_ACCESS_LEVEL, ClassAttributes::Variable(_)) => Err(StatusCode::BadNotWritable),
        (
            DATA_TYPE_DEFINITION,
            ClassAttributes::DataType {
                definition: before, ..
            },
        ) => {
            let new = match value {
                Variant::Empty => None,
                value => {
                    let object = ExtensionObject::try_from(value).map_err(|_| mismatch)?;
                    Some(Box::new(object))
                }
            };
            let before = std::mem::replace(before, new);
            Ok(before.map_or(Variant::Empty, |object| (*object).into()))
        }
        _ => Err(StatusCode::BadNotWritable),
    }
}

fn replace_text(
    text: &mut Option<Box<LocalizedText>>,
    value: Variant,
) -> Result<Variant, StatusCode> {
    let new = match value {
        Variant::Empty => None,
        value => {
            let text = LocalizedText::try_from(value);
            Some(Box::new(text.map_err(|_| StatusCode::BadTypeMismatch)?))
        }
    };
    let before = std::mem::replace(text, new);
    Ok(before.map_or(Variant::Empty, |text| (*text).into()))
}

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;
    use takt_ua::enumerations::NodeClass;
    use takt_ua::structures::{
        AddNodesItem, GenericAttributeValue, GenericAttributes, StructureDefinition,
        StructureField, VariableAttributes,
    };
    use takt_ua::{ByteString, DataValue, QualifiedName, ids};

    use super::*;
    use crate::{AddressSpace, NewBinding};

    /// Returns an address space with a Variable that a client has added.
    fn with_variable(memory: usize) -> (AddressSpace, NodeId) {
        let space = AddressSpace::new("urn:test", 10, 10, MemoryBudget::new(memory));
        let attributes = VariableAttributes {
            specified_attributes: 1 << 4,
            data_type: ids::BYTE_STRING.into(),
            ..VariableAttributes::default()
        };
        let item = AddNodesItem {
            parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
            reference_type_id: ids::HAS_COMPONENT.into(),
            requested_new_node_id: NodeId::numeric(1, 1).into(),
            browse_name: QualifiedName::new(1, "V"),
            node_class: NodeClass::Variable,
            node_attributes: ExtensionObject::from_structure(&attributes),
            type_definition: NodeId::from(ids::BASE_DATA_VARIABLE_TYPE).into(),
        };
        space.apply(&Change::AddNode(Box::new(item))).unwrap();
        (space, NodeId::numeric(1, 1))
    }

    #[test]
    fn a_value_for_which_memory_was_reserved_is_never_refused() {
        let mut accepted = 0;
        for kilobytes in (100..2500).step_by(100) {
            let (space, node) = with_variable(kilobytes << 10);
            let value = Variant::from(ByteString::from(vec![0; 500 << 10]));
            let mut edit = space.edit();
            let change = edit.plan_set_attribute(&node, VALUE, value.clone(), None);
            let change = change.unwrap();
            let Ok(reserved) = edit.reserve_memory(std::slice::from_ref(&change)) else {
                continue;
            };
            drop(reserved);
            edit.apply(&change, NewBinding::default()).unwrap();
            accepted += 1;
            let node = edit.view();
            let node = node.node(&NodeId::numeric(1, 1)).unwrap();
            let Some(Value::Stored(stored)) = node.value() else {
                panic!("{:?}", node.value());
            };
            assert_eq!(stored.get().value, Some(value));
        }
        // Two values of 500 KiB need 1000 KiB.
        assert_eq!(accepted, 14);
    }

    /// Returns a DataType, with two fields of one name.
    fn with_equal_fields() -> AddNodesItem {
        let field = StructureField {
            name: "A".into(),
            data_type: ids::INT32.into(),
            value_rank: -1,
            ..StructureField::default()
        };
        let definition = StructureDefinition {
            base_data_type: ids::STRUCTURE.into(),
            fields: vec![field.clone(), field],
            ..StructureDefinition::default()
        };
        let attributes = GenericAttributes {
            attribute_values: vec![GenericAttributeValue {
                attribute_id: DATA_TYPE_DEFINITION,
                value: ExtensionObject::from_structure(&definition).into(),
            }],
            ..GenericAttributes::default()
        };
        AddNodesItem {
            parent_node_id: NodeId::from(ids::STRUCTURE).into(),
            reference_type_id: ids::HAS_SUBTYPE.into(),
            requested_new_node_id: NodeId::numeric(1, 2).into(),
            browse_name: QualifiedName::new(1, "T"),
            node_class: NodeClass::DataType,
            node_attributes: ExtensionObject::from_structure(&attributes),
            type_definition: NodeId::NULL.into(),
        }
    }

    #[test]
    fn a_data_type_definition_is_checked_when_a_client_sends_it_and_not_when_it_is_restored() {
        let space = AddressSpace::new("urn:test", 10, 10, MemoryBudget::new(1 << 20));
        let item = with_equal_fields();
        let planned = space.edit().plan_add_node(item.clone(), &|_| None);
        let invalid = |error| matches!(error, Err(AddressSpaceError::NodeAttributesInvalid(_)));
        assert!(invalid(planned.map(|_| ())));
        // One of another server, in a mirror.
        assert!(invalid(space.edit().add_item(&item)));
        // Earlier versions have accepted and stored such a DataType.
        let node = item.requested_new_node_id.node_id.clone();
        let stored: GenericAttributes = item.node_attributes.decode_as().unwrap();
        space.apply(&Change::AddNode(Box::new(item))).unwrap();
        let value = stored.attribute_values[0].value.clone();
        let planned =
            space
                .edit()
                .plan_set_attribute(&node, DATA_TYPE_DEFINITION, value.clone(), None);
        assert_eq!(planned, Err(StatusCode::BadNodeAttributesInvalid));
        space
            .apply(&Change::SetAttribute(Box::new(AttributeChange {
                node_id: node,
                attribute_id: DATA_TYPE_DEFINITION,
                value,
                stamp: None,
                previous: Variant::Empty,
                previous_stamp: None,
            })))
            .unwrap();
    }

    #[test]
    fn a_change_that_is_taken_back_restores_value_status_time_and_memory() {
        let (space, node) = with_variable(1 << 20);
        let stamped = |space: &AddressSpace| {
            let view = space.view();
            let Some(Value::Stored(stored)) = view.node(&node).unwrap().value() else {
                panic!("it is stored");
            };
            let DataValue {
                value,
                status,
                source_timestamp,
                ..
            } = stored.get();
            (value, status, source_timestamp)
        };
        let before = stamped(&space);
        assert_eq!(before.1, Some(StatusCode::BadWaitingForInitialData));
        let used = |space: &AddressSpace| space.view().memory().used();
        let memory = used(&space);
        let time = DateTime::from_unix_nanos(100);
        let text = |length: usize| Variant::from(LocalizedText::from("x".repeat(length).as_str()));
        for (attribute, value, grown) in [
            (VALUE, Variant::from(ByteString::from(vec![1])), 0),
            (DESCRIPTION, text(5000), 5000),
            (DISPLAY_NAME, text(3000), 3000),
            (ACCESS_LEVEL, 5_u8.into(), 0),
        ] {
            let mut edit = space.edit();
            let change = edit.plan_set_attribute(&node, attribute, value.clone(), Some(time));
            let Change::SetAttribute(change) = change.unwrap() else {
                panic!("it is another change");
            };
            let back = Change::SetAttribute(Box::new(change.opposite()));
            edit.apply(&Change::SetAttribute(change), NewBinding::default())
                .unwrap();
            let more = space.view().memory().used() - memory;
            assert!((grown..grown + 20).contains(&more), "{attribute}: {more}");
            if attribute == VALUE {
                let written = (Some(value), Some(StatusCode::Good), Some(time));
                assert_eq!(stamped(&space), written);
            }
            edit.apply(&back, NewBinding::default()).unwrap();
            assert!(
                used(&space) - memory < 20,
                "{attribute}: {}",
                used(&space) - memory
            );
            assert_eq!(stamped(&space), before);
        }
        space.edit().delete_node(&node, true).unwrap();
        assert_eq!(used(&space), 0);
    }
}
