//! A network with every discipline, and plans of its ports.

use takt_scenario::{PortIndex, Scenario};
use takt_tsn::{HardwareOffload, PlanOptions, PortInput, PortPlan, plan_port};

const NETWORK: &str = r#"
version = 1
discipline = "NAME"
topology = { kind = "bridged", rate = "1 Gbit/s" }
[disciplines.fq]
scheduler = "fq_codel"
[disciplines.mqprio]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], limit = "9 kB" }, { name = "B", priorities = [5] }, { name = "BE" }]
[disciplines.cbs]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], queue = "cbs" }, { name = "BE" }]
[disciplines.etf]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], queue = "etf", delta = "200 us", skip_sock_check = true }, { name = "BE" }]
[disciplines.taprio]
scheduler = "taprio"
base_time = "1 s"
classes = [{ name = "A", priorities = [3] }, { name = "BE" }]
entries = [{ gates = ["A"], interval = "40 us" }, { gates = ["BE"], interval = "60 us" }]
[disciplines.assist]
scheduler = "taprio"
txtime_assist = "205 us"
classes = [{ name = "A", priorities = [3], queue = "etf", delta = "200 us" }, { name = "BE" }]
entries = [{ gates = ["A"], interval = "40 us" }, { gates = ["BE"], interval = "60 us" }]
[[ports]]
node = "bridge1"
discipline = "NAME"
[[ports]]
node = "host2"
discipline = "mqprio"
[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "250 us"
payload = "59 B"
vlan = 5
txtime = true
"#;
/// Disciplines of the network.
pub(crate) const DISCIPLINES: [&str; 6] = ["fq", "mqprio", "cbs", "etf", "taprio", "assist"];

/// Returns the plan of the first host's port or, with `port` 2, of the bridge's port to the second host.
pub(crate) fn plan(discipline: &str, port: usize) -> PortPlan {
    let text = NETWORK.replace("NAME", discipline);
    let scenario = match Scenario::parse(&text, "network.toml") {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    };
    let mut input = PortInput::of_scenario(&scenario, PortIndex(port)).unwrap();
    input.interface = "eth0".to_owned();
    let options = PlanOptions {
        offload: HardwareOffload::None,
        vlan_interfaces: true,
        ..PlanOptions::default()
    };
    plan_port(&input, &options).unwrap()
}
