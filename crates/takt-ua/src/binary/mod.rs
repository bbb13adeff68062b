//! The OPC UA Binary DataEncoding (OPC 10000-6, 5.2).
//!
//! [`Decoder`] reads from a borrowed slice and hands out borrowed strings and byte strings; [`Encoder`] writes into a
//! caller's buffer or appends to a `Vec`. Neither allocates by itself. All input is treated as hostile: lengths are
//! checked before anything is allocated, strings are validated as UTF-8, and nesting is bounded by
//! [`Limits::max_depth`].

mod decoder;
mod encoder;
mod error;
#[allow(unsafe_code, reason = "the caller stores the bytes")]
mod foreign_memory;
mod list;
mod scalars;
#[allow(unsafe_code, reason = "bytes are stored without a bounds check")]
mod window;

pub use decoder::{Decode, Decoder, Limits};
pub use encoder::{Encode, Encoder};
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use list::{Encoded, ListIter, ListRef};
