//! The fixed layout of Read, Write and Call (OPC 10000-4, 5.11.2, 5.11.4 and 5.12.2) and of their responses, for
//! memory in which the receiver reads what the sender wrote, without a copy.
//!
//! A message has a head, records of equal size, and a value area. The fields of a record are at fixed offsets, so
//! that a result is found without decoding the previous ones. A value is written once, by the server, into the memory
//! of the response, and its elements begin at a multiple of 8 there. All numbers are little-endian; offsets count
//! from the start of the message, which itself is at a multiple of 8. A *span* is `offset u32, length u32`; a length
//! of 0 stands for an absent value.
//!
//! ```text
//! head, 48 bytes
//!   0  mark u8             0x4C, "L": no NodeId begins so (OPC 10000-6, 5.2.2.9), and with a NodeId begins every other message
//!   1  version u8          1
//!   2  kind u16            1, 2 Read and its response; 3, 4 Write; 5, 6 Call
//!   4  count u32           records
//!   8  requestHandle u32   as in OPC 10000-4, 7.33 and 7.34
//!  12  timeoutHint u32     milliseconds; in a response: 0
//!  16  timestamp i64       DateTime (OPC 10000-6, 5.2.2.5)
//!  24  token span          the authenticationToken, a NodeId; in a response: nothing
//!  32  maxAge f64          milliseconds, of a Read; others: 0
//!  40  timestamps u32      timestampsToReturn (OPC 10000-4, 7.40), of a Read; others: 0
//!  44  0 u32
//!  48  records
//!
//! record of a Read, 32 bytes          record of a Write, 64 bytes         record of a Call, 24 bytes
//!   0  nodeId span                      0  nodeId span                      0  objectId span
//!   8  indexRange span                  8  indexRange span                  8  methodId span
//!  16  dataEncoding span               16  attributeId u32, 0 u32          16  inputArguments span, of spans
//!  24  attributeId u32, 0 u32          24  a DataValue
//!
//! record of a Read's response,        record of a Write's response,       record of a Call's response, 24 bytes
//! a DataValue, 40 bytes               4 bytes                               0  statusCode u32, 0 u32
//!   0  value span                       0  statusCode u32                   8  inputArgumentResults span, of u32
//!   8  statusCode u32                                                      16  outputArguments span, of spans
//!  12  present u8 [4]
//!  16  sourceTimestamp i64
//!  24  serverTimestamp i64
//!  32  sourcePicoseconds u16
//!  34  serverPicoseconds u16, 0 u32
//! ```
//!
//! `present` has a bit for each present time: 1 source timestamp, 2 server timestamp, 4 source picoseconds, 8 server
//! picoseconds. A value is a Variant (OPC 10000-6, 5.2.2.16), placed so that its only or first element, or the text
//! of a String, is at a multiple of 8: 1 byte after its start for a number, 5 bytes after it for an array or a text.
//! NodeIds and QualifiedNames are in the binary DataEncoding, texts are UTF-8 without a length. The spans of a
//! request do not overlap. They are in ascending order, in the order of the records, and an array of spans comes
//! before its targets; so the work for a request is bounded by its length.
//!
//! A request that is refused as a whole is answered with a ServiceFault in the binary DataEncoding, like any other.
//!
//! This crate encodes and checks messages. It executes no requests, and does not transport messages between
//! processes.

#![forbid(unsafe_code)]

mod error;
mod head;
mod request;
mod response;
mod span;
mod structures;
#[cfg(test)]
mod tests;
mod values;
mod writer;

pub use error::LayoutError;
pub use head::{HEAD_LENGTH, MARK, RequestHead, Service, VERSION, is_layout};
pub use request::{Arguments, CallItem, Items, Place, RequestReader, WriteItem};
pub use response::{CallResult, DataValueRecord, ResponseReader};
pub use span::Span;
pub use structures::LaidOut;
pub use values::ValueWriter;
pub use writer::{RequestWriter, ResponseWriter, Times};
