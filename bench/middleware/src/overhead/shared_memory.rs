//! Messages of `opc.iox2` in shared memory. The layout of a channel is documented for people who look at it (`takt-shm`, module
//! `channel::layout`): two outboxes, one of each side, in which the last message stays until the next one takes its place.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use takt_shm::header::{HEADER_LENGTH, MAGIC, MAX_MESSAGE, MessageHeader};

/// Beginning of an outbox: the version of the layout, and the number of slots.
const VERSION: u16 = 4;
const SLOTS: u8 = 4;
/// Place of the number of messages sent so far.
const SENT: usize = 64;
/// Place of the places of the messages.
const PLACES: usize = 72;
/// Place of the first slot.
const FIRST_SLOT: usize = 4096;

/// Last messages of a channel, in bytes: header and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LastMessages {
    pub(super) request: Option<usize>,
    pub(super) response: Option<usize>,
}

/// Reads the last request and response of a client's channel, in its memory.
pub(super) fn last_messages(client: u32) -> LastMessages {
    let mut last = LastMessages::default();
    let maps = fs::read_to_string(format!("/proc/{client}/maps")).unwrap_or_default();
    let Ok(memory) = File::open(format!("/proc/{client}/mem")) else {
        return last;
    };
    for line in maps.lines().filter(|line| line.contains("memfd:")) {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else {
            continue;
        };
        let Some(outbox) = read(&memory, range) else {
            continue;
        };
        // Each side writes to its own outbox only.
        match rights.contains('w') {
            true => last.request = message(&outbox).or(last.request),
            false => last.response = message(&outbox).or(last.response),
        }
    }
    last
}

/// Reads a mapping that is not too large for an outbox.
fn read(memory: &File, range: &str) -> Option<Vec<u8>> {
    let (begin, end) = range.split_once('-')?;
    let [begin, end] = [begin, end].map(|text| u64::from_str_radix(text, 16).ok());
    let length = usize::try_from(end?.checked_sub(begin?)?).ok()?;
    let mut bytes = vec![0; length.min(1 << 20)];
    memory.read_exact_at(&mut bytes, begin?).ok()?;
    Some(bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the length of the last message of an outbox; `None` if this is no outbox, or nothing was sent.
fn message(outbox: &[u8]) -> Option<usize> {
    let [m0, m1, m2, m3, v0, v1, slots, 0, size @ ..] = outbox else {
        return None;
    };
    let is_outbox = [*m0, *m1, *m2, *m3] == MAGIC
        && u16::from_le_bytes([*v0, *v1]) == VERSION
        && *slots == SLOTS;
    let size = usize::try_from(u64::from_le_bytes(*size.first_chunk()?)).ok()?;
    let last = word(outbox, SENT)?.checked_sub(1).filter(|_| is_outbox)?;
    let place = usize::try_from(last % u64::from(SLOTS)).ok()?;
    let slot = word(outbox, PLACES + 8 * place)?;
    let slot = usize::try_from(slot).ok().filter(|it| *it < SLOTS.into())?;
    let begin = FIRST_SLOT + slot * size;
    let slot = outbox.get(begin..begin.checked_add(size)?)?;
    let (header, _) = MessageHeader::parse(slot, MAX_MESSAGE).ok()?;
    Some(HEADER_LENGTH + usize::try_from(header.body_length).ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_last_message_of_an_outbox_is_found() {
        let mut outbox = vec![0; FIRST_SLOT + 4 * 512];
        outbox[..8].copy_from_slice(b"TAKT\x04\0\x04\0");
        outbox[8..16].copy_from_slice(&512_u64.to_le_bytes());
        assert_eq!(message(&outbox), None);
        // Six messages were sent; the last one, number 5, is in slot 2.
        outbox[SENT] = 6;
        outbox[PLACES + 8] = 2;
        let header = MessageHeader {
            body_length: 100,
            ..MessageHeader::default()
        };
        let begin = FIRST_SLOT + 2 * 512;
        outbox[begin..begin + HEADER_LENGTH].copy_from_slice(&header.to_bytes());
        assert_eq!(message(&outbox), Some(132));
        outbox[PLACES + 8] = 4;
        assert_eq!(message(&outbox), None);
        assert_eq!(message(b"TAKT"), None);
    }
}
