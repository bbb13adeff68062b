//! Takt's own peers, the floors, and two wrong peers for tests. All of them speak the line protocol (`docs/add-a-peer.md`).

mod client;
mod error;
mod iox2;
mod opc;
mod payload;
mod pubsub;
mod server;
mod setting;
mod stream;
mod tcp;
mod udp;

pub use error::OwnPeerError;
pub use payload::Mode;
pub use setting::{PORTS, PeerSetting};

use clap::{Subcommand, ValueEnum};

use opc::Transport;
use pubsub::Link;
use tcp::Fault;

/// Version of iceoryx2, which does not tell it. A test compares it with Cargo.lock.
const ICEORYX2_VERSION: &str = "0.10.0";

/// Middleware of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OwnPeer {
    /// Takt's client and server over `opc.tcp`.
    TaktTcp,
    /// Takt's client and server over `opc.iox2`.
    TaktIox2,
    /// Takt's PubSub over `opc.udp`.
    TaktPubsubUdp,
    /// Takt's PubSub over `opc.eth`.
    TaktPubsubEthernet,
    /// Takt's PubSub over `opc.iox2`.
    TaktPubsubIox2,
    /// Takt's PubSub over `mqtt`.
    TaktPubsubMqtt,
    /// Bare iceoryx2.
    Iceoryx2,
    /// Raw TCP.
    Tcp,
    /// Raw UDP.
    Udp,
    /// TCP stream in one direction, for the bandwidth of a link.
    Stream,
    /// Raw TCP whose server answers before it has read the request.
    WrongEarly,
    /// Raw TCP whose server delays each answer.
    WrongSlow,
}

/// Side of a peer.
#[derive(Debug, Clone, Subcommand)]
pub enum PeerSide {
    /// Answers requests until the standard input ends.
    Server(PeerSetting),
    /// Sends requests, as the standard input demands.
    Client(PeerSetting),
}

impl OwnPeer {
    /// Runs one side of the peer.
    ///
    /// # Errors
    /// [`OwnPeerError`]: an unknown option, or a failure of the middleware.
    pub fn run(self, side: &PeerSide) -> Result<(), OwnPeerError> {
        println!("info version {}", self.version());
        match side {
            PeerSide::Server(setting) => self.serve(setting),
            PeerSide::Client(setting) => self.connect(setting),
        }
    }

    /// Returns the version of the library; the floors are programs of Takt.
    fn version(self) -> &'static str {
        match self {
            Self::Iceoryx2 => ICEORYX2_VERSION,
            _ => env!("CARGO_PKG_VERSION"),
        }
    }

    fn serve(self, setting: &PeerSetting) -> Result<(), OwnPeerError> {
        match self {
            Self::TaktTcp => opc::serve(setting, Transport::Tcp),
            Self::TaktIox2 => opc::serve(setting, Transport::SharedMemory),
            Self::TaktPubsubUdp => pubsub::serve(setting, Link::Udp),
            Self::TaktPubsubEthernet => pubsub::serve(setting, Link::Ethernet),
            Self::TaktPubsubIox2 => pubsub::serve(setting, Link::SharedMemory),
            Self::TaktPubsubMqtt => pubsub::serve(setting, Link::Mqtt),
            Self::Iceoryx2 => iox2::serve(setting),
            Self::Tcp => tcp::serve(setting, Fault::None),
            Self::Udp => udp::serve(setting),
            Self::Stream => stream::serve(setting),
            Self::WrongEarly => tcp::serve(setting, Fault::Early),
            Self::WrongSlow => tcp::serve(setting, Fault::Slow),
        }
    }

    fn connect(self, setting: &PeerSetting) -> Result<(), OwnPeerError> {
        match self {
            Self::TaktTcp => opc::connect(setting, Transport::Tcp),
            Self::TaktIox2 => opc::connect(setting, Transport::SharedMemory),
            Self::TaktPubsubUdp => pubsub::connect(setting, Link::Udp),
            Self::TaktPubsubEthernet => pubsub::connect(setting, Link::Ethernet),
            Self::TaktPubsubIox2 => pubsub::connect(setting, Link::SharedMemory),
            Self::TaktPubsubMqtt => pubsub::connect(setting, Link::Mqtt),
            Self::Iceoryx2 => iox2::connect(setting),
            Self::Tcp => tcp::connect(setting, Fault::None),
            Self::Udp => udp::connect(setting),
            Self::Stream => stream::connect(setting),
            Self::WrongEarly => tcp::connect(setting, Fault::Early),
            Self::WrongSlow => tcp::connect(setting, Fault::Slow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_iceoryx2_is_that_of_the_lock_file() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock = std::fs::read_to_string(file).unwrap_or_default();
        let package = format!("name = \"iceoryx2\"\nversion = \"{ICEORYX2_VERSION}\"\n");
        assert!(lock.contains(&package), "{package}");
        assert_eq!(OwnPeer::Iceoryx2.version(), ICEORYX2_VERSION);
    }
}
