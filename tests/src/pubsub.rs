//! PubSub between Takt and foreign products: the same DataSet in every encoding, both ways (`peers/README.md`).

use std::collections::HashMap;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_cell::Cell;
use takt_pubsub::ReceiveError;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::runtime::{PubSub, RuntimeOptions};
use takt_pubsub::security::{KeyRing, SecurityKeyUpdate, SecurityPolicy};
use takt_pubsub::subscriber::{DataSetKind, Observer, ReceivedDataSet};
use takt_ua::structures::PubSubConnectionDataType;
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

use crate::peer::{Peer, PeerPubSub};

/// How many DataSets must arrive.
const DATA_SETS: usize = 20;

/// In which time: long before, unless the machine is busy.
const PATIENCE: Duration = Duration::from_secs(60);

const INTERVAL: Duration = Duration::from_millis(10);
const PUBLISHER_ID: u16 = 5;
const WRITER_GROUP_ID: u16 = 2;
const DATA_SET_WRITER_ID: u16 = 3;
const SECURITY_GROUP: &str = "Interop";

/// 2024-02-29T12:34:56.789Z.
const TIME: DateTime = DateTime(133_536_836_967_890_000);

/// How fields are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Each with its type.
    Variant,
    /// With status and timestamp, too.
    DataValue,
    /// Nothing but the values.
    RawData,
}

/// What protects messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// Whether they are encrypted, and not only signed.
    pub encrypted: bool,
    /// With which algorithms.
    pub policy: SecurityPolicy,
}

/// What is exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// How fields are encoded.
    pub encoding: Encoding,
    /// With more than 1, there are delta frames.
    pub key_frame_count: u32,
    /// What protects messages, if anything.
    pub protection: Option<Protection>,
}

impl Exchange {
    /// Key frames, not protected.
    #[must_use]
    pub fn plain(encoding: Encoding) -> Self {
        Self {
            encoding,
            key_frame_count: 1,
            protection: None,
        }
    }
}

/// A field, its value as we have it, and as peers print it. `Count` is another one in each DataSet.
struct Field {
    name: &'static str,
    kind: &'static str,
    value: Variant,
    json: Value,
}

impl Field {
    fn is_array(&self) -> bool {
        self.json.is_array()
    }

    fn node_id(&self) -> NodeId {
        NodeId::string(1, self.name)
    }
}

/// RawData has neither a String nor an array here: not every peer has lengths for these.
fn fields(encoding: Encoding) -> Vec<Field> {
    let field = |name, kind, value, json| Field {
        name,
        kind,
        value,
        json,
    };
    let mut fields = vec![
        field("Count", "UInt32", Variant::UInt32(0), json!(0)),
        field("Speed", "Double", Variant::Double(1200.5), json!(1200.5)),
        field("Running", "Boolean", Variant::Boolean(true), json!(true)),
        field(
            "Position",
            "Int64",
            Variant::Int64(-9_007_199_254_740_993),
            json!("-9007199254740993"),
        ),
        field("Level", "Float", Variant::Float(0.25), json!(0.25)),
        field("Tool", "Byte", Variant::Byte(200), json!(200)),
        field("Offset", "Int16", Variant::Int16(-300), json!(-300)),
        field(
            "Since",
            "DateTime",
            Variant::DateTime(TIME),
            json!("2024-02-29T12:34:56.789Z"),
        ),
    ];
    if encoding != Encoding::RawData {
        fields.push(field(
            "Name",
            "String",
            Variant::from("Grüße"),
            json!("Grüße"),
        ));
        fields.push(field(
            "Axes",
            "Int32",
            Variant::from(vec![1_i32, -2, 3]),
            json!([1, -2, 3]),
        ));
    }
    fields
}

/// The same for peers.
fn description(exchange: &Exchange, url: &str) -> Value {
    let fields = fields(exchange.encoding);
    let fields = fields.iter().map(
        |field| json!({"name": field.name, "type": field.kind, "value": field.json, "array": field.is_array()}),
    );
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let security = exchange.protection.map(|protection| {
        let key = key(protection.policy);
        let (signing, rest) = key.split_at(32);
        let (encrypting, nonce) = rest.split_at(rest.len() - 4);
        json!({
            "encrypted": protection.encrypted, "policy": protection.policy.uri(), "token": 1,
            "signing": hex(signing), "encrypting": hex(encrypting), "nonce": hex(nonce),
        })
    });
    json!({
        "url": url,
        "publisherId": PUBLISHER_ID,
        "writerGroupId": WRITER_GROUP_ID,
        "dataSetWriterId": DATA_SET_WRITER_ID,
        "encoding": format!("{:?}", exchange.encoding),
        "keyFrameCount": exchange.key_frame_count,
        "interval": INTERVAL.as_millis() as u64,
        "fields": fields.collect::<Vec<_>>(),
        "security": security,
    })
}

/// Signing key, encrypting key and nonce.
fn key(policy: SecurityPolicy) -> Vec<u8> {
    let length = match policy {
        SecurityPolicy::PubSubAes128Ctr => 52,
        SecurityPolicy::PubSubAes256Ctr => 68,
    };
    (1..=length).collect()
}

fn key_ring(policy: SecurityPolicy) -> KeyRing {
    let hour = Duration::from_secs(3600);
    let mut ring = KeyRing::new();
    let update = SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id: 1,
        keys: vec![key(policy).into()],
        time_to_next_key: hour,
        key_lifetime: hour,
    };
    ring.update(&update, Instant::now())
        .expect("a key of the right length");
    ring
}

/// The same for Takt, as a TOML file: what both sides have in common.
fn common(exchange: &Exchange) -> (String, String) {
    let mode = match exchange.protection {
        None => String::new(),
        Some(protection) => format!(
            "security_mode = \"{}\"\nsecurity_group_id = \"{SECURITY_GROUP}\"\n",
            if protection.encrypted {
                "SignAndEncrypt"
            } else {
                "Sign"
            }
        ),
    };
    let masks = "network_message_content_mask = [\"PublisherId\", \"GroupHeader\", \"WriterGroupId\", \"SequenceNumber\", \"PayloadHeader\"]";
    (mode, masks.to_owned())
}

fn field_table(exchange: &Exchange, node: &str) -> String {
    let line = |field: &Field| {
        let dimensions = if field.is_array() { "[3]" } else { "" };
        format!(
            "    {{ name = \"{0}\", data_type = \"{1}{dimensions}\", {node} = \"ns=1;s={0}\" }},\n",
            field.name, field.kind
        )
    };
    let lines: String = fields(exchange.encoding).iter().map(line).collect();
    format!("fields = [\n{lines}]\n")
}

fn publisher_file(exchange: &Exchange, url: &str) -> String {
    let (mode, masks) = common(exchange);
    let fields = field_table(exchange, "published_variable");
    format!(
        "namespaces = [\"http://opcfoundation.org/UA/\", \"urn:takt:interop\"]\n\
         [[published_data_sets]]\nname = \"Machine\"\n{fields}\
         [[connections]]\nname = \"UDP\"\npublisher_id = {PUBLISHER_ID}\naddress = \"{url}\"\n\
         [[connections.writer_groups]]\nname = \"Group\"\nwriter_group_id = {WRITER_GROUP_ID}\npublishing_interval = \"10ms\"\n\
         {mode}uadp = {{ {masks} }}\n\
         [[connections.writer_groups.data_set_writers]]\nname = \"Writer\"\ndata_set_writer_id = {DATA_SET_WRITER_ID}\n\
         data_set_name = \"Machine\"\nkey_frame_count = {}\nfield_encoding = \"{:?}\"\n\
         uadp = {{ data_set_message_content_mask = [\"SequenceNumber\", \"Status\", \"Timestamp\"] }}\n",
        exchange.key_frame_count, exchange.encoding,
    )
}

fn subscriber_file(exchange: &Exchange, url: &str) -> String {
    let (mode, masks) = common(exchange);
    let fields = field_table(exchange, "target_node_id");
    format!(
        "namespaces = [\"http://opcfoundation.org/UA/\", \"urn:takt:interop\"]\n\
         [[connections]]\nname = \"UDP\"\naddress = \"{url}\"\n\
         [[connections.reader_groups]]\nname = \"Group\"\n{mode}\
         [[connections.reader_groups.data_set_readers]]\nname = \"Reader\"\npublisher_id = {PUBLISHER_ID}\n\
         writer_group_id = {WRITER_GROUP_ID}\ndata_set_writer_id = {DATA_SET_WRITER_ID}\n\
         key_frame_count = {}\nfield_encoding = \"{:?}\"\nmessage_receive_timeout = \"20s\"\n\
         uadp = {{ {masks} }}\n{fields}",
        exchange.key_frame_count, exchange.encoding,
    )
}

/// What a subscriber of Takt is told.
#[derive(Debug)]
enum Told {
    DataSet(DataSetKind, Vec<(usize, Variant)>),
    Refused(String),
}

struct Listener(Sender<Told>);

impl Observer for Listener {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields();
        let fields = fields.map(|(index, value)| {
            assert_eq!(value.status_code(), StatusCode::Good, "field {index}");
            (index, value.value.unwrap_or_default())
        });
        // Nobody may listen any more.
        let _ = self.0.send(Told::DataSet(received.kind, fields.collect()));
    }

    fn refused(&mut self, error: &ReceiveError) {
        let _ = self.0.send(Told::Refused(error.to_string()));
    }
}

struct Running {
    pubsub: PubSub,
    told: Receiver<Told>,
    cells: HashMap<NodeId, Arc<Cell>>,
}

fn start(text: &str, exchange: &Exchange) -> Running {
    let file = from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let fields = fields(exchange.encoding);
    let cell = |field: &Field| (field.node_id(), Arc::new(Cell::of(&field.value)));
    let mut cells: HashMap<_, _> = fields.iter().map(cell).collect();
    let mut targets = cells.clone();
    let (sender, told) = channel();
    let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn Observer + Send> {
        Box::new(Listener(sender.clone()))
    };
    let options = RuntimeOptions::default();
    let pubsub = PubSub::start(
        &file.configuration,
        &mut cells,
        &mut targets,
        &mut observers,
        &options,
    )
    .unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Some(protection) = exchange.protection {
        pubsub.set_keys(SECURITY_GROUP, &key_ring(protection.policy));
    }
    Running {
        pubsub,
        told,
        cells,
    }
}

/// A port of this host that nobody uses now.
fn free_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("a port").port()
}

/// Takt publishes, the peer prints what it got. With `whole`, the peer prints all fields each time, also those that it did not get
/// in a delta frame.
///
/// # Panics
/// If that is not what was published.
pub fn peer_receives(peer: Peer, exchange: &Exchange, whole: bool) {
    let url = format!("opc.udp://127.0.0.1:{}", free_port());
    let mut foreign = PeerPubSub::start(peer, "subscribe", &description(exchange, &url));
    let running = start(&publisher_file(exchange, &url), exchange);
    let fields = fields(exchange.encoding);
    let count_cell = &running.cells[&fields[0].node_id()];
    let deadline = Instant::now() + PATIENCE;
    let (mut count, mut last, mut keys, mut deltas) = (0_u32, 0, 0, 0);
    let mut smallest_step = u64::MAX;
    while keys + deltas < DATA_SETS || (exchange.key_frame_count > 1 && !whole && deltas == 0) {
        assert!(
            Instant::now() < deadline,
            "{keys} key frames and {deltas} delta frames came within {PATIENCE:?}; sent: {:?}{}",
            running.pubsub.writer_groups().collect::<Vec<_>>(),
            foreign.process.report()
        );
        count += 1;
        let set = count_cell.set(&Variant::UInt32(count), StatusCode::Good, DateTime::now());
        set.expect("the cell holds a UInt32");
        std::thread::sleep(INTERVAL);
        while let Some(data_set) = foreign.try_data_set() {
            let context = || format!("{exchange:?}: {data_set}{}", foreign.process.report());
            let printed = data_set["fields"].as_object().expect("fields by name");
            if let Some(number) = printed.get("Count") {
                let number = number["value"].as_u64().unwrap_or(u64::MAX);
                assert!(
                    (last..=u64::from(count)).contains(&number),
                    "{last} to {count}: {}",
                    context()
                );
                if number > last {
                    smallest_step = smallest_step.min(number - last);
                }
                last = number;
            }
            if printed.len() < fields.len() {
                assert!(
                    exchange.key_frame_count > 1
                        && !whole
                        && printed.keys().all(|name| name == "Count"),
                    "{}",
                    context()
                );
                deltas += 1;
                continue;
            }
            keys += 1;
            for field in fields.iter().skip(1) {
                let found = &printed[field.name];
                assert_eq!(found["type"], field.kind, "{}", context());
                if field.kind == "DateTime" {
                    // Peers print as many decimals as they keep.
                    let text = found["value"].as_str().unwrap_or_default();
                    assert!(text.starts_with("2024-02-29T12:34:56.789"), "{}", context());
                } else {
                    assert_eq!(found["value"], field.json, "{}", context());
                }
                let status = found["status"].as_str();
                assert!(matches!(status, None | Some("Good")), "{}", context());
            }
        }
    }
    // Key frames alone would make larger steps.
    assert!(
        smallest_step < u64::from(exchange.key_frame_count.max(2)),
        "{exchange:?}: Count changed by {smallest_step} or more each time"
    );
}

/// The peer publishes, Takt receives.
///
/// # Panics
/// If that is not what was published.
pub fn peer_publishes(peer: Peer, exchange: &Exchange) {
    let url = format!("opc.udp://127.0.0.1:{}", free_port());
    // The peer first: open62541 wants to be able to listen where it sends to, and finds out when it starts.
    let foreign = PeerPubSub::start(peer, "publish", &description(exchange, &url));
    let running = start(&subscriber_file(exchange, &url), exchange);
    let fields = fields(exchange.encoding);
    let deadline = Instant::now() + PATIENCE;
    let (mut last, mut keys, mut deltas) = (0, 0, 0);
    while keys + deltas < DATA_SETS || (exchange.key_frame_count > 1 && deltas == 0) {
        let left = deadline.saturating_duration_since(Instant::now());
        let told = running.told.recv_timeout(left).unwrap_or_else(|_| {
            panic!(
                "{exchange:?}: {keys} key frames and {deltas} delta frames came within {PATIENCE:?}: {:?}{}",
                running.pubsub.connections().collect::<Vec<_>>(),
                foreign.process.report()
            )
        });
        let context = format!("{exchange:?}: {told:?}");
        let (kind, values) = match told {
            Told::DataSet(kind, values) => (kind, values),
            // Keys are set after the start.
            Told::Refused(error) if keys + deltas == 0 && error.starts_with("no key ") => continue,
            Told::Refused(_) => panic!("{context}{}", foreign.process.report()),
        };
        match kind {
            DataSetKind::KeyFrame => {
                assert_eq!(values.len(), fields.len(), "{context}");
                keys += 1;
            }
            DataSetKind::DeltaFrame => deltas += 1,
            DataSetKind::KeepAlive => continue,
            DataSetKind::Event => panic!("{context}"),
        }
        for (index, value) in values {
            match value {
                Variant::UInt32(count) if index == 0 => {
                    assert!(count >= last, "{last}: {context}");
                    last = count;
                }
                value => assert_eq!(value, fields[index].value, "{context}"),
            }
        }
    }
    assert!(last > 0, "Count never changed");
    for field in fields.iter().skip(1) {
        let cell = running.cells[&field.node_id()].get().expect("a value");
        assert_eq!(cell.value.as_ref(), Some(&field.value), "{}", field.name);
    }
}
