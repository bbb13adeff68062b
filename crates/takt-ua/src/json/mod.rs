//! A compact JSON form for people and their tools.
//!
//! This is not the standard's JSON DataEncoding (OPC 10000-6, 5.4), which serves machines. Here a value is written as
//! briefly as possible, because its type is known from elsewhere. Numbers are numbers, Int64 and UInt64 too; NodeIds,
//! QualifiedNames, Guids and DateTimes are their text forms; a StatusCode is its name; a ByteString is base64; a
//! LocalizedText without a locale is its text; a matrix is nested arrays. A structure of the standard is an object of
//! its fields, with its name as `$type`; an unknown one has `$type` (NodeId of the encoding) and `$body` (base64).
//!
//! Within DataValues and arrays of Variants, where the type is not known from elsewhere, it is written: `{"type":
//! "UInt16", "value": 7}`. A value there without a type is read as Boolean, Int64, Double or String, whichever fits
//! its form.
//!
//! [`from_value`] reads back the output of [`to_value`], given the type, with one exception: a QualifiedName without
//! a name and one with an empty name have the same form.

mod described;
mod error;
mod read;
mod read_structure;
mod scalar;
mod text;
mod write;

pub use described::{DescribedValues, EnumerationForm, UndecodedReason, UndecodedStructure};
pub use error::JsonError;
pub use read::{described_from_value, from_value, variant_from_value};
pub use text::{parse_described, parse_variant, parse_variant_of_rank};
pub use write::{ToJson, data_value_to_value, structure_to_value, to_value};

/// The value may be a scalar or an array of any number of dimensions (OPC 10000-3, 5.6.2).
pub const VALUE_RANK_ANY: i32 = -2;
/// The value is a scalar (OPC 10000-3, 5.6.2).
pub const VALUE_RANK_SCALAR: i32 = -1;

/// Key of the structure's name, or of the NodeId of its encoding.
const TYPE: &str = "$type";
/// Key of the undecoded body of an unknown structure.
const BODY: &str = "$body";
/// Key of a body in the XML DataEncoding.
const XML: &str = "$xml";
