//! Capture files: packets of pcapng and pcap, and what may be a UADP message in them.
//!
//! It does not know what is in a message, and puts neither fragments of IP datagrams nor chunks together.

#![forbid(unsafe_code)]

mod file;
mod packet;

pub use file::{Packet, is_capture, packets};
pub use packet::{Carried, carried};
