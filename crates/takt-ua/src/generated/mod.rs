// Written by `cargo xtask generate`. Do not edit.

//! Types of namespace 0.
//!
//! Everything in this folder is written by `cargo xtask generate`.

pub mod descriptions;
pub mod enumerations;
pub mod structures;
pub mod views;
