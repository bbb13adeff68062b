//! Value cells: set wait-free by a real-time thread, read by any other thread or process.
//!
//! A [`Cell`] holds the value of one Variable with its StatusCode and its source timestamp, always consistent as one.
//! A real-time application, the Attribute services and PubSub share it: each of them can set it, and the others read
//! the same cell. It is not a queue (readers see the latest value, not every value) and not a place for values of
//! unbounded size.
//!
//! * Setting takes a bounded number of steps without locks, allocation or system calls, up to three threads at once.
//! * Reading affects no other thread, returns [`CellError::Busy`] after a bounded number of attempts instead of
//!   waiting, and never sees a mixture of two values.
//! * A thread that is interrupted or dies during a set blocks neither readers nor other writers.
//!
//! The value is kept as its encoding as a Variant (OPC 10000-6, 5.2.2.16), so that answering a Read is a copy: about
//! 15 ns for a number, [`Cell::encode_data_value`]. A real-time thread uses [`Cell::set_scalar`], [`Cell::set_slice`]
//! and [`Cell::read_scalar`], [`Cell::read_slice`], which encode nothing: 10 ns for a number.
//!
//! A thread that changes the status or a part of a value ([`Cell::change_status`], [`Cell::update`]) overwrites no value that another
//! thread sets meanwhile.
//!
//! A cell with a [deadline](Cell::deadline) says that its value is an old one when nobody sets it any more.
//!
//! A [shared](Cell::share) cell is in memory that other processes read while this one sleeps, is busy, or is stopped.
//! A [`Publication`] publishes a value from another source there.
//!
//! # How it works
//!
//! Four slots, each with a sequence number, and one word that names the published slot. A set claims a slot that is
//! not published, writes it, and publishes it; a read copies the published slot and then checks that its sequence has
//! not changed. All memory consists of 64-bit atomics, including values that change while they are copied, so there
//! is no data race; two fences order the copies. Long values are copied by [`takt_rt::shared_bytes`], which contains
//! the unsafe code. The module `slots` describes the protocol and proves it; `loom` models in `slots_loom.rs` run it
//! in every order that the memory model allows:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p takt-cell --release --target-dir target/loom loom
//! ```

#![deny(unsafe_code)]

mod bulk;
mod cell;
#[cfg(not(loom))]
mod deadline;
mod error;
mod layout;
#[cfg(not(loom))]
mod location;
#[cfg(not(loom))]
#[allow(unsafe_code, reason = "memory that is shared with other processes")]
mod place;
#[cfg(not(loom))]
mod publication;
mod read;
mod scalar;
mod set;
mod shape;
#[cfg(not(loom))]
pub mod shared;
mod slots;
mod sync;
#[cfg(not(loom))]
mod update;
mod words;

pub use cell::Cell;
pub use error::CellError;
pub use layout::MAX_CAPACITY;
#[cfg(not(loom))]
pub use location::CellLocation;
#[cfg(not(loom))]
pub use publication::Publication;
pub use read::{EncodedScalar, Reading};
pub use scalar::{Element, Scalar};
pub use shape::Shape;
#[cfg(not(loom))]
pub use shared::CellReader;
