//! Links of Takt's own nodes: a receiver of messages, and a sender to the next node.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::Duration;

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{Client, ClientOptions, ClientSecurity, EndpointError, Method, Provider};
use takt_space::{MethodCall, OutputArguments};
use takt_ua::{BuiltInType, NodeId, StatusCode, VariantRef};

use super::incoming::Incoming;
use super::pubsub::{self, Readers, Writer};
use super::setting::{NodeSetting, NodeTransport};

/// Name of the Method that takes a message.
const METHOD: &str = "take";
/// Namespace of the Provider.
const NAMESPACE: u16 = 1;
/// Largest message in bytes over a bare socket.
const LARGEST: usize = 1 << 20;

/// Receiver of a node, which lasts as long as this.
pub(super) enum Receiver {
    /// Provider with a Method.
    Provider { _provider: Box<Provider> },
    /// Threads that read connections.
    Sockets,
    /// Threads that read messages of PubSub.
    Readers { _readers: Readers },
}

impl Receiver {
    /// Starts to receive. Each message is sent to `messages`.
    pub(super) fn start(setting: &NodeSetting, messages: Sender<Incoming>) -> Result<Self, String> {
        match setting.transport {
            NodeTransport::RawTcp => listen(setting, messages).map_err(|error| error.to_string()),
            NodeTransport::Tcp | NodeTransport::Iox2 => provide(setting, messages),
            NodeTransport::PubsubUdp | NodeTransport::PubsubIox2 => Ok(Self::Readers {
                _readers: Readers::start(setting, &messages)?,
            }),
        }
    }
}

/// Starts a Provider whose Method sends each message to `messages`.
fn provide(setting: &NodeSetting, messages: Sender<Incoming>) -> Result<Receiver, String> {
    let take = move |call: &MethodCall<'_>, _: &mut OutputArguments<'_, '_>| {
        let Some(VariantRef::ByteString(Some(bytes))) = call.input(0) else {
            return Err(StatusCode::BadInvalidArgument.into());
        };
        // A receiver that is gone needs no message.
        let _ = messages.send(Some(bytes.to_vec()));
        Ok(())
    };
    let folder = &setting.folder;
    let provider = Provider::builder(setting.name(setting.port))
        .without_registry()
        .endpoint(format!("opc.tcp://{}:{}", setting.address, setting.port))
        .method(
            Method::in_place(METHOD, take)
                .input("Message", BuiltInType::ByteString)
                .inline(),
        )
        .serve(ServeOptions {
            runtime_directory: Some(folder.join("runtime")),
            // As docs/shared-memory.md recommends for hundreds of Providers on one host.
            public_services: false,
            security: EndpointSecurity {
                certificates: Some(folder.join("pki")),
                users: Some(folder.join("users")),
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .start();
    let provider = provider.map_err(|error| error.to_string())?;
    Ok(Receiver::Provider {
        _provider: Box::new(provider),
    })
}

/// Listens for connections. A message has its length in front, an u32 in little endian.
fn listen(setting: &NodeSetting, messages: Sender<Incoming>) -> io::Result<Receiver> {
    let listener = TcpListener::bind((setting.address, setting.port))?;
    std::thread::Builder::new().spawn(move || {
        // Both threads end with the process.
        for connection in listener.incoming().flatten() {
            let messages = messages.clone();
            std::thread::spawn(move || read_messages(connection, &messages));
        }
    })?;
    Ok(Receiver::Sockets)
}

fn read_messages(mut connection: TcpStream, messages: &Sender<Incoming>) {
    let mut length = [0; 4];
    while connection.read_exact(&mut length).is_ok() {
        let size = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if size > LARGEST {
            return;
        }
        let mut message = vec![0; size];
        if connection.read_exact(&mut message).is_err() || messages.send(Some(message)).is_err() {
            return;
        }
    }
}

/// Sender to the next node.
pub(super) enum Next {
    /// Client that calls a Method.
    Client {
        client: Box<Client>,
        object: NodeId,
        method: NodeId,
    },
    /// Connection.
    Socket(TcpStream),
    /// WriterGroup.
    Writer(Box<Writer>),
}

impl Next {
    /// Connects to the next node.
    pub(super) fn connect(setting: &NodeSetting, port: u16) -> Result<Self, String> {
        match setting.transport {
            NodeTransport::RawTcp => {
                socket(setting.address, port).map_err(|error| error.to_string())
            }
            NodeTransport::Tcp => Self::client(
                &format!("opc.tcp://{}:{port}", setting.address),
                &setting.folder,
            ),
            NodeTransport::Iox2 => Self::client(
                &format!("opc.iox2://{}", setting.name(port)),
                &setting.folder,
            ),
            NodeTransport::PubsubUdp | NodeTransport::PubsubIox2 => {
                let writer = Writer::open(setting, port, &pubsub::cell())?;
                Ok(Self::Writer(Box::new(writer)))
            }
        }
    }

    fn client(endpoint: &str, folder: &Path) -> Result<Self, String> {
        let options = ClientOptions {
            timeout: Duration::from_secs(10),
            runtime_directory: Some(folder.join("runtime")),
            security: ClientSecurity {
                choice: "none".parse()?,
                certificates: Some(folder.join("pki")),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named("TaktNodeClient")
        };
        let endpoint = endpoint
            .parse()
            .map_err(|error: EndpointError| error.to_string())?;
        let client = Client::connect(&endpoint, options).map_err(|error| error.to_string())?;
        Ok(Self::Client {
            client: Box::new(client),
            object: NodeId::numeric(NAMESPACE, takt_app::model::provider::OBJECT),
            method: NodeId::string(NAMESPACE, METHOD),
        })
    }

    /// Passes a message on. A client returns when the next node has it.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), String> {
        match self {
            Self::Client {
                client,
                object,
                method,
            } => {
                let input = [VariantRef::ByteString(Some(message))];
                let called = client.call_in_place(object, method, &input, |_| ());
                called.map_err(|error| error.to_string())
            }
            Self::Socket(socket) => {
                let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
                let bytes = [&length.to_le_bytes(), message].concat();
                socket.write_all(&bytes).map_err(|error| error.to_string())
            }
            Self::Writer(writer) => writer.send(message),
        }
    }
}

fn socket(address: IpAddr, port: u16) -> io::Result<Next> {
    let socket = TcpStream::connect(SocketAddr::new(address, port))?;
    socket.set_nodelay(true)?;
    Ok(Next::Socket(socket))
}
