//! Facts from files below `/proc` and `/sys`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::HostFact;

/// Files of a host: those below a folder, which is `/` for the running one.
#[derive(Debug, Clone)]
pub struct HostFiles {
    root: PathBuf,
}

/// Files with one line, each with the name of its fact.
const LINES: [(&str, &str); 8] = [
    ("kernel", "proc/sys/kernel/osrelease"),
    ("kernel build", "proc/sys/kernel/version"),
    ("kernel command line", "proc/cmdline"),
    ("isolated processors", "sys/devices/system/cpu/isolated"),
    (
        "processors without tick",
        "sys/devices/system/cpu/nohz_full",
    ),
    (
        "simultaneous multithreading",
        "sys/devices/system/cpu/smt/control",
    ),
    (
        "idle driver",
        "sys/devices/system/cpu/cpuidle/current_driver",
    ),
    (
        "clock source",
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
];

/// Longest value of a fact, in characters. A kernel's command line may have 4 KiB.
const LONGEST: usize = 4096;

impl HostFiles {
    /// Returns the files of the running host.
    #[must_use]
    pub fn of_this_host() -> Self {
        Self::below("/")
    }

    /// Returns the files below a folder.
    #[must_use]
    pub fn below(root: impl AsRef<Path>) -> Self {
        Self {
            root: root.as_ref().to_owned(),
        }
    }

    /// Returns the content of a file without white space at its ends; `None` if it cannot be read, or is empty.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let text = fs::read(self.root.join(path)).ok()?;
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the last part of the target of a symbolic link.
    pub(super) fn target(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.root.join(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Returns the identity of this boot, as a digest: it tells hosts apart, and says nothing about them.
    #[must_use]
    pub fn boot(&self) -> Option<String> {
        let id = self.text("proc/sys/kernel/random/boot_id")?;
        Some(crate::digest::short(id.as_bytes()))
    }

    /// Returns the different contents of a file of all processors, such as `cpufreq/scaling_governor`.
    fn of_processors(&self, file: &str) -> Option<String> {
        let folder = "sys/devices/system/cpu";
        let entries = fs::read_dir(self.root.join(folder)).ok()?;
        let names = entries.flatten().map(|it| it.file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        let is_processor = |name: &String| {
            let number = name.strip_prefix("cpu");
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let values = names
            .filter(is_processor)
            .filter_map(|name| self.text(&format!("{folder}/{name}/{file}")));
        let values: BTreeSet<String> = values.collect();
        let values: Vec<String> = values.into_iter().collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

/// Returns the facts about processors, memory and kernel.
#[must_use]
pub fn host_facts(files: &HostFiles) -> Vec<HostFact> {
    let mut facts: Vec<HostFact> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        let value = value.map(|value| value.chars().take(LONGEST).collect());
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    let processors = files.text("proc/cpuinfo").unwrap_or_default();
    add("processor", processor(&processors).or_else(|| board(files)));
    add("processors", files.text("sys/devices/system/cpu/online"));
    let is_virtual = has_flag(&processors, "hypervisor");
    add("virtual machine", is_virtual.then(|| "yes".to_owned()));
    let memory = files.text("proc/meminfo");
    add("memory", memory.as_deref().and_then(memory_text));
    add(
        "frequency governor",
        files.of_processors("cpufreq/scaling_governor"),
    );
    add(
        "frequency driver",
        files.of_processors("cpufreq/scaling_driver"),
    );
    for (name, path) in LINES {
        add(name, files.text(path));
    }
    let is_real_time = files.text("sys/kernel/realtime").as_deref() == Some("1");
    add("real-time kernel", is_real_time.then(|| "yes".to_owned()));
    facts
}

/// Returns the name of the processor in `/proc/cpuinfo` (proc_cpuinfo(5)).
fn processor(text: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(name, _)| ["model name", "cpu model", "Model"].contains(&name.trim()));
    found.map(|(_, value)| value.trim().to_owned())
}

/// Returns the name of the board from the device tree, which hosts with Arm processors have. It ends with a byte 0.
fn board(files: &HostFiles) -> Option<String> {
    let text = files.text("proc/device-tree/model")?;
    Some(text.trim_end_matches('\0').to_owned())
}

fn has_flag(text: &str, flag: &str) -> bool {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("flags"));
    lines.any(|flags| flags.split_whitespace().any(|one| one == flag))
}

/// Returns the size of the memory from `/proc/meminfo`, which counts in KiB.
fn memory_text(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{:.1} GiB", kibibytes as f64 / f64::from(1 << 20)))
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Writes files below a folder.
    pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn facts_come_from_files() {
        let root = tree(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-8700T\nflags\t\t: fpu hypervisor\n",
            ),
            (
                "proc/meminfo",
                "MemTotal:       16297288 kB\nMemFree: 1 kB\n",
            ),
            ("proc/cmdline", "quiet isolcpus=2,3 nohz_full=2,3\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-rt\n"),
            ("sys/kernel/realtime", "1\n"),
            ("sys/devices/system/cpu/isolated", "2-3\n"),
            ("sys/devices/system/cpu/nohz_full", "\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "performance\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
                "performance\n",
            ),
            (
                "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
                "powersave\n",
            ),
            ("sys/devices/system/cpu/cpufreq/policy0/x", "\n"),
        ]);
        let facts = host_facts(&HostFiles::below(root.path()));
        let expected = [
            ("processor", "Intel(R) Core(TM) i7-8700T"),
            ("processors", "0-3"),
            ("virtual machine", "yes"),
            ("memory", "15.5 GiB"),
            ("frequency governor", "performance, powersave"),
            ("kernel", "6.1.0-rt"),
            ("kernel command line", "quiet isolcpus=2,3 nohz_full=2,3"),
            ("isolated processors", "2-3"),
            ("real-time kernel", "yes"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(facts, expected);
    }

    #[test]
    fn a_host_without_these_files_has_no_facts() {
        let root = tree(&[]);
        assert_eq!(host_facts(&HostFiles::below(root.path())), []);
        let arm = tree(&[
            ("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\n"),
            ("proc/device-tree/model", "Raspberry Pi 5\0"),
        ]);
        let facts = host_facts(&HostFiles::below(arm.path()));
        assert_eq!(
            facts,
            [("processor".to_owned(), "Raspberry Pi 5".to_owned())]
        );
    }

    #[test]
    fn a_boot_has_a_digest() {
        let boot = |id: &str| {
            let root = tree(&[("proc/sys/kernel/random/boot_id", id)]);
            HostFiles::below(root.path()).boot()
        };
        assert_eq!(boot("a"), boot("a\n"));
        assert_ne!(boot("a"), boot("b"));
        assert_eq!(boot(""), None);
    }

    #[test]
    fn this_host_has_facts() {
        let facts = host_facts(&HostFiles::of_this_host());
        let names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["processor", "memory", "kernel"] {
            assert!(names.contains(&name), "{name}: {facts:?}");
        }
    }
}
