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

/// An error of open62541: a StatusCode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    /// `Ok` if it is Good.
    ///
    /// # Errors
    /// The StatusCode itself if not.
    pub fn check(code: u32) -> Result<(), Self> {
        if code == 0 { Ok(()) } else { Err(Self(code)) }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&data::status_name(self.0))
    }
}

impl std::error::Error for Status {}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_the_one_in_the_documents() {
        assert_eq!(open62541_sys::UA_OPEN62541_VERSION, b"v1.5.10\0");
    }
}
