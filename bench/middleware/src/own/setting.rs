//! Setting of a peer: its arguments in the line protocol.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

use super::error::OwnPeerError;

/// Number of ports that belong to a peer.
pub const PORTS: u16 = 10;

/// Arguments of a peer.
#[derive(Debug, Clone, Args)]
pub struct PeerSetting {
    /// IP address of the server.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub address: IpAddr,
    /// First of ten ports that are free.
    #[arg(long)]
    pub port: u16,
    /// Private folder.
    #[arg(long)]
    pub folder: PathBuf,
    /// Option of the line protocol, as KEY=VALUE.
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub options: Vec<String>,
}

/// Options that were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// Busy polling.
    pub(super) poll: bool,
    /// Encrypted channels.
    pub(super) is_secured: bool,
    /// Interface of this side.
    pub(super) interface: Option<String>,
    /// Interface of the other side.
    pub(super) peer_interface: Option<String>,
    /// Address of the client, if it is not that of the server.
    pub(super) client_address: Option<IpAddr>,
    /// JSON instead of UADP.
    pub(super) is_json: bool,
    /// Delay of each answer in µs, of the slow peer.
    pub(super) delay_us: u64,
}

impl PeerSetting {
    /// Returns the options, if all of them are among `known`.
    pub(super) fn given(&self, known: &[&str]) -> Result<Given, OwnPeerError> {
        let mut given = Given::default();
        for option in &self.options {
            let unknown = || OwnPeerError::Option(option.clone());
            let (key, value) = option.split_once('=').ok_or_else(unknown)?;
            if !known.contains(&key) {
                return Err(unknown());
            }
            match (key, value) {
                ("poll", "true" | "false") => given.poll = value == "true",
                ("security", "none" | "basic256sha256") => given.is_secured = value != "none",
                ("encoding", "uadp" | "json") => given.is_json = value == "json",
                ("interface", _) => given.interface = Some(value.to_owned()),
                ("peer-interface", _) => given.peer_interface = Some(value.to_owned()),
                ("client-address", _) => {
                    given.client_address = Some(value.parse().map_err(|_| unknown())?);
                }
                ("delay-us", _) => given.delay_us = value.parse().map_err(|_| unknown())?,
                _ => return Err(unknown()),
            }
        }
        Ok(given)
    }

    /// Returns the address with the port at this place.
    pub(super) fn socket(&self, place: u16) -> SocketAddr {
        SocketAddr::new(self.address, self.port.saturating_add(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_options_are_refused() {
        let setting = |option: &str| PeerSetting {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 1,
            folder: PathBuf::new(),
            options: vec![option.to_owned()],
        };
        assert!(
            setting("poll=true")
                .given(&["poll"])
                .is_ok_and(|given| given.poll)
        );
        for option in ["poll", "poll=maybe", "qos=1", "security=basic256sha256"] {
            assert!(setting(option).given(&["poll"]).is_err(), "{option}");
        }
    }
}
