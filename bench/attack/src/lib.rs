//! Attacks on a server, and a second client that observes their effect.
//!
//! Each attack asks more of a server than a client should: work, memory, descriptors, channels, Sessions or names. [`Attack`]
//! lists the attacks. An attacker is a process of its own ([`Attack::start`]). It is bounded in count and time, and stays on this
//! host. [`AttackObserver`] is a second client beside it, [`Usage`] the memory and the descriptors of the server.
//!
//! The end-to-end tests check that each server withstands each attack, and `takt bench attack` measures the second client. This
//! crate judges neither.

#![forbid(unsafe_code)]

mod announcements;
mod attack_assignment;
mod channel;
mod connections;
mod discovery;
mod dispatch;
mod error;
mod events;
mod guesses;
mod history;
mod hostile_nodes;
mod hostile_server;
mod items;
mod kind;
mod messages;
mod mirrored;
mod nodes;
mod observer;
mod play;
mod private_network;
pub mod request;
mod secured;
mod shared_memory;
mod target;
mod usage;
mod values;
mod walking;

pub use attack_assignment::ASSIGNMENT;
pub use error::AttackError;
pub use guesses::USER;
pub use kind::Attack;
pub use mirrored::mirror_arguments;
pub use observer::{AttackObserver, Observation};
pub use play::{UnderWay, carry_out};
pub use private_network::{NEEDS, PrivateNetwork};
pub use target::{AttackTarget, Tally};
pub use usage::{Slices, Usage};
pub use values::serve;
