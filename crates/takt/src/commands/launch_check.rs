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
    pub(super) address: Address,
    pub(super) options: LinkOptions,
    pub(super) mode: LaunchMode,
    /// Time from making a message to its launch time, in nanoseconds; 0 if it is not known.
    pub(super) lead: u64,
}

/// Checks the ports of links with launch times. With `force`, faults are logged and returned, for programs.
///
/// `configured` returns the command that configures an interface, if a scenario describes it.
///
/// # Errors
/// A port would not keep the launch times, with the commands that configure it; or `force` is given without such links.
pub(super) fn check(
    links: &[LaunchedLink],
    force: bool,
    configured: &dyn Fn(&str) -> Option<String>,
) -> miette::Result<Vec<String>> {
    if force && links.is_empty() {
        return Err(explain::with_help(
            "--force is for launch times, and no message has one",
            "Leave it out, or give messages launch times (docs/control-loops.md, docs/pubsub.md).",
        ));
    }
    let mut texts = Vec::new();
    for link in links {
        for (fault, fix) in faults(link, configured) {
            if !force {
                let fix = format!("{fix}\n--force sends nevertheless.");
                return Err(explain::with_help(fault, fix));
            }
            tracing::warn!("launch times: {fault}");
            texts.push(fault);
        }
    }
    Ok(texts)
}

/// Returns the faults of the port of a link, each with its fix. A link without an interface, or with one that does not
/// exist, has none: it cannot be opened, which is explained then.
fn faults(
    link: &LaunchedLink,
    configured: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
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
            return vec![(
                format!("messages to {other} have no launch time"),
                "Launch times are for opc.eth and opc.udp.".to_owned(),
            )];
        }
    };
    let Some(Ok(interface)) = interface.map(|name| interface_name(&name)) else {
        return Vec::new();
    };
    let priority = options.priority.or(vlan.map(|tag| tag.priority.into()));
    let request = LaunchRequest {
        interface,
        priority: priority.and_then(|it| u8::try_from(it).ok()).unwrap_or(0),
        is_tagged: vlan.is_some(),
        deadline_mode: link.mode == LaunchMode::Deadline,
        lead: link.lead,
    };
    let port = match launch_port(&request, &mut SystemExecutor::default()) {
        Ok(port) => port,
        Err(fault) => return vec![unreadable(&request.interface, &fault)],
    };
    let faults = port.faults.iter();
    let explained =
        faults.map(|fault| (fault.to_string(), fix(fault, &port, &request, configured)));
    explained.collect()
}

/// Returns the fault of an address of UDP without a route.
fn unknown(address: &Address) -> (String, String) {
    (
        format!("the interface of {address} is not known, so its discipline cannot be checked"),
        "Check the route: `ip route get`. Or name the interface: with --interface, or network_interface of the \
         connection."
            .to_owned(),
    )
}

fn resolved(host: &str, port: u16) -> Option<IpAddr> {
    let mut found = (host, port).to_socket_addrs().ok()?;
    found.next().map(|address| address.ip())
}

fn unreadable(interface: &str, fault: &SystemFault) -> (String, String) {
    (
        format!("the discipline of {interface} cannot be checked for launch times: {fault}"),
        "The package iproute2 has `tc` and `ip`.".to_owned(),
    )
}

fn fix(
    fault: &LaunchFault,
    port: &LaunchPort,
    request: &LaunchRequest,
    configured: &dyn Fn(&str) -> Option<String>,
) -> String {
    let commands = || {
        let lines = port.script(request).unwrap_or_default();
        let lines = lines.iter().map(|line| format!("\n  {line}"));
        let mut text = format!("These commands configure it:{}", lines.collect::<String>());
        if port.transmit_queues < 2 {
            text.push_str(
                "\nIts only transmit queue is then for launch times alone: ETF drops other frames. An \
                 interface with more queues has classes.",
            );
        }
        text
    };
    match fault {
        LaunchFault::EgressMap {
            interface,
            priority,
            ..
        } => format!(
            "`ip link set dev {interface} type vlan egress-qos-map {priority}:{priority}` mends it."
        ),
        LaunchFault::TaggedTwice { lower, .. } => {
            format!("Name the lower device: --interface {lower}.")
        }
        LaunchFault::LowerDevice { .. } => "Check it there: `tc qdisc show`.".to_owned(),
        LaunchFault::ShortLead { .. } => commands().replacen(
            "These commands configure it:",
            "Give it a shorter delta, or make messages earlier. These commands configure it:",
            1,
        ),
        _ => match configured(&port.interface) {
            Some(command) => format!("`{command}` configures it."),
            None => commands(),
        },
    }
}
