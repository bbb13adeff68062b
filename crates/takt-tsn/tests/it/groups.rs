//! Messages to several subscribers: a bridge forwards them to the ports on the way to one, and to no other port.

use takt_scenario::Scenario;
use takt_tsn::{PlanError, PlanOptions, PortPlan, group_commands, plan_scenario, script};

/// A star of four hosts at bridge1: eth0 is the port to host1, eth1 to host2 and so on.
const STAR: &str = r#"
version = 1
topology = { kind = "star", hosts = 4 }
[[applications]]
name = "state"
publisher = "host1"
subscribers = ["host2", "host4"]
cycle = "1 ms"
payload = "100 B"
vlan = 5
[[applications]]
name = "alone"
publisher = "host2"
subscribers = ["host3"]
cycle = "1 ms"
payload = "100 B"
"#;

fn plans(options: &PlanOptions) -> Vec<PortPlan> {
    let scenario = Scenario::parse(STAR, "star.toml").unwrap();
    plan_scenario(&scenario, options).unwrap()
}

fn commands(options: &PlanOptions) -> Vec<String> {
    let plans = plans(options);
    let commands = plans.iter().flat_map(group_commands);
    commands.map(|command| command.to_string()).collect()
}

#[test]
fn groups_have_an_entry_at_each_port_of_their_tree() {
    // A message to one subscriber is no matter of groups, and a host forwards nothing.
    let expected = ["eth1", "eth3"].map(|port| {
        format!("bridge mdb add dev bridge0 port {port} grp 01:00:5e:00:54:01 permanent")
    });
    assert_eq!(commands(&PlanOptions::default()), expected);
    let options = PlanOptions {
        vlan_interfaces: true,
        bridge: Some("br7".to_owned()),
        ..PlanOptions::default()
    };
    let expected = ["eth1", "eth3"].map(|port| {
        format!("bridge mdb add dev br7 port {port} grp 01:00:5e:00:54:01 permanent vid 5")
    });
    assert_eq!(commands(&options), expected);
}

#[test]
fn a_script_replaces_an_entry() {
    let plans = plans(&PlanOptions::default());
    let lines: Vec<String> = plans.iter().flat_map(script).collect();
    let of_group = lines.iter().filter(|line| line.contains("mdb"));
    let of_group: Vec<&str> = of_group.map(String::as_str).collect();
    assert_eq!(
        of_group[..2],
        [
            "bridge mdb del dev bridge0 port eth1 grp 01:00:5e:00:54:01 permanent 2>/dev/null || true",
            "bridge mdb add dev bridge0 port eth1 grp 01:00:5e:00:54:01 permanent",
        ]
    );
    assert_eq!(of_group.len(), 4);
}

#[test]
fn a_name_that_no_bridge_has_is_refused() {
    let options = PlanOptions {
        bridge: Some("a bridge".to_owned()),
        ..PlanOptions::default()
    };
    let scenario = Scenario::parse(STAR, "star.toml").unwrap();
    let error = plan_scenario(&scenario, &options).unwrap_err();
    assert_eq!(error, PlanError::InterfaceName("a bridge".to_owned()));
}

/// A written group is that of a real network, which a bridge floods without an entry. One entry is enough for all senders.
#[test]
fn written_groups_have_entries_for_one_subscriber_and_once_for_several_senders() {
    let commands = |group: &str, subscribers: &str| {
        let text = STAR
            .replace("cycle", &format!("group = \"{group}\"\ncycle"))
            .replace("vlan = 5\n", "")
            .replace("[\"host2\", \"host4\"]", subscribers);
        let scenario = Scenario::parse(&text, "star.toml").unwrap();
        let plans = plan_scenario(&scenario, &PlanOptions::default()).unwrap();
        let applications = plans.iter().flat_map(|plan| &plan.groups);
        let applications = applications.map(|group| group.applications.clone());
        let commands = plans.iter().flat_map(group_commands);
        (
            commands.map(|it| it.to_string()).collect::<Vec<_>>(),
            applications.collect::<Vec<_>>(),
        )
    };
    let entry = |port: &str, group: &str| {
        format!("bridge mdb add dev bridge0 port {port} grp {group} permanent")
    };
    let (found, applications) = commands("01-00-5E-00-00-07", "[\"host3\"]");
    assert_eq!(found, [entry("eth2", "01:00:5e:00:00:07")]);
    assert_eq!(applications, [["state", "alone"]]);
    // A bridge uses entries of IP groups only while there is a querier.
    let (found, _) = commands("239.1.2.3", "[\"host3\"]");
    let querier = "ip link set dev bridge0 type bridge mcast_querier 1";
    assert_eq!(found, [querier.to_owned(), entry("eth2", "239.1.2.3")]);
}

/// A group of two VLANs has one entry at a bridge without VLANs: the messages of one are also sent to the ports of the other.
#[test]
fn a_group_of_two_vlans_needs_a_bridge_with_vlans() {
    let group = "group = \"01-00-5E-00-00-07\"\n";
    let one = STAR.replacen("vlan = 5\n", &format!("vlan = 5\n{group}"), 1);
    let apart = format!("{one}{group}vlan = 7\n");
    let warnings = |text: &str, vlan_interfaces: bool| -> Vec<String> {
        let scenario = Scenario::parse(text, "star.toml").unwrap();
        let options = PlanOptions {
            vlan_interfaces,
            ..PlanOptions::default()
        };
        let plans = plan_scenario(&scenario, &options).unwrap();
        let warnings = plans.iter().flat_map(|plan| {
            let warnings = plan.warnings.iter();
            warnings.map(move |it| format!("{}: {it}", plan.interface))
        });
        warnings.collect()
    };
    let found = warnings(&apart, false);
    let ports: Vec<&str> = found.iter().filter_map(|it| it.get(..5)).collect();
    // Messages of host2 to host3 also go to host4, and those of host1 to host2 and host4 also to host3.
    assert_eq!(ports, ["eth2:", "eth3:"], "{found:?}");
    assert!(
        found[0].starts_with(
            "eth2: a bridge without VLANs forwards messages to 01-00-5E-00-00-07 of VLAN 5 to this port as well"
        ),
        "{found:?}"
    );
    assert!(warnings(&apart, true).is_empty());
}
