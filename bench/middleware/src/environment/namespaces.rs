//! Two network namespaces on this host, joined by a veth pair with a rate, or by two pairs and a relay between them.
//!
//! The namespaces have no name: they end with the processes in them, and these end with their standard input. So nothing is left, even
//! if this process is killed.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use takt_rt::child::{ChildError, ChildProcess, Ending};

use super::joined_interfaces::INTERFACES;
use super::link_setting::LinkSetting;
use super::relay::RelayCounts;
use super::script::output_of;
use super::side::Side;
use super::way::Way;
use crate::place::has_program;
use crate::protocol::{START, SessionError};

/// Addresses of server and client, reserved for documentation (RFC 5737): no network of this host has them.
pub(super) const ADDRESSES: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
];
/// Interfaces of the relay, towards server and client.
const RELAY_INTERFACES: [&str; 2] = ["relay0", "relay1"];
/// Interval of the looks at an interface that is not up yet.
const LOOK: Duration = Duration::from_millis(5);
/// Programs that make namespaces and links, and their Debian packages.
const PROGRAMS: [(&str, &str); 4] = [
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
];

/// Link between two namespaces, as long as this value lasts.
pub(crate) struct Link {
    // The order matters for Drop: the relay ends before its namespace.
    relay: Option<ChildProcess>,
    /// Holders of the namespaces of server, client and relay.
    holders: Vec<ChildProcess>,
    pub(crate) way: Way,
    folder: tempfile::TempDir,
}

impl Link {
    /// Returns the reason why this user cannot make links.
    pub(crate) fn obstacle() -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("only root may make network namespaces: run it with sudo".to_owned());
        }
        let missing = PROGRAMS.iter().find(|(name, _)| !has_program(name));
        missing
            .map(|(name, package)| format!("`{name}` is not installed: apt-get install {package}"))
    }

    /// Makes the namespaces, and waits until the interfaces are up.
    pub(crate) fn open(
        rate: u64,
        way: Way,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        if let Some(obstacle) = Self::obstacle() {
            return Err(SessionError::Failed(obstacle));
        }
        let folder = tempfile::Builder::new().prefix("takt-link-").tempdir();
        let mut link = Self {
            relay: None,
            holders: Vec::new(),
            way,
            folder: folder.map_err(SessionError::failed)?,
        };
        let namespaces = match way {
            Way::Direct | Way::Netem(_) => 2,
            Way::Relay(..) => 3,
        };
        for number in 0..namespaces {
            let holder = link.hold(number, interrupted)?;
            link.holders.push(holder);
        }
        let [one, other] = INTERFACES;
        let [server, client] = [link.id(0), link.id(1)];
        match way {
            Way::Direct | Way::Netem(_) => {
                let pair = format!("ip link add {one} type veth peer name {other} netns {client}");
                link.shell(0, &pair)?;
            }
            Way::Relay(..) => {
                let [to_server, to_client] = RELAY_INTERFACES;
                link.shell(
                    2,
                    &format!(
                        "ip link add {to_server} type veth peer name {one} netns {server} && \
                         ip link add {to_client} type veth peer name {other} netns {client}"
                    ),
                )?;
                for name in RELAY_INTERFACES {
                    link.shell(
                        2,
                        &format!("{} && ip link set {name} up", without_ipv6(name)),
                    )?;
                }
            }
        }
        for (place, (name, address)) in INTERFACES.into_iter().zip(ADDRESSES).enumerate() {
            // Frames are lost and delayed as they are on a wire, so that none may hold several segments.
            let segments = if way == Way::Direct {
                ""
            } else {
                "gso_max_segs 1"
            };
            let discipline = way.discipline(name, rate);
            link.shell(
                place,
                &format!(
                    "{} && ip link set {name} {segments} up && ip addr add {address}/30 dev {name} && {discipline}",
                    without_ipv6(name)
                ),
            )?;
        }
        for (place, name) in INTERFACES.into_iter().enumerate() {
            link.wait_until_up(place, name, interrupted)?;
        }
        if let Way::Relay(impairment, seed) = way {
            for name in RELAY_INTERFACES {
                link.wait_until_up(2, name, interrupted)?;
            }
            let setting = LinkSetting { rate, impairment };
            link.relay = Some(link.start_relay(setting, seed, interrupted)?);
        }
        Ok(link)
    }

    fn id(&self, place: usize) -> u32 {
        self.holders.get(place).map_or(0, ChildProcess::id)
    }

    fn errors(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.stderr"))
    }

    /// Starts the process that holds a namespace.
    fn hold(&self, number: usize, interrupted: &AtomicBool) -> Result<ChildProcess, SessionError> {
        let errors = self.errors(&format!("namespace-{number}"));
        let file = File::create(&errors).map_err(SessionError::failed)?;
        let mut command = Command::new("unshare");
        let script = "ip link set lo up && echo ready && exec cat";
        command
            .args(["--net", "sh", "-c", script])
            .stderr(Stdio::from(file));
        let failed = |error| SessionError::of("network namespace", error, &errors);
        let holder = ChildProcess::start("namespace", &mut command, Ending::Input);
        let holder = holder.map_err(failed)?;
        holder.line(START, interrupted).map_err(failed)?;
        Ok(holder)
    }

    /// Returns the beginning of a command line that runs in a namespace. nsenter becomes the program, with its process id.
    fn enter(&self, place: usize) -> Vec<String> {
        let id = self.id(place).to_string();
        ["nsenter", "--target", &id, "--net", "--"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Returns the beginning of a command line of a side.
    pub(super) fn entrance(&self, side: Side) -> Vec<String> {
        match side {
            Side::Server => self.enter(0),
            Side::Client => self.enter(1),
        }
    }

    /// Returns the namespaces of server and client.
    pub(super) fn namespaces(&self) -> std::io::Result<[File; 2]> {
        let open = |place| File::open(format!("/proc/{}/ns/net", self.id(place)));
        Ok([open(0)?, open(1)?])
    }

    /// Runs a short script in a namespace. Returns its output.
    fn shell(&self, place: usize, script: &str) -> Result<String, SessionError> {
        let mut words = self.enter(place);
        words.extend(["sh", "-c", script].map(str::to_owned));
        let mut command = Command::new(&words[0]);
        output_of(command.args(&words[1..]), &format!("`{script}` failed"))
    }

    fn wait_until_up(
        &self,
        place: usize,
        name: &str,
        interrupted: &AtomicBool,
    ) -> Result<(), SessionError> {
        let deadline = Instant::now() + START;
        while !self
            .shell(place, &format!("ip link show {name}"))?
            .contains("state UP")
        {
            if interrupted.load(Ordering::Relaxed) {
                return Err(SessionError::Interrupted);
            }
            if Instant::now() > deadline {
                return Err(SessionError::Failed(format!("{name} does not come up")));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn start_relay(
        &self,
        setting: LinkSetting,
        seed: u64,
        interrupted: &AtomicBool,
    ) -> Result<ChildProcess, SessionError> {
        let errors = self.errors("relay");
        let file = File::create(&errors).map_err(SessionError::failed)?;
        let program = std::env::current_exe().map_err(SessionError::failed)?;
        let words = self.enter(2);
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .arg(program)
            .arg("relay")
            .args(RELAY_INTERFACES)
            .args(["--link", &setting.to_string(), "--seed", &seed.to_string()])
            .stderr(Stdio::from(file));
        let failed = |error| SessionError::of("relay", error, &errors);
        let relay = ChildProcess::start("relay", &mut command, Ending::Input).map_err(failed)?;
        relay.line(START, interrupted).map_err(failed)?;
        Ok(relay)
    }

    /// Returns an error if the relay has ended.
    pub(super) fn check(&mut self) -> Result<(), SessionError> {
        let errors = self.errors("relay");
        match self.relay.as_mut().and_then(ChildProcess::ended) {
            None => Ok(()),
            Some(_) => {
                let ended = ChildError::Ended;
                Err(SessionError::of("relay", ended, &errors))
            }
        }
    }

    /// Ends the relay and returns its numbers of frames.
    pub(crate) fn close(mut self) -> Option<RelayCounts> {
        let mut relay = self.relay.take()?;
        relay.ask_to_end();
        let line = relay.line(START, &AtomicBool::new(false)).ok()?;
        serde_json::from_str(&line).ok()
    }
}

/// Returns the command that keeps an interface from sending IPv6 by itself, where the kernel has IPv6.
fn without_ipv6(name: &str) -> String {
    format!("(ip link set {name} addrgenmode none 2>/dev/null || true)")
}

/// Runs a function on a thread in a network namespace. Returns `None` if the thread cannot enter it.
pub(super) fn within<T: Send>(namespace: &File, function: impl FnOnce() -> T + Send) -> Option<T> {
    let enter = || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
        Some(function())
    };
    std::thread::scope(|scope| scope.spawn(enter).join().ok().flatten())
}
