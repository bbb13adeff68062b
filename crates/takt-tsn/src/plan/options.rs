//! Options of a plan: facts about the interface and the kernel that a scenario does not have.

use takt_scenario::Rate;

use crate::qdisc::HardwareOffload;

/// Options of a plan. The default is a plan for the scenario's own link, with the offloads that the scenario names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanOptions {
    /// Speed that the kernel reports for the interface; by default the rate of the link. `cbs` in software computes
    /// with it.
    pub speed: Option<Rate>,
    /// Work of the hardware.
    pub offload: HardwareOffload,
    /// Greatest number of entries that the hardware has for gates.
    pub gate_list_length: Option<u16>,
    /// Number of transmit queues; by default one for each class. The lowest class gets those that are left.
    pub queues: Option<u16>,
    /// True if the plan includes VLAN interfaces for applications that do not write the tag themselves.
    pub vlan_interfaces: bool,
    /// Name of the bridge at the nodes that are bridges; by default `bridge0`.
    pub bridge: Option<String>,
    /// Version of the kernel, for warnings about its faults.
    pub kernel: Option<KernelVersion>,
}

/// Version of a kernel: `uname -r` begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// First number.
    pub major: u16,
    /// Second number.
    pub minor: u16,
}

impl KernelVersion {
    /// Reads the release of a kernel: `6.12.48+deb13-rt-amd64`. `None` if it does not begin with two numbers.
    pub fn of_release(release: &str) -> Option<Self> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit());
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self { major, minor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_kernels() {
        let version = |major, minor| Some(KernelVersion { major, minor });
        assert_eq!(KernelVersion::of_release("6.1.176"), version(6, 1));
        assert_eq!(KernelVersion::of_release("6.12-rc1"), version(6, 12));
        assert_eq!(KernelVersion::of_release("rolling"), None);
        assert!(version(6, 1) < version(6, 12));
    }
}
