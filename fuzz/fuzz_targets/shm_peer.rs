//! A broken peer in the shared memory of a channel: any words and messages in its outbox, any marks in the map of
//! attention, any mails and descriptors through the socket. The other side is a real server or client.

use takt_fuzz::choice;
use takt_shm::fuzzing;

pub(crate) fn run(data: &[u8]) {
    match choice(data) {
        Some((side, acts)) if side % 2 == 0 => fuzzing::broken_client(acts),
        Some((_, acts)) => fuzzing::broken_server(acts),
        None => {}
    }
}
