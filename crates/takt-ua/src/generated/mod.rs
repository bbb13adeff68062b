// Written by `cargo xtask generate`. Do not edit.

//! Types, identifiers and StatusCodes of namespace 0.
//!
//! Everything in this folder is written by `cargo xtask generate`.

pub mod descriptions;
pub mod enumerations;
pub mod identifiers;
pub mod status_codes;
pub mod structures;
pub mod views;
