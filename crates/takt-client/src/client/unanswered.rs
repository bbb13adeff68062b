//! Requests whose responses arrive later, in any order: Publish (OPC 10000-4, 5.14.5), and requests that are forwarded.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use takt_ua::structures::RequestHeader;

use super::{Client, EncodedResponse, ServiceRequest, not_connected, remaining, request_header};
use crate::error::ClientError;

impl Client {
    /// Sends `request` without waiting for its response, and returns its id. Other requests can be made meanwhile.
    /// `timeout_hint` tells the server how long the response is waited for; zero stands for no limit.
    ///
    /// # Errors
    /// Those of the connection; [`ClientError::Service`] if the server has no room for another request before it
    /// answers one.
    pub fn send<Q: ServiceRequest>(
        &mut self,
        mut request: Q,
        timeout_hint: Duration,
    ) -> Result<u32, ClientError> {
        let deadline = self.deadline();
        self.open(deadline)?;
        self.request_handle = self.request_handle.wrapping_add(1);
        let Some((transport, session)) = self.link.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let token = session.authentication_token();
        let header = request.header_mut();
        *header = RequestHeader {
            additional_header: std::mem::take(&mut header.additional_header),
            ..request_header(token, self.request_handle, timeout_hint)
        };
        let result = transport.send(&request, remaining(deadline));
        self.lost_if_closed(result)
    }

    /// Waits for the next response to a request that was [sent](Self::send), and passes it to `take`. With
    /// `Duration::ZERO` it does not wait.
    ///
    /// # Errors
    /// [`ClientError::Timeout`] if there was none; those of the connection.
    pub fn receive<T>(
        &mut self,
        timeout: Duration,
        take: impl FnOnce(EncodedResponse<'_>) -> T,
    ) -> Result<T, ClientError> {
        let Some((transport, _)) = self.link.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let result = transport.receive(timeout, take);
        self.lost_if_closed(result)
    }

    /// Sleeps until there may be a response to a request that was [sent](Self::send), the connection has ended, or
    /// `interrupt` is readable, for at most `timeout`.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn wait_or(
        &mut self,
        interrupt: BorrowedFd<'_>,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        let Some((transport, _)) = self.link.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let result = transport.wait_or(interrupt, timeout);
        self.lost_if_closed(result)
    }

    /// Gives up the connection if `result` is an error after which it cannot be used.
    #[inline]
    pub(super) fn lost_if_closed<T>(
        &mut self,
        result: Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        // The hot path only looks at the result.
        if let Err(error) = &result {
            self.lost_after(error);
        }
        result
    }

    #[cold]
    fn lost_after(&mut self, error: &ClientError) {
        match error {
            ClientError::Closed { .. } => self.disconnect(),
            // The session would stay at the server until its timeout.
            ClientError::Protocol { .. } => self.close(),
            _ => {}
        }
    }

    /// Gives up the connection without closing the session, for a server that does not answer.
    pub fn disconnect(&mut self) {
        self.link.disconnect(&self.endpoint, &self.options);
    }
}
