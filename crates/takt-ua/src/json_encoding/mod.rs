//! The JSON DataEncoding of the standard (OPC 10000-6, 5.4), for machines. People are served by [`json`](crate::json).
//!
//! [`JsonEncoder`] writes the form of version 1.05, [`JsonEncoding::Compact`] or [`JsonEncoding::Verbose`]. [`JsonDecoder`]
//! reads both, and the deprecated forms of version 1.04 (Annex H): it sees by the fields of an object, and by whether
//! there is an object at all, which one it has. [`parse`] turns a text into JSON values, with the limits that a text
//! from outside needs.
//!
//! ```
//! use takt_ua::Variant;
//! use takt_ua::json_encoding::{DEFAULT_MAX_LENGTH, JsonContext, JsonDecoder, JsonEncoder, JsonEncoding, parse};
//!
//! let encoder = JsonEncoder::new(JsonEncoding::Compact, JsonContext::default());
//! let text = encoder.variant(&Variant::Int64(7)).to_string();
//! assert_eq!(text, r#"{"UaType":8,"Value":"7"}"#);
//!
//! let value = parse(text.as_bytes(), DEFAULT_MAX_LENGTH)?;
//! assert_eq!(JsonDecoder::new(JsonContext::default()).variant(&value)?, Variant::Int64(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What the encoding cannot say is lost: null and empty texts of a LocalizedText look alike, as do a DataValue without
//! a value and one with a null value; a DateTime outside of the years 1601 to 9999 becomes the first or last one.
//!
//! A structure whose type nobody has described cannot become binary. It is an ExtensionObject whose body is the JSON
//! text of the object; written, that text becomes the object again.

mod by_look;
mod context;
mod decode_id;
mod decode_scalar;
mod decode_structure;
mod decoder;
mod encode_scalar;
mod encode_structure;
mod encoder;
mod error;
mod parse;

pub use context::JsonContext;
pub use decoder::JsonDecoder;
pub use encoder::JsonEncoder;
pub use error::{JsonDecodeError, JsonDecodeErrorKind};
pub use parse::parse;

/// How values are written (OPC 10000-6, 5.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonEncoding {
    /// For OPC UA applications: structures leave out fields that have the default value of their type.
    Compact,
    /// For others: all fields are there, enumerations and StatusCodes have their names.
    Verbose,
    /// Verbose, without `UaType` and `UaTypeId`: only those who have the metadata can tell the types (OPC 10000-14,
    /// 7.2.5.4.3).
    RawData,
}

/// The longest text, in bytes, that is read if nobody says otherwise. A value in memory can take some twenty times
/// the room of its text.
pub const DEFAULT_MAX_LENGTH: usize = 4 << 20;

/// How deep values may be nested. Deeper JSON is refused; deeper ExtensionObjects are written undecoded.
const MAX_DEPTH: usize = 100;

/// How many bytes the structures of a JSON text may get together.
const MAX_BODY_LENGTH: usize = 16 << 20;
