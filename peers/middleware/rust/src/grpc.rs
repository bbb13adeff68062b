//! gRPC with tonic. A request is a unary call of a method with one `bytes` field.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use takt_middleware_peers::{Client, LARGEST, Mode, answer, info, options, ready, run, serve_commands, text};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// Message with one field.
#[derive(Clone, PartialEq, prost::Message)]
struct Data {
    #[prost(bytes = "vec", tag = "1")]
    data: Vec<u8>,
}

const PATHS: [&str; 2] = ["/peer.Peer/Echo", "/peer.Peer/Acknowledge"];
const LIMIT: usize = LARGEST + 64;

/// Service with both methods.
#[derive(Clone)]
struct Service;

impl NamedService for Service {
    const NAME: &'static str = "peer.Peer";
}

struct Method(Mode);

impl UnaryService<Data> for Method {
    type Response = Data;
    type Future = std::future::Ready<Result<Response<Data>, Status>>;

    fn call(&mut self, request: Request<Data>) -> Self::Future {
        std::future::ready(Ok(Response::new(Data { data: answer(self.0, &request.into_inner().data) })))
    }
}

impl tonic::codegen::Service<http::Request<tonic::body::Body>> for Service {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let mode = Mode::BOTH.into_iter().find(|mode| PATHS[*mode as usize] == request.uri().path());
        Box::pin(async move {
            let Some(mode) = mode else {
                return Ok(Status::unimplemented("no such method").into_http());
            };
            let mut grpc = Grpc::new(ProstCodec::<Data, Data>::default());
            grpc = grpc.apply_max_message_size_config(Some(LIMIT), Some(LIMIT));
            Ok(grpc.unary(Method(mode), request).await)
        })
    }
}

type Pending = Pin<Box<dyn Future<Output = Result<Response<Data>, Status>>>>;

struct Connection {
    grpc: tonic::client::Grpc<Channel>,
    pending: Option<Pending>,
}

impl Client for Connection {
    type Answer = Vec<u8>;

    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String> {
        self.grpc.ready().await.map_err(text)?;
        let mut grpc = self.grpc.clone();
        let request = Request::new(Data { data: data.to_vec() });
        let path = http::uri::PathAndQuery::from_static(PATHS[mode as usize]);
        self.pending = Some(Box::pin(async move {
            grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
            grpc.unary(request, path, ProstCodec::<Data, Data>::default()).await
        }));
        Ok(())
    }

    async fn receive(&mut self) -> Result<Vec<u8>, String> {
        match &mut self.pending {
            Some(pending) => {
                let response = pending.await;
                self.pending = None;
                Ok(response.map_err(text)?.into_inner().data)
            }
            None => std::future::pending().await,
        }
    }
}

fn main() {
    let options = options(false);
    info("version", "0.14.9");
    info("setting", "tcp_nodelay true, one thread, no TLS");
    run(0, async move {
        if options.server {
            let address = (options.address.as_str(), options.port);
            let listener = tokio::net::TcpListener::bind(address).await.map_err(text)?;
            ready();
            let server = Server::builder().tcp_nodelay(true).add_service(Service);
            let incoming = TcpListenerStream::new(listener);
            let nodelay = tokio_stream::StreamExt::map(incoming, |stream| {
                stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            });
            return tokio::select! {
                result = server.serve_with_incoming(nodelay) => result.map_err(text),
                () = takt_middleware_peers::stdin_closed() => Ok(()),
            };
        }
        let endpoint = Endpoint::from_shared(format!("http://{}:{}", options.address, options.port)).map_err(text)?;
        let channel = endpoint.tcp_nodelay(true).connect().await.map_err(text)?;
        let grpc = tonic::client::Grpc::new(channel);
        let grpc = grpc.max_decoding_message_size(LIMIT).max_encoding_message_size(LIMIT);
        serve_commands(&mut Connection { grpc, pending: None }).await
    });
}
