//! Network of an attack whose packets must not leave the host: a namespace with a cable whose other end is unused.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use takt_rt::child::{ChildProcess, Ending};

use crate::error::AttackError;

/// Interface of the network. Sockets of the namespace get copies of the multicasts that it sends.
pub(crate) const INTERFACE: &str = "takt-mdns";

/// Other end of its cable, without an address.
const END: &str = "takt-end";

/// First part of the addresses, reserved for documentation (RFC 5737): no other interface has them.
pub(crate) const NETWORK: &str = "192.0.2";

/// Number of addresses, from `.1` on: packets come from several sources.
pub(crate) const SOURCES: u8 = 8;

/// Command that fails if this user may not make such a network. The network ends with it.
pub const NEEDS: &[&str] = &[
    "unshare", "--net", "ip", "link", "add", INTERFACE, "type", "veth", "peer", "name", END,
];

/// Longest time that the network may take to be there.
const START: Duration = Duration::from_secs(10);

/// A network namespace, and the process that holds it. Dropping it ends the process; the namespace ends with the last process in it.
#[derive(Debug)]
pub struct PrivateNetwork {
    holder: ChildProcess,
}

impl PrivateNetwork {
    /// First address of the network.
    pub const ADDRESS: &str = "192.0.2.1";

    /// Returns the reason why this user cannot make the network; `None` if the user can.
    #[must_use]
    pub fn obstacle() -> Option<String> {
        let (program, arguments) = NEEDS.split_first()?;
        let output = Command::new(program).args(arguments).output();
        let said = match output {
            Ok(output) if output.status.success() => return None,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        Some(format!(
            "it needs a network namespace of its own, which root may make: `{}`: {said}",
            NEEDS.join(" ")
        ))
    }

    /// Makes the network.
    ///
    /// # Errors
    /// This user may not, or a program is missing: `unshare` of util-linux, `ip` of iproute2.
    pub fn make() -> Result<Self, AttackError> {
        let what = "the network of an attack";
        let addresses: String = (1..=SOURCES)
            .map(|number| format!("ip address add {NETWORK}.{number}/24 dev {INTERFACE} && "))
            .collect();
        // Messages of 9000 bytes are not divided into fragments, of which a full queue would lose some.
        let script = format!(
            "ip link set lo up && \
             ip link add {INTERFACE} mtu 16000 type veth peer name {END} mtu 16000 && {addresses}\
             ip link set {END} up && ip link set {INTERFACE} up && echo ready && exec cat"
        );
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", &script]);
        let holder = ChildProcess::start(what, &mut command, Ending::Input)
            .map_err(AttackError::process(what))?;
        holder
            .line(START, &AtomicBool::new(false))
            .map_err(AttackError::process(what))?;
        Ok(Self { holder })
    }

    /// Moves the calling thread into the network, with all threads and processes that it starts later.
    ///
    /// # Errors
    /// The thread may not.
    pub fn enter(&self) -> Result<(), AttackError> {
        const ACTION: &str = "enter the network of an attack";
        let namespace = format!("/proc/{}/ns/net", self.holder.id());
        let namespace = File::open(namespace).map_err(AttackError::system(ACTION))?;
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| AttackError::system(ACTION)(errno.into()))
    }
}

/// Returns true if the calling thread is in such a network: nothing that it sends leaves the host.
pub(crate) fn is_private() -> bool {
    let Ok(interfaces) = std::fs::read_to_string("/proc/thread-self/net/dev") else {
        return false;
    };
    // The first two lines are the head of the table.
    let mut names = interfaces
        .lines()
        .skip(2)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim());
    let mut is_there = false;
    let are_known = names.all(|name| {
        is_there |= name == INTERFACE;
        [INTERFACE, END, "lo"].contains(&name)
    });
    are_known && is_there
}
