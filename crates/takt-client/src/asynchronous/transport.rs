//! The connection below an asynchronous session.

use std::sync::Arc;
use std::time::Duration;

use takt_tcp::{AsyncTcpClient, ClientConnectionConfig, EndpointUrl, TcpClientError};
use takt_ua::binary::Limits;

use crate::client::{
    ClientOptions, Connection, Secured, ServiceRequest, decode_message, encode_message, tcp_error,
    timed_out, untrusted,
};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// A connection over TCP, without a session.
pub(super) struct AsyncTransport {
    endpoint: Endpoint,
    /// Limits of each answer.
    limits: Limits,
    client: Arc<AsyncTcpClient>,
    secured: Option<Box<Secured>>,
}

impl AsyncTransport {
    pub(super) fn client(&self) -> &Arc<AsyncTcpClient> {
        &self.client
    }
}

impl Connection for AsyncTransport {
    async fn connect_unsecured(
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let Endpoint::Tcp(url) = endpoint else {
            return Err(ClientError::Invalid(format!(
                "{endpoint} is shared memory, which asynchronous clients do not use: give an endpoint opc.tcp://host:port"
            )));
        };
        if options.reverse.is_some() {
            return Err(ClientError::Invalid(
                "asynchronous clients do not wait for connections of servers: use a blocking client"
                    .to_owned(),
            ));
        }
        let config = ClientConnectionConfig::default();
        let client = AsyncTcpClient::connect(url, config, timeout).await;
        let client = client.map_err(|error| ClientError::unreachable(endpoint, error))?;
        Ok(Self {
            endpoint: endpoint.clone(),
            limits: options.limits(),
            client: Arc::new(client),
            secured: None,
        })
    }

    async fn connect_secured(
        url: &EndpointUrl,
        options: &ClientOptions,
        secured: Secured,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let endpoint = Endpoint::Tcp(url.clone());
        let client = AsyncTcpClient::connect(url, secured.config(url, options), timeout).await;
        let client = client.map_err(|error| untrusted(&endpoint, &secured, error))?;
        Ok(Self {
            endpoint,
            limits: options.limits(),
            client: Arc::new(client),
            secured: Some(Box::new(secured)),
        })
    }

    async fn wait_for<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ClientError> {
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| ClientError::Invalid(format!("a thread of the runtime: {error}")))
    }

    fn secured(&self) -> Option<&Secured> {
        self.secured.as_deref()
    }

    async fn exchange_one<Q: ServiceRequest>(
        &mut self,
        request: &Q,
        timeout: Duration,
    ) -> Result<Q::Response, ClientError> {
        exchange(
            (&self.endpoint, self.limits),
            &self.client,
            request,
            timeout,
        )
        .await
    }
}

/// Sends `request`, and waits for its response.
pub(super) async fn exchange<Q: ServiceRequest>(
    (endpoint, limits): (&Endpoint, Limits),
    client: &AsyncTcpClient,
    request: &Q,
    timeout: Duration,
) -> Result<Q::Response, ClientError> {
    let answer = async {
        client.room().await?;
        let response = client.send(|encoder| encode_message(request, encoder))?;
        response.await
    };
    let body = match tokio::time::timeout(timeout, answer).await {
        Ok(answer) => answer.map_err(|error| failed(endpoint, timeout, error))?,
        Err(_) => return Err(timed_out(endpoint, timeout)),
    };
    decode_message(Q::NAME, endpoint, limits, &body)
}

/// Returns the error of a request without a response.
pub(super) fn failed(endpoint: &Endpoint, timeout: Duration, error: TcpClientError) -> ClientError {
    tcp_error(endpoint, timeout, error)
}
