//! Takt's PubSub over UDP, Ethernet, shared memory and MQTT: a message with the kind of the request and the payload, and one back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_link::{LinkOptions, LinkState, Receiver, Sender, open_receiver, open_sender};
use takt_pubsub::Now;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup};
use takt_pubsub::runtime::{LinkOutput, reader_links, writer_group_link};
use takt_pubsub::subscriber::{FieldTarget, SubscribedField, Subscriber};
use takt_ua::enumerations::PubSubState;
use takt_ua::{BuiltInType, StatusCode};

use super::client::{Messages, serve_commands};
use super::error::OwnPeerError;
use super::payload::{Mode, sum};
use super::server::until_input_ends;
use super::setting::{Given, PeerSetting};

/// Link of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `opc.udp`.
    Udp,
    /// `opc.eth`.
    Ethernet,
    /// `opc.iox2`.
    SharedMemory,
    /// `mqtt`, through a broker at the first port.
    Mqtt,
}

impl Link {
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Ethernet => &["poll", "interface", "peer-interface"],
            Self::Mqtt => &["encoding"],
            Self::Udp => &["poll", "client-address"],
            Self::SharedMemory => &["poll"],
        }
    }

    /// Returns the addresses of both topics: of requests, at the server, and of answers, at the client.
    fn addresses(self, setting: &PeerSetting, given: &Given) -> [String; 2] {
        let port = setting.port;
        match self {
            Self::Udp => {
                let (server, mut client) = (setting.socket(0), setting.socket(1));
                client.set_ip(given.client_address.unwrap_or(setting.address));
                [server, client].map(|address| format!("opc.udp://{address}"))
            }
            // Group addresses, so that no interface needs an address.
            Self::Ethernet => ["01", "02"].map(|last| format!("opc.eth://01-00-5E-00-54-{last}")),
            Self::SharedMemory => {
                ["request", "reply"].map(|topic| format!("opc.iox2://TaktEcho{port}-{topic}"))
            }
            // Topics of one letter, as in the paper.
            Self::Mqtt => ["e", "E"].map(str::to_owned),
        }
    }

    /// Returns the largest size of a NetworkMessage; longer ones are sent in chunks. 0: the largest size of the link.
    fn largest(self) -> u32 {
        match self {
            Self::Udp => 65_000,
            Self::Ethernet => 1_490,
            Self::SharedMemory => LARGEST_SHARED,
            Self::Mqtt => 0,
        }
    }

    /// Returns the settings of connection, WriterGroup and DataSetReader for the topics of this side.
    fn settings(self, setting: &PeerSetting, [to, at]: [&str; 2], is_json: bool) -> [String; 3] {
        match self {
            Self::Mqtt => [
                format!(
                    "address = \"mqtt://{}\"\njson = {is_json}",
                    setting.socket(0)
                ),
                format!("broker = {{ queue_name = \"{to}\" }}"),
                format!("broker = {{ queue_name = \"{at}\" }}"),
            ],
            _ => [
                format!("address = \"{at}\""),
                format!(
                    "transport_settings = {{ \"$type\" = \"DatagramWriterGroupTransport2DataType\", Address = {{ \"$type\" = \
                     \"NetworkAddressUrlDataType\", Url = \"{to}\" }} }}"
                ),
                String::new(),
            ],
        }
    }
}

/// Longest time until a broker has both topics.
const CONNECTION: Duration = Duration::from_secs(10);

/// Bytes of the longest message over shared memory.
const LARGEST_SHARED: u32 = 65_000;
/// Bytes of the longest payload.
const PAYLOAD: usize = 1 << 20;
/// Interval at which a server that waits looks at its end.
const LOOK: Duration = Duration::from_millis(500);

fn configuration(
    link: Link,
    [own, peer]: [u16; 2],
    [connection, group, reader]: [String; 3],
) -> String {
    let largest = link.largest();
    format!(
        r#"
        [[published_data_sets]]
        name = "Message"
        fields = [
            {{ name = "mode", data_type = "Byte", published_variable = "ns=1;i=1" }},
            {{ name = "payload", data_type = "ByteString", published_variable = "ns=1;i=2" }},
        ]

        [[connections]]
        publisher_id = {own}
        {connection}

        [[connections.writer_groups]]
        writer_group_id = 1
        publishing_interval = 1
        max_network_message_size = {largest}
        {group}

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 1
        data_set_name = "Message"
        field_encoding = "Variant"

        [[connections.reader_groups]]
        [[connections.reader_groups.data_set_readers]]
        publisher_id = {peer}
        writer_group_id = 1
        data_set_writer_id = 1
        field_encoding = "Variant"
        {reader}
        fields = [
            {{ name = "mode", data_type = "Byte", target_node_id = "ns=1;i=1" }},
            {{ name = "payload", data_type = "ByteString", target_node_id = "ns=1;i=2" }},
        ]
        "#
    )
}

/// Cells of the fields.
struct Fields {
    mode: Arc<Cell>,
    payload: Arc<Cell>,
}

impl Fields {
    fn new() -> Self {
        let cell = |data_type, bytes| Arc::new(Cell::for_type(data_type, None, bytes));
        Self {
            mode: cell(BuiltInType::Byte, 0),
            payload: cell(BuiltInType::ByteString, PAYLOAD),
        }
    }

    fn find(&self, name: &str) -> Option<Arc<Cell>> {
        match name {
            "mode" => Some(self.mode.clone()),
            "payload" => Some(self.payload.clone()),
            _ => None,
        }
    }
}

/// One side.
struct End {
    group: WriterGroup,
    sender: Box<dyn Sender>,
    subscriber: Subscriber,
    receiver: Box<dyn Receiver>,
    input: Fields,
    output: Fields,
    poll: bool,
    /// Room for the encoded value of a received payload, and the size of the one that was received.
    encoded: Vec<u8>,
    length: usize,
}

impl End {
    /// Opens a side. Links cannot move to another thread.
    fn open(
        link: Link,
        setting: &PeerSetting,
        given: &Given,
        is_server: bool,
    ) -> Result<Self, OwnPeerError> {
        let [requests, answers] = link.addresses(setting, given);
        let (ids, topics) = match is_server {
            true => ([2, 1], [&answers, &requests]),
            false => ([1, 2], [&requests, &answers]),
        };
        let topics = topics.map(String::as_str);
        let text = configuration(link, ids, link.settings(setting, topics, given.is_json));
        let file = from_toml(&text).map_err(OwnPeerError::failed)?;
        let configuration = file.configuration;
        let broken = || OwnPeerError::Failed("the configuration lacks a part".to_owned());
        let connection = configuration.connections.first().ok_or_else(broken)?;
        let group = connection.writer_groups.first().ok_or_else(broken)?;
        let options = LinkOptions {
            interface: given.interface.clone(),
            runtime_directory: Some(setting.folder.join("runtime")),
            max_message_size: (link == Link::SharedMemory)
                .then(|| usize::try_from(LARGEST_SHARED).ok())
                .flatten(),
            poll_only: given.poll,
            ..LinkOptions::default()
        };
        let to = writer_group_link(connection, group, &options).map_err(OwnPeerError::failed)?;
        let at = reader_links(connection, &options).map_err(OwnPeerError::failed)?;
        let at = at.first().ok_or_else(broken)?;
        let (input, output) = (Fields::new(), Fields::new());
        let mut source = |field: PublishedField<'_>| {
            output
                .find(field.meta_data.name.as_str())
                .map(FieldSource::Cell)
        };
        let mut target = |field: SubscribedField<'_>| {
            input
                .find(field.meta_data.name.as_str())
                .map(FieldTarget::Cell)
        };
        let data_sets = &configuration.published_data_sets;
        let group = WriterGroup::new(connection, group, data_sets, &mut source);
        let subscriber = Subscriber::new(connection, &[], &mut target);
        let receiver = open_receiver(&at.address, &at.options).map_err(OwnPeerError::failed)?;
        let sender = open_sender(&to.address, &to.options).map_err(OwnPeerError::failed)?;
        let begin = Instant::now();
        while [receiver.state(), sender.state()] != [LinkState::Up; 2] {
            if begin.elapsed() > CONNECTION {
                return Err(OwnPeerError::Failed("the link does not come up".to_owned()));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Self {
            group: group.map_err(OwnPeerError::failed)?,
            subscriber: subscriber.map_err(OwnPeerError::failed)?,
            receiver,
            sender,
            input,
            output,
            poll: given.poll,
            encoded: vec![0; PAYLOAD + 8],
            length: 0,
        })
    }

    fn send(&mut self, mode: Mode, payload: &[u8]) -> Result<(), OwnPeerError> {
        let now = Now::read();
        let (good, time) = (StatusCode::Good, now.date_time);
        let set = self.output.mode.set_u8(mode.code(), good, time);
        set.map_err(OwnPeerError::failed)?;
        let set = self
            .output
            .payload
            .set_byte_string(Some(payload), good, time);
        set.map_err(OwnPeerError::failed)?;
        let mut output = LinkOutput::new(self.sender.as_mut());
        let published = self
            .group
            .publish(now, PubSubState::Operational, &mut output);
        published.map_err(OwnPeerError::failed)?;
        self.sender.flush().map_err(OwnPeerError::failed)?;
        Ok(())
    }

    /// Waits for a message. Returns the kind of the request; `None` if there was no message.
    fn receive(&mut self, timeout: Duration) -> Result<Option<Mode>, OwnPeerError> {
        let begin = Instant::now();
        let mut accepted = 0;
        while accepted == 0 {
            let left = timeout.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            let wait = if self.poll { Duration::ZERO } else { left };
            let subscriber = &mut self.subscriber;
            let received = self.receiver.receive(wait, &mut |received| {
                let operational = PubSubState::Operational;
                let outcome = subscriber.receive(Now::read(), operational, received.bytes, &mut ());
                accepted += outcome.map_or(0, |reception| reception.accepted);
            });
            received.map_err(OwnPeerError::failed)?;
        }
        let mode = self.input.mode.read_scalar::<u8>();
        let (mode, _) = mode.map_err(OwnPeerError::failed)?;
        let reading = self.input.payload.read_into(&mut self.encoded);
        self.length = reading.map_err(OwnPeerError::failed)?.length;
        Ok(mode.map(Mode::of_code))
    }

    /// Answers the last message.
    fn answer(&mut self, mode: Mode) -> Result<(), OwnPeerError> {
        match mode {
            Mode::Ack => self.send(mode, &[sum(self.payload())]),
            Mode::Echo => {
                let encoded = std::mem::take(&mut self.encoded);
                let sent = self.send(mode, payload_in(&encoded, self.length));
                self.encoded = encoded;
                sent
            }
        }
    }

    /// Returns the payload of the last message.
    fn payload(&self) -> &[u8] {
        payload_in(&self.encoded, self.length)
    }
}

/// Returns the payload in an encoded value of this length.
fn payload_in(encoded: &[u8], length: usize) -> &[u8] {
    // The type of a Variant and the length precede the bytes (OPC 10000-6, 5.2.2.16).
    encoded.get(5..length).unwrap_or_default()
}

/// Runs the server.
pub(super) fn serve(setting: &PeerSetting, link: Link) -> Result<(), OwnPeerError> {
    let given = setting.given(link.options())?;
    let setting = setting.clone();
    until_input_ends(
        move |ready, stop| {
            let mut end = End::open(link, &setting, &given, true)?;
            ready();
            while !stop.load(Ordering::Relaxed) {
                if let Some(mode) = end.receive(LOOK)? {
                    end.answer(mode)?;
                }
            }
            Ok(())
        },
        || (),
    )
}

/// Runs the client.
pub(super) fn connect(setting: &PeerSetting, link: Link) -> Result<(), OwnPeerError> {
    let given = setting.given(link.options())?;
    // Both sides get the same options. The interfaces of the client are the other way round.
    let given = Given {
        interface: given.peer_interface.clone(),
        peer_interface: given.interface.clone(),
        ..given
    };
    serve_commands(&mut End::open(link, setting, &given, false)?)
}

impl Messages for End {
    fn send(&mut self, mode: Mode, request: &[u8]) -> Result<(), OwnPeerError> {
        End::send(self, mode, request)
    }

    fn receive(&mut self, timeout: Duration) -> Result<Option<&[u8]>, OwnPeerError> {
        let received = End::receive(self, timeout)?;
        Ok(received.map(|_| self.payload()))
    }
}
