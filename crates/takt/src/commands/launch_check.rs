//! Check of ports before messages with launch times are sent: a discipline other than ETF would send them at once,
//! and count nothing.

use std::net::{IpAddr, ToSocketAddrs};

use takt_link::{Address, LaunchMode, LinkOptions, interface_name};
use takt_tsn::{
    LaunchFault, LaunchPort, LaunchRequest, SystemExecutor, SystemFault, launch_port,
    route_interface,
};

use crate::explain;

/// Messages with launch times of one link.
pub(super) struct LaunchedLink {
    /// Name of the WriterGroup, or of the application.
    pub(super) name: String,
    pub(super) address: Address,
    pub(super) options: LinkOptions,
    pub(super) mode: LaunchMode,
    /// Time from making a message to its launch time, in nanoseconds; 0 if it is not known.
    pub(super) lead: u64,
}

/// Fault of a port, with its fix.
struct Fault {
    text: String,
    fix: String,
    /// True if launch times may be kept nevertheless.
    is_warning: bool,
}

impl Fault {
    fn new(text: String, fix: impl Into<String>) -> Self {
        Self {
            text,
            fix: fix.into(),
            is_warning: false,
        }
    }
}

/// Checks the ports of links with launch times. With `force`, faults are logged and returned with the names of their
/// links, for programs.
///
/// `configured` returns the command that configures an interface, if a scenario describes it.
///
/// # Errors
/// A port would not keep the launch times, with the commands that configure it; or `force` is given without such links.
pub(super) fn check(
    links: &[LaunchedLink],
    force: bool,
    configured: &dyn Fn(&str) -> Option<String>,
) -> miette::Result<Vec<(String, String)>> {
    if force && links.is_empty() {
        return Err(explain::with_help(
            "--force is for launch times, and no message has one",
            "Leave it out, or give messages launch times (docs/control-loops.md, docs/pubsub.md).",
        ));
    }
    let mut texts = Vec::new();
    for link in links {
        for Fault {
            text: fault,
            fix,
            is_warning,
        } in faults(link, configured)
        {
            if !force && !is_warning {
                let fix = format!("{fix}\n--force sends nevertheless.");
                return Err(explain::with_help(fault, fix));
            }
            tracing::warn!("launch times: {fault}");
            texts.push((link.name.clone(), fault));
        }
    }
    Ok(texts)
}

/// Returns the faults of the port of a link, each with its fix. A link without an interface, or with one that does not
/// exist, has none: it cannot be opened, which is explained then.
fn faults(link: &LaunchedLink, configured: &dyn Fn(&str) -> Option<String>) -> Vec<Fault> {
    let options = &link.options;
    let given = options.interface.clone();
    let (interface, vlan) = match &link.address {
        Address::Ethernet { vlan, .. } => (given, *vlan),
        Address::Udp { host, port } => {
            let route = || {
                let address = resolved(host, *port)?;
                route_interface(&mut SystemExecutor::default(), address).ok()
            };
            match given.or_else(route) {
                Some(interface) => (Some(interface), None),
                None => return vec![unknown(&link.address)],
            }
        }
        other => {
            return vec![Fault::new(
                format!("messages to {other} have no launch time"),
                "Launch times are for opc.eth and opc.udp.",
            )];
        }
    };
    let Some(Ok(interface)) = interface.map(|name| interface_name(&name)) else {
        return Vec::new();
    };
    let priority = options.priority.or(vlan.map(|tag| tag.priority.into()));
    let request = LaunchRequest {
        interface,
        priority: priority.unwrap_or(0),
        is_tagged: vlan.is_some(),
        deadline_mode: link.mode == LaunchMode::Deadline,
        lead: link.lead,
    };
    let port = match launch_port(&request, &mut SystemExecutor::default()) {
        Ok(port) => port,
        Err(fault) => return vec![unreadable(&request.interface, &fault)],
    };
    let faults = port.faults.iter();
    let explained = faults.map(|fault| Fault {
        is_warning: fault.is_warning(),
        ..Fault::new(fault.to_string(), fix(fault, &port, &request, configured))
    });
    explained.collect()
}

/// Returns the fault of an address of UDP without a route.
fn unknown(address: &Address) -> Fault {
    Fault::new(
        format!("the interface of {address} is not known, so its discipline cannot be checked"),
        "Check the route: `ip route get`. Or name the interface: with --interface, or network_interface of the \
         connection.",
    )
}

fn resolved(host: &str, port: u16) -> Option<IpAddr> {
    let mut found = (host, port).to_socket_addrs().ok()?;
    found.next().map(|address| address.ip())
}

fn unreadable(interface: &str, fault: &SystemFault) -> Fault {
    Fault::new(
        format!("the discipline of {interface} cannot be checked for launch times: {fault}"),
        "The package iproute2 has `tc` and `ip`.",
    )
}

fn fix(
    fault: &LaunchFault,
    port: &LaunchPort,
    request: &LaunchRequest,
    configured: &dyn Fn(&str) -> Option<String>,
) -> String {
    match fault {
        LaunchFault::EgressMap {
            interface,
            priority,
            ..
        } => format!(
            "`ip link set dev {interface} type vlan egress-qos-map {priority}:{}` mends it.",
            priority & 7
        ),
        LaunchFault::TaggedTwice { lower, .. } => {
            format!("Name the lower device: --interface {lower}.")
        }
        LaunchFault::LowerDevice { .. } => "Check it there: `tc qdisc show`.".to_owned(),
        LaunchFault::ShortLead { .. } => format!(
            "Give it a shorter delta, or make messages earlier. {}",
            commands(port, request)
        ),
        _ => match configured(&port.interface) {
            Some(command) => format!("`{command}` configures it."),
            None => commands(port, request),
        },
    }
}

/// Returns the commands that configure a port, with what they do to other frames.
fn commands(port: &LaunchPort, request: &LaunchRequest) -> String {
    let priority = request.priority;
    let Some(lines) = port.script(request).unwrap_or_default() else {
        // The priority of a socket is that of the address; those of UDP have none.
        return format!(
            "The messages have priority {priority}, as the frames of other programs do: ETF for it would drop ARP, DHCP \
             and ssh. Give them an address of Ethernet with a VLAN and a priority of their own from 1 to 7, such as \
             opc.eth://01-00-5E-00-54-01:5.3; then this check names the commands for it."
        );
    };
    let warning = match (port.transmit_queues < 2, priority & 15) {
        (true, _) => {
            "Its only transmit queue is then for launch times alone: ETF drops all other frames, also ARP, DHCP and \
             ssh. Do not use it for the interface of your connection. An interface with more queues has classes.\n"
        }
        // `ip_tos2prio` of `net/ipv4/route.c`: sockets with a TOS.
        (false, 2 | 4 | 6) => {
            "ETF drops other frames of this priority. Linux gives it to sockets with an IP TOS, as ssh has: 1, 3 and 5 \
             are free.\n"
        }
        // TC_PRIO_CONTROL of `net/ipv4/igmp.c`, `net/ipv6/mcast.c` and `drivers/net/bonding/bond_3ad.c`.
        (false, 7) => {
            "ETF drops other frames of this priority. Linux gives it to IGMP, MLD and LACP: 1, 3 and 5 are free.\n"
        }
        (false, _) => "",
    };
    let lines = lines.iter().map(|line| format!("\n  {line}"));
    let lines: String = lines.collect();
    format!("{warning}These commands configure it:{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(priority: u32, transmit_queues: u16) -> String {
        let request = LaunchRequest {
            interface: "eth0".to_owned(),
            priority,
            is_tagged: priority > 0,
            deadline_mode: false,
            lead: 250_000,
        };
        let port = LaunchPort {
            interface: "eth0".to_owned(),
            transmit_queues,
            faults: Vec::new(),
        };
        let fault = LaunchFault::NoEtf {
            interface: "eth0".to_owned(),
            priority,
            discipline: "pfifo_fast".to_owned(),
        };
        fix(&fault, &port, &request, &|_| None)
    }

    #[test]
    fn no_command_drops_the_frames_of_other_programs() {
        let shared = shown(0, 4);
        assert!(!shared.contains("tc qdisc"), "{shared}");
        assert!(shared.contains("a priority of their own"), "{shared}");
        let own = shown(3, 4);
        assert!(
            own.starts_with("These commands configure it:\n  tc qdisc"),
            "{own}"
        );
        // The warning is before the commands.
        for (priority, queues, whose) in
            [(3, 1, "ssh"), (0, 1, "ssh"), (6, 4, "ssh"), (7, 4, "IGMP")]
        {
            let warned = shown(priority, queues);
            let commands = warned.find("tc qdisc").unwrap();
            assert!(warned[..commands].contains(whose), "{warned}");
        }
    }
}
