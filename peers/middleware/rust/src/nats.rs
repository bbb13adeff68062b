//! NATS with async-nats and nats-server. Each mode has two subjects, for request and reply; each node has one. Each
//! publication is flushed.

use async_nats::{Message, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{SelectAll, select_all};
use takt_middleware_peers::{
    Client, Mode, NodeLinks, NodeOptions, Options, answer, discover, info, node_topic, options, ready, run, run_node,
    serve_commands, text,
};

struct Connection {
    client: async_nats::Client,
    messages: SelectAll<Subscriber>,
}

impl Connection {
    async fn open(options: &Options) -> Result<Self, String> {
        let url = format!("nats://{}:{}", options.address, options.port);
        let mut settings = async_nats::ConnectOptions::new();
        if options.tls {
            let authority = format!("{}/server.crt", options.folder);
            settings = settings.require_tls(true).add_root_certificates(authority.into());
        }
        let client = settings.connect(url).await.map_err(text)?;
        let mut subscribers = Vec::new();
        for mode in Mode::BOTH {
            let (request, reply) = mode.topics();
            let subject = if options.server { request } else { reply };
            subscribers.push(client.subscribe(subject).await.map_err(text)?);
        }
        client.flush().await.map_err(text)?;
        Ok(Self { client, messages: select_all(subscribers) })
    }

    async fn next(&mut self) -> Result<Message, String> {
        self.messages.next().await.ok_or_else(|| "the connection is lost".to_owned())
    }

    async fn publish(&self, subject: &'static str, data: Vec<u8>) -> Result<(), String> {
        publish(&self.client, subject.into(), data.into()).await
    }
}

async fn publish(client: &async_nats::Client, subject: Subject, data: Bytes) -> Result<(), String> {
    client.publish(subject, data).await.map_err(text)?;
    client.flush().await.map_err(text)
}

struct Answer(Message);

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        &self.0.payload
    }
}

impl Client for Connection {
    type Answer = Answer;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        self.publish(mode.topics().0, data.to_vec()).await
    }

    async fn receive(&mut self) -> Result<Answer, String> {
        self.next().await.map(Answer)
    }
}

async fn serve(mut connection: Connection) -> Result<(), String> {
    loop {
        let message = connection.next().await?;
        let found = Mode::BOTH.into_iter().find(|mode| mode.topics().0 == message.subject.as_str());
        let mode = found.ok_or("unknown subject")?;
        connection.publish(mode.topics().1, answer(mode, &message.payload)).await?;
    }
}

/// Node: it subscribes to a subject of its own.
struct Links {
    client: async_nats::Client,
    messages: Subscriber,
    next: Vec<Subject>,
}

impl NodeLinks for Links {
    async fn open(options: &NodeOptions) -> Result<Self, String> {
        let url = format!("nats://{}:{}", options.address, options.broker);
        let client = async_nats::connect(url).await.map_err(text)?;
        let messages = client.subscribe(node_topic(options.port)).await.map_err(text)?;
        client.flush().await.map_err(text)?;
        let next = options.next.iter().map(|port| node_topic(*port).into()).collect();
        Ok(Self { client, messages, next })
    }

    async fn send(&mut self, place: usize, message: Bytes) -> Result<(), String> {
        publish(&self.client, self.next[place].clone(), message).await
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        let message = self.messages.next().await.ok_or("the connection is lost")?;
        Ok(message.payload)
    }
}

fn main() {
    if run_node::<Links>(0) {
        return;
    }
    let options = options(&["security=none", "security=tls"]);
    info("version", "0.51.0");
    info("setting", "flush after each publication, one thread");
    run(0, async move {
        let mut connection = Connection::open(&options).await?;
        if options.server {
            ready();
            return tokio::select! {
                result = serve(connection) => result,
                () = takt_middleware_peers::stdin_closed() => Ok(()),
            };
        }
        discover(&mut connection).await?;
        serve_commands(&mut connection).await
    });
}
