//! Description of an exchange, for peers and for Takt.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_pubsub::security::{KeyRing, PubSubSecurityPolicy, SecurityKeyUpdate};
use takt_ua::{DateTime, NodeId, Variant};

pub(super) const INTERVAL: Duration = Duration::from_millis(10);
const PUBLISHER_ID: u16 = 5;
const WRITER_GROUP_ID: u16 = 2;
const DATA_SET_WRITER_ID: u16 = 3;
pub(super) const SECURITY_GROUP: &str = "Interop";

/// 2024-02-29T12:34:56.789Z.
const TIME: DateTime = DateTime(133_536_836_967_890_000);

/// Encoding of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Each value with its type.
    Variant,
    /// Each value with status and timestamp.
    DataValue,
    /// Only the values.
    RawData,
}

/// Protection of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// True if they are encrypted, and not only signed.
    pub encrypted: bool,
    /// SecurityPolicy of the protection.
    pub policy: PubSubSecurityPolicy,
}

/// An exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Encoding of fields.
    pub encoding: Encoding,
    /// KeyFrameCount; above 1 there are delta frames.
    pub key_frame_count: u32,
    /// Protection of messages, if any.
    pub protection: Option<Protection>,
}

impl Exchange {
    /// Returns an exchange of key frames without protection.
    #[must_use]
    pub fn plain(encoding: Encoding) -> Self {
        Self {
            encoding,
            key_frame_count: 1,
            protection: None,
        }
    }
}

/// A field, with its value in Takt and as peers print it. `Count` differs in each DataSet.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) value: Variant,
    pub(super) json: Value,
}

impl Field {
    fn is_array(&self) -> bool {
        self.json.is_array()
    }

    pub(super) fn node_id(&self) -> NodeId {
        NodeId::string(1, self.name)
    }
}

/// RawData has neither a String nor an array here: not every peer has lengths for these.
pub(super) fn fields(encoding: Encoding) -> Vec<Field> {
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

/// Returns the exchange in the form for peers.
pub(super) fn description(exchange: &Exchange, url: &str) -> Value {
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
fn key(policy: PubSubSecurityPolicy) -> Vec<u8> {
    let length = match policy {
        PubSubSecurityPolicy::PubSubAes128Ctr => 52,
        PubSubSecurityPolicy::PubSubAes256Ctr => 68,
    };
    (1..=length).collect()
}

pub(super) fn key_ring(policy: PubSubSecurityPolicy) -> KeyRing {
    ring_of(key(policy), policy)
}

/// Returns a key that the peer does not have, with the token of its own key.
pub(super) fn other_key_ring(policy: PubSubSecurityPolicy) -> KeyRing {
    ring_of(key(policy).into_iter().rev().collect(), policy)
}

fn ring_of(key: Vec<u8>, policy: PubSubSecurityPolicy) -> KeyRing {
    let hour = Duration::from_secs(3600);
    let mut ring = KeyRing::new();
    let update = SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id: 1,
        keys: vec![key.into()],
        time_to_next_key: hour,
        key_lifetime: hour,
    };
    ring.update(&update, Instant::now())
        .expect("a key of the right length");
    ring
}

/// Returns the common part of both sides for Takt, as a TOML file.
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

pub(super) fn publisher_file(exchange: &Exchange, url: &str) -> String {
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

pub(super) fn subscriber_file(exchange: &Exchange, url: &str) -> String {
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
