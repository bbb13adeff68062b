//! Zenoh, from peer to peer. Each mode has two key expressions, for request and reply. A callback takes messages in
//! Zenoh's thread that received them.

use std::sync::Arc;
use std::time::Instant;

use takt_middleware_peers::{
    Client, LARGEST, Mode, Options, answer, certificate, discover, info, options, ready, run, serve_commands,
    stdin_closed, text,
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

/// Settings of a session: the server listens, and the client connects to it.
fn configuration(options: &Options) -> Result<Config, String> {
    let mut config = Config::default();
    let mut set = |key: &str, value: &str| config.insert_json5(key, value).map_err(text);
    set("mode", "\"peer\"")?;
    set("scouting/multicast/enabled", "false")?;
    set("scouting/gossip/enabled", "false")?;
    set("transport/unicast/qos/enabled", "false")?;
    set("transport/unicast/lowlatency", "true")?;
    set("transport/shared_memory/enabled", if options.shared_memory { "true" } else { "false" })?;
    if options.shared_memory {
        set("transport/shared_memory/mode", "\"init\"")?;
    }
    let protocol = if options.tls { "tls" } else { "tcp" };
    let server = format!("[\"{protocol}/{}:{}\"]", options.address, options.port);
    let (listen, connect) = if options.server { (server.as_str(), "[]") } else { ("[]", server.as_str()) };
    set("listen/endpoints", listen)?;
    set("connect/endpoints", connect)?;
    set("connect/timeout_ms", "10000")?;
    set("connect/exit_on_failure", "true")?;
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

async fn publisher(session: &Session, topic: &'static str) -> Result<Publisher<'static>, String> {
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
        let data = sample.payload().to_bytes();
        let sent = match mode {
            Mode::Echo => memory.message(&data),
            Mode::Ack => memory.message(&answer(mode, &data)),
        };
        if let Err(error) = sent.and_then(|message| publisher.put(message).wait().map_err(text)) {
            eprintln!("{error}");
        }
    });
    subscriber.background().await.map_err(text)
}

fn main() {
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
