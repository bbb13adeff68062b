//! Simulations of whole networks.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod applications;
mod fair_queueing;
mod first_bit;
mod gate_phases;
mod generator;
mod loopback_ties;
mod multicast;
mod paper_findings;
mod port_models;
mod random_networks;
mod security;
mod shapers;
mod software;
mod sound;
mod tightness;
mod windows;
