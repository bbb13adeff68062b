//! Headers of messages in shared memory: every accepted message lies within its bytes and within the limit.

use takt_shm::header::{HEADER_LENGTH, MAGIC, MessageHeader, VERSION};

const LIMIT: u32 = 4096;

fn check(message: &[u8]) {
    let _ = MessageHeader::request_id_of(message);
    if let Ok((header, body)) = MessageHeader::parse(message, LIMIT) {
        assert!(body.start >= HEADER_LENGTH && body.end <= message.len());
        assert_eq!(body.len(), header.body_length as usize);
        assert!(header.body_length <= LIMIT);
        let again = [&header.to_bytes()[..], &message[body]].concat();
        let (same, _) =
            MessageHeader::parse(&again, LIMIT).expect("what was parsed can be written and parsed");
        assert_eq!(same.body_length, header.body_length);
        assert_eq!(same.request_id, header.request_id);
    }
}

pub(crate) fn run(data: &[u8]) {
    check(data);
    // Behind the magic and the version, which random bytes rarely produce.
    check(&[&MAGIC[..], &VERSION.to_le_bytes(), data].concat());
}
