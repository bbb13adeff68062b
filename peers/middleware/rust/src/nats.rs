//! NATS with async-nats and nats-server. Each mode has two subjects, for request and reply. Each publication is
//! flushed.

use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use futures_util::stream::{SelectAll, select_all};
use takt_middleware_peers::{Client, Mode, Options, answer, discover, info, options, ready, run, serve_commands, text};

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
        self.client.publish(subject, data.into()).await.map_err(text)?;
        self.client.flush().await.map_err(text)
    }
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

fn main() {
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
