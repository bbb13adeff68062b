//! Receiving half of a connection: bytes become chunks, chunks become messages (OPC 10000-6, 6.7.2, 6.7.3, 6.7.7).

use std::ops::Range;

use crate::assembler::Assembler;
use crate::chunk::{
    self, ChunkHeader, ChunkType, MessageType, SYMMETRIC_HEADER_SIZE, SequenceHeader,
};
use crate::error::TransportError;
use crate::hello::{MAX_CONTROL_MESSAGE, TransportLimits};
use crate::receive_buffer::ReceiveBuffer;
use crate::security::ChunkSecurity;
use crate::security_error::SecurityError;
use crate::sequence::SequenceReceiver;

/// A completely received chunk.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) header: ChunkHeader,
    /// Its range in the receive buffer.
    pub(crate) range: Range<usize>,
}

/// Location of the body of a complete message.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// In the receive buffer: the message has one chunk.
    Received(Range<usize>),
    /// In the assembler.
    Assembled,
}

/// Result of a `MSG` chunk.
#[derive(Debug)]
pub(crate) enum Message {
    /// More chunks must follow.
    Incomplete,
    /// A complete message.
    Complete { request_id: u32, body: Body },
    /// The sender aborted the message; the body has the reason.
    Aborted { request_id: u32, body: Range<usize> },
}

/// Received bytes, and the limits and numbers that they are checked against.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub(crate) buffer: ReceiveBuffer,
    pub(crate) sequence: SequenceReceiver,
    pub(crate) channel_id: u32,
    assembler: Assembler,
    limit: usize,
    max_message_size: usize,
    max_chunk_count: u32,
    /// Size of the chunk whose beginning has arrived, 0 if not known.
    expected: usize,
}

impl Inbound {
    /// Creates an empty buffer. Before limits are negotiated, only the small messages of the connection layer are
    /// received.
    pub(crate) fn new(channel_id: u32) -> Self {
        Self {
            buffer: ReceiveBuffer::new(MAX_CONTROL_MESSAGE),
            // A placeholder: the policy of the channel decides when it opens.
            sequence: SequenceReceiver::new(true),
            channel_id,
            assembler: Assembler::default(),
            limit: MAX_CONTROL_MESSAGE,
            // No `MSG` chunk is accepted before limits are negotiated.
            max_message_size: 0,
            max_chunk_count: 0,
            expected: 0,
        }
    }

    /// Sets the negotiated limits.
    pub(crate) fn set_limits(&mut self, limits: &TransportLimits) {
        self.limit = limits.receive_buffer_size as usize;
        self.max_message_size = limits.max_message_size as usize;
        self.max_chunk_count = limits.max_chunk_count;
        self.buffer.set_limit(self.limit);
    }

    /// Returns the buffer for more bytes from the peer.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.trim();
        self.buffer.space(self.expected)
    }

    /// Frees the memory of a large message that has been handled.
    pub(crate) fn trim(&mut self) {
        self.assembler.trim();
    }

    /// Frees unused memory; if `all` is set, received bytes are discarded too.
    pub(crate) fn release(&mut self, all: bool) {
        if all {
            self.buffer.take(usize::MAX);
            self.assembler = Assembler::default();
        }
        self.buffer.release();
        self.assembler.release();
    }

    /// Returns the number of bytes of memory.
    pub(crate) const fn capacity(&self) -> usize {
        self.buffer.capacity() + self.assembler.capacity()
    }

    /// Returns the number of bytes of memory that the [`space`](Self::space) for the chunk that has begun takes.
    pub(crate) fn capacity_for_space(&self) -> usize {
        self.buffer.capacity_for(self.expected) + self.assembler.capacity()
    }

    /// Returns an upper bound of the number of bytes of memory after the chunk with this header is added.
    pub(crate) fn capacity_with(&self, header: &ChunkHeader) -> usize {
        let joins = header.message_type == MessageType::Message
            && match header.chunk_type {
                ChunkType::Abort => false,
                ChunkType::Intermediate => true,
                ChunkType::Final => self.assembler.is_in_progress(),
            };
        if !joins {
            return self.capacity();
        }
        let max = self.max_message_size;
        self.buffer.capacity() + self.assembler.capacity_with(header.size, max)
    }

    /// Returns whether a chunk or a message has begun and its end is missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        !self.buffer.is_empty() || self.assembler.is_in_progress()
    }

    /// Returns the header of the next complete chunk.
    pub(crate) fn peek_chunk(&mut self) -> Result<Option<ChunkHeader>, TransportError> {
        let unread = self.buffer.unread();
        self.expected = 0;
        let Some(header) = ChunkHeader::parse(unread, self.limit)? else {
            return Ok(None);
        };
        if unread.len() < header.size {
            self.expected = header.size;
            return Ok(None);
        }
        Ok(Some(header))
    }

    /// Returns the received bytes from the next chunk on.
    pub(crate) fn unread(&self) -> &[u8] {
        self.buffer.unread()
    }

    /// Removes the chunk whose header was [read](Self::peek_chunk).
    pub(crate) fn take_chunk(&mut self, header: ChunkHeader) -> Chunk {
        let range = self.buffer.take(header.size);
        Chunk { header, range }
    }

    /// Removes the next complete chunk.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Chunk>, TransportError> {
        let header = self.peek_chunk()?;
        Ok(header.map(|header| self.take_chunk(header)))
    }

    /// Returns the bytes of a chunk.
    pub(crate) fn chunk(&self, chunk: &Chunk) -> &[u8] {
        self.buffer.get(chunk.range.clone())
    }

    /// Returns the body of a message.
    pub(crate) fn body(&self, body: &Body) -> &[u8] {
        match body {
            Body::Received(range) => self.buffer.get(range.clone()),
            Body::Assembled => self.assembler.body(),
        }
    }

    /// Returns the last assembled message, whose memory may be taken.
    pub(crate) const fn assembled(&mut self) -> &mut Vec<u8> {
        self.assembler.body_mut()
    }

    /// Checks that a `MSG` or `CLO` chunk belongs to this channel, and returns the TokenId that secures it
    /// (OPC 10000-6, 6.7.7: this check comes first).
    pub(crate) fn token_of(&self, chunk: &Chunk) -> Result<u32, TransportError> {
        let bytes = self.chunk(chunk);
        match chunk::secure_channel_id(bytes) {
            id if id == self.channel_id => Ok(chunk::token_id(bytes)),
            id => Err(TransportError::SecureChannelUnknown(id)),
        }
    }

    /// Verifies a chunk whose security header ends at `header`; returns its RequestId and the range of its body.
    pub(crate) fn open(
        &mut self,
        chunk: &Chunk,
        header: usize,
        security: &dyn ChunkSecurity,
    ) -> Result<(u32, Range<usize>), TransportError> {
        let bytes = self.buffer.get_mut(chunk.range.clone());
        let end = security.open(bytes, header, self.sequence.last())?;
        let sequence = SequenceHeader::parse(&bytes[..end], header).ok_or(SecurityError::Length)?;
        // Only after the chunk is verified: a forged number must not count.
        self.sequence.accept(sequence.sequence_number)?;
        let start = chunk.range.start;
        let body = start + header + chunk::SEQUENCE_HEADER_SIZE..start + end;
        Ok((sequence.request_id, body))
    }

    /// Verifies a `MSG` chunk and adds it to its message.
    pub(crate) fn message(
        &mut self,
        chunk: &Chunk,
        security: &dyn ChunkSecurity,
    ) -> Result<Message, TransportError> {
        debug_assert_eq!(chunk.header.message_type, MessageType::Message);
        let (request_id, body) = self.open(chunk, SYMMETRIC_HEADER_SIZE, security)?;
        match chunk.header.chunk_type {
            ChunkType::Abort => {
                self.assembler.abort(request_id)?;
                Ok(Message::Aborted { request_id, body })
            }
            ChunkType::Final if !self.assembler.is_in_progress() => {
                // The limit on chunks is at least 1, so only the size has to be checked.
                if body.len() > self.max_message_size {
                    let limit = self.max_message_size;
                    return Err(TransportError::MessageTooLarge { limit });
                }
                // One chunk is the usual case: its body is handled where it was received.
                let body = Body::Received(body);
                Ok(Message::Complete { request_id, body })
            }
            chunk_type => {
                let bytes = self.buffer.get(body);
                let (size, count) = (self.max_message_size, self.max_chunk_count);
                self.assembler.add(request_id, bytes, size, count)?;
                if chunk_type == ChunkType::Intermediate {
                    return Ok(Message::Incomplete);
                }
                self.assembler.finish();
                let body = Body::Assembled;
                Ok(Message::Complete { request_id, body })
            }
        }
    }
}
