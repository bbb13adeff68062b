//! Cyclic publishing of one frame over Ethernet, with Takt and with open62541: same values, frame, interface and system call.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use serde_json::{Value, json};
use takt_cell::Cell;
use takt_link::{LinkOptions, Sender, open_sender};
use takt_pubsub::Now;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup};
use takt_pubsub::runtime::LinkOutput;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};
use takt_wire::{FixedMessage, NetworkMessage, PayloadParameters, RawDataLayout, SlotSeries};

use crate::message::FixedPublisher;
use crate::packet_socket;
use crate::pubsub::PubSub;

/// Destination of the frames: a group, so that no interface needs an address.
const ADDRESS: &str = "opc.eth://01-00-5E-00-54-01";
const DESTINATION: [u8; 6] = [0x01, 0x00, 0x5E, 0x00, 0x54, 0x01];

/// EtherType of UADP (OPC 10000-14, 7.3.3).
const ETHERTYPE: u16 = 0xB62C;

/// Way to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Takt: values in cells, a WriterGroup, a link.
    TaktGroup,
    /// Takt: values stored in a message of fixed layout, a link.
    TaktFixed,
    /// open62541: values stored by its offset table, `send` on a packet socket.
    Offsets,
    /// open62541: its server sends the message (`UA_Server_triggerWriterGroupPublish`). The values do not change.
    Server,
}

impl Way {
    /// All ways.
    pub const ALL: [Self; 4] = [
        Self::TaktGroup,
        Self::TaktFixed,
        Self::Offsets,
        Self::Server,
    ];

    /// Returns the name in tables and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TaktGroup => "takt-group",
            Self::TaktFixed => "takt-fixed",
            Self::Offsets => "open62541-offsets",
            Self::Server => "open62541-server",
        }
    }

    /// Opens a publisher of messages with this number of UInt32 fields.
    ///
    /// # Errors
    /// What failed.
    pub fn open(self, interface: &str, fields: usize) -> Result<Box<dyn Publisher>, String> {
        Ok(match self {
            Self::TaktGroup => Box::new(TaktGroup::open(interface, fields)?),
            Self::TaktFixed => Box::new(TaktFixed::open(interface, fields)?),
            Self::Offsets => Box::new(Offsets::open(interface, fields)?),
            Self::Server => Box::new(Server::open(interface, fields)?),
        })
    }
}

/// Publisher whose cycles are measured.
pub trait Publisher {
    /// Sets all fields to a value, and sends a message with the present time.
    ///
    /// # Errors
    /// What failed.
    fn publish(&mut self, value: u32) -> Result<(), String>;
}

/// Publisher with Takt's usual parts.
struct TaktGroup {
    cells: Vec<Arc<Cell>>,
    group: WriterGroup,
    sender: Box<dyn Sender>,
}

impl TaktGroup {
    fn open(interface: &str, fields: usize) -> Result<Self, String> {
        let cells: Vec<_> = (0..fields)
            .map(|_| Arc::new(Cell::of(&Variant::UInt32(0))))
            .collect();
        Ok(Self {
            group: group(&cells)?,
            sender: sender(interface)?,
            cells,
        })
    }
}

impl Publisher for TaktGroup {
    fn publish(&mut self, value: u32) -> Result<(), String> {
        let now = Now::read();
        for cell in &self.cells {
            cell.set_u32(value, StatusCode::Good, now.date_time)
                .map_err(text)?;
        }
        let mut output = LinkOutput::new(self.sender.as_mut());
        let operational = PubSubState::Operational;
        self.group
            .publish(now, operational, &mut output)
            .map_err(text)?;
        self.sender.flush().map_err(text).map(drop)
    }
}

/// Publisher of Takt's message of fixed layout, without cells: what open62541's users do with its offset table.
struct TaktFixed {
    message: FixedMessage,
    slots: SlotSeries<u32>,
    values: Vec<u32>,
    number: u16,
    sender: Box<dyn Sender>,
}

impl TaktFixed {
    fn open(interface: &str, fields: usize) -> Result<Self, String> {
        let bytes = takt_message(fields)?;
        let message = NetworkMessage::decode(&bytes, &PayloadParameters::default());
        let message = message.map_err(text)?;
        let field = FieldMetaData {
            built_in_type: BuiltInType::UInt32 as u8,
            value_rank: -1,
            ..FieldMetaData::default()
        };
        let meta_data = DataSetMetaDataType {
            fields: vec![field; fields],
            ..DataSetMetaDataType::default()
        };
        let layout = RawDataLayout::new(&meta_data).map_err(text)?;
        let message = FixedMessage::new(&message, &[Some(&layout)]).map_err(text)?;
        let slots = message.slots::<u32>(0, 0..fields);
        Ok(Self {
            slots: slots.ok_or("the fields are not at equal distances")?,
            message,
            values: vec![0; fields],
            number: 0,
            sender: sender(interface)?,
        })
    }
}

impl Publisher for TaktFixed {
    fn publish(&mut self, value: u32) -> Result<(), String> {
        self.values.fill(value);
        self.number = self.number.wrapping_add(1);
        self.message.set_sequence_number(self.number);
        self.message.set_data_set_sequence_number(0, self.number);
        self.message.set_data_set_timestamp(0, DateTime::now());
        self.message.set_status(0, StatusCode::Good);
        self.message.store_all(self.slots, &self.values);
        self.sender.send(self.message.bytes()).map_err(text)
    }
}

/// Publisher with open62541's offset table.
struct Offsets {
    publisher: FixedPublisher,
    values: Vec<u32>,
    socket: OwnedFd,
}

impl Offsets {
    fn open(interface: &str, fields: usize) -> Result<Self, String> {
        let server = PubSub::start(
            "publish",
            description("opc.udp://127.0.0.1:4840", "", fields),
        )?;
        let table = server.offset_table().map_err(text)?;
        let socket = packet_socket::open(interface)?;
        let source = packet_socket::address(&socket, interface)?;
        let header = [&DESTINATION[..], &source, &ETHERTYPE.to_be_bytes()].concat();
        Ok(Self {
            publisher: FixedPublisher::with_header(&header, table, fields),
            values: vec![0; fields],
            socket,
        })
    }
}

impl Publisher for Offsets {
    fn publish(&mut self, value: u32) -> Result<(), String> {
        self.values.fill(value);
        self.publisher.set(&self.values);
        self.publisher.store(open62541_now());
        let frame = self.publisher.bytes();
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the kernel reads the frame, which is borrowed meanwhile, and not more than its length.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                flags,
            )
        };
        match usize::try_from(sent) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("send: {}", std::io::Error::last_os_error())),
        }
    }
}

/// Publisher that is open62541's server.
struct Server(PubSub);

impl Server {
    fn open(interface: &str, fields: usize) -> Result<Self, String> {
        let mut server = PubSub::start("publish", description(ADDRESS, interface, fields))?;
        // The connection opens with the first events.
        for _ in 0..10 {
            server.iterate();
        }
        Ok(Self(server))
    }
}

impl Publisher for Server {
    fn publish(&mut self, _: u32) -> Result<(), String> {
        self.0.publish().map_err(text)
    }
}

/// Checks that both make the same message. Returns its length in bytes.
///
/// # Errors
/// The messages differ, or what failed.
pub fn check(fields: usize) -> Result<usize, String> {
    let server = PubSub::start(
        "publish",
        description("opc.udp://127.0.0.1:4840", "", fields),
    )?;
    let table = server.offset_table().map_err(text)?;
    let mut theirs = FixedPublisher::new(table, fields);
    theirs.set(&vec![0; fields]);
    theirs.store(NOW.0);
    let ours = takt_message(fields)?;
    if ours != theirs.bytes() {
        return Err(format!(
            "the messages differ:\n{ours:02x?}\n{:02x?}",
            theirs.bytes()
        ));
    }
    Ok(ours.len())
}

/// Time in messages that are compared.
const NOW: DateTime = DateTime(132_000_000_000_000_000);

/// Returns the message with sequence number 1 of Takt's WriterGroup.
fn takt_message(fields: usize) -> Result<Vec<u8>, String> {
    let cells: Vec<_> = (0..fields)
        .map(|_| Arc::new(Cell::of(&Variant::UInt32(0))))
        .collect();
    let mut group = group(&cells)?;
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let now = Now {
        date_time: NOW,
        ..Now::read()
    };
    for _ in 0..2 {
        group
            .publish(now, PubSubState::Operational, &mut messages)
            .map_err(text)?;
    }
    messages.pop().ok_or_else(|| "no message".to_owned())
}

fn group(cells: &[Arc<Cell>]) -> Result<WriterGroup, String> {
    let field = |index| {
        format!(
            r#"{{ name = "{index}", data_type = "UInt32", published_variable = "ns=1;i={index}" }}, "#
        )
    };
    let published: String = (0..cells.len()).map(field).collect();
    let file = from_toml(&format!(
        r#"
        [[published_data_sets]]
        name = "Machine"
        fields = [{published}]

        [[connections]]
        publisher_id = 5
        address = "{ADDRESS}"

        [[connections.writer_groups]]
        writer_group_id = 2
        publishing_interval = 1

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 3
        data_set_name = "Machine"
        field_encoding = "RawData"
        uadp = {{ data_set_message_content_mask = ["Timestamp", "Status", "SequenceNumber"] }}
        "#
    ));
    let configuration = file.map_err(text)?.configuration;
    let missing = "the configuration lacks a part";
    let connection = configuration.connections.first().ok_or(missing)?;
    let group = connection.writer_groups.first().ok_or(missing)?;
    let mut source = |field: PublishedField<'_>| {
        let index: usize = field.meta_data.name.as_str().parse().ok()?;
        Some(FieldSource::Cell(cells.get(index)?.clone()))
    };
    let data_sets = &configuration.published_data_sets;
    WriterGroup::new(connection, group, data_sets, &mut source).map_err(text)
}

fn sender(interface: &str) -> Result<Box<dyn Sender>, String> {
    let options = LinkOptions {
        interface: Some(interface.to_owned()),
        ..LinkOptions::default()
    };
    open_sender(&ADDRESS.parse().map_err(text)?, &options).map_err(text)
}

/// Returns the description of open62541's publisher (`peers/README.md`).
fn description(url: &str, interface: &str, fields: usize) -> Value {
    let field = |index| json!({"name": format!("F{index}"), "type": "UInt32", "value": index, "array": false});
    json!({
        "url": url, "interface": interface,
        "publisherId": 5, "writerGroupId": 2, "dataSetWriterId": 3,
        "encoding": "RawData", "keyFrameCount": 1, "interval": 1000,
        "fields": (0..fields).map(field).collect::<Vec<_>>(),
        "security": null,
    })
}

/// Returns the time as open62541 reads it, in units of 100 ns since 1601.
fn open62541_now() -> i64 {
    // SAFETY: the function reads a clock.
    unsafe { open62541_sys::UA_DateTime_now() }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
