//! The commands of a plan, in the order in which the kernel needs them.

use takt_scenario::{GroupAddress, NodeKind};

use crate::plan::PortPlan;
use crate::qdisc::Qdisc;
use crate::shell_command::ShellCommand;

/// Preference of the filters: it tells them from those of others at the same interface.
pub const FILTER_PREFERENCE: u16 = 7100;

/// Returns the commands that make the disciplines of a plan, for an interface without disciplines.
///
/// A child that is attached freezes the gates of taprio: it is sent once more behind its children.
pub fn qdisc_commands(plan: &PortPlan) -> Vec<ShellCommand> {
    let mut commands: Vec<ShellCommand> = plan
        .tree
        .iter()
        .map(|qdisc| replace(&plan.interface, qdisc))
        .collect();
    commands.extend(gates_again(plan));
    commands
}

/// Returns the command that starts the gates of a plan again, if it has gates.
pub fn gates_again(plan: &PortPlan) -> Option<ShellCommand> {
    let root = plan.root().filter(|root| root.kind.gates().is_some())?;
    Some(replace(&plan.interface, root))
}

/// Returns the command that attaches a discipline.
pub(crate) fn replace(interface: &str, qdisc: &Qdisc) -> ShellCommand {
    let kind = qdisc.kind.name();
    let head = format!(
        "qdisc replace dev {interface} {} handle {} {}{kind}",
        qdisc.parent,
        qdisc.handle,
        qdisc.kind.size_table()
    );
    let phrases = std::iter::once(head).chain(qdisc.kind.phrases());
    ShellCommand::new("tc", phrases)
}

/// Returns the command that removes the root of an interface.
pub(crate) fn delete_root(interface: &str) -> ShellCommand {
    ShellCommand::tc(format!("qdisc del dev {interface} root"))
}

/// Returns the line of a shell script that removes the root of an interface, if it has one.
pub(crate) fn remove_root(interface: &str) -> String {
    // The command fails if the interface has only the kernel's default.
    format!("{} 2>/dev/null || true", delete_root(interface))
}

/// Returns the command that makes room for filters of received frames.
pub(crate) fn add_clsact(interface: &str) -> ShellCommand {
    ShellCommand::tc(format!("qdisc add dev {interface} clsact"))
}

/// Returns the commands for filters that set the priority of received frames from their PCP.
pub fn filter_commands(plan: &PortPlan) -> Vec<ShellCommand> {
    let filter = |pcp: &u8| {
        let phrases = [
            format!(
                "filter replace dev {} ingress protocol 802.1Q pref {FILTER_PREFERENCE}",
                plan.interface
            ),
            format!("handle {pcp}"),
            format!("flower vlan_prio {pcp}"),
            format!("action skbedit priority {pcp}"),
        ];
        ShellCommand::new("tc", phrases)
    };
    plan.marked.iter().map(filter).collect()
}

/// Returns the name of the interface of a VLAN.
pub fn vlan_interface(interface: &str, vlan: u16) -> String {
    format!("{interface}.{vlan}")
}

/// Returns the commands for the VLANs of a plan. A host gets an interface for each, which writes the priority of a
/// socket into the PCP and reads it from there. A port of a bridge forwards tagged frames, if the bridge has
/// `vlan_filtering 1`.
pub fn vlan_commands(plan: &PortPlan) -> Vec<ShellCommand> {
    let identity: Vec<String> = (0..8).map(|pcp| format!("{pcp}:{pcp}")).collect();
    let identity = identity.join(" ");
    let mut commands = Vec::new();
    for vlan in &plan.vlans {
        if plan.kind == NodeKind::Bridge {
            let words = format!("vlan add dev {} vid {vlan}", plan.interface);
            commands.push(ShellCommand::new("bridge", [words]));
            continue;
        }
        let name = vlan_interface(&plan.interface, *vlan);
        let phrases = [
            format!(
                "link add link {} name {name} type vlan id {vlan}",
                plan.interface
            ),
            format!("egress-qos-map {identity}"),
            format!("ingress-qos-map {identity}"),
        ];
        commands.push(ShellCommand::new("ip", phrases));
        commands.push(ShellCommand::ip(format!("link set dev {name} up")));
    }
    commands
}

/// Returns the commands with which a bridge forwards groups of receivers to this port. Groups without an entry at any port are flooded,
/// so that they would load links that no bound counts them on.
///
/// A bridge with `vlan_filtering 1` has its entries for each VLAN, and one without it for none. A bridge uses entries of IP groups only
/// while there is a querier (net/bridge/br_multicast.c, `br_multicast_querier_exists`), so that one begins to be it.
pub fn group_commands(plan: &PortPlan) -> Vec<ShellCommand> {
    let querier = querier(plan).into_iter();
    querier.chain(entries(plan, "add")).collect()
}

/// Returns the command that makes a bridge the querier of IP groups, if there are any.
fn querier(plan: &PortPlan) -> Option<ShellCommand> {
    let mut groups = plan.groups.iter();
    let has_ip = groups.any(|group| matches!(group.address, GroupAddress::Ip(_)));
    let bridge = &plan.bridge;
    has_ip.then(|| ShellCommand::ip(format!("link set dev {bridge} type bridge mcast_querier 1")))
}

/// Returns the commands that add the entries of groups at a port, or delete them.
fn entries(plan: &PortPlan, action: &str) -> Vec<ShellCommand> {
    let mut commands: Vec<ShellCommand> = Vec::new();
    for group in &plan.groups {
        let address = match group.address {
            GroupAddress::Ethernet(bytes) => bytes.map(|byte| format!("{byte:02x}")).join(":"),
            GroupAddress::Ip(address) => address.to_string(),
        };
        let (bridge, port) = (&plan.bridge, &plan.interface);
        let vid = match plan.vlan_interfaces {
            true => format!(" vid {}", group.vlan),
            false => String::new(),
        };
        let phrases = [
            format!("mdb {action} dev {bridge} port {port} grp {address}"),
            format!("permanent{vid}"),
        ];
        let command = ShellCommand::new("bridge", phrases);
        // Without VLANs, a group of two VLANs has one entry.
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// Returns the lines of a shell script that carries out a plan, on an interface in any state.
pub fn script(plan: &PortPlan) -> Vec<String> {
    let mut lines = vec![
        format!("# {}: {} at {}", plan.port, plan.discipline, plan.interface),
        remove_root(&plan.interface),
    ];
    let mut commands = qdisc_commands(plan);
    if !plan.marked.is_empty() {
        // `clsact` comes before the disciplines: attached beside taprio, it freezes the gates (Linux 6.12).
        lines.push(format!(
            "{} 2>/dev/null || true",
            add_clsact(&plan.interface)
        ));
        commands.extend(filter_commands(plan));
    }
    if plan.vlan_interfaces {
        commands.extend(vlan_commands(plan));
    }
    lines.extend(commands.iter().flat_map(ShellCommand::lines));
    lines.extend(querier(plan).iter().flat_map(ShellCommand::lines));
    let entries = entries(plan, "del").into_iter().zip(entries(plan, "add"));
    for (del, add) in entries {
        // An entry that is there already is an error for `add`.
        lines.push(format!("{del} 2>/dev/null || true"));
        lines.extend(add.lines());
    }
    lines
}
