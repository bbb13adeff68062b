//! Takt's PubSub in nodes: a message is a DataSet with one ByteString, in UADP over UDP or shared memory.
//!
//! A node reads at its own address, and has a WriterGroup for the address of each next node. The reader and the WriterGroups of a hop
//! share one cell, so that it sends the bytes that it received. Messages have no sequence number: the end reads those of many
//! Publishers, and checks their content itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender as Outbox, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_cell::Cell;
use takt_link::{Address, LinkOptions, Receiver, Sender, open_receiver, open_sender};
use takt_pubsub::Now;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup};
use takt_pubsub::runtime::LinkOutput;
use takt_pubsub::subscriber::{FieldTarget, SubscribedField, Subscriber};
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::PubSubConfiguration2DataType;
use takt_ua::{BuiltInType, StatusCode, Variant};

use super::incoming::Incoming;
use super::setting::{NodeSetting, NodeTransport};

/// Senders of one stream of `opc.iox2`. The end has as many streams as its senders need.
const SENDERS: usize = 8;
/// Streams of the end, at most: it takes the messages of 100 senders.
const STREAMS: usize = 13;
/// Largest NetworkMessage in bytes. Longer messages are sent in chunks.
const LARGEST: usize = 65_000;
/// Bytes of the longest message.
const PAYLOAD: usize = 1 << 20;
/// Messages that are received with one system call. Each has a buffer.
const BATCH: usize = 4;
/// Interval at which a node that waits looks at its end.
const LOOK: Duration = Duration::from_secs(1);

const CONFIGURATION: &str = r#"
    [[published_data_sets]]
    name = "Message"
    fields = [{ name = "payload", data_type = "ByteString", published_variable = "ns=1;i=1" }]

    [[connections]]
    publisher_id = 1
    address = "opc.udp://127.0.0.1"

    [[connections.writer_groups]]
    writer_group_id = 1
    publishing_interval = 1
    max_network_message_size = 65000
    uadp = { network_message_content_mask = ["PublisherId", "GroupHeader", "WriterGroupId", "PayloadHeader"] }

    [[connections.writer_groups.data_set_writers]]
    data_set_writer_id = 1
    data_set_name = "Message"
    field_encoding = "Variant"
    uadp = { data_set_message_content_mask = [] }

    [[connections.reader_groups]]
    [[connections.reader_groups.data_set_readers]]
    writer_group_id = 1
    data_set_writer_id = 1
    field_encoding = "Variant"
    uadp = { data_set_message_content_mask = [] }
    fields = [{ name = "payload", data_type = "ByteString", target_node_id = "ns=1;i=1" }]
"#;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns a cell for messages.
pub(super) fn cell() -> Arc<Cell> {
    Arc::new(Cell::for_type(BuiltInType::ByteString, None, PAYLOAD))
}

fn configuration() -> Result<PubSubConfiguration2DataType, String> {
    Ok(from_toml(CONFIGURATION).map_err(text)?.configuration)
}

/// Returns an address of the node with this port. Only the end has more than one, over shared memory.
fn address(setting: &NodeSetting, port: u16, stream: usize) -> Result<Address, String> {
    let url = match setting.transport {
        NodeTransport::PubsubIox2 => format!("opc.iox2://{}-{stream}", setting.name(port)),
        _ => format!("opc.udp://{}", SocketAddr::new(setting.address, port)),
    };
    url.parse().map_err(text)
}

fn options(setting: &NodeSetting) -> LinkOptions {
    LinkOptions {
        max_message_size: Some(LARGEST),
        batch: BATCH,
        runtime_directory: Some(setting.folder.join("runtime")),
        ..LinkOptions::default()
    }
}

/// Reader of a node.
pub(super) struct Reader {
    subscriber: Subscriber,
    receiver: Box<dyn Receiver>,
}

impl Reader {
    /// Opens a reader that writes each message into a cell. It stays in its thread.
    fn open(setting: &NodeSetting, stream: usize, cell: &Arc<Cell>) -> Result<Self, String> {
        let configuration = configuration()?;
        let connection = configuration.connections.first();
        let connection = connection.ok_or("the configuration has no connection")?;
        let mut target = |_: SubscribedField<'_>| Some(FieldTarget::Cell(Arc::clone(cell)));
        let subscriber = Subscriber::new(connection, &[], &mut target).map_err(text)?;
        let address = address(setting, setting.port, stream)?;
        Ok(Self {
            subscriber,
            receiver: open_receiver(&address, &options(setting)).map_err(text)?,
        })
    }

    /// Waits for messages, and calls `take` when the cell has one.
    fn receive(&mut self, take: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String> {
        let mut outcome = Ok(());
        let subscriber = &mut self.subscriber;
        let received = self.receiver.receive(LOOK, &mut |received| {
            let operational = PubSubState::Operational;
            let reception = subscriber.receive(Now::read(), operational, received.bytes, &mut ());
            if outcome.is_ok() && reception.is_ok_and(|reception| reception.accepted > 0) {
                outcome = take();
            }
        });
        received.map_err(text).and(outcome)
    }
}

/// WriterGroup for a next node.
pub(super) struct Writer {
    group: WriterGroup,
    sender: Box<dyn Sender>,
    cell: Arc<Cell>,
}

impl Writer {
    /// Opens a WriterGroup that sends the content of a cell.
    pub(super) fn open(setting: &NodeSetting, port: u16, cell: &Arc<Cell>) -> Result<Self, String> {
        let configuration = configuration()?;
        let connection = configuration.connections.first();
        let group = connection.and_then(|it| Some((it, it.writer_groups.first()?)));
        let (connection, group) = group.ok_or("the configuration has no WriterGroup")?;
        let data_sets = &configuration.published_data_sets;
        let mut source = |_: PublishedField<'_>| Some(FieldSource::Cell(Arc::clone(cell)));
        let group = WriterGroup::new(connection, group, data_sets, &mut source).map_err(text)?;
        Ok(Self {
            group,
            sender: open_sender_of(setting, port)?,
            cell: Arc::clone(cell),
        })
    }

    /// Sends the content of the cell.
    fn publish(&mut self) -> Result<(), String> {
        let mut output = LinkOutput::new(self.sender.as_mut());
        let published = self
            .group
            .publish(Now::read(), PubSubState::Operational, &mut output);
        published.map_err(text)?;
        self.sender.flush().map(drop).map_err(text)
    }

    /// Sends a message.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), String> {
        let time = Now::read().date_time;
        let set = self
            .cell
            .set_byte_string(Some(message), StatusCode::Good, time);
        set.map_err(text)?;
        self.publish()
    }
}

/// Opens the first stream of a node that has room for a sender.
fn open_sender_of(setting: &NodeSetting, port: u16) -> Result<Box<dyn Sender>, String> {
    let streams = match setting.transport {
        NodeTransport::PubsubIox2 => STREAMS,
        _ => 1,
    };
    let mut refused = String::new();
    for stream in 0..streams {
        match open_sender(&address(setting, port, stream)?, &options(setting)) {
            Ok(sender) => return Ok(sender),
            Err(error) => refused = text(error),
        }
    }
    Err(refused)
}

/// Hop: takes messages, and passes each on in the same thread.
pub(super) struct Hop {
    cell: Arc<Cell>,
    reader: Reader,
}

impl Hop {
    /// Begins to take messages.
    pub(super) fn open(setting: &NodeSetting) -> Result<Self, String> {
        let cell = cell();
        let reader = Reader::open(setting, 0, &cell)?;
        Ok(Self { cell, reader })
    }

    /// Connects to the next nodes.
    pub(super) fn connect(&self, setting: &NodeSetting) -> Result<Vec<Writer>, String> {
        let next = setting.next.iter();
        next.map(|port| Writer::open(setting, *port, &self.cell))
            .collect()
    }

    /// Passes messages on until `is_ended` is true.
    pub(super) fn pass_on(
        mut self,
        mut next: Vec<Writer>,
        is_ended: &AtomicBool,
    ) -> Result<(), String> {
        while !is_ended.load(Ordering::Relaxed) {
            self.reader
                .receive(&mut || next.iter_mut().try_for_each(Writer::publish))?;
        }
        Ok(())
    }
}

/// Threads that take the messages of the end, until this is dropped.
pub(super) struct Readers {
    is_ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Starts the threads. Each message is sent to `messages`.
    pub(super) fn start(
        setting: &NodeSetting,
        messages: &Outbox<Incoming>,
    ) -> Result<Self, String> {
        let streams = match setting.transport {
            NodeTransport::PubsubIox2 => setting.next.len().div_ceil(SENDERS),
            _ => 1,
        };
        let mut readers = Self {
            is_ended: Arc::default(),
            threads: Vec::new(),
        };
        let (opened, is_open) = channel();
        for stream in 0..streams {
            let (setting, messages) = (setting.clone(), messages.clone());
            let (opened, is_ended) = (opened.clone(), Arc::clone(&readers.is_ended));
            let thread = std::thread::Builder::new().spawn(move || {
                let cell = cell();
                // The starter waits for each result.
                let reader = match Reader::open(&setting, stream, &cell) {
                    Ok(reader) => reader,
                    Err(error) => return drop(opened.send(Err(error))),
                };
                let _ = opened.send(Ok(()));
                take(reader, &cell, &messages, &is_ended);
            });
            readers.threads.push(thread.map_err(text)?);
        }
        // A thread keeps its end of the channel, so that the channel does not end by itself.
        let opened = is_open.iter().take(streams);
        opened.collect::<Result<Vec<()>, String>>()?;
        Ok(readers)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The panic of a thread was already reported.
            let _ = thread.join();
        }
    }
}

/// Sends each message to `messages` until `is_ended` is true, or the link fails.
fn take(mut reader: Reader, cell: &Cell, messages: &Outbox<Incoming>, is_ended: &AtomicBool) {
    let mut take = || match cell.get().map_err(text)?.value {
        Some(Variant::ByteString(bytes)) => messages.send(Some(bytes.into_vec())).map_err(text),
        _ => Ok(()),
    };
    while !is_ended.load(Ordering::Relaxed) {
        if let Err(error) = reader.receive(&mut take) {
            eprintln!("{error}");
            return;
        }
    }
}
