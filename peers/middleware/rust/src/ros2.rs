//! Wire protocol of ROS 2 with ros2-client and RustDDS: a node with topics of `std_msgs/msg/UInt8MultiArray`. Each mode
//! has two topics, for request and reply; each node of `takt bench nodes` has one.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use ros2_client::dds::rustdds::discovery::DiscoveredReaderData;
use ros2_client::dds::rustdds::{DomainParticipant, DomainParticipantBuilder, Topic};
use ros2_client::qos::{History, WhenFull};
use ros2_client::{Context, MessageTypeName, Name, Node, NodeName, NodeOptions, Publisher, QosProfile, Subscription};
use serde::{Deserialize, Serialize};
use takt_middleware_peers::{
    Client, Mode, NodeLinks, Options, answer, discover, info, node_topic, options, ready, run, run_node,
    serve_commands, stdin_closed, text,
};

/// Number of the domains whose ports exist (DDSI-RTPS 2.5, 9.6.2.3).
const DOMAINS: u16 = 230;
/// Domain of all nodes of `takt bench nodes`.
const NODE_DOMAIN: u16 = 0;

/// `std_msgs/msg/MultiArrayDimension`
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Dimension {
    label: String,
    size: u32,
    stride: u32,
}

/// `std_msgs/msg/MultiArrayLayout`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Layout {
    dim: Vec<Dimension>,
    data_offset: u32,
}

/// `std_msgs/msg/UInt8MultiArray`
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Array {
    layout: Layout,
    // As a whole: serde's way for a Vec goes byte by byte.
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

impl AsRef<[u8]> for Array {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

fn make_participant(domain: u16, address: &str) -> Result<DomainParticipant, String> {
    let address: IpAddr = address.parse().map_err(text)?;
    let mut builder = DomainParticipantBuilder::new(domain);
    // The loopback interface only, if the server has its address.
    if address.is_loopback() {
        builder = builder.with_only_networks([address]);
    }
    builder.build().map_err(text)
}

fn make_node(participant: DomainParticipant, name: &str) -> Result<Node, String> {
    let context = Context::from_domain_participant(participant).map_err(text)?;
    let name = NodeName::new("/takt", name).map_err(text)?;
    let options = NodeOptions::new().enable_rosout(false).start_parameter_services(false);
    context.new_node(name, options).map_err(text)
}

/// Makes a topic of which the last messages are kept.
fn make_topic(node: &Node, name: &str, depth: usize) -> Result<Topic, String> {
    let quality = QosProfile::publisher_default().reliability_reliable(WhenFull::DEFAULT);
    let quality = quality.history(History::KeepLast { depth });
    let name = Name::new("/takt", name).map_err(text)?;
    node.create_topic(&name, MessageTypeName::new("std_msgs", "UInt8MultiArray"), &quality).map_err(text)
}

async fn publish(publisher: &Publisher<Array>, data: Vec<u8>) -> Result<(), String> {
    publisher.async_publish(Array { layout: Layout::default(), data }).await.map_err(text)
}

struct Connection {
    publishers: Vec<Publisher<Array>>,
    subscriptions: Vec<Subscription<Array>>,
    // Publications end with their node.
    _node: Node,
}

impl Connection {
    fn open(options: &Options) -> Result<Self, String> {
        let name = if options.server { "server" } else { "client" };
        let mut node = make_node(make_participant(options.port % DOMAINS, &options.address)?, name)?;
        let (mut publishers, mut subscriptions) = (Vec::new(), Vec::new());
        for mode in Mode::BOTH {
            let (request, reply) = match mode {
                Mode::Echo => ("echo_request", "echo_reply"),
                Mode::Ack => ("ack_request", "ack_reply"),
            };
            let (sent, received) = if options.server { (reply, request) } else { (request, reply) };
            let (sent, received) = (make_topic(&node, sent, 1)?, make_topic(&node, received, 1)?);
            publishers.push(node.create_publisher(&sent, None).map_err(text)?);
            subscriptions.push(node.create_subscription(&received, None).map_err(text)?);
        }
        Ok(Self { publishers, subscriptions, _node: node })
    }

    async fn next(&self) -> Result<(Mode, Array), String> {
        let (mode, taken) = tokio::select! {
            taken = self.subscriptions[0].async_take() => (Mode::Echo, taken),
            taken = self.subscriptions[1].async_take() => (Mode::Ack, taken),
        };
        taken.map(|(message, _)| (mode, message)).map_err(text)
    }
}

impl Client for Connection {
    type Answer = Array;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        publish(&self.publishers[mode as usize], data.to_vec()).await
    }

    async fn receive(&mut self) -> Result<Array, String> {
        self.next().await.map(|(_, message)| message)
    }
}

async fn serve(connection: &Connection) -> Result<(), String> {
    loop {
        let (mode, message) = connection.next().await?;
        publish(&connection.publishers[mode as usize], answer(mode, &message.data)).await?;
    }
}

/// Node of `takt bench nodes`. All participants of the domain discover each other.
struct Links {
    publishers: Vec<Publisher<Array>>,
    subscription: Subscription<Array>,
    participant: DomainParticipant,
    // Publications end with their node.
    _node: Node,
}

impl NodeLinks for Links {
    async fn open(options: &takt_middleware_peers::NodeOptions) -> Result<Self, String> {
        let participant = make_participant(NODE_DOMAIN, &options.address)?;
        let mut node = make_node(participant.clone(), &node_topic(options.port))?;
        let mut publishers = Vec::new();
        for port in &options.next {
            let topic = make_topic(&node, &node_topic(*port), 1)?;
            publishers.push(node.create_publisher(&topic, None).map_err(text)?);
        }
        // One message of each stream may wait at the end.
        let topic = make_topic(&node, &node_topic(options.port), options.next.len())?;
        let subscription = node.create_subscription(&topic, None).map_err(text)?;
        Ok(Self { publishers, subscription, participant, _node: node })
    }

    async fn connect(&mut self, options: &takt_middleware_peers::NodeOptions) -> Result<(), String> {
        for port in &options.next {
            let topic = format!("rt/takt/{}", node_topic(*port));
            let is_next = |reader: &DiscoveredReaderData| *reader.subscription_topic_data.topic_name() == topic;
            while !self.participant.discovered_readers().iter().any(is_next) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        Ok(())
    }

    async fn send(&mut self, place: usize, message: Bytes) -> Result<(), String> {
        publish(&self.publishers[place], message.into()).await
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        let taken = self.subscription.async_take().await;
        taken.map(|(message, _)| message.data.into()).map_err(text)
    }
}

fn main() {
    if run_node::<Links>(0) {
        return;
    }
    let options = options(&[]);
    info("version", "0.12.1");
    info("setting", "RustDDS 0.15.1, UDP, reliable, keep last 1, the thread that waits is woken by that of RustDDS");
    run(0, async move {
        let mut connection = Connection::open(&options)?;
        if options.server {
            ready();
            return tokio::select! {
                result = serve(&connection) => result,
                () = stdin_closed() => Ok(()),
            };
        }
        discover(&mut connection).await?;
        serve_commands(&mut connection).await
    });
}
