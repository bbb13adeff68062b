//! Zenoh, peer to peer over TCP. Each mode has two keys, for request and reply. Scouting is off.

use takt_middleware_peers::{Client, Mode, Options, answer, discover, info, options, ready, run, serve_commands, text};
use tokio::sync::mpsc;
use zenoh::Session;
use zenoh::pubsub::Publisher;
use zenoh::qos::{CongestionControl, Priority};

/// Bytes that Zenoh's thread has received.
struct Connection {
    _session: Session,
    publishers: Vec<Publisher<'static>>,
    received: mpsc::UnboundedReceiver<Vec<u8>>,
}

async fn session(options: &Options) -> Result<Session, String> {
    let endpoint = format!("[\"tcp/{}:{}\"]", options.address, options.port);
    let mut config = zenoh::Config::default();
    let place = if options.server { "listen/endpoints" } else { "connect/endpoints" };
    let settings = [
        ("mode", "\"peer\""),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        (if options.server { "connect/endpoints" } else { "listen/endpoints" }, "[]"),
        (place, &endpoint),
    ];
    for (key, value) in settings {
        config.insert_json5(key, value).map_err(text)?;
    }
    zenoh::open(config).await.map_err(text)
}

async fn publisher(session: &Session, key: &'static str) -> Result<Publisher<'static>, String> {
    let publisher = session.declare_publisher(key).congestion_control(CongestionControl::Block);
    publisher.priority(Priority::RealTime).express(true).await.map_err(text)
}

impl Client for Connection {
    type Answer = Vec<u8>;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        self.publishers[mode as usize].put(data).await.map_err(text)
    }

    async fn receive(&mut self) -> Result<Vec<u8>, String> {
        self.received.recv().await.ok_or_else(|| "the session has ended".to_owned())
    }
}

/// Answers in Zenoh's thread that received the request.
async fn serve(session: Session) -> Result<(), String> {
    for mode in Mode::BOTH {
        let (request, reply) = mode.topics();
        let publisher = publisher(&session, reply).await?;
        let callback = move |sample: zenoh::sample::Sample| {
            use zenoh::Wait;
            // A client that has gone away is no error of the server.
            let _ = publisher.put(answer(mode, &sample.payload().to_bytes())).wait();
        };
        session.declare_subscriber(request).callback(callback).background().await.map_err(text)?;
    }
    ready();
    takt_middleware_peers::stdin_closed().await;
    session.close().await.map_err(text)
}

fn main() {
    let options = options(false);
    info("version", "1.10.2");
    info("setting", "scouting off, express, priority RealTime, congestion control Block, callbacks");
    run(2, async move {
        let session = session(&options).await?;
        if options.server {
            return serve(session).await;
        }
        let (sender, received) = mpsc::unbounded_channel();
        let mut publishers = Vec::new();
        for mode in Mode::BOTH {
            let (request, reply) = mode.topics();
            publishers.push(publisher(&session, request).await?);
            let sender = sender.clone();
            let callback = move |sample: zenoh::sample::Sample| {
                let _ = sender.send(sample.payload().to_bytes().into_owned());
            };
            session.declare_subscriber(reply).callback(callback).background().await.map_err(text)?;
        }
        let mut connection = Connection { _session: session, publishers, received };
        discover(&mut connection).await?;
        serve_commands(&mut connection).await
    });
}
