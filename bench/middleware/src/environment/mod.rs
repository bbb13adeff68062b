//! Place of a comparison: the hosts and the network of server and client.

mod checksum;
mod joined_interfaces;
mod link_setting;
mod namespaces;
mod relay;
mod remote_host;
mod script;
mod side;
mod way;

pub use link_setting::{Impairment, LinkSetting};
pub use relay::{RelaySetting, relay};
pub use remote_host::HostOptions;

pub(crate) use joined_interfaces::{INTERFACES, joined_interfaces};
pub(crate) use namespaces::Link;
pub(crate) use relay::RelayCounts;
pub(crate) use remote_host::{PROCESS, RemoteFolder};
pub(crate) use side::Side;
pub(crate) use way::Way;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use namespaces::{ADDRESSES, within};
use remote_host::RemoteHost;
use way::BURST;

use crate::error::MiddlewareError;
use crate::place;
use crate::protocol::SessionError;
use crate::sockets;
use crate::table::{PeerEntry, PeerNetwork, PeerTable};
use crate::usage::PeerUsage;

/// Longest wait for a connection to a broker.
const CONNECTION: Duration = Duration::from_millis(200);

/// Script that becomes a broker, and ends it when its standard input ends: also if this process is killed. Brokers do not read theirs.
/// The watching process is no member of the broker's group, so that it does not count as the broker.
const BROKER_GUARD: &str = r#"exec 3<&0 </dev/null
$(command -v setsid) sh -c "read -r line <&3; kill -- -$$" >/dev/null 2>&1 &
exec "$@" 3<&-"#;

/// Hosts and network of both sides.
pub(crate) enum Environment {
    /// This host, over loopback.
    Loopback,
    /// Two network namespaces of this host.
    Link(Box<Link>, LinkSetting),
    /// The server on another host.
    Host(Box<RemoteHost>),
}

impl Environment {
    /// Makes the place that the options name: another host, or a link, or this host. `seed` is that of the link's losses.
    pub(crate) fn open(
        host: &HostOptions,
        link: Option<LinkSetting>,
        seed: u64,
        table: &PeerTable,
        interrupted: &AtomicBool,
    ) -> Result<Self, MiddlewareError> {
        let made = match (&host.server_host, link) {
            (Some(name), _) => RemoteHost::connect(host, name, table.root.as_deref(), interrupted)
                .map(|host| Self::Host(Box::new(host))),
            (None, Some(setting)) => Self::link(setting, seed, interrupted),
            (None, None) => Ok(Self::Loopback),
        };
        made.map_err(|error| match error {
            SessionError::Interrupted => MiddlewareError::Interrupted,
            SessionError::Failed(reason) => MiddlewareError::Environment(reason),
        })
    }

    fn link(
        setting: LinkSetting,
        seed: u64,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let way = Way::of(setting, seed);
        let link = Link::open(setting.rate, way, interrupted)?;
        Ok(Self::Link(Box::new(link), setting))
    }

    /// Returns the sentences that say where a comparison ran.
    pub(crate) fn description(&self) -> String {
        let kernel = kernel();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        match self {
            Self::Loopback => format!(
                "Client and server are processes of this host with {processors} processors, over loopback. Linux {kernel}."
            ),
            Self::Link(link, setting) => {
                let impairment = link.way.description();
                let (rate, bucket) = (setting.rate as f64 / 1e6, BURST >> 10);
                format!(
                    "Client and server are processes of this host with {processors} processors, in two network namespaces with a \
                     veth pair. `tc tbf` limits each direction to {rate} Mbit/s, with a bucket of {bucket} KiB.{impairment} Linux {kernel}."
                )
            }
            Self::Host(host) => {
                let [server, client] = host.addresses;
                format!(
                    "Servers and brokers run on {} ({server}, Linux {}), clients on this host ({client}, Linux {kernel}) with \
                     {processors} processors.",
                    host.name(),
                    host.kernel
                )
            }
        }
    }

    /// Returns the reason why a variant cannot run here, if there is one.
    pub(crate) fn obstacle(&self, peer: &PeerEntry, variant: &[String]) -> Option<&'static str> {
        let has = |option: &str| variant.iter().any(|it| it == option);
        let is_memory = peer.environment == PeerNetwork::Memory || has("transport=shm");
        match self {
            Self::Loopback => None,
            Self::Link(..) if is_memory => Some("shared memory takes no link"),
            Self::Link(..) => None,
            Self::Host(_) if is_memory => Some("shared memory does not reach another host"),
            Self::Host(_) if peer.environment == PeerNetwork::Veth => {
                Some("it needs names of interfaces, which no option gives")
            }
            Self::Host(_) => None,
        }
    }

    /// Returns true if requests get lost on the way, or overtake each other.
    pub(crate) fn loses(&self) -> bool {
        match self {
            Self::Link(_, setting) => {
                setting.impairment.loss > 0.0 || setting.impairment.reorder > 0.0
            }
            _ => false,
        }
    }

    /// Returns the delay that the setting adds to a round trip.
    pub(crate) fn round_trip(&self) -> Duration {
        match self {
            Self::Link(_, setting) => setting.impairment.delay * 2,
            _ => Duration::ZERO,
        }
    }

    /// Returns true if the processes of the server are on this host.
    pub(crate) fn is_local(&self) -> bool {
        !matches!(self, Self::Host(_))
    }

    /// Returns true if both sides have the same address.
    pub(crate) fn has_one_address(&self) -> bool {
        self.address(Side::Server) == self.address(Side::Client)
    }

    /// Returns the address of a side.
    pub(crate) fn address(&self, side: Side) -> IpAddr {
        let [server, client] = match self {
            Self::Loopback => [IpAddr::V4(Ipv4Addr::LOCALHOST); 2],
            Self::Link(..) => ADDRESSES,
            Self::Host(host) => host.addresses,
        };
        match side {
            Side::Server => server,
            Side::Client => client,
        }
    }

    /// Returns the command line of a peer at a side.
    pub(crate) fn program(&self, table: &PeerTable, peer: &PeerEntry, side: Side) -> Vec<String> {
        match (self, side) {
            (Self::Host(host), Side::Server) => {
                let words = peer.program.iter().enumerate();
                words
                    .map(|(place, word)| host.word(word, place == 0))
                    .collect()
            }
            _ => table.program(peer),
        }
    }

    /// Returns the command line that runs a program at a side.
    pub(crate) fn command(&self, side: Side, words: Vec<String>) -> Vec<String> {
        match (self, side) {
            (Self::Link(link, _), side) => [link.entrance(side), words].concat(),
            (Self::Host(host), Side::Server) => host.program(&words),
            _ => words,
        }
    }

    /// Returns the command line that runs a broker. `words` are those of the table.
    pub(crate) fn broker(&self, words: Vec<String>, root: Option<&Path>) -> Vec<String> {
        let below = |word: String| match root.map(|root| root.join(&word)) {
            Some(path) if word.contains('/') && path.is_file() => {
                path.to_string_lossy().into_owned()
            }
            _ => word,
        };
        match self {
            Self::Host(host) => {
                let words = words.iter().enumerate();
                let words: Vec<String> = words
                    .map(|(place, word)| host.word(word, place == 0))
                    .collect();
                host.broker(&words)
            }
            _ => {
                let mut words: Vec<String> = words.into_iter().map(below).collect();
                let guard = ["sh", "-c", BROKER_GUARD, "broker"];
                words.splice(0..0, guard.map(str::to_owned));
                self.command(Side::Server, words)
            }
        }
    }

    /// Makes the server's private folder, if that is not on this host.
    pub(crate) fn folder(
        &self,
        interrupted: &AtomicBool,
    ) -> Result<Option<RemoteFolder>, SessionError> {
        match self {
            Self::Host(host) => host.folder(interrupted).map(Some),
            _ => Ok(None),
        }
    }

    /// Copies the files of the server's private folder, such as certificates, into that of the client.
    pub(crate) fn fetch(&self, from: &RemoteFolder, to: &Path) -> Result<(), SessionError> {
        match self {
            Self::Host(host) => host.fetch(&from.path, to),
            _ => Ok(()),
        }
    }

    /// Returns a test whether a port can be bound at both sides.
    pub(crate) fn free(&self) -> Result<Box<dyn Fn(u16) -> bool>, SessionError> {
        Ok(match self {
            Self::Loopback => Box::new(place::is_free),
            Self::Link(link, _) => {
                let namespaces = link.namespaces().map_err(SessionError::failed)?;
                Box::new(move |port| {
                    let is_free = |namespace| within(namespace, || place::is_free(port));
                    namespaces.iter().all(|it| is_free(it).unwrap_or(false))
                })
            }
            Self::Host(host) => {
                let used = sockets::in_use(&host.socket_tables()?);
                Box::new(move |port| !used.contains(&port) && place::is_free(port))
            }
        })
    }

    /// Returns true if a broker waits for connections. `process` is its process id on this host.
    pub(crate) fn is_open(&self, process: u32, port: u16) -> bool {
        match self {
            Self::Link(..) => sockets::is_listening(process, port),
            _ => {
                let address = SocketAddr::new(self.address(Side::Server), port);
                TcpStream::connect_timeout(&address, CONNECTION).is_ok()
            }
        }
    }

    /// Returns the use of resources of a process group at the server's side.
    pub(crate) fn usage(&self, group: u32) -> PeerUsage {
        match self {
            Self::Host(host) => host.usage(group).unwrap_or_default(),
            _ => PeerUsage::of_group(group),
        }
    }

    /// Returns an error if the relay or the connection to the other host has ended.
    pub(crate) fn check(&mut self) -> Result<(), MiddlewareError> {
        let checked = match self {
            Self::Loopback => Ok(()),
            Self::Link(link, _) => link.check(),
            Self::Host(host) => host.check(),
        };
        checked.map_err(|error| MiddlewareError::Environment(error.to_string()))
    }
}

/// Returns the release of this host's kernel.
fn kernel() -> String {
    let name = rustix::system::uname();
    name.release().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::process::Command;

    use takt_rt::child::{ChildProcess, Ending};

    use super::*;

    #[test]
    fn a_broker_ends_with_its_input() {
        let words = ["sleep", "1000"].map(str::to_owned).to_vec();
        let words = Environment::Loopback.broker(words, None);
        let mut command = Command::new(&words[0]);
        let command = command.args(&words[1..]);
        let mut broker = ChildProcess::start("broker", command, Ending::Input).unwrap();
        assert!(broker.ended().is_none());
        assert!(broker.end());
    }
}
