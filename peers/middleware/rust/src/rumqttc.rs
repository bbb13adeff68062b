//! MQTT with rumqttc and mosquitto. Each mode has two topics, for request and reply.

use rumqttc::{
    AsyncClient, Event, EventLoop, MqttOptions, NetworkOptions, Packet, Publish, QoS, TlsConfiguration, Transport,
};
use takt_middleware_peers::{
    Client, LARGEST, Mode, Options, answer, authority, info, options, ready, run, serve_commands, text,
};

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
        settings.set_max_packet_size(2 * LARGEST, 2 * LARGEST);
        let (client, mut events) = AsyncClient::new(settings, 16);
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        events.set_network_options(network);
        let qos = rumqttc::qos(options.qos).map_err(|_| "no QoS".to_owned())?;
        let mut left = 0;
        for mode in Mode::BOTH {
            let (request, reply) = mode.topics();
            client.subscribe(if options.server { request } else { reply }, qos).await.map_err(text)?;
            left += 1;
        }
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

fn main() {
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
