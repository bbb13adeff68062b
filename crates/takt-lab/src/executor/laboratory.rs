//! Network of a scenario in the running kernel.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_scenario::{NodeIndex, NodeKind, Scenario};
use takt_tsn::{Executor, ShellCommand, SystemExecutor};

use super::disciplines::configure;
use super::link_device::{LinkDevice, LinkSite};
use super::node::LabNode;
use crate::error::LabError;
use crate::network::{NetworkPlan, bridge_commands, forwarding_commands};

/// Time in which all devices must come up.
const CARRIER: Duration = Duration::from_secs(20);

/// Pause between two looks at a device.
const STEP: Duration = Duration::from_millis(2);

/// Network of a scenario in the running kernel. It ends with this value, however the process ends.
#[derive(Debug)]
pub struct Laboratory {
    plan: NetworkPlan,
    nodes: Vec<LabNode>,
    /// Remarks about the configuration, for people.
    remarks: Vec<String>,
}

impl Laboratory {
    /// Builds the network of a scenario, and waits until all devices are up. `configures` tells whether ports get the scenario's
    /// queueing disciplines; otherwise they keep the kernel's default.
    ///
    /// # Errors
    /// [`LabError`]. Nothing remains of a network that was not completed.
    pub fn build(
        scenario: &Scenario,
        device: &dyn LinkDevice,
        configures: bool,
        stop: &AtomicBool,
    ) -> Result<Self, LabError> {
        let plan = NetworkPlan::of(scenario)?;
        let mut nodes = Vec::with_capacity(plan.nodes.len());
        for node in &plan.nodes {
            go_on(stop)?;
            let made = LabNode::new(&node.name)?;
            // This comes before the first device, because it counts for devices that are made later.
            silence(&made)?;
            nodes.push(made);
        }
        let mut laboratory = Self {
            plan,
            nodes,
            remarks: Vec::new(),
        };
        laboratory.connect(scenario, device, stop)?;
        let vlans = laboratory.bridge(stop)?;
        laboratory.switch_on(stop)?;
        laboratory.forward(vlans)?;
        // This comes behind `switch_on`, because gates of taprio freeze when their device goes up.
        if configures {
            laboratory.configure(scenario, device.has_offloads(), stop)?;
        }
        Ok(laboratory)
    }

    /// Returns the plan of the network.
    #[must_use]
    pub const fn plan(&self) -> &NetworkPlan {
        &self.plan
    }

    /// Returns a node.
    ///
    /// # Errors
    /// There is no such node.
    pub fn node(&self, node: NodeIndex) -> Result<&LabNode, LabError> {
        self.nodes.get(node.0).ok_or(LabError::Panicked)
    }

    /// Returns remarks about the configuration, for people.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn connect(
        &self,
        scenario: &Scenario,
        device: &dyn LinkDevice,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        for link in &self.plan.links {
            go_on(stop)?;
            let [first, second] = link.ends;
            let (Some(one), Some(other)) = (self.plan.device(first), self.plan.device(second))
            else {
                continue;
            };
            let delays = [first.0, second.0].map(|node| {
                let node = scenario.nodes.get(node.0);
                node.map_or((0, 0), |node| {
                    (node.forwarding_delay_least.0, node.forwarding_delay.0)
                })
            });
            device.create(&LinkSite {
                link,
                first: (self.node(first.0)?, one),
                second: (self.node(second.0)?, other),
                forwarding_delays: delays,
                // Frames come to one end from the port of the other.
                forwarding_seeds: [other, one]
                    .map(|from| takt_sim::forwarding_seed(from.port, scenario.simulation.seed)),
            })?;
        }
        Ok(())
    }

    /// Makes the bridges. Returns true if they filter VLANs.
    fn bridge(&mut self, stop: &AtomicBool) -> Result<bool, LabError> {
        let mut vlans = None;
        for (node, plan) in self.nodes.iter().zip(&self.plan.nodes) {
            if plan.kind != NodeKind::Bridge {
                continue;
            }
            go_on(stop)?;
            let vlans = match vlans {
                Some(vlans) => vlans,
                None => *vlans.insert(filters_vlans(node)?),
            };
            node.commands(bridge_commands(plan, vlans))?;
        }
        if vlans == Some(false) {
            let remark = "the kernel has no VLAN filtering: bridges pass tags on as they are";
            self.remarks.push(remark.to_owned());
        }
        Ok(vlans.unwrap_or(false))
    }

    /// Switches all devices on, and waits until they are up.
    fn switch_on(&self, stop: &AtomicBool) -> Result<(), LabError> {
        for (node, plan) in self.nodes.iter().zip(&self.plan.nodes) {
            go_on(stop)?;
            let devices = plan.devices.iter();
            let up = devices.map(|it| ShellCommand::ip(format!("link set {} up", it.name)));
            node.commands(up.collect())?;
        }
        let begin = Instant::now();
        for (node, plan) in self.nodes.iter().zip(&self.plan.nodes) {
            for device in &plan.devices {
                while !is_up(node, &device.name)? {
                    go_on(stop)?;
                    if begin.elapsed() > CARRIER {
                        return Err(LabError::NoCarrier {
                            node: plan.name.clone(),
                            device: device.name.clone(),
                            seconds: CARRIER.as_secs(),
                        });
                    }
                    std::thread::sleep(STEP);
                }
            }
        }
        Ok(())
    }

    fn forward(&self, vlans: bool) -> Result<(), LabError> {
        for (node, plan) in self.nodes.iter().zip(&self.plan.nodes) {
            let forwarding = node.commands(forwarding_commands(plan, vlans));
            forwarding.map_err(|error| match error {
                LabError::Command {
                    node,
                    command,
                    message,
                } if command.starts_with("bridge mdb") => LabError::NoGroups { node, message },
                error => error,
            })?;
        }
        Ok(())
    }

    fn configure(
        &mut self,
        scenario: &Scenario,
        has_offloads: bool,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        for (node, plan) in self.nodes.iter().zip(&self.plan.nodes) {
            for device in &plan.devices {
                go_on(stop)?;
                let warnings = configure(node, scenario, device.port, has_offloads)?;
                let port = scenario.port_name(device.port);
                let remarks = warnings.into_iter().map(|it| format!("{port}: {it}"));
                self.remarks.extend(remarks);
            }
        }
        Ok(())
    }
}

/// Fails if the run shall end.
pub(crate) fn go_on(stop: &AtomicBool) -> Result<(), LabError> {
    match stop.load(Ordering::Relaxed) {
        true => Err(LabError::Interrupted),
        false => Ok(()),
    }
}

/// Settings with which the kernel sends no messages of its own: those of IPv6, and reports of groups that bridges join.
const QUIET: [(&str, &str); 3] = [
    ("ipv6/conf/all/disable_ipv6", "1"),
    ("ipv6/conf/default/disable_ipv6", "1"),
    ("ipv4/igmp_link_local_mcast_reports", "0"),
];

/// Makes the kernel send no messages of its own in a node.
fn silence(node: &LabNode) -> Result<(), LabError> {
    let written = node.run(|| {
        for (file, value) in QUIET {
            match std::fs::write(format!("/proc/sys/net/{file}"), value) {
                // A kernel without IPv6 or IGMP lacks the file, and sends no such messages.
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    })?;
    written.map_err(|error| node.step("silence the kernel", error))
}

/// Returns true if the kernel has bridges that filter VLANs.
fn filters_vlans(node: &LabNode) -> Result<bool, LabError> {
    node.run(|| {
        let mut executor = SystemExecutor::default();
        let add = ShellCommand::ip("link add probe type bridge vlan_filtering 1");
        let added = executor.run(&add);
        let is_added = added.is_ok_and(|result| result.success);
        if is_added {
            let _ = executor.run(&ShellCommand::ip("link del probe"));
        }
        is_added
    })
}

/// Returns true if a device has a carrier and is switched on.
fn is_up(node: &LabNode, device: &str) -> Result<bool, LabError> {
    let file = format!("/sys/class/net/{device}/operstate");
    let state = node.run(|| std::fs::read_to_string(file))?;
    let state = state.map_err(|error| node.step("read the state of a device", error))?;
    Ok(state.trim() == "up")
}
