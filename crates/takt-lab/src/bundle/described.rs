//! Descriptions with known facts only.

use std::collections::BTreeMap;

use crate::collect::{AS_PLANNED, DISCIPLINES};

/// Facts that may be packed: none of them has a name of a host or user.
const FACTS: [&str; 30] = [
    "processor",
    "processors",
    "virtual machine",
    "memory",
    "frequency governor",
    "frequency driver",
    "kernel",
    "kernel build",
    "kernel command line",
    "isolated processors",
    "processors without tick",
    "simultaneous multithreading",
    "idle driver",
    "clock source",
    "real-time kernel",
    "network card",
    "driver",
    "driver version",
    "firmware",
    "speed",
    "time stamps",
    "PTP clock",
    "system clock",
    "TAI offset",
    "PTP offset",
    "disciplines",
    "links",
    "architecture",
    "takt",
    "run",
];

/// Parameters of a kernel's command line that decide times. Others may name disks, hosts and networks.
const PARAMETERS: [&str; 29] = [
    "isolcpus",
    "nohz_full",
    "nohz",
    "rcu_nocbs",
    "rcu_nocb_poll",
    "irqaffinity",
    "kthread_cpus",
    "idle",
    "intel_idle.max_cstate",
    "processor.max_cstate",
    "cpuidle.off",
    "cpuidle.governor",
    "intel_pstate",
    "amd_pstate",
    "cpufreq.default_governor",
    "mitigations",
    "nosmt",
    "skew_tick",
    "tsc",
    "clocksource",
    "nmi_watchdog",
    "nowatchdog",
    "nosoftlockup",
    "threadirqs",
    "preempt",
    "pcie_aspm",
    "mce",
    "transparent_hugepage",
    "hugepages",
];

/// Lines of a trace's description that may be packed, besides host facts.
const LINES: [&str; 12] = [
    "role",
    "application",
    "scenario",
    "cycle_ns",
    "tai_offset_s",
    "runs",
    "scenario_sha256",
    "settings",
    "publisher_id",
    "loopback_id",
    "end",
    "boot",
];

/// Returns the facts about hosts that may be packed.
pub(super) fn facts(host: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let facts = host.iter();
    facts
        .filter_map(|(name, value)| Some((name.clone(), fact(name, value)?)))
        .collect()
}

/// Returns the lines of a trace's description that may be packed.
pub(super) fn lines(description: &[(String, String)]) -> Vec<(String, String)> {
    let lines = description.iter().filter_map(|(name, value)| {
        let packed = match name.strip_prefix("host.") {
            Some(of_host) => fact(of_host, value)?,
            None if LINES.contains(&name.as_str()) || name == "takt" => value.clone(),
            None => return None,
        };
        Some((name.clone(), packed))
    });
    lines.collect()
}

/// Returns the value of a fact as it may be packed. The name may have a side in front: `publisher: kernel`.
fn fact(name: &str, value: &str) -> Option<String> {
    let own = name.rsplit(": ").next().unwrap_or(name);
    let own = own.strip_prefix("outer ").unwrap_or(own);
    match own {
        "kernel command line" => Some(command_line(value)),
        // The reasons name interfaces.
        DISCIPLINES if !value.starts_with(AS_PLANNED) => {
            let end = value.find(':').unwrap_or(value.len());
            value.get(..end).map(str::to_owned)
        }
        own if FACTS.contains(&own) => Some(value.to_owned()),
        _ => None,
    }
}

/// Returns the parameters of a command line that decide times, and the number of the others.
fn command_line(text: &str) -> String {
    let key = |word: &&str| word.split('=').next().unwrap_or_default().to_owned();
    let is_known = |word: &&str| PARAMETERS.contains(&key(word).as_str());
    let (known, others): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(is_known);
    let others = format!("({} others)", others.len());
    known
        .into_iter()
        .chain([others.as_str()])
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = of.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn only_known_facts_are_packed() {
        let host = pairs(&[
            ("processor", "x"),
            ("publisher: kernel", "6.12"),
            ("outer kernel", "6.18"),
            ("owner", "ada"),
            ("loopback: disciplines", "not as planned: eth7"),
            ("disciplines", "as planned"),
            (
                "kernel command line",
                "root=UUID=1 isolcpus=2-3 ip=::::ada:eth0 idle=poll",
            ),
        ]);
        let packed = facts(&host.into_iter().collect());
        let expected = pairs(&[
            ("processor", "x"),
            ("publisher: kernel", "6.12"),
            ("outer kernel", "6.18"),
            ("loopback: disciplines", "not as planned"),
            ("disciplines", "as planned"),
            ("kernel command line", "isolcpus=2-3 idle=poll (2 others)"),
        ]);
        assert_eq!(packed, expected.into_iter().collect());
    }

    #[test]
    fn only_known_lines_are_packed() {
        let description = pairs(&[
            ("role", "publisher"),
            ("note", "ada"),
            ("host.kernel", "6.12"),
            ("host.name", "ada"),
        ]);
        let expected = pairs(&[("role", "publisher"), ("host.kernel", "6.12")]);
        assert_eq!(lines(&description), expected);
    }
}
