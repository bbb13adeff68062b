//! open62541 as a foreign peer in tests and benchmarks: a client that answers JSON lines, and a server with a few nodes
//! (`peers/README.md`).
//!
//! It is no binding for applications. Everything goes through open62541's own JSON encoding (OPC 10000-6, 5.4): requests
//! are written as JSON and decoded into C structures, responses are encoded to JSON and read from there. So the unsafe
//! code is a handful of calls in [`data`], [`client`], [`security`] and [`server`], and the rest is about JSON.

pub mod bench;
pub mod client;
pub mod convert;
pub mod data;
mod events;
mod history;
pub mod message;
mod packet_socket;
pub mod publish;
pub mod pubsub;
pub mod security;
pub mod server;
mod status;

pub use status::Status;

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_the_one_in_the_documents() {
        assert_eq!(open62541_sys::UA_OPEN62541_VERSION, b"v1.5.10\0");
    }
}
