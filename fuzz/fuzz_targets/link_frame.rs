//! Ethernet frames, and the ancillary data that the kernel passes with them.
#![cfg_attr(not(feature = "together"), no_main)]

use takt_fuzz::choice;
use takt_link::fuzzing;

takt_fuzz::fuzz_target!(|data: &[u8]| {
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
});
