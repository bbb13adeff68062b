//! Wire protocol of ROS 2 with ros2-client and RustDDS: a node with topics of `std_msgs/msg/UInt8MultiArray`. Each mode
//! has two topics, for request and reply.

use std::net::IpAddr;

use ros2_client::qos::{History, WhenFull};
use ros2_client::dds::rustdds::DomainParticipantBuilder;
use ros2_client::{
    Context, MessageTypeName, Name, Node, NodeName, NodeOptions, Publisher, QosProfile, Subscription,
};
use serde::{Deserialize, Serialize};
use takt_middleware_peers::{
    Client, Mode, Options, answer, discover, info, options, ready, run, serve_commands, stdin_closed, text,
};

/// Number of the domains whose ports exist (DDSI-RTPS 2.5, 9.6.2.3).
const DOMAINS: u16 = 230;

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

struct Connection {
    publishers: Vec<Publisher<Array>>,
    subscriptions: Vec<Subscription<Array>>,
    // Publications end with their node.
    _node: Node,
}

impl Connection {
    fn open(options: &Options) -> Result<Self, String> {
        let address: IpAddr = options.address.parse().map_err(text)?;
        let mut builder = DomainParticipantBuilder::new(options.port % DOMAINS);
        // The loopback interface only, if the server has its address.
        if address.is_loopback() {
            builder = builder.with_only_networks([address]);
        }
        let participant = builder.build().map_err(text)?;
        let context = Context::from_domain_participant(participant).map_err(text)?;
        let name = if options.server { "server" } else { "client" };
        let name = NodeName::new("/takt", name).map_err(text)?;
        let mut node = context.new_node(name, NodeOptions::new().enable_rosout(false)).map_err(text)?;
        let history = History::KeepLast { depth: 1 };
        let quality = QosProfile::publisher_default().reliability_reliable(WhenFull::DEFAULT).history(history);
        let (mut publishers, mut subscriptions) = (Vec::new(), Vec::new());
        for mode in Mode::BOTH {
            let kind = MessageTypeName::new("std_msgs", "UInt8MultiArray");
            let (request, reply) = match mode {
                Mode::Echo => ("echo_request", "echo_reply"),
                Mode::Ack => ("ack_request", "ack_reply"),
            };
            let (sent, received) = if options.server { (reply, request) } else { (request, reply) };
            let topic = |name: &str| {
                let name = Name::new("/takt", name).map_err(text)?;
                node.create_topic(&name, kind.clone(), &quality).map_err(text)
            };
            let (sent, received) = (topic(sent)?, topic(received)?);
            publishers.push(node.create_publisher(&sent, None).map_err(text)?);
            subscriptions.push(node.create_subscription(&received, None).map_err(text)?);
        }
        Ok(Self { publishers, subscriptions, _node: node })
    }

    async fn publish(&self, mode: Mode, data: Vec<u8>) -> Result<(), String> {
        let message = Array { layout: Layout::default(), data };
        self.publishers[mode as usize].async_publish(message).await.map_err(text)
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
        self.publish(mode, data.to_vec()).await
    }

    async fn receive(&mut self) -> Result<Array, String> {
        self.next().await.map(|(_, message)| message)
    }
}

async fn serve(connection: &Connection) -> Result<(), String> {
    loop {
        let (mode, message) = connection.next().await?;
        connection.publish(mode, answer(mode, &message.data)).await?;
    }
}

fn main() {
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
