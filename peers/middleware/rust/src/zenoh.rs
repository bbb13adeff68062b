//! Zenoh, from peer to peer. Each mode has two key expressions, for request and reply; each node has one. A callback
//! takes messages in Zenoh's thread that received them, and passes those of a hop on.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use takt_middleware_peers::{
    Client, LARGEST, Mode, NodeLinks, NodeOptions, Options, answer, certificate, discover, info, node_topic, options,
    ready, run, run_node, serve_commands, stdin_closed, text,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::shm::{BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder};
use zenoh::{Config, Session, Wait};

/// Size of the shared memory of a side.
const MEMORY: usize = 16 * LARGEST;

/// Memory of the messages that this side sends.
#[derive(Clone)]
enum Memory {
    Private,
    Shared(Arc<ShmProvider<PosixShmProviderBackend>>),
}

impl Memory {
    fn new(options: &Options) -> Result<Self, String> {
        if !options.shared_memory {
            return Ok(Self::Private);
        }
        let provider = ShmProviderBuilder::default_backend(MEMORY).wait().map_err(text)?;
        Ok(Self::Shared(Arc::new(provider)))
    }

    fn message(&self, data: &[u8]) -> Result<ZBytes, String> {
        let provider = match self {
            Self::Private => return Ok(data.into()),
            Self::Shared(provider) => provider,
        };
        let allocation = provider.alloc(data.len()).with_policy::<BlockOn<GarbageCollect>>();
        let mut buffer = allocation.wait().map_err(text)?;
        buffer.copy_from_slice(data);
        Ok(buffer.into())
    }
}

fn set(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    config.insert_json5(key, value).map_err(text)
}

/// Settings of a session that listens at endpoints and connects to others. Both are lists in JSON.
fn session_settings(listen: &str, connect: &str) -> Result<Config, String> {
    let mut config = Config::default();
    for (key, value) in [
        ("mode", "\"peer\""),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        ("transport/unicast/qos/enabled", "false"),
        ("transport/unicast/lowlatency", "true"),
        ("transport/shared_memory/enabled", "false"),
        ("listen/endpoints", listen),
        ("connect/endpoints", connect),
        ("connect/timeout_ms", "10000"),
        ("connect/exit_on_failure", "true"),
    ] {
        set(&mut config, key, value)?;
    }
    Ok(config)
}

/// Settings of a peer: the server listens, and the client connects to it.
fn configuration(options: &Options) -> Result<Config, String> {
    let protocol = if options.tls { "tls" } else { "tcp" };
    let server = format!("[\"{protocol}/{}:{}\"]", options.address, options.port);
    let (listen, connect) = if options.server { (server.as_str(), "[]") } else { ("[]", server.as_str()) };
    let mut config = session_settings(listen, connect)?;
    let mut set = |key: &str, value: &str| set(&mut config, key, value);
    if options.shared_memory {
        set("transport/shared_memory/enabled", "true")?;
        set("transport/shared_memory/mode", "\"init\"")?;
    }
    let file = |name: &str| format!("\"{}/{name}\"", options.folder);
    if options.tls && options.server {
        certificate(options)?;
        set("transport/link/tls/listen_certificate", &file("server.crt"))?;
        set("transport/link/tls/listen_private_key", &file("server.key"))?;
    } else if options.tls {
        set("transport/link/tls/root_ca_certificate", &file("server.crt"))?;
    }
    Ok(config)
}

async fn publisher(session: &Session, topic: impl Into<String>) -> Result<Publisher<'static>, String> {
    let topic: String = topic.into();
    let publisher = session.declare_publisher(topic).congestion_control(CongestionControl::Block).express(true);
    publisher.await.map_err(text)
}

/// Answer, with the time of Zenoh's callback.
struct Answer {
    data: Vec<u8>,
    time: Instant,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

struct Connection {
    memory: Memory,
    publishers: Vec<Publisher<'static>>,
    answers: UnboundedReceiver<Answer>,
}

impl Connection {
    async fn open(session: &Session, memory: Memory) -> Result<Self, String> {
        let (sender, answers) = unbounded_channel();
        let mut publishers = Vec::new();
        for mode in Mode::BOTH {
            let (request, reply) = mode.topics();
            publishers.push(publisher(session, request).await?);
            subscribe_answers(session, reply, sender.clone()).await?;
        }
        Ok(Self { memory, publishers, answers })
    }
}

async fn subscribe_answers(
    session: &Session,
    topic: &'static str,
    sender: UnboundedSender<Answer>,
) -> Result<(), String> {
    let subscriber = session.declare_subscriber(topic).callback(move |sample| {
        let bytes = sample.payload().to_bytes();
        let time = Instant::now();
        // The client has ended if nothing receives it.
        let _ = sender.send(Answer { data: bytes.into_owned(), time });
    });
    subscriber.background().await.map_err(text)
}

impl Client for Connection {
    type Answer = Answer;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        let publisher = &self.publishers[mode as usize];
        publisher.put(self.memory.message(data)?).await.map_err(text)
    }

    async fn receive(&mut self) -> Result<Answer, String> {
        self.answers.recv().await.ok_or_else(|| "the session is closed".to_owned())
    }

    fn received(answer: &Answer) -> Instant {
        answer.time
    }
}

/// Answers the requests of a mode, in the callback.
async fn serve(session: &Session, memory: Memory, mode: Mode) -> Result<(), String> {
    let (request, reply) = mode.topics();
    let publisher = publisher(session, reply).await?;
    let subscriber = session.declare_subscriber(request).callback(move |sample| {
        let sent = match mode {
            // Without a copy, as in a node.
            Mode::Echo => Ok(sample.payload().clone()),
            Mode::Ack => memory.message(&answer(mode, &sample.payload().to_bytes())),
        };
        if let Err(error) = sent.and_then(|message| publisher.put(message).wait().map_err(text)) {
            eprintln!("{error}");
        }
    });
    subscriber.background().await.map_err(text)
}

/// Endpoints of nodes, as a list in JSON.
fn endpoints(options: &NodeOptions, ports: &[u16]) -> String {
    let endpoints: Vec<_> = ports.iter().map(|port| format!("\"tcp/{}:{port}\"", options.address)).collect();
    format!("[{}]", endpoints.join(","))
}

/// Node: a session that listens, and one that connects to the next nodes.
struct Links {
    next: Arc<OnceLock<Vec<Publisher<'static>>>>,
    messages: UnboundedReceiver<Result<Bytes, String>>,
    // Publications and subscriptions end with their session.
    sessions: Vec<Session>,
}

impl NodeLinks for Links {
    async fn open(options: &NodeOptions) -> Result<Self, String> {
        let settings = session_settings(&endpoints(options, &[options.port]), "[]")?;
        let session = zenoh::open(settings).await.map_err(text)?;
        let (sender, messages) = unbounded_channel();
        let next = Arc::new(OnceLock::<Vec<Publisher<'static>>>::new());
        let (is_end, connected) = (options.is_end, next.clone());
        let subscriber = session.declare_subscriber(node_topic(options.port)).callback(move |sample| {
            let taken = match connected.get().and_then(|next| next.first()) {
                Some(next) if !is_end => match next.put(sample.payload().clone()).wait() {
                    Ok(()) => return,
                    Err(error) => Err(text(error)),
                },
                _ => Ok(Bytes::copy_from_slice(&sample.payload().to_bytes())),
            };
            // The node has ended if nothing receives it.
            let _ = sender.send(taken);
        });
        subscriber.background().await.map_err(text)?;
        Ok(Self { next, messages, sessions: vec![session] })
    }

    async fn connect(&mut self, options: &NodeOptions) -> Result<(), String> {
        let settings = session_settings("[]", &endpoints(options, &options.next))?;
        let session = zenoh::open(settings).await.map_err(text)?;
        let mut next = Vec::new();
        for port in &options.next {
            let publisher = publisher(&session, node_topic(*port)).await?;
            while !publisher.matching_status().await.map_err(text)?.matching() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            next.push(publisher);
        }
        self.sessions.push(session);
        self.next.set(next).map_err(|_| "connected twice".to_owned())
    }

    async fn send(&mut self, place: usize, message: Bytes) -> Result<(), String> {
        let next = self.next.get().ok_or("not connected")?;
        next[place].put(message).await.map_err(text)
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        self.messages.recv().await.ok_or_else(|| "the session is closed".to_owned())?
    }
}

fn main() {
    if run_node::<Links>(1) {
        return;
    }
    let options = options(&["security=none", "security=tls", "transport=tcp", "transport=shm"]);
    info("version", "1.10.2");
    info("setting", "peer to peer, scouting off, lowlatency transport without qos, express, congestion control block");
    // Zenoh has a runtime of its own, and refuses to run within one of a single thread.
    run(1, async move {
        let session = zenoh::open(configuration(&options)?).await.map_err(text)?;
        let memory = Memory::new(&options)?;
        if options.server {
            for mode in Mode::BOTH {
                serve(&session, memory.clone(), mode).await?;
            }
            ready();
            stdin_closed().await;
        } else {
            let mut connection = Connection::open(&session, memory).await?;
            discover(&mut connection).await?;
            serve_commands(&mut connection).await?;
        }
        session.close().await.map_err(text)
    });
}
