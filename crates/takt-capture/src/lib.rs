//! Capture files: packets of pcapng and pcap, the bytes in them that may be a UADP message, and a writer of pcapng; names of other
//! formats.
//!
//! The crate does not decode messages, and reassembles neither fragments of IP datagrams nor chunks.

#![forbid(unsafe_code)]

mod file;
mod formats;
mod packet;
mod writer;

pub use file::{CaptureReader, CapturedPacket, packets};
pub use formats::{ForeignFormat, foreign_format, is_capture};
pub use packet::{Carried, carried};
pub use writer::CaptureWriter;
