//! OPC UA services over iceoryx2 shared memory: endpoint `opc.iox2://<ApplicationName>`.

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
