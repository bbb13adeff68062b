//! Certificates, tokens and algorithms, with published test vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod certificates;
mod jwt;
mod odd_certificates;
mod wycheproof;
