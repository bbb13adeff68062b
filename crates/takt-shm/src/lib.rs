//! OPC UA services over iceoryx2 shared memory: endpoint `opc.iox2://<ApplicationName>`.
//!
//! This crate moves messages between processes of one host and does not interpret their bodies. The bodies are those of OPC UA
//! over TCP, TypeId and structure in the binary DataEncoding (OPC 10000-6, 5.2). It follows section 5.2 of the paper "OPC UA over
//! shared memory with iceoryx2": one request-response service of iceoryx2 for each service, named
//! `<ApplicationName>/<ServiceSet>/<Service>` ([`names`]). It adds the parts that the paper leaves open: timeouts, the death of
//! either side, identity, and a channel for each client whose cost does not depend on the others.
//!
//! # Parts
//!
//! * **Public services.** Every process of the same Unix user can call them with iceoryx2 alone: slices of bytes, header and body
//!   as in [`header`], iceoryx2 configured by [`Runtime::iceoryx2_config`]. After sending, it notifies the event service
//!   `<ApplicationName>/Wake`. Four clients at a time can be connected to each, with one unanswered request; a response other
//!   than that of Read or Call has room for 128 KiB. A client that waits cannot see its server die.
//! * **Channels.** A [`ShmClient`] and the server each make a piece of memory that only they can write and the other side reads,
//!   and pass it to each other. Requests and responses are encoded directly into it and allocate nothing; a response can be read
//!   in place ([`ShmClient::request_in_place`]). Up to four messages of 16 KiB wait in each direction; a longer one, up to 64 MiB
//!   or the configured limit, gets separate memory, which is given back when it is not needed any more.
//! * **Attention.** A map with a bit for each connection tells the server which channels to look at, so that 255 idle clients
//!   cost nothing; and the server shows whether it sleeps, so that clients ring it only then.
//! * **A Unix socket** over which client and server connect, `<ApplicationName>.sock` in the [runtime directory](Runtime). The
//!   kernel identifies the process and the user at its other end, and closes it when a process dies, in whatever way: a waiting
//!   client gets [`ShmError::ConnectionClosed`] at once, and a server drops the channel. The memory and an eventfd, the doorbell
//!   with which a client wakes its server, are passed through it: nothing of a channel has a name in a file system.
//! * **A lock**, `<ApplicationName>.lock`: a second application of that name gets [`ShmError::NameInUse`].
//!
//! # Waiting
//!
//! Each side waits according to its [`WaitPolicy`], and shows in its memory whether it sleeps; only then is it rung. A message
//! between two spinning threads is a few cache lines; a doorbell costs two system calls and the kernel's wake-up, twice per
//! request.
//!
//! # Trust
//!
//! Processes of one Unix user, or of the members of one Unix group ([`ServerConfig::group`]), trust each other. Only they can use
//! the [runtime directory](Runtime) and the socket, both sides check the peer at the other end of the socket, and only the
//! processes to which memory was passed can use it. Within these limits every message is treated as hostile: data that a peer can
//! still write is copied out before it is checked, sizes and numbers are bounded, the memory cannot shrink (it is sealed), and no
//! wait is without an end. iceoryx2 trusts the data that it keeps in shared memory for the public services, its queues and lists
//! of ports: a process of the same user that writes there on purpose can disturb others. A group has no public services.
//! `docs/threat-model.md` describes the remaining threats.
//!
//! # Cleaning up
//!
//! A process that ends normally leaves nothing behind, and a channel never does: its memory is gone with the last process that
//! has it. The public services and the name of a killed server are removed by the next process that starts, by [`clean_dead`],
//! and by the last process to leave.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//! use std::time::Duration;
//! use takt_rt::readiness::{Events, Readiness};
//! use takt_shm::{
//!     ApplicationName, ClientConfig, PeerCredentials, ServerConfig, ShmChannels, ShmClient, ShmServer,
//! };
//! use takt_ua::binary::Encoder;
//! use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};
//!
//! /// Answers every request with its own bytes; a real one is a `takt_services::Server`.
//! struct Echo;
//!
//! impl RequestHandler for Echo {
//!     type Connection = ();
//!
//!     fn handle(&self, _: &mut (), _: u32, request: &[u8], response: &mut Encoder<'_>) -> RequestOutcome {
//!         // What does not fit leaves the response empty, and the client is told that it would be too large.
//!         let _ = response.bytes(request);
//!         RequestOutcome::Complete
//!     }
//!
//!     fn take_completed(&self, _: &mut ()) -> Option<(u32, Vec<u8>)> {
//!         None
//!     }
//!
//!     fn disconnect(&self, _: ()) {}
//! }
//!
//! impl ShmChannels for Echo {
//!     fn connect(&self, _: Option<PeerCredentials>, _: &ApplicationName, _: CompletionWaker) {}
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir_in("/dev/shm")?;
//! # let runtime_directory = Some(directory.path().to_path_buf());
//! let name: ApplicationName = "Example".parse()?;
//! let config = ServerConfig {
//! #   runtime_directory: runtime_directory.clone(),
//!     max_connections: 16,
//!     ..ServerConfig::default()
//! };
//! let readiness = Arc::new(Readiness::new()?);
//! let mut server = ShmServer::new(name.clone(), Echo, &readiness, 1, config)?;
//! let stop = Arc::new(AtomicBool::new(false));
//! let serving = std::thread::spawn({
//!     let stop = Arc::clone(&stop);
//!     move || -> std::io::Result<()> {
//!         let mut events = Events::with_capacity(64);
//!         while !stop.load(Ordering::Relaxed) {
//!             readiness.wait(&mut events, Some(Duration::from_millis(50)))?;
//!             for event in events.iter() {
//!                 server.ready(event.key);
//!             }
//!         }
//!         Ok(())
//!     }
//! });
//!
//! let config = ClientConfig {
//! #   runtime_directory,
//!     ..ClientConfig::default()
//! };
//! let second = Duration::from_secs(1);
//! let mut client = ShmClient::connect(&name, &config, 5 * second)?;
//! let response = client.request(|encoder| encoder.bytes(b"request"), 5 * second)?;
//! assert_eq!(response, b"request");
//! # drop(client);
//! # stop.store(true, Ordering::Relaxed);
//! # serving.join().expect("the server panicked")?;
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code)]

mod address;
mod channel;
mod clean;
mod client;
mod directory;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod handler;
pub mod header;
mod presence;
#[cfg(feature = "iceoryx2")]
mod public;
#[cfg(not(feature = "iceoryx2"))]
#[path = "without_public.rs"]
mod public;
mod server;
mod server_config;
#[allow(unsafe_code, reason = "system calls that rustix does not offer")]
mod system;
mod wait_policy;

pub use address::{
    ApplicationName, ApplicationNameError, SharedMemoryUrl, SharedMemoryUrlError,
    TRANSPORT_PROFILE_URI, URL_SCHEME,
};
pub use channel::liveness::Liveness;
pub use channel::socket::PeerCredentials;
pub use clean::clean_dead;
pub use client::{ClientConfig, CurrentValuePlace, ShmClient};
pub use directory::clean_report::CleanReport;
pub use directory::group::Group;
pub use directory::group_directory::GROUP_ROOT_VARIABLE;
pub use directory::location::RUNTIME_DIRECTORY_VARIABLE;
pub use directory::runtime::Runtime;
pub use error::ShmError;
pub use handler::{Located, ShmChannels};
pub use presence::{Counts, Presence, applications};
#[cfg(feature = "iceoryx2")]
pub use public::{client::PublicClient, names};
pub use server::{DESCRIPTORS_PER_CONNECTION, ShmServer};
pub use server_config::ServerConfig;
pub use wait_policy::WaitPolicy;
