//! The JSON DataEncoding of the standard (OPC 10000-6, 5.4), for machines. The form for people is
//! [`json`](crate::json).
//!
//! [`JsonEncoder`] writes the form of version 1.05, [`JsonEncoding::Compact`] or [`JsonEncoding::Verbose`].
//! [`JsonDecoder`] reads both, and the deprecated forms of version 1.04 (Annex H): it recognizes the form by the
//! fields of an object, and by whether there is an object. [`parse`] turns a text into JSON values, with limits for
//! texts from outside.
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
//! The encoding loses some information: null and empty texts of a LocalizedText have the same form, as do a DataValue
//! without a value and one with a null value; a DateTime outside of the years 1601 to 9999 becomes the first or last
//! one.
//!
//! A structure of an unknown type cannot be converted to binary. It becomes an ExtensionObject whose body is the JSON
//! text of the object; encoding writes that text as the object again.

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
mod integer;
mod mend;
mod parse;

pub use context::JsonContext;
pub use decoder::JsonDecoder;
pub use encoder::JsonEncoder;
pub use error::{JsonDecodeError, JsonDecodeErrorKind};
pub use parse::{parse, parse_tolerant};

/// Form in which values are written (OPC 10000-6, 5.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonEncoding {
    /// Form for OPC UA applications: structures leave out fields that have the default value of their type.
    Compact,
    /// Form for other applications: all fields are present, and enumerations and StatusCodes have their names.
    Verbose,
    /// Verbose, without `UaType` and `UaTypeId`: only receivers with the metadata know the types
    /// (OPC 10000-14, 7.2.5.4.3).
    RawData,
}

/// Default of the largest length of a text, in bytes. A value in memory can take about twenty times the size of its
/// text.
pub const DEFAULT_MAX_LENGTH: usize = 4 << 20;

/// Largest total size in bytes of the structures of a JSON text.
pub(crate) const MAX_BODY_LENGTH: usize = 16 << 20;
