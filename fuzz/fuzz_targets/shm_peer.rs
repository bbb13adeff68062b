//! A broken peer in the shared memory of a channel: any words and messages in its outbox, any marks in the map of
//! attention, any mails and descriptors through the socket. The other side is a real server or client.
#![no_main]

use libfuzzer_sys::fuzz_target;
use takt_fuzz::choice;
use takt_shm::fuzzing;

fuzz_target!(|data: &[u8]| {
    match choice(data) {
        Some((side, acts)) if side % 2 == 0 => fuzzing::broken_client(acts),
        Some((_, acts)) => fuzzing::broken_server(acts),
        None => {}
    }
});
