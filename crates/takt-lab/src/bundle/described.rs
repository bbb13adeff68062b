//! Descriptions with known facts only.

use std::collections::BTreeMap;

use crate::case_record::{CaseRecord, EndRecord};
use crate::collect::{DISCIPLINES, REMARK};
use crate::run_directory::NOT_RUN;
use crate::scenario_loop::{LoopEnd, SUBSCRIBER};

/// Real-time settings of `takt-wakeup` that may be missing at an end.
const SETTINGS: [&str; 5] = [
    "affinity",
    "cpu_dma_latency",
    "timer slack",
    "locked memory",
    "SCHED_FIFO",
];

/// Text of a failed case, whose own text may name interfaces and files.
const FAILED: &str = "the case failed";

/// Facts that may be packed: none of them has a name of a host or user.
const FACTS: [&str; 35] = [
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
    "duplex",
    "time stamps",
    "PTP clock",
    "system clock",
    "TAI offset",
    // The grandmaster's identity has its hardware address.
    "PTP steers",
    "PTP offset",
    "PTP offset at the end",
    "PTP clock offset",
    "PTP clock offset at the end",
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
const LINES: [&str; 20] = [
    "messages_to_send",
    "messages_sent",
    "messages_not_made",
    "messages_without_room",
    "messages_link_down",
    "messages_launch_refused",
    "messages_launch_invalid",
    "messages_launch_missed",
    "takt",
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
            None if name == "end" => end_line(value)?,
            None if LINES.contains(&name.as_str()) => value.clone(),
            None => return None,
        };
        Some((name.clone(), packed))
    });
    lines.collect()
}

/// Returns the record of an end with numbers and kinds only: texts of errors name interfaces, addresses and files.
pub(super) fn end(record: &EndRecord) -> EndRecord {
    let [publisher, loopback] = [LoopEnd::Publisher, LoopEnd::Loopback].map(LoopEnd::name);
    let side = [publisher, loopback, SUBSCRIBER]
        .into_iter()
        .find(|name| record.end == *name);
    let unset = record.unset.iter().map(|text| {
        let setting = text.split(':').next().unwrap_or_default();
        let known = SETTINGS.into_iter().find(|name| setting == *name);
        known.unwrap_or("another setting").to_owned() + ": not applied"
    });
    EndRecord {
        end: side.unwrap_or_default().to_owned(),
        last_error: record.last_error.as_deref().map(error_kind),
        unset: unset.collect(),
        ..record.clone()
    }
}

/// Returns the record of a case with numbers and kinds only. Its remarks are counted.
pub(super) fn record(record: &CaseRecord) -> CaseRecord {
    let (known, others): (Vec<&String>, Vec<&String>) =
        record.remarks.iter().partition(|it| *it == REMARK);
    let others = match others.len() {
        0 => None,
        count => Some(format!("{count} remarks are not in the bundle")),
    };
    CaseRecord {
        remarks: known.into_iter().cloned().chain(others).collect(),
        ends: record.ends.iter().map(end).collect(),
        ..record.clone()
    }
}

/// Returns the failure of a case without its text.
pub(super) fn failure(text: &str) -> String {
    match text {
        NOT_RUN => NOT_RUN.to_owned(),
        _ => FAILED.to_owned(),
    }
}

fn end_line(text: &str) -> Option<String> {
    let record: EndRecord = serde_json::from_str(text).ok()?;
    serde_json::to_string(&end(&record)).ok()
}

/// Returns the number of an operating system's error, as [`std::io::Error`] writes it: `(os error 105)`.
fn error_kind(text: &str) -> String {
    let number = text.rsplit_once("(os error ");
    let number = number.and_then(|(_, end)| end.split(')').next()?.parse::<u16>().ok());
    match number {
        Some(number) => format!("os error {number}"),
        None => "its text is not in the bundle".to_owned(),
    }
}

/// Returns the value of a fact as it may be packed. The name may have a side in front: `publisher: kernel`.
fn fact(name: &str, value: &str) -> Option<String> {
    let own = name.rsplit(": ").next().unwrap_or(name);
    let own = own.strip_prefix("outer ").unwrap_or(own);
    match own {
        "kernel command line" => Some(command_line(value)),
        // The reasons name interfaces.
        DISCIPLINES => {
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
    fn texts_of_errors_are_not_packed() {
        let text = "sending through enx001b21a1b2c3: /home/ada/x";
        let of_end = EndRecord {
            end: "loopback".to_owned(),
            send_errors: 7,
            last_error: Some(format!("{text}: No buffer space (os error 105)")),
            unset: vec![format!("SCHED_FIFO: {text}"), text.to_owned()],
            ..EndRecord::default()
        };
        let packed = end(&of_end);
        assert_eq!((packed.send_errors, packed.end.as_str()), (7, "loopback"));
        assert_eq!(packed.last_error.as_deref(), Some("os error 105"));
        assert_eq!(
            packed.unset,
            ["SCHED_FIFO: not applied", "another setting: not applied"]
        );
        let of_case = CaseRecord {
            remarks: vec![text.to_owned(), REMARK.to_owned()],
            ends: vec![of_end.clone()],
            ..CaseRecord::default()
        };
        let of_case = record(&of_case);
        assert_eq!(of_case.remarks, [REMARK, "1 remarks are not in the bundle"]);
        assert_eq!(of_case.ends, std::slice::from_ref(&packed));
        let line = serde_json::to_string(&of_end).unwrap_or_default();
        let line = lines(&[("end".to_owned(), line)]);
        let of_line = line
            .first()
            .map(|(_, text)| serde_json::from_str(text).ok());
        assert_eq!(of_line, Some(Some(packed)));
        // A text that is no record is left out.
        assert_eq!(lines(&pairs(&[("end", text)])), []);
        assert_eq!(
            (failure(text).as_str(), failure(NOT_RUN).as_str()),
            (FAILED, NOT_RUN)
        );
        assert_eq!(error_kind("x (os error 1 of eth0)"), error_kind(text));
    }

    #[test]
    fn only_known_lines_are_packed() {
        let description = pairs(&[
            ("role", "publisher"),
            ("messages_to_send", "9"),
            ("messages_link_down", "7"),
            ("note", "ada"),
            ("host.kernel", "6.12"),
            ("host.name", "ada"),
        ]);
        let expected = pairs(&[
            ("role", "publisher"),
            ("messages_to_send", "9"),
            ("messages_link_down", "7"),
            ("host.kernel", "6.12"),
        ]);
        assert_eq!(lines(&description), expected);
    }
}
