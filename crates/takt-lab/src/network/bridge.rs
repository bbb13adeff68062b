//! Commands of `ip` and `bridge` that make a bridge: pure functions of the plan.

use std::collections::HashSet;

use takt_link::MacAddress;
use takt_tsn::ShellCommand;

use super::plan::NodePlan;

/// Name of the bridge device in the namespace of a bridge node.
pub const BRIDGE_DEVICE: &str = "bridge0";

/// Returns the commands that make the bridge of a node, with all its devices. With `vlans`, the bridge only forwards the VLANs of its
/// ports; otherwise it passes tags on as they are, because the kernel has no VLAN filtering.
#[must_use]
pub fn bridge_commands(node: &NodePlan, vlans: bool) -> Vec<ShellCommand> {
    let bridge = BRIDGE_DEVICE;
    let filtering = match vlans {
        // Otherwise each port would be in VLAN 1.
        true => " vlan_filtering 1 vlan_default_pvid 0",
        false => "",
    };
    // Registered groups are forwarded to their ports (snooping), all others to none.
    // A spanning tree would close a link of a ring. Static routes have no loop, so none is needed.
    let mut commands = vec![ShellCommand::ip(format!(
        "link add {bridge} type bridge stp_state 0 mcast_snooping 1 mcast_querier 0{filtering}"
    ))];
    for device in &node.devices {
        let name = &device.name;
        commands.push(ShellCommand::ip(format!("link set {name} master {bridge}")));
        commands.push(of_bridge(format!(
            "link set dev {name} learning off flood off mcast_flood off bcast_flood off"
        )));
        let vids = device.vlans.iter().filter(|_| vlans);
        commands.extend(vids.map(|vid| of_bridge(format!("vlan add dev {name} vid {vid}"))));
    }
    commands.push(ShellCommand::ip(format!("link set {bridge} up")));
    commands
}

/// Returns the commands that make a bridge forward its flows. Devices and bridge must be up.
#[must_use]
pub fn forwarding_commands(node: &NodePlan, vlans: bool) -> Vec<ShellCommand> {
    // Without VLANs, a group of two VLANs has one entry.
    let mut seen = HashSet::new();
    let entries = node.forwarding.iter();
    let entries = entries.filter(|it| vlans || seen.insert((it.address, &it.device)));
    let commands = entries.map(|entry| {
        let address = with_colons(entry.address);
        let (device, vlan) = (&entry.device, entry.vlan);
        match entry.address.is_group() {
            true => {
                let vid = match vlans {
                    true => format!(" vid {vlan}"),
                    false => String::new(),
                };
                of_bridge(format!(
                    "mdb add dev {BRIDGE_DEVICE} port {device} grp {address} permanent{vid}"
                ))
            }
            false => {
                let vid = match vlans {
                    true => format!(" vlan {vlan}"),
                    false => String::new(),
                };
                of_bridge(format!("fdb add {address} dev {device} master static{vid}"))
            }
        }
    });
    commands.collect()
}

fn of_bridge(words: String) -> ShellCommand {
    ShellCommand::new("bridge", [words])
}

/// Returns an address in the form of iproute2.
pub(crate) fn with_colons(address: MacAddress) -> String {
    let bytes = address.0.map(|byte| format!("{byte:02x}"));
    bytes.join(":")
}
