//! Publishers and subscribers of this project that are connected only by a broker.

use std::sync::Arc;
use std::time::Instant;

use takt_cell::Cell;
use takt_pubsub::publisher::{FieldSource, PublishedField};
use takt_pubsub::runtime::{PubSub, RuntimeOptions};
use takt_pubsub::subscriber::{ReceivedDataSet, SubscribedField, SubscriberObserver};
use takt_ua::enumerations::{
    BrokerTransportQualityOfService, DataSetFieldContentMask, JsonDataSetMessageContentMask,
    JsonNetworkMessageContentMask, UadpNetworkMessageContentMask,
};
use takt_ua::structures::{
    BrokerDataSetReaderTransportDataType, BrokerDataSetWriterTransportDataType,
    DataSetMetaDataType, DataSetReaderDataType, DataSetWriterDataType, FieldMetaData,
    JsonDataSetReaderMessageDataType, JsonDataSetWriterMessageDataType,
    JsonWriterGroupMessageDataType, NetworkAddressUrlDataType, PubSubConfiguration2DataType,
    PubSubConnectionDataType, PublishedDataSetDataType, ReaderGroupDataType,
    UadpWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_ua::{DataValue, DateTime, ExtensionObject, NodeId, StatusCode, Variant};

use crate::mosquitto::Broker;
use crate::mosquitto::common::PATIENCE;

/// Passes on the names and values of received fields.
struct Names(std::sync::mpsc::Sender<Vec<(String, Variant)>>);

impl SubscriberObserver for Names {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let names = &received.reader.meta_data().fields;
        let named = |(index, value): (usize, DataValue)| {
            let name = names.get(index).map(|field| field.name.to_string());
            (name.unwrap_or_default(), value.value.unwrap_or_default())
        };
        // The receiver may have ended.
        let _ = self.0.send(received.fields().map(named).collect());
    }
}

/// Returns a Publisher of one Double, `Speed`, and a Subscriber that has no metadata; both know the topics.
fn publisher_and_subscriber(
    url: &str,
    group: ExtensionObject,
    writer: ExtensionObject,
    reader: ExtensionObject,
) -> PubSubConfiguration2DataType {
    let connection = |name: &str| PubSubConnectionDataType {
        name: name.into(),
        enabled: true,
        publisher_id: Variant::UInt16(7),
        address: ExtensionObject::from_structure(&NetworkAddressUrlDataType {
            url: url.into(),
            ..NetworkAddressUrlDataType::default()
        }),
        ..PubSubConnectionDataType::default()
    };
    let queues = BrokerDataSetWriterTransportDataType {
        queue_name: "machine/data".into(),
        meta_data_queue_name: "machine/metadata".into(),
        requested_delivery_guarantee: BrokerTransportQualityOfService::AtLeastOnce,
        ..BrokerDataSetWriterTransportDataType::default()
    };
    let reader_queues = BrokerDataSetReaderTransportDataType {
        queue_name: queues.queue_name.clone(),
        meta_data_queue_name: queues.meta_data_queue_name.clone(),
        requested_delivery_guarantee: queues.requested_delivery_guarantee,
        ..BrokerDataSetReaderTransportDataType::default()
    };
    PubSubConfiguration2DataType {
        enabled: true,
        published_data_sets: vec![PublishedDataSetDataType {
            name: "Machine".into(),
            data_set_meta_data: DataSetMetaDataType {
                fields: vec![FieldMetaData {
                    name: "Speed".into(),
                    built_in_type: 11,
                    data_type: NodeId::numeric(0, 11),
                    value_rank: -1,
                    ..FieldMetaData::default()
                }],
                ..DataSetMetaDataType::default()
            },
            ..PublishedDataSetDataType::default()
        }],
        connections: vec![
            PubSubConnectionDataType {
                writer_groups: vec![WriterGroupDataType {
                    name: "Fast".into(),
                    enabled: true,
                    writer_group_id: 3,
                    publishing_interval: 20.0,
                    message_settings: group,
                    data_set_writers: vec![DataSetWriterDataType {
                        name: "Speeds".into(),
                        enabled: true,
                        data_set_writer_id: 5,
                        key_frame_count: 1,
                        data_set_name: "Machine".into(),
                        // Without its metadata it cannot be understood.
                        data_set_field_content_mask: DataSetFieldContentMask::RawData,
                        message_settings: writer,
                        transport_settings: ExtensionObject::from_structure(&queues),
                        ..DataSetWriterDataType::default()
                    }],
                    ..WriterGroupDataType::default()
                }],
                ..connection("Out")
            },
            PubSubConnectionDataType {
                reader_groups: vec![ReaderGroupDataType {
                    name: "Readers".into(),
                    enabled: true,
                    data_set_readers: vec![DataSetReaderDataType {
                        name: "Reader".into(),
                        enabled: true,
                        publisher_id: Variant::UInt16(7),
                        data_set_writer_id: 5,
                        message_settings: reader,
                        transport_settings: ExtensionObject::from_structure(&reader_queues),
                        ..DataSetReaderDataType::default()
                    }],
                    ..ReaderGroupDataType::default()
                }],
                ..connection("In")
            },
        ],
        ..PubSubConfiguration2DataType::default()
    }
}

#[test]
fn publishers_and_subscribers_meet_at_the_broker_in_json_and_uadp() {
    let json = (
        ExtensionObject::from_structure(&JsonWriterGroupMessageDataType {
            network_message_content_mask: JsonNetworkMessageContentMask::NetworkMessageHeader
                | JsonNetworkMessageContentMask::DataSetMessageHeader
                | JsonNetworkMessageContentMask::PublisherId,
        }),
        ExtensionObject::from_structure(&JsonDataSetWriterMessageDataType {
            data_set_message_content_mask: JsonDataSetMessageContentMask::DataSetWriterId
                | JsonDataSetMessageContentMask::SequenceNumber
                | JsonDataSetMessageContentMask::FieldEncoding2,
        }),
        ExtensionObject::from_structure(&JsonDataSetReaderMessageDataType::default()),
    );
    let uadp = (
        ExtensionObject::from_structure(&UadpWriterGroupMessageDataType {
            network_message_content_mask: UadpNetworkMessageContentMask::PublisherId
                | UadpNetworkMessageContentMask::PayloadHeader,
            ..UadpWriterGroupMessageDataType::default()
        }),
        ExtensionObject::NULL,
        ExtensionObject::NULL,
    );
    for (group, writer, reader) in [json, uadp] {
        // Each run has its own broker, because brokers retain metadata.
        let broker = Broker::start("allow_anonymous true");
        let url = format!("mqtt://127.0.0.1:{}", broker.port);
        let configuration = publisher_and_subscriber(&url, group, writer, reader);
        let (names, received) = std::sync::mpsc::channel();
        let cell = Arc::new(Cell::of(&Variant::Double(21.0)));
        let mut source = |_: PublishedField<'_>| Some(FieldSource::Cell(cell.clone()));
        let mut target = |_: SubscribedField<'_>| None;
        let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
            Box::new(Names(names.clone()))
        };
        let options = RuntimeOptions::default();
        let _running = PubSub::start(
            &configuration,
            &mut source,
            &mut target,
            &mut observers,
            &options,
        )
        .unwrap();
        let wait_for = |value: f64| {
            let wanted = vec![("Speed".to_owned(), Variant::Double(value))];
            let end = Instant::now() + PATIENCE;
            loop {
                let found = received.recv_timeout(PATIENCE).unwrap();
                if found == wanted {
                    return;
                }
                assert!(Instant::now() < end, "{found:?}");
            }
        };
        wait_for(21.0);
        let (value, now) = (Variant::Double(22.5), DateTime::now());
        cell.set(&value, StatusCode::Good, now).unwrap();
        wait_for(22.5);
    }
}

#[test]
fn metadata_is_sent_again_after_its_update_time() {
    let broker = Broker::start("allow_anonymous true");
    let url = format!("mqtt://127.0.0.1:{}", broker.port);
    let settings = ExtensionObject::from_structure(&UadpWriterGroupMessageDataType::default());
    let null = || ExtensionObject::NULL;
    let mut configuration = publisher_and_subscriber(&url, settings, null(), null());
    let writer = &mut configuration.connections[0].writer_groups[0].data_set_writers[0];
    let queues: BrokerDataSetWriterTransportDataType =
        writer.transport_settings.decode_as().unwrap();
    writer.transport_settings =
        ExtensionObject::from_structure(&BrokerDataSetWriterTransportDataType {
            meta_data_update_time: 100.0,
            ..queues
        });
    configuration.connections.truncate(1);
    let mut source = |_: PublishedField<'_>| Some(FieldSource::Constant(DataValue::good(1.0)));
    let mut target = |_: SubscribedField<'_>| None;
    let mut observers =
        |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
    let options = RuntimeOptions::default();
    let mut link = options.link.clone();
    link.mqtt.topic = "machine/metadata".to_owned();
    let mut receiver = takt_link::open_receiver(&url.parse().unwrap(), &link).unwrap();
    let _running = PubSub::start(
        &configuration,
        &mut source,
        &mut target,
        &mut observers,
        &options,
    )
    .unwrap();
    let end = Instant::now() + PATIENCE;
    let mut times = Vec::new();
    while times.len() < 4 {
        assert!(Instant::now() < end, "{times:?}");
        let wait = std::time::Duration::from_millis(20);
        let received = receiver.receive(wait, &mut |_| times.push(Instant::now()));
        // The broker may not be reachable yet.
        let _ = received;
    }
}
