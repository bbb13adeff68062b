//! Requests whose responses arrive later, in any order: Publish (OPC 10000-4, 5.14.5).

use std::time::Duration;

use super::{Client, Request, Response, not_connected, remaining, request_header};
use crate::error::ClientError;

impl Client {
    /// Sends `request` without waiting for its response, and returns its id. Other requests can be made meanwhile.
    pub(crate) fn send<Q: Request>(&mut self, mut request: Q) -> Result<u32, ClientError> {
        let deadline = self.deadline();
        self.open(deadline)?;
        self.request_handle = self.request_handle.wrapping_add(1);
        let Some((transport, session)) = self.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let token = session.authentication_token();
        *request.header_mut() = request_header(token, self.request_handle, Duration::ZERO);
        let result = transport.send(&request, remaining(deadline));
        self.lost_if_closed(result)
    }

    /// Waits for the next response to a request that was [sent](Self::send).
    pub(crate) fn receive<R: Response>(
        &mut self,
        timeout: Duration,
    ) -> Result<(u32, Result<R, ClientError>), ClientError> {
        let Some((transport, _)) = self.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let result = transport.receive(timeout);
        self.lost_if_closed(result)
    }

    fn lost_if_closed<T>(&mut self, result: Result<T, ClientError>) -> Result<T, ClientError> {
        if matches!(
            result,
            Err(ClientError::Closed { .. } | ClientError::Protocol { .. })
        ) {
            self.connected = None;
        }
        result
    }

    /// Closes a connection that can no longer be used.
    pub(crate) fn disconnect(&mut self) {
        self.connected = None;
    }

    /// Returns the error of a server that was silent for longer than it promised.
    pub(crate) fn silent(&self) -> ClientError {
        ClientError::Closed {
            endpoint: self.endpoint.to_string(),
            reason: "the server has been silent for too long".to_owned(),
        }
    }
}
