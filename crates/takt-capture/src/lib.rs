//! Capture files: packets of pcapng and pcap, the bytes in them that may be a UADP message, and a writer of pcapng.
//!
//! The crate does not decode messages, and reassembles neither fragments of IP datagrams nor chunks.

#![forbid(unsafe_code)]

mod file;
mod packet;
mod writer;

pub use file::{CaptureReader, CapturedPacket, is_capture, packets};
pub use packet::{Carried, carried};
pub use writer::CaptureWriter;
