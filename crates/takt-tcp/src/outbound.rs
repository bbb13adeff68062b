//! Sending half of a connection: messages are encoded in place behind their headers, divided into chunks if they are
//! too long for one, and kept until the socket takes them (OPC 10000-6, 6.7.2 and 6.7.3).

use takt_ua::binary::Encoder;
use takt_ua::{StatusCode, large_memory};

use crate::chunk::{
    self, ChunkHeader, ChunkType, MessageType, SEQUENCE_HEADER_SIZE, SYMMETRIC_HEADER_SIZE,
    SequenceHeader,
};
use crate::error::TransportError;
use crate::hello::{NegotiatedLimits, encode_reason};
use crate::sequence::SequenceSender;
use crate::token::Token;
use crate::waiting::WaitingMessages;

/// Size in bytes of the memory that is kept after everything is sent.
const KEPT_CAPACITY: usize = 256 << 10;

/// Size in bytes of a message that is allowed even without [room](Outbound::room): a ServiceFault.
const FAULT: usize = 256;

/// Number of unsent bytes from which on waiting messages are not divided further.
pub(crate) const AHEAD: usize = 128 << 10;

/// Size in bytes of a body from which on it is divided into chunks while it is sent, if the connection
/// [does so](Outbound::divides_later). To make room for headers in it at once would move all of it.
const DIVIDED_LATER: usize = 1 << 20;

/// Number of bytes before the body of a symmetric chunk.
const BODY: usize = SYMMETRIC_HEADER_SIZE + SEQUENCE_HEADER_SIZE;

/// Unsent bytes, and the state for encoding more messages.
#[derive(Debug)]
pub(crate) struct Outbound {
    bytes: Vec<u8>,
    sent: usize,
    /// Messages behind the unsent bytes.
    waiting: WaitingMessages,
    /// True if the connection [fills](Self::fill) this in turn with sending.
    divides_later: bool,
    /// Size in bytes of memory that may be allocated for messages.
    pub(crate) room: usize,
    pub(crate) sequence: SequenceSender,
    pub(crate) limits: NegotiatedLimits,
    pub(crate) channel_id: u32,
}

impl Outbound {
    pub(crate) fn new(limits: NegotiatedLimits, channel_id: u32) -> Self {
        Self {
            bytes: Vec::new(),
            sent: 0,
            waiting: WaitingMessages::default(),
            divides_later: false,
            room: usize::MAX,
            // A placeholder: the policy of the channel decides when it opens.
            sequence: SequenceSender::new(true),
            limits,
            channel_id,
        }
    }

    /// Makes [`message`](Self::message) divide long bodies into chunks later, in [`fill`](Self::fill).
    pub(crate) fn dividing_later(self) -> Self {
        Self {
            divides_later: true,
            ..self
        }
    }

    /// Returns the unsent bytes. After [`sent`](Self::sent), [`fill`](Self::fill) appends those of waiting messages.
    pub(crate) fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Returns the number of unsent bytes, with the bodies of waiting messages.
    pub(crate) fn unsent_count(&self) -> usize {
        self.unsent().len() + self.waiting.unsent()
    }

    /// Notes that the first `count` bytes of [`unsent`](Self::unsent) are sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.sent = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT_CAPACITY {
                large_memory::free(std::mem::take(&mut self.bytes));
            }
        } else if self.sent >= KEPT_CAPACITY && self.sent >= self.bytes.len() / 2 {
            // Sent bytes are removed, so that the buffer stays small even if the peer always leaves some unsent.
            // At least as many are removed as are moved, so a byte is moved once on average.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Returns the number of bytes of memory.
    pub(crate) const fn capacity(&self) -> usize {
        self.bytes.capacity() + self.waiting.capacity()
    }

    /// Frees the memory that holds no unsent bytes.
    pub(crate) fn shrink(&mut self) {
        self.bytes.drain(..self.sent);
        self.sent = 0;
        self.bytes.shrink_to_fit();
    }

    /// Discards the unsent bytes. Returns `false` if the peer has received a part of a message and will miss its end.
    pub(crate) fn forget(&mut self) -> bool {
        // Ends of messages are not known: unsent bytes may be the rest of one that has begun.
        let is_clean = self.bytes.is_empty();
        self.bytes = Vec::new();
        self.sent = 0;
        self.waiting.clear();
        is_clean
    }

    /// Returns true if there are waiting messages.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.unsent() > 0
    }

    /// Discards the waiting messages.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    fn max_body_by_memory(&self) -> usize {
        // Spare memory of the buffer is charged already, so it does not use up the room.
        let spare = self.bytes.capacity() - self.bytes.len();
        let total = spare.saturating_add(self.room).saturating_sub(BODY);
        total.max(FAULT)
    }

    /// Returns whether memory of `capacity` bytes may be kept for a message that is encoded already.
    pub(crate) fn may_keep(&self, capacity: usize) -> bool {
        capacity <= self.room.max(FAULT)
    }

    /// Returns the buffer to which messages of the connection layer and `OPN` messages are appended.
    pub(crate) fn raw(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Returns the largest body that `token` and the peer's limits allow.
    pub(crate) fn max_message(&self, token: &Token) -> usize {
        let max_body = self.max_body(token);
        // The peer may allow u32::MAX chunks.
        let by_chunks = max_body.saturating_mul(self.limits.max_sent_chunk_count as usize);
        by_chunks.min(self.limits.local.max_sent_message_size as usize)
    }

    fn max_body(&self, token: &Token) -> usize {
        let chunk_size = self.limits.local.send_buffer_size as usize;
        token.send().max_body(SYMMETRIC_HEADER_SIZE, chunk_size)
    }

    /// Appends a message whose body `encode` writes. If `encode` writes nothing, nothing is sent.
    ///
    /// Returns the result of `encode` and whether a message was appended. On an error nothing is appended.
    pub(crate) fn message<R>(
        &mut self,
        message_type: MessageType,
        token: &Token,
        request_id: u32,
        encode: impl FnOnce(&mut Encoder<'_>) -> R,
    ) -> Result<(R, bool), TransportError> {
        // Requests are handled only while few bytes are unsent: these are few chunks.
        self.fill(token, usize::MAX)?;
        let start = self.bytes.len();
        let limit = self.max_message(token).min(self.max_body_by_memory());
        self.bytes.extend_from_slice(&[0; BODY]);
        let mut encoder = Encoder::growing(&mut self.bytes, limit);
        let result = encode(&mut encoder);
        let body = encoder.position();
        if body == 0 {
            self.bytes.truncate(start);
            return Ok((result, false));
        }
        if self.divides_later && body >= DIVIDED_LATER && message_type == MessageType::Message {
            // These are few bytes. The large body is not copied: its memory becomes that of the waiting message.
            let earlier = self.bytes[..start].to_vec();
            let bytes = std::mem::replace(&mut self.bytes, earlier);
            self.waiting.push(request_id, bytes, start + BODY);
            self.fill(token, AHEAD)?;
            return Ok((result, true));
        }
        let max_body = self.max_body(token);
        let finished = if body <= max_body {
            self.seal(
                message_type,
                ChunkType::Final,
                token,
                request_id,
                start,
                body,
            )
        } else {
            self.split(message_type, token, request_id, start, body, max_body)
        };
        if let Err(error) = finished {
            self.bytes.truncate(start);
            return Err(error);
        }
        Ok((result, true))
    }

    /// Appends a message that is encoded already. A long body is not copied at once.
    pub(crate) fn encoded_message(
        &mut self,
        token: &Token,
        request_id: u32,
        body: Vec<u8>,
    ) -> Result<(), TransportError> {
        self.waiting.push(request_id, body, 0);
        self.fill(token, AHEAD)
    }

    /// Divides waiting messages into chunks until `ahead` bytes are ready to be sent.
    pub(crate) fn fill(&mut self, token: &Token, ahead: usize) -> Result<(), TransportError> {
        while self.has_waiting() && self.unsent().len() < ahead {
            let max_body = self.max_body(token);
            let Some(piece) = self.waiting.next(max_body) else {
                break;
            };
            let start = self.bytes.len();
            self.bytes.extend_from_slice(&[0; BODY]);
            self.bytes.extend_from_slice(piece.bytes);
            let (request_id, body) = (piece.request_id, piece.bytes.len());
            let chunk_type = match piece.is_last {
                true => ChunkType::Final,
                false => ChunkType::Intermediate,
            };
            self.waiting.advance(body);
            let kind = MessageType::Message;
            if let Err(error) = self.seal(kind, chunk_type, token, request_id, start, body) {
                self.bytes.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Appends the chunk that aborts message `request_id`: it ends the message for the receiver (OPC 10000-6, 6.7.3).
    pub(crate) fn abort(
        &mut self,
        token: &Token,
        request_id: u32,
        status: StatusCode,
        reason: &str,
    ) -> Result<(), TransportError> {
        // Waiting messages come first: their receiver refuses other chunks between theirs.
        self.fill(token, usize::MAX)?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; BODY]);
        let limit = self.max_body(token);
        let mut encoder = Encoder::growing(&mut self.bytes, limit);
        if encode_reason(&mut encoder, status, reason).is_err() {
            // Only a StatusCode without a reason always fits the smallest chunk of any policy.
            encoder.truncate(0);
            let _ = encode_reason(&mut encoder, status, "");
        }
        let body = encoder.position();
        self.seal(
            MessageType::Message,
            ChunkType::Abort,
            token,
            request_id,
            start,
            body,
        )
        .inspect_err(|_| self.bytes.truncate(start))
    }

    /// Moves the bodies of all chunks except the first towards the end, to make room for the headers between them.
    fn split(
        &mut self,
        message_type: MessageType,
        token: &Token,
        request_id: u32,
        start: usize,
        body: usize,
        max_body: usize,
    ) -> Result<(), TransportError> {
        let security = token.send();
        let full = security.sealed_size(SYMMETRIC_HEADER_SIZE, max_body);
        let last = (body - 1) / max_body;
        let last_body = body - last * max_body;
        // Without the end of the last chunk: `seal` makes room for its padding and signature.
        self.bytes.resize(start + last * full + BODY + last_body, 0);
        // The last one first, because each moves into the place of those behind it.
        for index in (1..=last).rev() {
            let from = start + BODY + index * max_body;
            let length = if index == last { last_body } else { max_body };
            self.bytes
                .copy_within(from..from + length, start + BODY + index * full);
        }
        // All bodies are in place before the first chunk is sealed: its signature overwrites the bytes behind its body.
        for index in 0..last {
            let at = start + index * full;
            let kind = ChunkType::Intermediate;
            self.seal(message_type, kind, token, request_id, at, max_body)?;
        }
        let at = start + last * full;
        self.seal(
            message_type,
            ChunkType::Final,
            token,
            request_id,
            at,
            last_body,
        )
    }

    /// Writes the headers of the chunk that starts at `start` and whose body is in place, and secures it. Bytes
    /// behind the body are overwritten.
    fn seal(
        &mut self,
        message_type: MessageType,
        chunk_type: ChunkType,
        token: &Token,
        request_id: u32,
        start: usize,
        body: usize,
    ) -> Result<(), TransportError> {
        let security = token.send();
        let size = security.sealed_size(SYMMETRIC_HEADER_SIZE, body);
        if self.bytes.len() < start + size {
            self.bytes.resize(start + size, 0);
        }
        let chunk = &mut self.bytes[start..start + size];
        ChunkHeader {
            message_type,
            chunk_type,
            size,
        }
        .emit(chunk);
        chunk::emit_symmetric(chunk, self.channel_id, token.id);
        SequenceHeader {
            sequence_number: self.sequence.take(),
            request_id,
        }
        .emit(chunk, SYMMETRIC_HEADER_SIZE);
        Ok(security.seal(chunk, SYMMETRIC_HEADER_SIZE, body)?)
    }
}
