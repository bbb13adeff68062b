//! Benchmarks: durations of Takt beside those of the bare machine and of other software, measured in one run.
//!
//! * [`transport`] measures one request and its response: its handling, and its transport over shared memory and TCP. It does not
//!   follow a single paper. Its questions are those of `opcua-shared-memory-iceoryx2` (Tables 1 and 2) and
//!   `opcua-vs-ros-dds-mqtt` (round trips).
//! * [`shm`] prints those Tables 1 and 2: GetValue() and SetValue() as an application has them.
//! * [`directory`] compares the SR-Server architecture of that paper with classical OPC UA.
//! * [`pubsub`] measures messages without a cycle beside a bare echo of the same bytes.
//! * [`reads`] measures Reads over opc.tcp with and without security, beside open62541 and the floor.
//! * [`sessions`] measures many sessions with Subscriptions at one server.
//! * [`attack`] measures a client beside another one that attacks the server.
//!
//! Every figure has a floor beside it. Absolute values depend on the machine and its load; ratios within one run hold. The
//! subject of a measurement is a pair (`pair.rs`) of a client and a server in a process of its own. Their exchange is a round
//! trip (`round_trip.rs`). A floor has round trips too, for messages of any size.
//!
//! The product is measured unchanged: this crate contains no second server and no second client.

#![deny(unsafe_code)]

mod assignment;
pub mod attack;
pub mod directory;
mod error;
mod floors;
mod handlers;
mod idle;
mod local_session;
mod measure;
mod pace;
mod pair;
mod parent;
mod payload;
mod private_directory;
mod process;
mod programs;
pub mod pubsub;
pub mod reads;
mod round_trip;
mod seat;
mod serve;
pub mod sessions;
pub mod shm;
mod subject;
pub mod transport;
mod ua_client;

pub use error::BenchError;
pub use handlers::carry_out;
pub use measure::Percentiles;
pub use pace::RequestRate;
