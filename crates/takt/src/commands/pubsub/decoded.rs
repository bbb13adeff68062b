//! Messages of `takt pubsub decode` in the form in which they are shown.

use std::time::SystemTime;

use takt_wire::MessageTree;

/// A message, and its place in the input.
#[derive(Default)]
pub struct Message {
    /// Number of the packet in a capture, counted from 1.
    pub packet: Option<usize>,
    pub time: Option<SystemTime>,
    pub source: String,
    pub destination: String,
    pub bytes: Vec<u8>,
}

/// A message in the form in which it is shown.
pub struct Decoded<'m> {
    pub message: &'m Message,
    pub security: Option<Security>,
    pub tree: MessageTree,
    /// Whole payload, if this chunk was the last missing one.
    pub reassembled: Option<(usize, MessageTree)>,
    /// Reason why the chunk was refused.
    pub chunk_error: Option<String>,
}

/// Protection of a message, and the result of the check with the keys.
#[derive(Clone, Copy)]
pub struct Security {
    pub security_token_id: u32,
    pub encrypted: bool,
    /// True if the signature is valid; `None` without the key.
    pub genuine: Option<bool>,
    pub decrypted: bool,
}
