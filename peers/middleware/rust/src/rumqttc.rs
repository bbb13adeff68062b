//! MQTT with rumqttc and mosquitto. Each mode has two topics, for request and reply; each node has one.

use std::time::Duration;

use bytes::Bytes;
use rumqttc::{
    AsyncClient, Event, EventLoop, MqttOptions, NetworkOptions, Packet, Publish, QoS, TlsConfiguration, Transport,
};
use takt_middleware_peers::{
    Client, LARGEST, Mode, NodeLinks, NodeOptions, Options, answer, authority, info, node_topic, options, ready, run,
    run_node, serve_commands, text,
};

/// Most publications that wait for the event loop: more than a node has streams.
const CAPACITY: usize = 128;

struct Connection {
    client: AsyncClient,
    events: EventLoop,
    qos: QoS,
}

impl Connection {
    async fn open(options: &Options) -> Result<Self, String> {
        let identity = if options.server { "server" } else { "client" };
        // The broker has TLS on its second port.
        let mut settings = MqttOptions::new(identity, &options.address, options.port + u16::from(options.tls));
        if options.tls {
            let ca = authority(options)?.into_bytes();
            let tls = TlsConfiguration::Simple { ca, alpn: None, client_auth: None };
            settings.set_transport(Transport::tls_with_config(tls));
        }
        let qos = rumqttc::qos(options.qos).map_err(|_| "no QoS".to_owned())?;
        let topics = Mode::BOTH.map(Mode::topics);
        let topics = topics.map(|(request, reply)| if options.server { request } else { reply });
        Self::subscribe(settings, qos, &topics).await
    }

    /// Connects, and subscribes to topics.
    async fn subscribe(mut settings: MqttOptions, qos: QoS, topics: &[&str]) -> Result<Self, String> {
        settings.set_max_packet_size(2 * LARGEST, 2 * LARGEST);
        let (client, mut events) = AsyncClient::new(settings, CAPACITY);
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        events.set_network_options(network);
        for topic in topics {
            client.subscribe(*topic, qos).await.map_err(text)?;
        }
        let mut left = topics.len();
        while left > 0 {
            if let Event::Incoming(Packet::SubAck(_)) = events.poll().await.map_err(text)? {
                left -= 1;
            }
        }
        Ok(Self { client, events, qos })
    }

    async fn next(&mut self) -> Result<Publish, String> {
        loop {
            if let Event::Incoming(Packet::Publish(message)) = self.events.poll().await.map_err(text)? {
                return Ok(message);
            }
        }
    }
}

struct Message(Publish);

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0.payload
    }
}

impl Client for Connection {
    type Answer = Message;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        self.client.publish(mode.topics().0, self.qos, false, data).await.map_err(text)
    }

    async fn receive(&mut self) -> Result<Message, String> {
        self.next().await.map(Message)
    }
}

async fn serve(mut connection: Connection) -> Result<(), String> {
    loop {
        let message = connection.next().await?;
        let found = Mode::BOTH.into_iter().find(|mode| mode.topics().0 == message.topic);
        let mode = found.ok_or("unknown topic")?;
        let data = answer(mode, &message.payload);
        connection.client.publish(mode.topics().1, connection.qos, false, data).await.map_err(text)?;
    }
}

/// Node: it subscribes to a topic of its own. QoS 0.
struct Links {
    connection: Connection,
    next: Vec<String>,
}

impl NodeLinks for Links {
    async fn open(options: &NodeOptions) -> Result<Self, String> {
        let topic = node_topic(options.port);
        let mut settings = MqttOptions::new(&topic, &options.address, options.broker);
        // Nothing answers the broker while other nodes start.
        settings.set_keep_alive(Duration::from_secs(600));
        let connection = Connection::subscribe(settings, QoS::AtMostOnce, &[&topic]).await?;
        Ok(Self { connection, next: options.next.iter().map(|port| node_topic(*port)).collect() })
    }

    async fn send(&mut self, place: usize, message: Bytes) -> Result<(), String> {
        let Connection { client, qos, .. } = &self.connection;
        client.publish_bytes(&self.next[place], *qos, false, message).await.map_err(text)
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        self.connection.next().await.map(|message| message.payload)
    }
}

fn main() {
    if run_node::<Links>(0) {
        return;
    }
    let options = options(&["qos=0", "qos=1", "qos=2", "security=none", "security=tls"]);
    info("version", "0.25.1");
    info("setting", "tcp_nodelay true, one thread, the event loop is polled by the thread that waits");
    run(0, async move {
        let mut connection = Connection::open(&options).await?;
        if options.server {
            ready();
            return tokio::select! {
                result = serve(connection) => result,
                () = takt_middleware_peers::stdin_closed() => Ok(()),
            };
        }
        serve_commands(&mut connection).await?;
        connection.client.disconnect().await.map_err(text)
    });
}
