//! Reassembly of chunks.

use std::time::{Duration, Instant};

use crate::chunk::ChunkRef;
use crate::network_message::NetworkMessageRef;
use crate::network_message_type::NetworkMessageType;
use crate::publisher_id::PublisherId;

/// Limits of a [`ChunkReassembler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Largest payload, in bytes.
    pub max_payload_size: usize,
    /// Total size in bytes of the incomplete payloads. If another one needs more, the oldest is discarded.
    pub max_memory: usize,
    /// Number of payloads at a time, including recently completed ones. For another one, the oldest is discarded.
    pub max_payloads: usize,
    /// Number of chunks of one payload.
    pub max_chunks: usize,
    /// Time to wait for all chunks of a payload, counted from the first one.
    pub timeout: Duration,
}

impl Default for ReassemblyLimits {
    /// 4 MiB per payload, 16 MiB in total, 64 payloads, 16 384 chunks, 5 s.
    fn default() -> Self {
        Self {
            max_payload_size: 4 << 20,
            max_memory: 16 << 20,
            max_payloads: 64,
            max_chunks: 16_384,
            timeout: Duration::from_secs(5),
        }
    }
}

/// Reason for which a chunk was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReassemblyError {
    /// The payload is larger than the limit.
    #[error("a payload has {total_size} bytes; the limit is {limit}")]
    TooLarge {
        /// Size of the payload in bytes.
        total_size: u32,
        /// Largest allowed value.
        limit: usize,
    },
    /// The payload has more chunks than the limit.
    #[error("a payload has {chunks} chunks; the limit is {limit}")]
    TooManyChunks {
        /// Number of chunks.
        chunks: usize,
        /// Largest allowed value.
        limit: usize,
    },
    /// The chunk belongs to an older payload of the same DataSetWriter.
    #[error("a chunk of payload {found} arrived after payload {current} had begun")]
    Stale {
        /// Number of the payload that the chunk belongs to.
        found: u16,
        /// Number of the latest payload.
        current: u16,
    },
    /// The chunk does not match the previous ones; the payload is discarded.
    #[error("the chunk at offset {chunk_offset} does not match the others: {what}")]
    Inconsistent {
        /// Offset of the chunk in bytes.
        chunk_offset: u32,
        /// Description of the mismatch.
        what: &'static str,
    },
}

/// A complete payload. With the headers of the message that carried its last chunk,
/// [`NetworkMessageRef::reassembled_payload`] reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReassembledPayload {
    /// Number of the payload.
    pub message_sequence_number: u16,
    /// The payload.
    pub bytes: Vec<u8>,
}

/// Source of a payload. Each source has one payload at a time.
#[derive(Debug, PartialEq)]
struct Source {
    origin: u64,
    publisher_id: Option<PublisherId>,
    writer_group_id: Option<u16>,
    network_message_type: NetworkMessageType,
    data_set_writer_id: Option<u16>,
}

#[derive(Debug)]
struct Partial {
    source: Source,
    message_sequence_number: u16,
    started: Instant,
    bytes: Vec<u8>,
    /// Size in bytes of all chunks except the last; known once a chunk that is not the last was received.
    chunk_size: Option<usize>,
    /// Flags of the received chunks except the last, by number.
    received: Vec<bool>,
    /// Number of the flags that are set, and the largest offset in bytes of these chunks.
    marked: usize,
    farthest: usize,
    /// Offset in bytes of the last chunk, once it was received.
    last: Option<usize>,
    complete: bool,
}

/// Collects the chunks of payloads, in any order, repeated or not, within limits of memory and time.
///
/// It has no clock: [`push`](Self::push) takes the time, [`next_timeout`](Self::next_timeout) returns the time at
/// which [`handle_timeout`](Self::handle_timeout) has to be called.
#[derive(Debug, Default)]
pub struct ChunkReassembler {
    limits: ReassemblyLimits,
    /// Incomplete and recently completed payloads, oldest first.
    partials: Vec<Partial>,
    /// Number of payloads that were discarded because chunks were missing.
    incomplete: u64,
}

impl ChunkReassembler {
    /// Creates a reassembler with these limits.
    pub fn new(limits: ReassemblyLimits) -> Self {
        Self {
            limits,
            partials: Vec::new(),
            incomplete: 0,
        }
    }

    /// Adds a chunk that was received with these headers; returns the payload if it was the last missing one.
    pub fn push(
        &mut self,
        message: &NetworkMessageRef<'_>,
        chunk: &ChunkRef<'_>,
        now: Instant,
    ) -> Result<Option<ReassembledPayload>, ReassemblyError> {
        self.push_from(0, message, chunk, now)
    }

    /// Adds a chunk as [`push`](Self::push) does. `origin` is a number of the place that the message came from: chunks of
    /// different places do not belong together, whatever their headers say.
    pub fn push_from(
        &mut self,
        origin: u64,
        message: &NetworkMessageRef<'_>,
        chunk: &ChunkRef<'_>,
        now: Instant,
    ) -> Result<Option<ReassembledPayload>, ReassemblyError> {
        // First, so that payloads that are late give their memory to this one.
        self.handle_timeout(now);
        let total_size = chunk.total_size as usize;
        // A payload above the memory would displace all others in vain.
        if total_size > self.limits.max_payload_size.min(self.limits.max_memory) {
            return Err(ReassemblyError::TooLarge {
                total_size: chunk.total_size,
                limit: self.limits.max_payload_size.min(self.limits.max_memory),
            });
        }
        let index = self.find_or_begin(origin, message, chunk, now)?;
        let Some(partial) = self.partials.get_mut(index) else {
            return Ok(None);
        };
        match partial.add(chunk, self.limits.max_chunks) {
            Ok(false) => Ok(None),
            Ok(true) => {
                partial.complete = true;
                // The payload stays known until its timeout, but needs no memory for it.
                partial.received = Vec::new();
                Ok(Some(ReassembledPayload {
                    message_sequence_number: partial.message_sequence_number,
                    bytes: std::mem::take(&mut partial.bytes),
                }))
            }
            Err(error) => {
                self.partials.remove(index);
                Err(error)
            }
        }
    }

    /// Returns the index of the payload that a chunk belongs to.
    fn find_or_begin(
        &mut self,
        origin: u64,
        message: &NetworkMessageRef<'_>,
        chunk: &ChunkRef<'_>,
        now: Instant,
    ) -> Result<usize, ReassemblyError> {
        let writer_group_id = message.group_header.and_then(|group| group.writer_group_id);
        let found = self.partials.iter().position(|partial| {
            let source = &partial.source;
            source.origin == origin
                && source.network_message_type == chunk.network_message_type
                && source.data_set_writer_id == chunk.data_set_writer_id
                && source.writer_group_id == writer_group_id
                && source.publisher_id.as_ref().map(|id| id.as_ref()) == message.publisher_id
        });
        if let Some((index, current)) =
            found.and_then(|index| Some((index, self.partials.get(index)?)))
        {
            let (found, current) = (
                chunk.message_sequence_number,
                current.message_sequence_number,
            );
            if found == current {
                return Ok(index);
            }
            // Numbers wrap; the newer one is less than half of them ahead (OPC 10000-14, 7.2.3).
            if found.wrapping_sub(current) > u16::MAX / 2 {
                return Err(ReassemblyError::Stale { found, current });
            }
            self.discard(index);
        }
        let total_size = chunk.total_size as usize;
        // The oldest comes first: it is the most likely to have lost a chunk.
        while !self.partials.is_empty()
            && (self.memory() + total_size > self.limits.max_memory
                || self.partials.len() >= self.limits.max_payloads.max(1))
        {
            self.discard(0);
        }
        self.partials.push(Partial {
            source: Source {
                origin,
                publisher_id: message.publisher_id.map(|id| id.to_owned()),
                writer_group_id,
                network_message_type: chunk.network_message_type,
                data_set_writer_id: chunk.data_set_writer_id,
            },
            message_sequence_number: chunk.message_sequence_number,
            started: now,
            // The chunk alone announces this size; the limits above bound it.
            bytes: vec![0; total_size],
            chunk_size: None,
            received: Vec::new(),
            marked: 0,
            farthest: 0,
            last: None,
            complete: false,
        });
        Ok(self.partials.len() - 1)
    }

    /// Returns the number of bytes of the payloads that are not complete.
    pub fn memory(&self) -> usize {
        self.partials
            .iter()
            .map(|partial| partial.bytes.len())
            .sum()
    }

    /// Discards payloads whose timeout has expired.
    pub fn handle_timeout(&mut self, now: Instant) {
        let timeout = self.limits.timeout;
        let incomplete = &mut self.incomplete;
        self.partials.retain(|partial| {
            let stays = now.saturating_duration_since(partial.started) < timeout;
            *incomplete += u64::from(!stays && !partial.complete);
            stays
        });
    }

    /// Returns the number of payloads that were discarded because chunks were missing: after their timeout, for a newer payload
    /// of the same source, or because there was no room. Payloads whose chunks contradict each other are not among them.
    pub fn incomplete(&self) -> u64 {
        self.incomplete
    }

    fn discard(&mut self, index: usize) {
        let partial = self.partials.remove(index);
        self.incomplete += u64::from(!partial.complete);
    }

    /// Returns the time at which the next payload's timeout expires.
    pub fn next_timeout(&self) -> Option<Instant> {
        let started = self.partials.iter().map(|partial| partial.started).min()?;
        started.checked_add(self.limits.timeout)
    }
}

impl Partial {
    /// Stores a chunk; returns whether it was the last missing one.
    fn add(&mut self, chunk: &ChunkRef<'_>, max_chunks: usize) -> Result<bool, ReassemblyError> {
        // The payload was returned already; it stays known, so that repeated chunks do not begin it anew.
        if self.complete {
            return Ok(false);
        }
        let refuse = |what: &'static str| {
            Err(ReassemblyError::Inconsistent {
                chunk_offset: chunk.chunk_offset,
                what,
            })
        };
        let offset = chunk.chunk_offset as usize;
        if chunk.total_size as usize != self.bytes.len() {
            return refuse("another TotalSize");
        }
        let target = self.bytes.get_mut(offset..);
        let Some(target) = target.and_then(|rest| rest.get_mut(..chunk.chunk_data.len())) else {
            return refuse("behind the end");
        };
        // Copied before all checks: after an error the payload is discarded.
        target.copy_from_slice(chunk.chunk_data);
        if chunk.is_last() {
            if self.last.is_some_and(|last| last != offset) {
                return refuse("another size than the last chunk before");
            }
            self.last = Some(offset);
            // It is the only chunk, so no other one tells the size.
            if offset == 0 {
                return Ok(true);
            }
        } else {
            let size = chunk.chunk_data.len();
            match self.chunk_size {
                None => self.set_chunk_size(size, max_chunks)?,
                Some(known) if known != size => return refuse("another size than the others"),
                Some(_) => {}
            }
            if !self.mark(offset) {
                return refuse("not at a multiple of the chunks' size");
            }
        }
        // The last chunk may have another size (some devices put the rest of a division into it), and may come first: the others tell
        // where it belongs.
        let (Some(size), Some(last)) = (self.chunk_size, self.last) else {
            return Ok(false);
        };
        if !last.is_multiple_of(size) {
            return refuse("not at a multiple of the chunks' size");
        }
        if self.marked > 0 && self.farthest >= last {
            return refuse("the last chunk begins before others");
        }
        Ok(self.marked == last / size)
    }

    fn set_chunk_size(&mut self, size: usize, max_chunks: usize) -> Result<(), ReassemblyError> {
        // The size is not 0: `ChunkRef` refuses empty chunks.
        let chunks = self.bytes.len().div_ceil(size);
        // Chunks of one byte would need a flag for each byte of the payload.
        if chunks > max_chunks {
            return Err(ReassemblyError::TooManyChunks {
                chunks,
                limit: max_chunks,
            });
        }
        self.chunk_size = Some(size);
        self.received = vec![false; chunks];
        Ok(())
    }

    /// Notes that the chunk at an offset was received; returns `false` if there is none at that offset.
    fn mark(&mut self, offset: usize) -> bool {
        let Some(size) = self.chunk_size.filter(|size| offset.is_multiple_of(*size)) else {
            return false;
        };
        match self.received.get_mut(offset / size) {
            Some(received) => {
                if !*received {
                    *received = true;
                    self.marked += 1;
                    self.farthest = self.farthest.max(offset);
                }
                true
            }
            None => false,
        }
    }
}
