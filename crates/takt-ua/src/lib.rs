//! Built-in types, generated structures, identifiers and StatusCodes of OPC UA, and their binary and JSON
//! encodings (OPC 10000-6).
//!
//! This is the one vocabulary for OPC UA values: no other crate defines a second one. Types come owned
//! ([`Variant`], [`NodeId`]) and borrowed ([`VariantRef`], [`NodeIdRef`]); the borrowed forms are views of
//! a message, allocate nothing, and are what the hot paths use. The crate knows nothing of transports,
//! services or address spaces.
//!
//! Numbers move between memory and message in one copy. Everything that is decoded is treated as hostile:
//! see [`binary`].

mod base64;
pub mod binary;
pub mod generated;
pub mod generated_support;
pub mod json;
pub mod json_encoding;
mod types;

pub use generated::identifiers as ids;
pub use generated::{enumerations, structures, views};
pub use types::*;
