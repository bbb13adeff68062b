//! A kernel for tests: it answers `tc` and `ip` like Linux 6.1 with iproute2 6.1, including the faults that `apply`
//! must handle.

use std::collections::{BTreeMap, BTreeSet};

use takt_tsn::{CommandResult, Executor, ExecutorError, ShellCommand};

/// A discipline: handle, kind and parameters as they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FakeQdisc {
    pub(crate) handle: String,
    pub(crate) kind: String,
    /// Bytes of the size table.
    pub(crate) overhead: String,
    pub(crate) words: Vec<String>,
}

/// The kernel, with one interface `eth0`.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeKernel {
    /// Disciplines by parent: `root`, or `100:1`.
    pub(crate) qdiscs: BTreeMap<String, FakeQdisc>,
    pub(crate) clsact: bool,
    pub(crate) filters: BTreeSet<u8>,
    pub(crate) vlans: BTreeSet<String>,
    /// True while the gates do not move.
    pub(crate) frozen: bool,
    /// Kinds that the kernel lacks.
    pub(crate) missing: Vec<&'static str>,
    /// True if the kernel cannot classify received frames.
    pub(crate) no_flower: bool,
    /// A parameter that the kernel takes, but does not keep.
    pub(crate) ignores: Option<&'static str>,
    /// Number of changes until the process is killed: then nothing works any more.
    pub(crate) changes_left: Option<usize>,
    /// Commands that changed something.
    pub(crate) log: Vec<String>,
}

type Answer = Result<String, String>;

impl FakeKernel {
    /// Returns the configuration without histories, for comparisons.
    pub(crate) fn configuration(
        &self,
    ) -> (
        BTreeMap<String, FakeQdisc>,
        bool,
        BTreeSet<u8>,
        BTreeSet<String>,
    ) {
        (
            self.qdiscs.clone(),
            self.clsact,
            self.filters.clone(),
            self.vlans.clone(),
        )
    }

    fn answer(&mut self, program: &str, words: &[&str]) -> Answer {
        match (program, words) {
            ("cat", ["/sys/class/net/eth0/speed"]) => Ok("1000\n".to_owned()),
            ("cat", ["/proc/sys/kernel/random/boot_id"]) => Ok("boot\n".to_owned()),
            ("readlink", _) => Ok("net:[1]\n".to_owned()),
            ("uname", _) => Ok("6.1.176\n".to_owned()),
            ("ip", ["-j", "-d", "link", "show", "dev", "eth0"]) => Ok(
                r#"[{"ifindex":3,"ifname":"eth0","operstate":"UP","num_tx_queues":4}]"#.to_owned(),
            ),
            ("ip", ["link", "show", "dev", name]) if self.vlans.contains(*name) => {
                Ok(String::new())
            }
            ("ip", [.., "show", "dev", name]) => Err(format!("Device \"{name}\" does not exist.")),
            ("tc", ["-j", "-s", "-d", "qdisc", "show", "dev", "eth0"]) => Ok(self.show()),
            ("tc", ["-j", "-d", "qdisc", "show"]) => {
                let of_interface = r#"{"dev":"eth0","kind""#;
                Ok(self.show().replace(r#"{"kind""#, of_interface))
            }
            ("cat", ["/proc/timer_list"]) => Ok(self.timers()),
            ("tc", ["-j", "filter", "show", "dev", "eth0", "ingress"]) => Ok(self.show_filters()),
            _ => {
                self.log.push(format!("{program} {}", words.join(" ")));
                self.change(program, words)
            }
        }
    }

    fn change(&mut self, program: &str, words: &[&str]) -> Answer {
        match (program, words) {
            (
                "ip",
                [
                    "link",
                    "add",
                    "link",
                    "eth0",
                    "name",
                    name,
                    "type",
                    "vlan",
                    ..,
                ],
            ) => {
                self.vlans.insert((*name).to_owned());
                Ok(String::new())
            }
            ("ip", ["link", "set", "dev", _, "up"]) => Ok(String::new()),
            ("ip", ["link", "del", "dev", name]) if self.vlans.remove(*name) => Ok(String::new()),
            ("tc", ["qdisc", "del", "dev", "eth0", "root"]) => match self.qdiscs.is_empty() {
                true => Err("Error: Cannot delete qdisc with handle of zero.".to_owned()),
                false => {
                    self.qdiscs.clear();
                    Ok(String::new())
                }
            },
            ("tc", ["qdisc", "add", "dev", "eth0", "clsact"]) if !self.clsact => {
                self.clsact = true;
                Ok(String::new())
            }
            ("tc", ["qdisc", "del", "dev", "eth0", "clsact"]) if self.clsact => {
                self.clsact = false;
                self.filters.clear();
                Ok(String::new())
            }
            (
                "tc",
                [
                    "filter",
                    "replace",
                    "dev",
                    "eth0",
                    "ingress",
                    ..,
                    "flower",
                    "vlan_prio",
                    pcp,
                    "action",
                    "skbedit",
                    "priority",
                    _,
                ],
            ) => {
                if self.no_flower {
                    return Err("Error: TC classifier not found.".to_owned());
                }
                self.filters.insert(pcp.parse().unwrap());
                Ok(String::new())
            }
            ("tc", ["filter", "del", "dev", "eth0", "ingress", ..]) => {
                self.filters.clear();
                Ok(String::new())
            }
            (
                "tc",
                [
                    "qdisc",
                    "replace",
                    "dev",
                    "eth0",
                    "root",
                    "handle",
                    handle,
                    kind,
                    parameters @ ..,
                ],
            ) if *kind != "stab" => self.replace("root", handle, kind, "0", parameters),
            (
                "tc",
                [
                    "qdisc",
                    "replace",
                    "dev",
                    "eth0",
                    "root",
                    "handle",
                    handle,
                    "stab",
                    "overhead",
                    overhead,
                    kind,
                    parameters @ ..,
                ],
            ) => self.replace("root", handle, kind, overhead, parameters),
            (
                "tc",
                [
                    "qdisc",
                    "replace",
                    "dev",
                    "eth0",
                    "parent",
                    parent,
                    "handle",
                    handle,
                    kind,
                    parameters @ ..,
                ],
            ) => self.replace(parent, handle, kind, "0", parameters),
            _ => Err(format!("Error: {program} {words:?}")),
        }
    }

    fn replace(
        &mut self,
        parent: &str,
        handle: &str,
        kind: &str,
        overhead: &str,
        parameters: &[&str],
    ) -> Answer {
        if self.missing.contains(&kind) {
            return Err("Error: Specified qdisc kind is unknown.".to_owned());
        }
        if parent != "root"
            && !self
                .qdiscs
                .values()
                .any(|qdisc| parent.starts_with(&qdisc.handle))
        {
            return Err("Error: Failed to find specified qdisc.".to_owned());
        }
        let moved = self
            .qdiscs
            .iter()
            .any(|(other, qdisc)| qdisc.handle == handle && other != parent);
        if moved {
            return Err("Error: Cannot move an existing qdisc to a different parent.".to_owned());
        }
        if let Some(old) = self.qdiscs.get(parent).filter(|old| old.handle == handle) {
            if old.kind != kind {
                return Err("Error: Invalid qdisc name.".to_owned());
            }
            if kind == "etf" {
                return Err("Error: Change operation not supported by specified qdisc.".to_owned());
            }
        }
        let is_gates = |kernel: &Self| {
            kernel
                .qdiscs
                .get("root")
                .is_some_and(|root| root.kind == "taprio")
        };
        let qdisc = FakeQdisc {
            handle: handle.to_owned(),
            kind: kind.to_owned(),
            overhead: overhead.to_owned(),
            words: parameters.iter().map(|word| (*word).to_owned()).collect(),
        };
        self.qdiscs.insert(parent.to_owned(), qdisc);
        // As in Linux, a child that is attached stops the gates until taprio itself is sent again.
        self.frozen = is_gates(self) && parent != "root";
        Ok(String::new())
    }

    fn show(&self) -> String {
        let mut shown: Vec<String> = self
            .qdiscs
            .iter()
            .map(|(parent, qdisc)| self.show_qdisc(parent, qdisc))
            .collect();
        if self.qdiscs.is_empty() {
            shown.push(r#"{"kind":"noqueue","handle":"0:","root":true,"options":{}}"#.to_owned());
        }
        if self.clsact {
            shown.push(
                r#"{"kind":"clsact","handle":"ffff:","parent":"ffff:fff1","options":{}}"#
                    .to_owned(),
            );
        }
        format!("[{}]", shown.join(","))
    }

    fn show_qdisc(&self, parent: &str, qdisc: &FakeQdisc) -> String {
        let place = match parent {
            "root" => r#""root":true"#.to_owned(),
            parent => format!(r#""parent":"{parent}""#),
        };
        let FakeQdisc {
            handle,
            kind,
            overhead,
            words,
        } = qdisc;
        let options = self.options(kind, words);
        format!(
            r#"{{"kind":"{kind}","handle":"{handle}",{place},"options":{{{options}}},"stab":{{"overhead":{overhead}}}}}"#
        )
    }

    /// Returns the list of timers. The timer of gates that move expires at the beginning of a cycle.
    fn timers(&self) -> String {
        let root = self.qdiscs.get("root");
        let gates = root.filter(|root| root.kind == "taprio" && !self.frozen);
        let base = gates.and_then(|root| {
            let words = &root.words;
            let name = words.iter().position(|word| word == "base-time")?;
            words.get(name + 1)
        });
        let timer = base.map_or_else(String::new, |base| {
            format!(" #1: <0>, advance_sched, S:01\n # expires at {base}-{base} nsecs [in 1 to 1 nsecs]\n")
        });
        format!(
            "Timer List Version: v0.9\n #0: <0>, tick_sched_timer, S:01\n # expires at 1-1 nsecs\n{timer}"
        )
    }

    /// Returns the parameters as `tc` shows them.
    fn options(&self, kind: &str, words: &[String]) -> String {
        let is_numbers = |word: &&String| word.parse::<i64>().is_ok() || word.contains('@');
        let mut shown: Vec<String> = Vec::new();
        let mut schedule: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(name) = words.get(at) {
            let values: Vec<&String> = words[at + 1..].iter().take_while(is_numbers).collect();
            let number = values.first().map_or("1", |value| value.as_str());
            at += 1 + values.len();
            let number = if self.ignores == Some(name.as_str()) {
                "77"
            } else {
                number
            };
            match name.as_str() {
                "num_tc" => shown.push(format!(r#""tc":{number}"#)),
                "map" => {
                    let values: Vec<&str> = values.iter().map(|value| value.as_str()).collect();
                    shown.push(format!(r#""map":[{}]"#, values.join(",")));
                }
                "queues" => shown.push(format!(r#""queues":[{}]"#, queues(kind, &values))),
                "sched-entry" => {
                    let [_, gates, interval] = &words[at..at + 3] else {
                        unreachable!("an entry has three words")
                    };
                    at += 3;
                    let gates = u8::from_str_radix(gates, 16).unwrap();
                    schedule.push(format!(
                        r#"{{"cmd":"S","gatemask":"{gates:#x}","interval":{interval}}}"#
                    ));
                }
                "flags" => {
                    shown.push(format!(r#""flags":"{}""#, words[at]));
                    at += 1;
                }
                "clockid" => at += 1,
                "base-time" => shown.push(format!(r#""base_time":{number}"#)),
                "txtime-delay" => shown.push(format!(r#""txtime_delay":{number}"#)),
                "target" | "interval" => {
                    // The kernel keeps CoDel's times in units of 1024 ns, and `tc` shows whole microseconds.
                    let micros: u64 = words[at].trim_end_matches("us").parse().unwrap();
                    at += 1;
                    shown.push(format!(
                        r#""{name}":{}"#,
                        ((micros * 1000) >> 10 << 10) / 1000
                    ));
                }
                name => shown.push(format!(r#""{name}":{number}"#)),
            }
        }
        if kind == "taprio" {
            shown.push(format!(r#""schedule":[{}]"#, schedule.join(",")));
        }
        shown.join(",")
    }

    fn show_filters(&self) -> String {
        let filter = |pcp: &u8| {
            format!(
                r#"{{"pref":7100,"options":{{"keys":{{"vlan_prio":{pcp}}},"actions":[{{"priority":":{pcp}"}}]}}}}"#
            )
        };
        format!(
            "[{}]",
            self.filters
                .iter()
                .map(filter)
                .collect::<Vec<_>>()
                .join(",")
        )
    }
}

/// Returns queues as mqprio shows them, first and last, or as taprio does, offset and count.
fn queues(kind: &str, values: &[&String]) -> String {
    let queue = |value: &&String| {
        let (count, first) = value.split_once('@').unwrap();
        let (count, first): (u16, u16) = (count.parse().unwrap(), first.parse().unwrap());
        match kind {
            "mqprio" => format!("[{first},{}]", first + count - 1),
            _ => format!(r#"{{"offset":{first},"count":{count}}}"#),
        }
    };
    values.iter().map(queue).collect::<Vec<_>>().join(",")
}

impl Executor for FakeKernel {
    fn run(&mut self, command: &ShellCommand) -> Result<CommandResult, ExecutorError> {
        let killed = || ExecutorError {
            program: command.program.to_owned(),
            source: std::io::Error::other("killed"),
        };
        if self.changes_left == Some(0) {
            return Err(killed());
        }
        let changes = self.log.len();
        let answer = self.answer(command.program, &command.arguments());
        if let Some(left) = &mut self.changes_left {
            *left -= self.log.len() - changes;
        }
        Ok(match answer {
            Ok(stdout) => CommandResult {
                success: true,
                stdout,
                stderr: String::new(),
            },
            Err(stderr) => CommandResult {
                success: false,
                stdout: String::new(),
                stderr,
            },
        })
    }
}
