//! Requests of a session, as the services of this crate use them.
//!
//! Everything that takes several requests, or depends on a response, is written once, as an `async fn` over these traits:
//! the compiler makes a state machine of it, which knows no socket, clock or runtime. A blocking client answers each
//! request before it returns, so [`ready`] has the result after one step. An asynchronous client waits in between.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use takt_ua::binary::Limits;

use super::answer_budget::AnswerBudget;
use super::batches::Batches;
use super::request::ServiceRequest;
use crate::endpoint::Endpoint;
use crate::error::{ClientError, ProtocolError};

/// A session that requests can be made in.
pub(crate) trait Requests {
    /// Returns the endpoint of the server.
    fn endpoint(&self) -> &Endpoint;

    /// Returns the numbers of operations that the server accepts in one request.
    fn batches(&self) -> &Batches;

    /// Returns the memory in bytes that the answers to one call take at most.
    fn max_memory(&self) -> usize {
        Limits::DEFAULT.max_memory
    }

    /// Returns the budget of a call whose answers are collected.
    fn answer_budget(&self) -> AnswerBudget {
        AnswerBudget::new(self.max_memory())
    }

    /// Sends `request`, and returns its response.
    fn call<Q: ServiceRequest>(
        &mut self,
        request: Q,
    ) -> impl Future<Output = Result<Q::Response, ClientError>>;

    /// Returns the error of a response that is not valid.
    fn protocol(&self, reason: impl Into<String>) -> ClientError {
        ClientError::protocol(self.endpoint(), ProtocolError::Content(reason.into()))
    }

    /// Checks that a response has a result for every operation of its request.
    fn expect_count(&self, response: &str, expected: usize, got: usize) -> Result<(), ClientError> {
        if expected == got {
            Ok(())
        } else {
            Err(self.protocol(format!(
                "{response} has {got} results for {expected} operations"
            )))
        }
    }
}

/// Returns the result of a future that does not wait, because its requests block.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
}
