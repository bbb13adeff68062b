//! gRPC with tonic. A request is a unary call of a method with one field of bytes; each mode has its own method, and the
//! messages of nodes have one. A node answers a call before it passes the message on.

use std::convert::Infallible;
use std::future::{Ready, ready as ready_now};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use takt_middleware_peers::{
    Client, LARGEST, Mode, NodeLinks, NodeOptions, Options, answer, authority, certificate, info, options, ready, run,
    run_node, serve_commands, stdin_closed, text,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http::{Request as HttpRequest, Response as HttpResponse, uri::PathAndQuery};
use tonic::server::UnaryService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// Largest message, with the tag and the length of its field.
const LARGEST_MESSAGE: usize = LARGEST + 16;

/// `message Data { bytes data = 1; }`
#[derive(Clone, PartialEq, Eq, prost::Message)]
struct Data {
    #[prost(bytes = "bytes", tag = "1")]
    data: Bytes,
}

/// Path of the method that takes a message for a node.
const TAKE: &str = "/takt.Node/Take";

const fn path(mode: Mode) -> &'static str {
    match mode {
        Mode::Echo => "/takt.Peer/Echo",
        Mode::Ack => "/takt.Peer/Ack",
    }
}

/// Method of a server.
enum Method {
    Answer(Mode),
    Take(UnboundedSender<Bytes>),
}

impl UnaryService<Data> for Method {
    type Response = Data;
    type Future = Ready<Result<Response<Data>, Status>>;

    fn call(&mut self, request: Request<Data>) -> Self::Future {
        let data = request.into_inner().data;
        let data = match self {
            Self::Answer(Mode::Echo) => data,
            Self::Answer(Mode::Ack) => answer(Mode::Ack, &data).into(),
            Self::Take(messages) => {
                // The node has ended if nothing receives it.
                let _ = messages.send(data);
                Bytes::new()
            }
        };
        ready_now(Ok(Response::new(Data { data })))
    }
}

/// Service with a method for each mode, or with the method of a node.
#[derive(Clone)]
enum Service {
    Peer,
    Node(UnboundedSender<Bytes>),
}

impl Service {
    fn method(&self, wanted: &str) -> Option<Method> {
        match self {
            Self::Peer => Mode::BOTH.into_iter().find(|mode| path(*mode) == wanted).map(Method::Answer),
            Self::Node(messages) => (wanted == TAKE).then(|| Method::Take(messages.clone())),
        }
    }
}

impl tonic::codegen::Service<HttpRequest<Body>> for Service {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        let found = self.method(request.uri().path());
        Box::pin(async move {
            let Some(method) = found else {
                return Ok(Status::unimplemented("no such method").into_http());
            };
            let codec = ProstCodec::<Data, Data>::default();
            let mut grpc = tonic::server::Grpc::new(codec).max_decoding_message_size(LARGEST_MESSAGE);
            Ok(grpc.unary(method, request).await)
        })
    }
}

fn listen(address: &str, port: u16) -> Result<TcpIncoming, String> {
    let address = format!("{address}:{port}").parse().map_err(text)?;
    Ok(TcpIncoming::bind(address).map_err(text)?.with_nodelay(Some(true)))
}

async fn serve(options: &Options) -> Result<(), String> {
    let mut server = Server::builder();
    if options.tls {
        let (certificate, key) = certificate(options)?;
        let settings = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        server = server.tls_config(settings).map_err(text)?;
    }
    let incoming = listen(&options.address, options.port)?;
    ready();
    server.serve_with_incoming_shutdown(Service::Peer, incoming, stdin_closed()).await.map_err(text)
}

async fn connect(endpoint: Endpoint) -> Result<Grpc<Channel>, String> {
    let channel = endpoint.tcp_nodelay(true).connect().await.map_err(text)?;
    Ok(Grpc::new(channel).max_decoding_message_size(LARGEST_MESSAGE))
}

async fn call(mut grpc: Grpc<Channel>, path: &'static str, data: Bytes) -> Result<Bytes, String> {
    grpc.ready().await.map_err(text)?;
    let codec = ProstCodec::<Data, Data>::default();
    let response = grpc.unary(Request::new(Data { data }), PathAndQuery::from_static(path), codec).await;
    response.map(|response| response.into_inner().data).map_err(text)
}

type Call = Pin<Box<dyn Future<Output = Result<Bytes, String>>>>;

struct Connection {
    grpc: Grpc<Channel>,
    call: Option<Call>,
}

impl Connection {
    async fn open(options: &Options) -> Result<Self, String> {
        let scheme = if options.tls { "https" } else { "http" };
        let url = format!("{scheme}://{}:{}", options.address, options.port);
        let mut endpoint = Endpoint::from_shared(url).map_err(text)?;
        if options.tls {
            let trusted = Certificate::from_pem(authority(options)?);
            endpoint = endpoint.tls_config(ClientTlsConfig::new().ca_certificate(trusted)).map_err(text)?;
        }
        Ok(Self { grpc: connect(endpoint).await?, call: None })
    }
}

impl Client for Connection {
    type Answer = Bytes;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        self.call = Some(Box::pin(call(self.grpc.clone(), path(mode), Bytes::copy_from_slice(data))));
        Ok(())
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        let call = self.call.as_mut().ok_or("no call")?;
        let result = call.await;
        self.call = None;
        result
    }
}

/// Node: a server in a task of its own, and a client of each next server.
struct Links {
    messages: UnboundedReceiver<Bytes>,
    next: Vec<Grpc<Channel>>,
}

impl NodeLinks for Links {
    async fn open(options: &NodeOptions) -> Result<Self, String> {
        let incoming = listen(&options.address, options.port)?;
        let (sender, messages) = unbounded_channel();
        // It ends with the process.
        tokio::spawn(Server::builder().serve_with_incoming(Service::Node(sender), incoming));
        Ok(Self { messages, next: Vec::new() })
    }

    async fn connect(&mut self, options: &NodeOptions) -> Result<(), String> {
        for port in &options.next {
            let url = format!("http://{}:{port}", options.address);
            self.next.push(connect(Endpoint::from_shared(url).map_err(text)?).await?);
        }
        Ok(())
    }

    async fn send(&mut self, place: usize, message: Bytes) -> Result<(), String> {
        call(self.next[place].clone(), TAKE, message).await.map(drop)
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        self.messages.recv().await.ok_or_else(|| "the server has ended".to_owned())
    }
}

fn main() {
    if run_node::<Links>(0) {
        return;
    }
    let options = options(&["security=none", "security=tls"]);
    info("version", "0.14.9");
    info("setting", "unary calls, one channel, tcp_nodelay true, one thread");
    run(0, async move {
        if options.server {
            return serve(&options).await;
        }
        serve_commands(&mut Connection::open(&options).await?).await
    });
}
