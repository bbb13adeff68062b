//! Built-in types, generated structures, identifiers and StatusCodes of OPC UA, and their binary and JSON
//! encodings (OPC 10000-6).
//!
//! OPC UA values have one vocabulary, which is this crate: no other crate defines these types again. Types come owned
//! ([`Variant`], [`NodeId`]) and borrowed ([`VariantRef`], [`NodeIdRef`]); the borrowed forms are views of a message,
//! allocate nothing, and are used on the hot paths. The crate is independent of transports, services and address
//! spaces.
//!
//! Numbers move between memory and message in one copy. All input is treated as hostile: see [`binary`].

#![deny(unsafe_code)]

mod aggregate;
mod base64;
pub mod binary;
mod data_types;
mod description_lookup;
pub mod endpoint_url;
pub mod foreign;
pub mod generated;
pub mod generated_support;
pub mod ids;
pub mod json;
pub mod json_encoding;
mod json_nesting;
mod json_number;
mod json_types;
pub mod large_memory;
mod namespace_map;
pub mod request_handler;
mod security_keys;
mod status_code;
mod types;
mod uris;
mod variant_text;

pub use aggregate::Aggregate;
pub use data_types::DescribedTypes;
pub use endpoint_url::{EndpointUrl, EndpointUrlError, UrlParts};
pub use generated::{enumerations, structures, views};
pub use namespace_map::NamespaceMap;
pub use security_keys::SecurityKeyUpdate;
pub use status_code::{STATUS_CODES, StatusCode};
pub use types::*;
pub use uris::SECURITY_POLICY_NONE;
