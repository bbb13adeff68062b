//! gRPC with tonic. A request is a unary call of a method with one field of bytes; each mode has its own method.

use std::convert::Infallible;
use std::future::{Ready, ready as ready_now};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use takt_middleware_peers::{
    Client, LARGEST, Mode, Options, answer, authority, certificate, info, options, ready, run, serve_commands,
    stdin_closed, text,
};
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

const fn path(mode: Mode) -> &'static str {
    match mode {
        Mode::Echo => "/takt.Peer/Echo",
        Mode::Ack => "/takt.Peer/Ack",
    }
}

/// Method of the server.
struct Method(Mode);

impl UnaryService<Data> for Method {
    type Response = Data;
    type Future = Ready<Result<Response<Data>, Status>>;

    fn call(&mut self, request: Request<Data>) -> Self::Future {
        let data = request.into_inner().data;
        let data = match self.0 {
            Mode::Echo => data,
            Mode::Ack => answer(Mode::Ack, &data).into(),
        };
        ready_now(Ok(Response::new(Data { data })))
    }
}

/// Service with a method for each mode.
#[derive(Clone)]
struct Service;

impl tonic::codegen::Service<HttpRequest<Body>> for Service {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        let found = Mode::BOTH.into_iter().find(|mode| path(*mode) == request.uri().path());
        Box::pin(async move {
            let Some(mode) = found else {
                return Ok(Status::unimplemented("no such method").into_http());
            };
            let codec = ProstCodec::<Data, Data>::default();
            let mut grpc = tonic::server::Grpc::new(codec).max_decoding_message_size(LARGEST_MESSAGE);
            Ok(grpc.unary(Method(mode), request).await)
        })
    }
}

async fn serve(options: &Options) -> Result<(), String> {
    let address = format!("{}:{}", options.address, options.port).parse().map_err(text)?;
    let mut server = Server::builder();
    if options.tls {
        let (certificate, key) = certificate(options)?;
        let settings = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        server = server.tls_config(settings).map_err(text)?;
    }
    let incoming = TcpIncoming::bind(address).map_err(text)?.with_nodelay(Some(true));
    ready();
    server.serve_with_incoming_shutdown(Service, incoming, stdin_closed()).await.map_err(text)
}

type Call = Pin<Box<dyn Future<Output = Result<Response<Data>, Status>>>>;

struct Connection {
    grpc: Grpc<Channel>,
    call: Option<Call>,
}

impl Connection {
    async fn open(options: &Options) -> Result<Self, String> {
        let scheme = if options.tls { "https" } else { "http" };
        let url = format!("{scheme}://{}:{}", options.address, options.port);
        let mut endpoint = Endpoint::from_shared(url).map_err(text)?.tcp_nodelay(true);
        if options.tls {
            let trusted = Certificate::from_pem(authority(options)?);
            endpoint = endpoint.tls_config(ClientTlsConfig::new().ca_certificate(trusted)).map_err(text)?;
        }
        let channel = endpoint.connect().await.map_err(text)?;
        Ok(Self { grpc: Grpc::new(channel).max_decoding_message_size(LARGEST_MESSAGE), call: None })
    }
}

impl Client for Connection {
    type Answer = Bytes;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        let (mut grpc, request) = (self.grpc.clone(), Request::new(Data { data: Bytes::copy_from_slice(data) }));
        let call = async move {
            grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
            grpc.unary(request, PathAndQuery::from_static(path(mode)), ProstCodec::<Data, Data>::default()).await
        };
        self.call = Some(Box::pin(call));
        Ok(())
    }

    async fn receive(&mut self) -> Result<Bytes, String> {
        let call = self.call.as_mut().ok_or("no call")?;
        let result = call.await;
        self.call = None;
        result.map(|response| response.into_inner().data).map_err(text)
    }
}

fn main() {
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
