//! Server's end of a channel.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::StatusCode;
use takt_ua::request_handler::RequestOutcome;

use crate::channel::inbox::{Inbox, Message};
use crate::channel::outbox::{Full, Once, Outbox};
use crate::channel::post::PostBox;
use crate::channel::protocol::Sleep;
use crate::error::ShmError;
use crate::handler::{Located, ShmChannels};
use crate::header::{FLAG_LOCATE, MessageHeader};
use crate::server::copies::{Copies, SLICE, WHOLE};
use crate::server::leftovers::Leftovers;
use crate::server::slot::Slot;

/// Maximum number of responses that a client has not taken: with more, it is too slow or broken.
const MAX_BACKLOG: usize = 256;

/// Channel of a client, and the handler's state for it.
pub(super) struct Channel<C> {
    inbox: Inbox,
    outbox: Outbox,
    memory: MemoryBudget,
    /// Responses for which there was no room. While there are any, no further request is taken.
    backlog: VecDeque<Response>,
    /// Number of bytes of the first kept response that are in the client's memory already. Long ones are copied in slices.
    copied: usize,
    /// Number of requests that are answered later. With as many as responses can be kept, no further request is taken.
    deferred: usize,
    /// True if requests may wait because so many others are answered later.
    pub(super) is_held_back: bool,
    /// Large request that is being copied, or waits until another one has been.
    begun: Option<Message>,
    /// Numbers of the segments with current values that the client has.
    passed: Vec<u32>,
    /// Number of looks without a request since the last one.
    pub(super) idle: u32,
    pub(super) connection: C,
}

/// Encoded response.
struct Response {
    request_id: u32,
    /// StatusCode; if it is not Good, there is no body.
    status: StatusCode,
    body: Vec<u8>,
    /// Charge for the memory while the response is kept.
    charge: Option<Charge>,
}

/// Result of a look at a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polled {
    /// There was no request that could be taken.
    Nothing,
    /// A request was answered, or is answered later.
    Answered,
    /// A large request or response is being copied: there is more to do at once.
    Unfinished,
}

/// Parts of the connection that a channel needs.
pub(super) struct Line<'a> {
    pub(super) slot: Slot,
    pub(super) post: &'a mut PostBox,
}

impl<C> Channel<C> {
    /// Returns the processor on which the client last fell asleep, if it ever did.
    pub(super) fn client_processor(&self) -> Option<usize> {
        self.inbox.processor()
    }

    /// Creates a channel to the client that has the outbox behind `fd`. Its memory is charged to `memory`.
    pub(super) fn new(
        fd: &OwnedFd,
        memory: MemoryBudget,
        max_request: u32,
        max_response: u32,
        connect: impl FnOnce() -> C,
    ) -> Result<Self, ShmError> {
        Ok(Self {
            inbox: Inbox::new(fd, max_request, &memory)?,
            outbox: Outbox::new(max_response, &memory)?,
            memory,
            backlog: VecDeque::new(),
            copied: 0,
            deferred: 0,
            is_held_back: false,
            begun: None,
            passed: Vec::new(),
            idle: 0,
            connection: connect(),
        })
    }

    /// Ends the channel and returns the handler's state. Memory for large messages is dropped by `leftovers`.
    pub(super) fn end(self, leftovers: &mut Leftovers) -> C {
        if self.inbox.has_large_segment() {
            leftovers.drop_later(self.inbox);
        }
        if self.outbox.has_large() {
            leftovers.drop_later(self.outbox);
        }
        self.connection
    }

    /// Returns true if it has memory for large messages.
    #[inline]
    pub(super) fn has_large(&self) -> bool {
        self.inbox.has_large() || self.outbox.has_large()
    }

    /// Returns true if a response is being copied: there is more to do at once.
    pub(super) fn is_copying(&self) -> bool {
        self.copied > 0
    }

    /// Gives back its memory for large messages, as far as it is not in use.
    pub(super) fn trim(&mut self) {
        self.inbox.trim();
        self.outbox.free_taken(self.inbox.taken());
        self.outbox.trim();
    }

    /// Returns the descriptor of the server's outbox, which is to be passed to the client.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.outbox.fd()
    }

    /// Answers the next request, if there is one, or copies a slice of it. An error means that the channel cannot be used any more.
    #[inline]
    pub(super) fn poll<H: ShmChannels<Connection = C>>(
        &mut self,
        handler: &H,
        copies: &mut Copies,
        line: Line<'_>,
    ) -> Result<Polled, ShmError> {
        if !self.inbox.is_ready() && self.backlog.is_empty() && self.begun.is_none() {
            return Ok(Polled::Nothing);
        }
        self.answer(handler, copies, line)
    }

    fn answer<H: ShmChannels<Connection = C>>(
        &mut self,
        handler: &H,
        copies: &mut Copies,
        mut line: Line<'_>,
    ) -> Result<Polled, ShmError> {
        let message = match self.begun.take() {
            // This happens even if the client takes no responses: large requests of others wait for this one.
            Some(message) => message,
            None => {
                if !self.backlog.is_empty() && !self.send_backlog(&mut line)? {
                    return Ok(match self.is_copying() {
                        true => Polled::Unfinished,
                        false => Polled::Nothing,
                    });
                }
                if self.deferred >= MAX_BACKLOG {
                    self.is_held_back = true;
                    return Ok(Polled::Nothing);
                }
                let fetch = &mut |generation| line.post.fetch(generation);
                match self.inbox.receive(fetch)? {
                    None => return Ok(Polled::Nothing),
                    Some(Ok(message)) => message,
                    Some(Err(invalid)) => {
                        self.outbox.acknowledge_with_next(self.inbox.received());
                        self.refuse(invalid.request_id, invalid.status, &mut line)?;
                        return Ok(Polled::Answered);
                    }
                }
            }
        };
        // This runs beside the copy of the request.
        self.outbox.free_taken(self.inbox.taken());
        self.outbox.prepare();
        let MessageHeader {
            request_id: id,
            flags,
            ..
        } = message.header;
        // The client can still write to this memory: the bytes that are checked must be the bytes that are used.
        match self.copy(&message, copies, line.slot) {
            Ok(true) => {}
            Ok(false) => {
                self.begun = Some(message);
                return Ok(Polled::Unfinished);
            }
            Err(error) => {
                copies.end(line.slot);
                self.outbox.acknowledge_with_next(self.inbox.received());
                self.settle(id, error, &mut line)?;
                return Ok(Polled::Answered);
            }
        }
        let slot = line.slot;
        // The copy is complete, so the client may use the memory again.
        self.outbox.acknowledge_with_next(self.inbox.received());
        if flags & FLAG_LOCATE != 0 {
            self.locate(id, handler, copies.bytes(&message), &mut line)?;
            copies.end(slot);
            return Ok(Polled::Answered);
        }
        let connection = &mut self.connection;
        let mut outcome = RequestOutcome::Deferred;
        let post = &line.post;
        let sent = self.outbox.send_once(
            header(id),
            &mut |generation, fd| post.pass_on(generation, fd),
            |encoder| {
                outcome = match copies.owned(&message) {
                    Some(request) => handler.handle_owned(connection, id, request, encoder),
                    None => handler.handle(connection, id, copies.bytes(&message), encoder),
                };
                outcome == RequestOutcome::Complete && encoder.position() > 0
            },
        );
        copies.end(slot);
        match sent {
            Ok(Once::Sent) => ring(&self.inbox, &self.outbox, line.post),
            Ok(Once::Nothing) if outcome == RequestOutcome::Deferred => {
                self.deferred += 1;
                // There is no response yet that could carry the acknowledgement.
                self.outbox.acknowledge_now();
            }
            // A ServiceFault did not fit either.
            Ok(Once::Nothing) => {
                self.refuse(id, StatusCode::BadResponseTooLarge, &mut line)?;
            }
            Ok(Once::Kept(body)) => self.keep(Response::good(id, body), &mut line)?,
            Err(error) => self.settle(id, error, &mut line)?,
        }
        Ok(Polled::Answered)
    }

    /// Copies a request, or a slice of it; returns true if it is complete.
    #[inline]
    fn copy(
        &mut self,
        message: &Message,
        copies: &mut Copies,
        slot: Slot,
    ) -> Result<bool, ShmError> {
        match copies.copy(slot, &self.inbox, message) {
            Err(ShmError::MemorySpent(_)) => {
                // With this request, the client has taken the last response, whose memory is free now.
                self.outbox.free_taken(self.inbox.taken());
                self.outbox.trim();
                copies.copy(slot, &self.inbox, message)
            }
            copied => copied,
        }
    }

    /// Answers with the place of a current value, after passing on its memory.
    #[cold]
    fn locate<H: ShmChannels<Connection = C>>(
        &mut self,
        id: u32,
        handler: &H,
        node_id: &[u8],
        line: &mut Line<'_>,
    ) -> Result<(), ShmError> {
        let mut body = Vec::new();
        if let Some(Located { segment, location }) = handler.locate(&mut self.connection, node_id) {
            let (number, segment) = segment;
            if !self.passed.contains(&number) {
                line.post.pass_values(number, segment.fd())?;
                self.passed.push(number);
            }
            body.extend_from_slice(&number.to_le_bytes());
            body.extend_from_slice(&location);
        }
        self.respond(Response::good(id, body), line)
    }

    /// Sends the deferred responses that are ready, and returns true if there were any.
    pub(super) fn complete<H: ShmChannels<Connection = C>>(
        &mut self,
        handler: &H,
        mut line: Line<'_>,
    ) -> Result<bool, ShmError> {
        let mut any = false;
        while let Some((id, body)) = handler.take_completed(&mut self.connection) {
            any = true;
            self.deferred = self.deferred.saturating_sub(1);
            self.respond(Response::good(id, body), &mut line)?;
        }
        Ok(any)
    }

    fn respond(&mut self, response: Response, line: &mut Line<'_>) -> Result<(), ShmError> {
        // A response does not overtake those that wait, and a long one is copied in slices from the backlog.
        if !self.backlog.is_empty() || response.body.len() > WHOLE {
            return self.keep(response, line);
        }
        self.outbox.free_taken(self.inbox.taken());
        match self.send(&response, line) {
            Ok(Ok(())) => {
                ring(&self.inbox, &self.outbox, line.post);
                Ok(())
            }
            Ok(Err(Full)) => self.keep(response, line),
            Err(error) => self.settle(response.request_id, error, line),
        }
    }

    /// Sends a response, or copies a slice of a long one.
    fn send(&mut self, response: &Response, line: &Line<'_>) -> Result<Result<(), Full>, ShmError> {
        let header = MessageHeader {
            status: response.status.0,
            ..header(response.request_id)
        };
        let post = &line.post;
        let pass_on = &mut |generation, fd: BorrowedFd<'_>| post.pass_on(generation, fd);
        let body = &response.body;
        if body.len() <= WHOLE {
            return self.outbox.send_bytes(header, pass_on, body);
        }
        let copied = std::mem::take(&mut self.copied);
        let copied = self
            .outbox
            .send_slice(header, pass_on, body, copied, SLICE)?;
        Ok(match copied {
            Ok(copied) if copied < body.len() => {
                self.copied = copied;
                Err(Full)
            }
            Ok(_) => Ok(()),
            Err(Full) => Err(Full),
        })
    }

    /// Keeps a response until the client has taken others.
    #[cold]
    fn keep(&mut self, mut response: Response, line: &mut Line<'_>) -> Result<(), ShmError> {
        if self.backlog.len() >= MAX_BACKLOG {
            return Err(ShmError::Busy("responses that the client does not take"));
        }
        match self.memory.charge(response.body.capacity()) {
            Ok(charge) => response.charge = Some(charge),
            Err(_) => response = Response::refusal(response.request_id, StatusCode::BadOutOfMemory),
        }
        self.backlog.push_back(response);
        // No response carries the acknowledgement now.
        self.outbox.acknowledge_now();
        self.outbox.set_backlog(true);
        // The client may have taken some before it could see the backlog; otherwise it rings later.
        self.send_backlog(line)?;
        // A client that sleeps has to look: it finds the backlog, and acknowledges the responses that it has taken.
        if !self.backlog.is_empty() {
            ring(&self.inbox, &self.outbox, line.post);
        }
        Ok(())
    }

    /// Sends the kept responses, as far as there is room, or a slice of a long one; returns true if none is left.
    #[cold]
    fn send_backlog(&mut self, line: &mut Line<'_>) -> Result<bool, ShmError> {
        self.outbox.free_taken(self.inbox.taken());
        while let Some(response) = self.backlog.pop_front() {
            match self.send(&response, line) {
                Ok(Ok(())) => ring(&self.inbox, &self.outbox, line.post),
                Ok(Err(Full)) => {
                    self.backlog.push_front(response);
                    return Ok(false);
                }
                Err(error) => self.settle(response.request_id, error, line)?,
            }
        }
        self.outbox.set_backlog(false);
        Ok(true)
    }

    /// Turns an error that concerns only this response into a StatusCode.
    #[cold]
    fn settle(&mut self, id: u32, error: ShmError, line: &mut Line<'_>) -> Result<(), ShmError> {
        match error {
            ShmError::RequestTooLarge { .. } => {
                self.refuse(id, StatusCode::BadResponseTooLarge, line)
            }
            // There is no memory, or no descriptor, for this one.
            ShmError::MemorySpent(_) | ShmError::Io { .. } => {
                self.refuse(id, error.status_code(), line)
            }
            error => Err(error),
        }
    }

    /// Answers with a StatusCode instead of a message.
    #[cold]
    fn refuse(
        &mut self,
        request_id: u32,
        status: StatusCode,
        line: &mut Line<'_>,
    ) -> Result<(), ShmError> {
        self.respond(Response::refusal(request_id, status), line)
    }
}

impl Response {
    fn good(request_id: u32, body: Vec<u8>) -> Self {
        Self {
            request_id,
            status: StatusCode::Good,
            body,
            charge: None,
        }
    }

    fn refusal(request_id: u32, status: StatusCode) -> Self {
        Self {
            status,
            ..Self::good(request_id, Vec::new())
        }
    }
}

fn header(request_id: u32) -> MessageHeader {
    MessageHeader {
        request_id,
        ..MessageHeader::default()
    }
}

/// Wakes the client if it sleeps; to be called after sending.
#[inline]
fn ring(inbox: &Inbox, outbox: &Outbox, post: &PostBox) {
    match inbox.sleep_of() {
        Sleep::Awake => {}
        Sleep::Mail => post.ring(),
        Sleep::Rings => outbox.ring(),
    }
}
