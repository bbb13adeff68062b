//! The server's end of a channel.

use iceoryx2::prelude::Node;
use takt_rt::readiness::Waker;
use takt_ua::StatusCode;

use crate::address::ApplicationName;
use crate::channel::{NotDelivered, Receiver, Sender};
use crate::error::ShmError;
use crate::handler::{Handler, Outcome};
use crate::header::{FLAG_WAKE, MessageHeader};
use crate::names::{channel_request_name, channel_response_name};
use crate::pooled_ipc::PooledIpc;

/// A client's channel, and what the handler keeps for it.
pub(super) struct Channel<C> {
    receiver: Receiver,
    sender: Sender,
    max_request: u32,
    pub(super) connection: C,
}

impl<C> Channel<C> {
    /// Makes the two services of the channel.
    pub(super) fn new(
        node: &Node<PooledIpc>,
        name: &ApplicationName,
        id: u64,
        max_request: u32,
        max_response: u32,
        connect: impl FnOnce() -> C,
    ) -> Result<Self, ShmError> {
        let receiver = Receiver::new(node, &channel_request_name(name, id), true)?;
        let sender = Sender::new(node, &channel_response_name(name, id), max_response, true)?;
        Ok(Self {
            receiver,
            sender,
            max_request,
            connection: connect(),
        })
    }

    /// Answers the next request, if there is one. An error means that the channel cannot be used any more.
    pub(super) fn poll<H: Handler<Connection = C>>(
        &mut self,
        handler: &H,
        scratch: &mut Vec<u8>,
        client: &Waker,
    ) -> Result<bool, ShmError> {
        let Some(message) = self.receiver.receive()? else {
            return Ok(false);
        };
        let payload = message.payload();
        let header = match MessageHeader::parse(payload, self.max_request) {
            Ok((header, body)) => {
                // The client can still write to this memory: what is checked must be what is used.
                scratch.clear();
                scratch.extend_from_slice(payload.get(body).unwrap_or_default());
                header
            }
            Err(error) => {
                let id = MessageHeader::request_id_of(payload);
                drop(message);
                self.refuse(id, error.status_code())?;
                client.wake();
                return Ok(true);
            }
        };
        drop(message);

        let id = header.request_id;
        let response = MessageHeader {
            request_id: id,
            ..MessageHeader::default()
        };
        let connection = &mut self.connection;
        let mut outcome = Outcome::Deferred;
        let sent = self.sender.send_once(response, |encoder| {
            outcome = handler.handle(connection, id, scratch, encoder);
            outcome == Outcome::Complete && encoder.position() > 0
        });
        let mut sent = self.settle(id, sent)?;
        if !sent && outcome == Outcome::Complete {
            // Not even a ServiceFault had room.
            self.refuse(id, StatusCode::BadResponseTooLarge)?;
            sent = true;
        }
        if sent && header.flags & FLAG_WAKE != 0 {
            client.wake();
        }
        Ok(true)
    }

    /// Sends the deferred responses that are ready, and says whether there were any.
    pub(super) fn complete<H: Handler<Connection = C>>(
        &mut self,
        handler: &H,
        client: &Waker,
    ) -> Result<bool, ShmError> {
        let mut any = false;
        while let Some((id, body)) = handler.take_completed(&mut self.connection) {
            let response = MessageHeader {
                request_id: id,
                ..MessageHeader::default()
            };
            let sent = self.sender.send_bytes(response, &body).map(Some);
            any |= self.settle(id, sent)?;
        }
        if any {
            client.wake();
        }
        Ok(any)
    }

    /// Turns what only this response suffers from into a StatusCode; says whether the client has to look.
    fn settle(
        &mut self,
        id: u32,
        sent: Result<Option<Result<(), NotDelivered>>, ShmError>,
    ) -> Result<bool, ShmError> {
        match sent {
            // A client that does not take its responses loses them.
            Ok(response) => Ok(response.is_some()),
            Err(ShmError::RequestTooLarge { .. }) => {
                self.refuse(id, StatusCode::BadResponseTooLarge)?;
                Ok(true)
            }
            Err(error @ ShmError::SharedMemoryFull { .. }) => {
                self.refuse(id, error.status_code())?;
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Answers with a StatusCode instead of a message.
    fn refuse(&mut self, id: u32, status: StatusCode) -> Result<(), ShmError> {
        let response = MessageHeader {
            request_id: id,
            status: status.0,
            ..MessageHeader::default()
        };
        self.sender.send_bytes(response, &[]).map(|_| ())
    }
}
