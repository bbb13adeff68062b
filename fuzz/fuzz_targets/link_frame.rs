//! Ethernet frames, and the ancillary data that the kernel passes with them.

use takt_fuzz::choice;
use takt_link::fuzzing;

pub(crate) fn run(data: &[u8]) {
    match choice(data) {
        Some((kind, bytes)) if kind % 2 == 0 => {
            let mut frame = bytes.to_vec();
            if let Some(payload) = fuzzing::ethernet_payload(&mut frame) {
                assert!(payload <= bytes.len());
            }
        }
        Some((_, bytes)) => fuzzing::control_data(bytes),
        None => {}
    }
}
