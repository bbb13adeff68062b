//! OPC UA services over iceoryx2 shared memory: endpoint `opc.iox2://<ApplicationName>`.
//!
//! This room moves messages between processes of one host and knows nothing of what is in them: the bodies are those of
//! OPC UA over TCP, TypeId and structure in the binary DataEncoding (OPC 10000-6, 5.2). It follows section 5.2 of the paper
//! "OPC UA over shared memory with iceoryx2": one request-response service of iceoryx2 for each service, named
//! `<ApplicationName>/<ServiceSet>/<Service>` ([`names`]), and adds what the paper leaves open: timeouts, the death of either side,
//! identity, and a channel for each client whose cost does not depend on the others.
//!
//! # What there is
//!
//! * **Public services.** Every process of the same Unix user can call them with nothing but iceoryx2: slices of bytes,
//!   header and body as in [`header`], iceoryx2 configured by [`Runtime::iceoryx2_config`], payloads aligned to 8 bytes. After
//!   sending, it notifies the event service `<ApplicationName>/Wake`. They cost more with each client that is connected, and
//!   a client that waits cannot see its server die.
//! * **Channels.** A [`ShmClient`] asks `<ApplicationName>/Channel/Open` for a publish-subscribe pair of its own,
//!   `<ApplicationName>/Channel/<id>/Request` and `/Response`, one publisher and one subscriber each. Requests are encoded straight
//!   into it and allocate nothing. Payloads grow to 64 MiB, or what the configuration says; no more than four messages wait in
//!   each direction.
//! * **A Unix socket** beside it, `<ApplicationName>.sock` in the [runtime directory](Runtime). The kernel vouches for the process
//!   and the user at its other end, and closes it when a process dies, however it dies: a waiting client gets
//!   [`ShmError::ConnectionClosed`] at once, and a server drops the channel. Two eventfds pass through it, the doorbells by
//!   which each side wakes the other.
//! * **A lock**, `<ApplicationName>.lock`: a second application of that name gets [`ShmError::NameInUse`].
//!
//! # Waiting
//!
//! Each side waits as its [`WaitPolicy`] says. A side that only spins needs no doorbell, and is not rung. A message between two
//! spinning threads takes what iceoryx2 takes for it; a doorbell costs two system calls and the kernel's wake-up, twice per request.
//!
//! # Whom is trusted
//!
//! Processes of one Unix user. The runtime directory and everything in shared memory can be used by that user alone. Within it
//! every message is treated as hostile: headers are checked, bodies are copied out of shared memory before they are looked at, sizes
//! and numbers are bounded, and nothing is waited for without an end. What iceoryx2 keeps in shared memory for itself, its queues and
//! lists of ports, it trusts: a process of the same user that writes there on purpose can disturb others.
//!
//! # Cleaning up
//!
//! A process that ends in good order leaves nothing behind. What a killed one leaves is removed by the next process that begins, by
//! the server it was connected to, by [`clean_dead`], and by the last process to leave.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//! use std::time::Duration;
//! use takt_rt::readiness::{Events, Readiness};
//! use takt_shm::{
//!     ApplicationName, ClientConfig, CompletionWaker, Handler, Outcome, PeerCredentials, ServerConfig,
//!     ShmClient, ShmServer,
//! };
//! use takt_ua::binary::Encoder;
//!
//! /// Answers every request with its own bytes; a real one is a `takt_services::Server`.
//! struct Echo;
//!
//! impl Handler for Echo {
//!     type Connection = ();
//!
//!     fn connect(&self, _: Option<PeerCredentials>, _: &ApplicationName, _: CompletionWaker) {}
//!
//!     fn handle(&self, _: &mut (), _: u32, request: &[u8], response: &mut Encoder<'_>) -> Outcome {
//!         // What does not fit leaves the response empty, and the client is told that it would be too large.
//!         let _ = response.bytes(request);
//!         Outcome::Complete
//!     }
//!
//!     fn take_completed(&self, _: &mut ()) -> Option<(u32, Vec<u8>)> {
//!         None
//!     }
//!
//!     fn disconnect(&self, _: ()) {}
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

mod abandoned;
mod address;
mod channel;
mod clean;
mod client;
mod error;
mod handler;
pub mod header;
mod leftovers;
mod name_lock;
pub mod names;
mod open;
mod pooled;
mod pooled_ipc;
mod public;
mod runtime;
mod server;
mod socket;
mod unsafe_code;
mod wait;

pub use address::{
    ApplicationName, ApplicationNameError, EndpointUrl, EndpointUrlError, TRANSPORT_PROFILE_URI,
    URL_SCHEME,
};
pub use clean::{CleanReport, clean_dead};
pub use client::public::PublicClient;
pub use client::{ClientConfig, ShmClient};
pub use error::ShmError;
pub use handler::{CompletionWaker, Handler, Outcome};
pub use runtime::{RUNTIME_DIRECTORY_VARIABLE, Runtime};
pub use server::{ServerConfig, ShmServer};
pub use socket::PeerCredentials;
pub use wait::WaitPolicy;
