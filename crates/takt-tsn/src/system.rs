//! Questions to the system: an interface, its disciplines and filters, the kernel.

use std::net::IpAddr;

use serde_json::Value;
use takt_scenario::Rate;

use crate::executor::{CommandResult, Executor};
use crate::fault::SystemFault;
use crate::interface_name::is_interface_name;
use crate::kernel_state::KernelState;
use crate::plan::KernelVersion;
use crate::read_back::{read_marked, read_qdiscs};
use crate::shell_command::ShellCommand;

/// Facts about an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// Index: an interface that is made anew with the same name has another one.
    pub index: u64,
    /// Number of transmit queues.
    pub transmit_queues: u16,
    /// True if frames can be sent (operstate UP, or unknown as for `lo`).
    pub is_up: bool,
    /// Speed; `None` if the driver does not tell, for example while the link is down.
    pub speed: Option<Rate>,
}

/// Place of an interface: a name means something in one network namespace, until the next boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfacePlace {
    /// Name of the interface.
    pub interface: String,
    /// Index of the interface.
    pub index: u64,
    /// Inode of the network namespace, `net:[4026531840]`.
    pub namespace: String,
    /// Identity of this boot.
    pub boot: String,
}

/// Runs a command that must succeed, and returns its output.
///
/// # Errors
/// The command could not be run, or failed.
pub(crate) fn run(
    executor: &mut impl Executor,
    command: &ShellCommand,
) -> Result<String, SystemFault> {
    let result = executor.run(command)?;
    match result.success {
        true => Ok(result.stdout),
        false => Err(SystemFault::of_result(command, &result)),
    }
}

/// Returns the facts about an interface.
///
/// # Errors
/// There is no such interface, or `ip` cannot be run or read.
pub fn interface_facts(
    executor: &mut impl Executor,
    interface: &str,
) -> Result<InterfaceFacts, SystemFault> {
    let link = link_description(executor, interface)?;
    let unreadable = || SystemFault::Unreadable(format!("ip -j -d link show dev {interface}"));
    let number = |name: &str| link.get(name).and_then(Value::as_u64);
    let state = link
        .get("operstate")
        .and_then(Value::as_str)
        .unwrap_or("UNKNOWN");
    let queues = number("num_tx_queues").unwrap_or(1);
    Ok(InterfaceFacts {
        index: number("ifindex").ok_or_else(unreadable)?,
        transmit_queues: u16::try_from(queues).unwrap_or(u16::MAX),
        is_up: matches!(state, "UP" | "UNKNOWN"),
        speed: speed(executor, interface)?,
    })
}

/// Returns an interface as `ip -j -d link show` describes it.
///
/// # Errors
/// There is no such interface, or `ip` cannot be run or read.
pub(crate) fn link_description(
    executor: &mut impl Executor,
    interface: &str,
) -> Result<Value, SystemFault> {
    // The name becomes part of commands.
    if !is_interface_name(interface) {
        let interface = interface.to_owned();
        return Err(SystemFault::NoInterface { interface });
    }
    let command = ShellCommand::ip(format!("-j -d link show dev {interface}"));
    let text = run(executor, &command)?;
    let links: Option<Vec<Value>> = serde_json::from_str(&text).ok();
    let link = links.and_then(|links| links.into_iter().next());
    link.ok_or_else(|| SystemFault::Unreadable(command.to_string()))
}

/// Returns the name of the interface through which packets to an address leave.
///
/// # Errors
/// There is no route, or `ip` cannot be run or read.
pub fn route_interface(
    executor: &mut impl Executor,
    address: IpAddr,
) -> Result<String, SystemFault> {
    let command = ShellCommand::ip(format!("-j route get {address}"));
    let text = run(executor, &command)?;
    let routes: Option<Vec<Value>> = serde_json::from_str(&text).ok();
    let route = routes.and_then(|routes| routes.into_iter().next());
    let name = route.and_then(|route| Some(route.get("dev")?.as_str()?.to_owned()));
    name.ok_or_else(|| SystemFault::Unreadable(command.to_string()))
}

/// Returns the speed of an interface. The file cannot be read while the link is down, and is -1 if the driver does not
/// know.
fn speed(executor: &mut impl Executor, interface: &str) -> Result<Option<Rate>, SystemFault> {
    // The file is read by a command, because the executor may run in another network namespace.
    let file = format!("/sys/class/net/{interface}/speed");
    let CommandResult {
        success, stdout, ..
    } = executor.run(&ShellCommand::new("cat", [file]))?;
    let megabits = stdout
        .trim()
        .parse::<i64>()
        .ok()
        .filter(|speed| success && *speed > 0);
    let megabits = megabits.and_then(|speed| u64::try_from(speed).ok());
    Ok(megabits
        .and_then(|speed| speed.checked_mul(1_000_000))
        .map(Rate))
}

/// Returns the inode of the network namespace, `net:[4026531840]`.
///
/// # Errors
/// The system cannot be asked.
pub fn network_namespace(executor: &mut impl Executor) -> Result<String, SystemFault> {
    let command = ShellCommand::new("readlink", ["/proc/self/ns/net".to_owned()]);
    Ok(run(executor, &command)?.trim().to_owned())
}

/// Returns the place of an interface.
///
/// # Errors
/// There is no such interface, or the system cannot be asked.
pub fn interface_place(
    executor: &mut impl Executor,
    interface: &str,
) -> Result<InterfacePlace, SystemFault> {
    let facts = interface_facts(executor, interface)?;
    let boot = ShellCommand::new("cat", ["/proc/sys/kernel/random/boot_id".to_owned()]);
    Ok(InterfacePlace {
        interface: interface.to_owned(),
        index: facts.index,
        namespace: network_namespace(executor)?,
        boot: run(executor, &boot)?.trim().to_owned(),
    })
}

/// Returns disciplines and filters of an interface, and the output that the disciplines were read from.
///
/// # Errors
/// There is no such interface, or `tc` cannot be run or read.
pub fn kernel_state(
    executor: &mut impl Executor,
    interface: &str,
) -> Result<(KernelState, String), SystemFault> {
    let show = ShellCommand::tc(format!("-j -s -d qdisc show dev {interface}"));
    let text = run(executor, &show)?;
    let mut state = KernelState {
        qdiscs: read_qdiscs(&text)?,
        marked: Vec::new(),
    };
    if state.has_clsact() {
        let show = ShellCommand::tc(format!("-j filter show dev {interface} ingress"));
        state.marked = read_marked(&run(executor, &show)?)?;
    }
    Ok((state, text))
}

/// Returns the version of the running kernel; `None` if it is not readable.
///
/// # Errors
/// `uname` cannot be run.
pub fn kernel_version(executor: &mut impl Executor) -> Result<Option<KernelVersion>, SystemFault> {
    let release = run(executor, &ShellCommand::new("uname", ["-r".to_owned()]))?;
    Ok(KernelVersion::of_release(release.trim()))
}
