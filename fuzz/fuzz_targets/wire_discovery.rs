//! Discovery announcements and probes, behind a proper header.

use takt_fuzz::choice;
use takt_wire::{NetworkMessage, PayloadParameters};

pub(crate) fn run(data: &[u8]) {
    let Some((kind, payload)) = choice(data) else {
        return;
    };
    // PublisherId Byte 1, SecurityHeader without security; a probe, an announcement, or a chunk of one.
    let flags2 = [0x04, 0x08, 0x09][usize::from(kind) % 3];
    let mut bytes = vec![0x91, 0x90, flags2, 1, 0, 0, 0, 0, 0, 0];
    bytes.extend_from_slice(payload);
    let parameters = PayloadParameters::default();
    let Ok(message) = NetworkMessage::decode(&bytes, &parameters) else {
        return;
    };
    // Fields that a Publisher has to leave out are read, but not written.
    let Ok(encoded) = message.encode_to_vec() else {
        return;
    };
    let again = NetworkMessage::decode(&encoded, &parameters).expect("encoded and not decodable");
    assert_eq!(again.encode_to_vec().as_ref(), Ok(&encoded));
}
