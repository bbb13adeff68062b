//! Nodes of the server of an attacker: names and values are long.

use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{ReadValueId, ReferenceDescription};
use takt_ua::{ByteString, DataValue, NodeId, QualifiedName, UaString, Variant, ids};

/// Length of the names of the server.
const NAME: usize = 2_000;

/// One node of so many is a Variable.
const VARIABLES: u32 = 15;

/// Length of a value that a mirror keeps.
pub(crate) const VALUE: usize = 60_000;

/// Attributes of a node (OPC 10000-6, A.1).
mod attribute {
    pub(super) const BROWSE_NAME: u32 = 3;
    pub(super) const EVENT_NOTIFIER: u32 = 12;
    pub(super) const VALUE: u32 = 13;
    pub(super) const DATA_TYPE: u32 = 14;
    pub(super) const VALUE_RANK: u32 = 15;
    pub(super) const ACCESS_LEVEL: u32 = 17;
    pub(super) const USER_ACCESS_LEVEL: u32 = 18;
}

/// Returns a reference to a node of a Session.
pub(crate) fn reference(session: u32, number: u32) -> ReferenceDescription {
    let is_variable = number.is_multiple_of(VARIABLES);
    ReferenceDescription {
        reference_type_id: NodeId::from(ids::ORGANIZES),
        is_forward: true,
        // Nodes of the same place differ from one Session to the next: a mirror has to replace all of them.
        node_id: NodeId::string(1, format!("{session}.{number}").as_str()).into(),
        browse_name: QualifiedName::new(1, format!("{session}.{number:x>NAME$}").as_str()),
        node_class: match is_variable {
            true => NodeClass::Variable,
            false => NodeClass::Object,
        },
        type_definition: match is_variable {
            true => NodeId::from(ids::BASE_DATA_VARIABLE_TYPE).into(),
            false => NodeId::from(ids::FOLDER_TYPE).into(),
        },
        ..ReferenceDescription::default()
    }
}

/// Returns an attribute.
pub(crate) fn read(read: &ReadValueId) -> DataValue {
    let value: Variant = match (read.node_id.standard_id(), read.attribute_id) {
        (Some(ids::SERVER_NAMESPACE_ARRAY), attribute::VALUE) => vec![
            UaString::from("http://opcfoundation.org/UA/"),
            UaString::from("urn:hostile"),
        ]
        .into(),
        (None, attribute::VALUE) => Variant::ByteString(ByteString::from(vec![b'y'; VALUE])),
        (_, attribute::BROWSE_NAME) => QualifiedName::new(1, "Type").into(),
        (None, attribute::EVENT_NOTIFIER) => Variant::Byte(0),
        (None, attribute::DATA_TYPE) => NodeId::from(ids::BYTE_STRING).into(),
        (None, attribute::VALUE_RANK) => Variant::Int32(-1),
        (None, attribute::ACCESS_LEVEL | attribute::USER_ACCESS_LEVEL) => Variant::Byte(1),
        _ => return DataValue::default(),
    };
    DataValue::good(value)
}
