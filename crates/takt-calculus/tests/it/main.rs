//! Bounds of whole networks, beside published figures and simulations.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod factory;
mod fair_queueing;
mod loopbacks;
mod networks;
mod one_way;
mod paper;
mod port_networks;
mod port_simulator;
mod ports_simulated;
mod published;
mod round_trip_by_ports;
mod scale;
mod scenario_bounds;
mod scheduled;
mod shaper_simulated;
mod staircases;
mod table_iv;
