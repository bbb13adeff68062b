//! Capture files: packets of pcapng and pcap, and the bytes in them that may be a UADP message.
//!
//! The crate does not decode messages, and reassembles neither fragments of IP datagrams nor chunks.

#![forbid(unsafe_code)]

mod file;
mod packet;

pub use file::{Packet, is_capture, packets};
pub use packet::{Carried, carried};
