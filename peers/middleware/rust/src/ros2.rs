//! Wire protocol of ROS 2 with ros2-client (RustDDS): not ROS 2's own libraries. Each mode has two topics, for
//! request and reply; their type is `std_msgs/UInt8MultiArray`.

use futures_util::future::{Either, select};
use ros2_client::ros2::QosPolicyBuilder;
use ros2_client::ros2::policy::{History, Reliability};
use ros2_client::{Context, ContextOptions, MessageTypeName, Name, Node, NodeName, NodeOptions, Publisher, Subscription};
use serde::{Deserialize, Serialize};
use takt_middleware_peers::{Client, Mode, answer, discover, info, options, ready, run, serve_commands, text};

/// `std_msgs/UInt8MultiArray`.
#[derive(Clone, Serialize, Deserialize)]
struct Array {
    dimensions: Vec<Dimension>,
    data_offset: u32,
    data: Vec<u8>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Dimension {
    label: String,
    size: u32,
    stride: u32,
}

struct Connection {
    publishers: Vec<Publisher<Array>>,
    subscriptions: Vec<Subscription<Array>>,
}

impl Connection {
    fn open(node: &mut Node, server: bool) -> Result<Self, String> {
        let qos = QosPolicyBuilder::new()
            .reliability(Reliability::Reliable { max_blocking_time: ros2_client::ros2::Duration::from_millis(100) })
            .history(History::KeepLast { depth: 1 })
            .build();
        let mut connection = Self { publishers: Vec::new(), subscriptions: Vec::new() };
        for mode in Mode::BOTH {
            let (request, reply) = match mode {
                Mode::Echo => ("echo_request", "echo_reply"),
                Mode::Ack => ("ack_request", "ack_reply"),
            };
            let mut topic = |name: &str| {
                let name = Name::new("/", name).map_err(text)?;
                node.create_topic(&name, MessageTypeName::new("std_msgs", "UInt8MultiArray"), &qos).map_err(text)
            };
            let (request, reply) = (topic(request)?, topic(reply)?);
            let (output, input) = if server { (reply, request) } else { (request, reply) };
            connection.publishers.push(node.create_publisher(&output, None).map_err(text)?);
            connection.subscriptions.push(node.create_subscription(&input, None).map_err(text)?);
        }
        Ok(connection)
    }

    async fn publish(&self, mode: Mode, data: Vec<u8>) -> Result<(), String> {
        let message = Array { dimensions: Vec::new(), data_offset: 0, data };
        self.publishers[mode as usize].async_publish(message).await.map_err(text)
    }

    async fn next(&self) -> Result<(Mode, Vec<u8>), String> {
        let echo = std::pin::pin!(self.subscriptions[0].async_take());
        let ack = std::pin::pin!(self.subscriptions[1].async_take());
        let (mode, taken) = match select(echo, ack).await {
            Either::Left((taken, _)) => (Mode::Echo, taken),
            Either::Right((taken, _)) => (Mode::Ack, taken),
        };
        taken.map(|(message, _)| (mode, message.data)).map_err(text)
    }
}

impl Client for Connection {
    type Answer = Vec<u8>;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        self.publish(mode, data.to_vec()).await
    }

    async fn receive(&mut self) -> Result<Vec<u8>, String> {
        self.next().await.map(|(_, data)| data)
    }
}

async fn serve(connection: Connection) -> Result<(), String> {
    loop {
        let (mode, data) = connection.next().await?;
        connection.publish(mode, answer(mode, &data)).await?;
    }
}

fn main() {
    let options = options(false);
    info("version", "0.12.1");
    // The library has no option for its ports: the domain comes from the port.
    let domain = options.port / 10 % 200;
    info("setting", format!("domain {domain}, reliable, keep last 1; ports of the domain"));
    run(1, async move {
        let context = Context::with_options(ContextOptions::new().domain_id(domain)).map_err(text)?;
        let name = NodeName::new("/", if options.server { "server" } else { "client" }).map_err(text)?;
        let mut node = context.new_node(name, NodeOptions::new().enable_rosout(false)).map_err(text)?;
        let mut connection = Connection::open(&mut node, options.server)?;
        let spinner = node.spinner().map_err(text)?;
        let spinner = tokio::spawn(async move { spinner.spin().await.map_err(text) });
        if options.server {
            ready();
            tokio::select! {
                result = serve(connection) => result?,
                () = takt_middleware_peers::stdin_closed() => (),
            }
        } else {
            discover(&mut connection).await?;
            serve_commands(&mut connection).await?;
        }
        spinner.abort();
        Ok(())
    });
}
