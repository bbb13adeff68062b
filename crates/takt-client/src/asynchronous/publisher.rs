//! The session of a Subscription: requests of dropped futures go on, and Publish requests wait at the server.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use takt_tcp::AsyncResponse;
use takt_ua::Structure;
use takt_ua::structures::{PublishRequest, PublishResponse};

use super::AsyncClient;
use super::transport::failed;
use crate::client::{Batches, Requests, ServiceRequest, decode_message, timed_out};
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::subscription::Publishing;

/// Response of any service.
type Answer = Box<dyn Any + Send>;

/// A session with Publish requests that wait at the server.
pub(super) struct Publisher {
    client: AsyncClient,
    /// Responses in the order of their requests, which is the order of the messages.
    waiting: Vec<AsyncResponse>,
    begun: Option<Begun>,
}

/// A request whose future may have been dropped. The next equal request continues it, so that futures with shorter lives than
/// a round trip make progress, and the server does not do the work twice.
struct Begun {
    /// The request's type and its bytes, without the header of the session.
    request: (&'static str, Vec<u8>),
    answer: Pin<Box<dyn Future<Output = Result<Answer, ClientError>> + Send>>,
}

impl Publisher {
    pub(super) fn new(client: AsyncClient) -> Self {
        Self {
            client,
            waiting: Vec::new(),
            begun: None,
        }
    }

    pub(super) fn session(&self) -> &AsyncClient {
        &self.client
    }
}

impl Requests for Publisher {
    fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    fn batches(&self) -> &Batches {
        self.client.batches()
    }

    fn max_memory(&self) -> usize {
        self.client.options().max_memory
    }

    async fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, ClientError> {
        let bytes = (Q::NAME, request.encode_to_vec());
        // Another request: the result of the first one is not wanted any more.
        self.begun.take_if(|begun| begun.request != bytes);
        let begun = self.begun.get_or_insert_with(|| {
            let client = self.client.clone();
            let answer = async move {
                let answer = client.call(request).await?;
                Ok(Box::new(answer) as Answer)
            };
            Begun {
                request: bytes,
                answer: Box::pin(answer),
            }
        });
        let answer = begun.answer.as_mut().await;
        self.begun = None;
        let answer = answer?.downcast();
        answer.map_or_else(
            |_| Err(self.protocol("the response belongs to another request")),
            |answer| Ok(*answer),
        )
    }
}

impl Publishing for Publisher {
    fn timeout(&self) -> Duration {
        self.client.options().timeout
    }

    fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    fn epoch(&self) -> u64 {
        self.client.epoch()
    }

    fn connections(&self) -> u64 {
        self.client.last().map_or(0, |current| current.connections)
    }

    async fn reopen(&mut self) -> Result<(), ClientError> {
        // Responses that a connection still owes are lost with it.
        self.waiting.clear();
        self.client
            .current(self.client.deadline())
            .await
            .map(|_| ())
    }

    fn send_publish(&mut self, request: PublishRequest) -> Result<(), ClientError> {
        // No TimeoutHint: a Publish request waits until there is something to publish.
        let sent = self.client.send(request, Duration::ZERO)?;
        self.waiting.push(sent);
        Ok(())
    }

    async fn receive_publish(
        &mut self,
        timeout: Duration,
    ) -> Result<Result<PublishResponse, ClientError>, ClientError> {
        // A request that is still there was given up.
        self.begun = None;
        let (endpoint, waiting) = (self.client.endpoint(), &mut self.waiting);
        let limits = self.client.options().limits();
        let first = poll_fn(|context| {
            // Not only the first one: a server may refuse a later one at once.
            for (at, response) in waiting.iter_mut().enumerate() {
                if let Poll::Ready(answer) = Pin::new(response).poll(context) {
                    return Poll::Ready((at, answer));
                }
            }
            Poll::Pending
        });
        let Ok((at, answer)) = tokio::time::timeout(timeout, first).await else {
            return Err(timed_out(endpoint, timeout));
        };
        waiting.remove(at);
        match answer {
            Ok(body) => Ok(decode_message(
                PublishResponse::NAME,
                endpoint,
                limits,
                &body,
            )),
            Err(error) => {
                let error = failed(endpoint, timeout, error);
                // A lost connection concerns all requests; any other error is the answer to this one.
                match error {
                    ClientError::Closed { .. } => Err(error),
                    error => Ok(Err(error)),
                }
            }
        }
    }

    fn disconnect(&mut self) {
        self.client.disconnect();
    }

    fn close(&mut self) {
        if let Some(current) = self.client.last() {
            self.client.abandon(&current);
        }
    }
}
