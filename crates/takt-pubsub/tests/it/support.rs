//! Configurations for tests.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_ua::enumerations::{
    MessageSecurityMode, UadpDataSetMessageContentMask, UadpNetworkMessageContentMask,
};
use takt_ua::structures::{
    DataSetMetaDataType, DataSetReaderDataType, DataSetWriterDataType, FieldMetaData,
    FieldTargetDataType, PubSubConnectionDataType, PublishedDataItemsDataType,
    PublishedDataSetDataType, PublishedVariableDataType, ReaderGroupDataType,
    TargetVariablesDataType, UadpDataSetReaderMessageDataType, UadpDataSetWriterMessageDataType,
    UadpWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_ua::{DateTime, ExtensionObject, NodeId, UaString, Variant};

use takt_pubsub::Now;
use takt_pubsub::publisher::{Output, Reserved, WriterGroup};
use takt_pubsub::security::{KeyRing, PubSubSecurityPolicy, SecurityKeyUpdate};
use takt_pubsub::subscriber::{DataTarget, Subscriber};
use zeroize::Zeroizing;

/// Setup of a test: a connection with a WriterGroup and a ReaderGroup, a writer and a reader for one DataSet, and the cells of
/// its fields on both sides.
pub(crate) struct Setup {
    pub(crate) connection: PubSubConnectionDataType,
    pub(crate) group: WriterGroupDataType,
    pub(crate) reader: DataSetReaderDataType,
    pub(crate) data_set: PublishedDataSetDataType,
    /// Cells of published and received fields.
    pub(crate) cells: HashMap<NodeId, Arc<Cell>>,
    pub(crate) received: HashMap<NodeId, Arc<Cell>>,
}

fn field(name: &str, value: &Variant) -> FieldMetaData {
    let built_in_type = value.built_in_type().unwrap() as u8;
    FieldMetaData {
        name: name.into(),
        built_in_type,
        data_type: NodeId::numeric(0, built_in_type.into()),
        value_rank: value
            .as_array()
            .map_or(-1, |array| array.lengths().len() as i32),
        ..FieldMetaData::default()
    }
}

fn ids() -> impl Iterator<Item = NodeId> {
    (0..).map(|index| NodeId::numeric(1, index))
}

fn cells(values: &[Variant]) -> HashMap<NodeId, Arc<Cell>> {
    let cells = values
        .iter()
        .map(|value| Arc::new(Cell::of_with_capacity(value, 64)));
    ids().zip(cells).collect()
}

impl Setup {
    pub(crate) fn new(values: &[Variant]) -> Self {
        use UadpDataSetMessageContentMask as DataSetMask;
        use UadpNetworkMessageContentMask as Mask;
        let variables = ids()
            .take(values.len())
            .map(|id| PublishedVariableDataType {
                published_variable: id,
                attribute_id: 13,
                ..PublishedVariableDataType::default()
            });
        let items = PublishedDataItemsDataType {
            published_data: variables.collect(),
        };
        let targets = ids().take(values.len()).map(|id| FieldTargetDataType {
            target_node_id: id,
            attribute_id: 13,
            ..FieldTargetDataType::default()
        });
        let targets = TargetVariablesDataType {
            target_variables: targets.collect(),
        };
        let network_message_content_mask = Mask::PublisherId
            | Mask::GroupHeader
            | Mask::WriterGroupId
            | Mask::SequenceNumber
            | Mask::PayloadHeader
            | Mask::Timestamp;
        let data_set_message_content_mask =
            DataSetMask::SequenceNumber | DataSetMask::Status | DataSetMask::Timestamp;
        let meta_data = DataSetMetaDataType {
            fields: values.iter().map(|value| field("Field", value)).collect(),
            ..DataSetMetaDataType::default()
        };
        Self {
            connection: PubSubConnectionDataType {
                enabled: true,
                publisher_id: Variant::UInt16(4),
                ..PubSubConnectionDataType::default()
            },
            group: WriterGroupDataType {
                name: "Group".into(),
                enabled: true,
                writer_group_id: 3,
                publishing_interval: 10.0,
                keep_alive_time: 100.0,
                message_settings: ExtensionObject::from_structure(
                    &UadpWriterGroupMessageDataType {
                        network_message_content_mask,
                        ..UadpWriterGroupMessageDataType::default()
                    },
                ),
                data_set_writers: vec![DataSetWriterDataType {
                    name: "Writer".into(),
                    enabled: true,
                    data_set_writer_id: 7,
                    key_frame_count: 1,
                    data_set_name: "Data".into(),
                    message_settings: ExtensionObject::from_structure(
                        &UadpDataSetWriterMessageDataType {
                            data_set_message_content_mask,
                            ..UadpDataSetWriterMessageDataType::default()
                        },
                    ),
                    ..DataSetWriterDataType::default()
                }],
                ..WriterGroupDataType::default()
            },
            reader: DataSetReaderDataType {
                name: "Reader".into(),
                enabled: true,
                publisher_id: Variant::UInt16(4),
                writer_group_id: 3,
                data_set_writer_id: 7,
                data_set_meta_data: meta_data.clone(),
                message_receive_timeout: 200.0,
                message_settings: ExtensionObject::from_structure(
                    &UadpDataSetReaderMessageDataType {
                        network_message_content_mask,
                        data_set_message_content_mask,
                        ..UadpDataSetReaderMessageDataType::default()
                    },
                ),
                subscribed_data_set: ExtensionObject::from_structure(&targets),
                ..DataSetReaderDataType::default()
            },
            data_set: PublishedDataSetDataType {
                name: "Data".into(),
                data_set_meta_data: meta_data,
                data_set_source: ExtensionObject::from_structure(&items),
                ..PublishedDataSetDataType::default()
            },
            cells: cells(values),
            received: cells(values),
        }
    }

    pub(crate) fn writer(&mut self) -> &mut DataSetWriterDataType {
        &mut self.group.data_set_writers[0]
    }

    /// Returns the cell that is published as a field.
    pub(crate) fn cell(&self, index: u32) -> Arc<Cell> {
        self.cells[&NodeId::numeric(1, index)].clone()
    }

    /// Returns the cell into which a field is received.
    pub(crate) fn target(&self, index: u32) -> Arc<Cell> {
        self.received[&NodeId::numeric(1, index)].clone()
    }

    /// Configures both sides to protect their messages, with the keys of SecurityGroup `Keys`; not with the mode None.
    pub(crate) fn protect(&mut self, mode: MessageSecurityMode) {
        let id = match mode {
            MessageSecurityMode::None => UaString::null(),
            _ => "Keys".into(),
        };
        self.group.security_mode = mode;
        self.group.security_group_id = id.clone();
        self.reader.security_mode = mode;
        self.reader.security_group_id = id;
    }

    pub(crate) fn build(&mut self) -> WriterGroup {
        let data_sets = std::slice::from_ref(&self.data_set);
        WriterGroup::new(&self.connection, &self.group, data_sets, &mut self.cells).unwrap()
    }

    pub(crate) fn build_subscriber(&mut self) -> Subscriber {
        let mut received = self.received.clone();
        self.build_subscriber_into(&mut received)
    }

    /// Returns a Subscriber that writes to targets of its own.
    pub(crate) fn build_subscriber_into(&self, target: &mut dyn DataTarget) -> Subscriber {
        let connection = PubSubConnectionDataType {
            reader_groups: vec![ReaderGroupDataType {
                name: "Readers".into(),
                enabled: true,
                data_set_readers: vec![self.reader.clone()],
                ..ReaderGroupDataType::default()
            }],
            ..self.connection.clone()
        };
        Subscriber::new(&connection, &[], target).unwrap()
    }
}

/// Returns the keys from the answer of a SecurityKeyService: two keys, the first of them with this token, current for another
/// minute.
pub(crate) fn keys(first_token_id: u32, now: Instant) -> KeyRing {
    let key = |token: u32| Zeroizing::new(vec![token as u8; 68]);
    let mut ring = KeyRing::new();
    let update = SecurityKeyUpdate {
        security_policy_uri: PubSubSecurityPolicy::PubSubAes256Ctr.uri().to_owned(),
        first_token_id,
        keys: vec![key(first_token_id), key(first_token_id + 1)],
        time_to_next_key: Duration::from_secs(60),
        key_lifetime: Duration::from_secs(60),
    };
    ring.update(&update, now).unwrap();
    ring
}

/// Returns the current time with a fixed time of day.
pub(crate) fn now() -> Now {
    Now {
        instant: Instant::now(),
        date_time: DateTime(132_000_000_000_000_000),
    }
}

/// Output for one message, in memory that is allocated already.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    length: usize,
}

impl Buffer {
    /// Returns the message that was committed last.
    pub(crate) fn message(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            bytes: vec![0; 2000],
            length: 0,
        }
    }
}

impl Output for Buffer {
    type Error = std::convert::Infallible;
    type Reservation<'a> = BufferReservation<'a>;

    fn max_message_size(&self) -> usize {
        self.bytes.len()
    }

    fn reserve(&mut self, length: usize) -> Result<BufferReservation<'_>, Self::Error> {
        self.length = length;
        Ok(BufferReservation(
            self.bytes.get_mut(..length).unwrap_or_default(),
        ))
    }
}

pub(crate) struct BufferReservation<'a>(&'a mut [u8]);

impl AsMut<[u8]> for BufferReservation<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        self.0
    }
}

impl Reserved for BufferReservation<'_> {
    type Error = std::convert::Infallible;

    fn commit(self) -> Result<(), Self::Error> {
        Ok(())
    }
}
