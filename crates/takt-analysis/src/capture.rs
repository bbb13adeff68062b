//! Counters of UADP messages in captures.

use std::fs::File;
use std::io::BufReader;
use std::time::UNIX_EPOCH;

use takt_capture::{CaptureReader, CapturedPacket, carried};
use takt_ua::VariantRef;
use takt_wire::{
    DataSetContentRef, FieldsRef, NetworkMessageRef, PayloadParameters, PayloadRef, PublisherId,
};

/// Length in bytes of a signature: HMAC with SHA2-256, as in both SecurityPolicies (OPC 10000-7, PubSub-Aes128-CTR and
/// PubSub-Aes256-CTR).
const SIGNATURE: usize = 32;

/// Largest number of senders that are told apart. Messages of further ones are skipped.
const MOST_SENDERS: usize = 64;

/// Sender of messages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sender {
    publisher_id: Option<PublisherId>,
    writer_group_id: Option<u16>,
    data_set_writer_id: Option<u16>,
}

impl Sender {
    /// Returns the PublisherId as text.
    pub(crate) fn publisher_id(&self) -> Option<String> {
        self.publisher_id.as_ref().map(ToString::to_string)
    }

    /// Returns true if the PublisherId has this text.
    pub(crate) fn has_publisher_id(&self, text: &str) -> bool {
        self.publisher_id().is_some_and(|id| id == text)
    }
}

impl std::fmt::Display for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |id: Option<u16>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let publisher = self.publisher_id.as_ref();
        let publisher = publisher.map_or_else(|| "-".to_owned(), ToString::to_string);
        write!(
            f,
            "PublisherId {publisher}, WriterGroupId {}, DataSetWriterId {}",
            number(self.writer_group_id),
            number(self.data_set_writer_id)
        )
    }
}

/// Message of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CapturedMessage {
    /// Index of its sender, in the order in which they come.
    pub(crate) sender: usize,
    /// First field of its first DataSetMessage.
    pub(crate) counter: u64,
    /// Time of the capture: nanoseconds since 1970 (UTC).
    pub(crate) nanos: i64,
    /// GroupVersion of the message.
    pub(crate) group_version: Option<u32>,
    /// Index of the hardware address from which it came; `None` for other packets than Ethernet frames of UADP, whose address is that of
    /// a router, perhaps.
    pub(crate) source: Option<usize>,
}

/// Iterator over the messages of a capture, which keeps none of them. Damage is its last item.
pub(crate) struct CapturedMessages {
    reader: CaptureReader<'static>,
    extension: CounterExtension,
    pub(crate) senders: Vec<Sender>,
    /// Hardware addresses from which messages came.
    pub(crate) sources: Vec<String>,
    /// Number of packets without a time or without a message that has a counter.
    pub(crate) skipped: u64,
}

impl CapturedMessages {
    pub(crate) fn new(file: File) -> Result<Self, String> {
        Ok(Self {
            reader: CaptureReader::new(BufReader::new(file))?,
            extension: CounterExtension::default(),
            senders: Vec::new(),
            sources: Vec::new(),
            skipped: 0,
        })
    }

    /// Returns the step of the times that were read so far, in nanoseconds.
    pub(crate) fn step_nanos(&self) -> Option<u64> {
        self.reader.step_nanos()
    }

    fn message(&mut self, packet: &CapturedPacket) -> Option<CapturedMessage> {
        let time = packet.time?.duration_since(UNIX_EPOCH).ok()?;
        let nanos = i64::try_from(time.as_nanos()).ok()?;
        let carried = carried(packet.linktype, &packet.bytes)?;
        let counted = counted(carried.bytes)?;
        let sender = counted.sender;
        let known = self.senders.iter().position(|known| *known == sender);
        let sender = match known {
            Some(index) => index,
            None if self.senders.len() < MOST_SENDERS => {
                self.senders.push(sender);
                self.senders.len() - 1
            }
            None => return None,
        };
        Some(CapturedMessage {
            sender,
            counter: self.extension.extend(counted.counter, counted.bits),
            nanos,
            group_version: counted.group_version,
            source: carried
                .port
                .is_none()
                .then(|| self.source(&carried.source))
                .flatten(),
        })
    }

    /// Returns the index of a hardware address; `None` for further ones than are told apart.
    fn source(&mut self, address: &str) -> Option<usize> {
        let known = self.sources.iter().position(|it| it == address);
        known.or_else(|| {
            let has_room = self.sources.len() < MOST_SENDERS && !address.is_empty();
            has_room.then(|| {
                self.sources.push(address.to_owned());
                self.sources.len() - 1
            })
        })
    }
}

impl Iterator for CapturedMessages {
    type Item = Result<CapturedMessage, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.next()? {
                Err(damage) => return Some(Err(damage)),
                Ok(packet) => match self.message(&packet) {
                    Some(message) => return Some(Ok(message)),
                    None => self.skipped += 1,
                },
            }
        }
    }
}

/// Returns the PublisherId of a message that an analysis would take, as text.
#[must_use]
pub fn publisher_of(message: &[u8]) -> Option<String> {
    counted(message)?.sender.publisher_id()
}

/// Parts of a message that matter.
struct Counted {
    sender: Sender,
    counter: u64,
    /// Number of bits of the counter.
    bits: u32,
    group_version: Option<u32>,
}

fn counted(bytes: &[u8]) -> Option<Counted> {
    let message = NetworkMessageRef::new_checked(bytes).ok()?;
    // The analysis has no keys.
    if message.security_header.is_some_and(|it| it.encrypted) {
        return None;
    }
    let parameters = PayloadParameters {
        signature_length: SIGNATURE,
        ..PayloadParameters::default()
    };
    let PayloadRef::DataSetMessages(messages) = message.payload(&parameters).ok()? else {
        return None;
    };
    let first = messages.iter().next()?.ok()?;
    let value = match first.content {
        DataSetContentRef::KeyFrame(FieldsRef::Variant(fields)) => fields.iter().next()?,
        DataSetContentRef::KeyFrame(FieldsRef::DataValue(fields)) => fields.iter().next()?.value?,
        _ => return None,
    };
    let (counter, bits) = match value {
        VariantRef::Byte(value) => (value.into(), 8),
        VariantRef::UInt16(value) => (value.into(), 16),
        VariantRef::UInt32(value) => (value.into(), 32),
        VariantRef::UInt64(value) => (value, 64),
        // A signed counter wraps from its greatest value to its least one; its bits count on.
        VariantRef::SByte(value) => (value.cast_unsigned().into(), 8),
        VariantRef::Int16(value) => (value.cast_unsigned().into(), 16),
        VariantRef::Int32(value) => (value.cast_unsigned().into(), 32),
        VariantRef::Int64(value) => (value.cast_unsigned(), 64),
        _ => return None,
    };
    let sender = Sender {
        publisher_id: message.publisher_id.map(|id| id.to_owned()),
        writer_group_id: message.group_header.and_then(|it| it.writer_group_id),
        data_set_writer_id: first.data_set_writer_id,
    };
    Some(Counted {
        sender,
        counter,
        bits,
        group_version: message.group_header.and_then(|it| it.group_version),
    })
}

/// Extension of short counters to 64 bits. A counter continues the one before it, whoever sent that one: the nearer of
/// both directions around the circle decides.
#[derive(Debug, Default)]
struct CounterExtension {
    last: Option<u64>,
}

impl CounterExtension {
    fn extend(&mut self, counter: u64, bits: u32) -> u64 {
        let unused = u64::BITS - bits;
        let extended = self.last.map_or(counter, |last| {
            // The distance with its sign: the upper bits are shifted out and in again.
            let distance = (counter.wrapping_sub(last) << unused).cast_signed() >> unused;
            last.wrapping_add_signed(distance)
        });
        self.last = Some(extended);
        extended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_counters_are_extended() {
        let mut extension = CounterExtension::default();
        let counters = [65_534, 65_535, 65_534, 0, 65_535, 1, 32_768];
        let extended = counters.map(|counter| extension.extend(counter, 16));
        assert_eq!(
            extended,
            [65_534, 65_535, 65_534, 65_536, 65_535, 65_537, 98_304]
        );
        let mut extension = CounterExtension::default();
        let extended = [u64::MAX, 0, 1].map(|counter| extension.extend(counter, 64));
        assert_eq!(extended, [u64::MAX, 0, 1]);
    }
}
