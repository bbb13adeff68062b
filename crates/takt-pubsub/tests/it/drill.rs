//! Configuration of a Responder.

use std::time::Duration;

use takt_pubsub::action::ActionMapping;
use takt_ua::structures::{
    ActionTargetDataType, DataSetMetaDataType, DataSetWriterDataType, FieldMetaData,
    JsonWriterGroupMessageDataType, PubSubConfiguration2DataType, PubSubConnectionDataType,
    PublishedActionDataType, PublishedDataSetDataType, WriterGroupDataType,
};
use takt_ua::{BuiltInType, ExtensionObject, Variant};

pub(crate) fn fields(fields: &[(&str, BuiltInType)]) -> DataSetMetaDataType {
    let fields = fields.iter().map(|(name, built_in_type)| FieldMetaData {
        name: (*name).into(),
        built_in_type: *built_in_type as u8,
        value_rank: -1,
        ..FieldMetaData::default()
    });
    DataSetMetaDataType {
        name: "Drill".into(),
        fields: fields.collect(),
        ..DataSetMetaDataType::default()
    }
}

/// Returns a configuration with an Action `Drill` with target 3: depth and speed are arguments, time is the result.
pub(crate) fn configuration(
    mapping: ActionMapping,
    interval: Duration,
) -> PubSubConfiguration2DataType {
    let source = PublishedActionDataType {
        request_data_set_meta_data: fields(&[
            ("Depth", BuiltInType::Double),
            ("Speed", BuiltInType::UInt32),
        ]),
        action_targets: vec![ActionTargetDataType {
            action_target_id: 3,
            name: "Left".into(),
            ..ActionTargetDataType::default()
        }],
    };
    let group = WriterGroupDataType {
        name: "Tools".into(),
        enabled: true,
        writer_group_id: 1,
        publishing_interval: interval.as_secs_f64() * 1000.0,
        message_settings: match mapping {
            ActionMapping::Uadp => ExtensionObject::NULL,
            ActionMapping::Json => {
                ExtensionObject::from_structure(&JsonWriterGroupMessageDataType::default())
            }
        },
        data_set_writers: vec![DataSetWriterDataType {
            name: "Drill".into(),
            enabled: true,
            data_set_writer_id: 8,
            data_set_name: "Drill".into(),
            ..DataSetWriterDataType::default()
        }],
        ..WriterGroupDataType::default()
    };
    PubSubConfiguration2DataType {
        enabled: true,
        published_data_sets: vec![PublishedDataSetDataType {
            name: "Drill".into(),
            data_set_meta_data: fields(&[("Time", BuiltInType::Double)]),
            data_set_source: ExtensionObject::from_structure(&source),
            ..PublishedDataSetDataType::default()
        }],
        connections: vec![PubSubConnectionDataType {
            name: "Machine".into(),
            enabled: true,
            publisher_id: Variant::UInt16(17),
            writer_groups: vec![group],
            ..PubSubConnectionDataType::default()
        }],
        ..PubSubConfiguration2DataType::default()
    }
}
