//! Motion of gates in software: do they still open and close?
//!
//! Linux stops the timer of `taprio` when the link goes down (`taprio_reset` of `sch_taprio.c`), and nothing starts it again when
//! the link comes back. The same happens when a child is attached. `tc` shows the same text before and after. The timer itself is
//! in `/proc/timer_list`: a high-resolution timer with the function `advance_sched`, which expires when an entry of the schedule
//! ends.

use serde_json::Value;

use crate::executor::Executor;
use crate::fault::SystemFault;
use crate::qdisc::json::number;
use crate::read_back::{ReadBackError, repaired};
use crate::shell_command::ShellCommand;
use crate::system::run;

/// List of the timers of the kernel. Only root can read it.
const TIMER_LIST: &str = "/proc/timer_list";

/// Function of the kernel that opens the next gates.
const FUNCTION: &str = "advance_sched";

/// Number of times that the list is read. A timer that expires at this moment is not in it.
const READINGS: usize = 5;

/// Motion of the gates of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateMotion {
    /// The kernel moves no gates here: there are none, each frame has a launch time instead, or the hardware moves them.
    NotInKernel,
    /// The gates open and close.
    Moving,
    /// The gates stay as they are.
    Frozen,
    /// Some of these interfaces, which have the same gate times, have gates that stay as they are. Their timers look alike.
    SomeFrozen(Vec<String>),
    /// The list of timers cannot be read, for this reason.
    Unknown(String),
}

/// Times at which the gates of an interface change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GateTimes {
    /// Nanoseconds of CLOCK_TAI.
    base: i128,
    cycle: i128,
    /// Ends of the entries in a cycle, in nanoseconds. The last one is the cycle, or 0.
    ends: Vec<i128>,
}

/// Gates of an interface in software: the times of the running and of the waiting schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SoftwareGates {
    interface: String,
    schedules: Vec<GateTimes>,
}

/// Finds out whether the gates of an interface move.
///
/// # Errors
/// `tc` cannot be run or read.
pub(crate) fn gate_motion(
    executor: &mut impl Executor,
    interface: &str,
) -> Result<GateMotion, SystemFault> {
    // All interfaces, because the timers of those with the same times look alike.
    let text = run(executor, &ShellCommand::tc("-j -d qdisc show"))?;
    let gates = software_gates(&text)?;
    if !gates.iter().any(|it| it.interface == interface) {
        return Ok(GateMotion::NotInKernel);
    }
    let mut motion = GateMotion::Unknown(String::new());
    for _ in 0..READINGS {
        let list = executor.run(&ShellCommand::new("cat", [TIMER_LIST.to_owned()]))?;
        motion = match list.success {
            true => motion_of(&gates, interface, &list.stdout),
            false => GateMotion::Unknown(list.stderr.trim().to_owned()),
        };
        // A timer that is missing once may have been expiring.
        if !matches!(motion, GateMotion::Frozen | GateMotion::SomeFrozen(_)) {
            break;
        }
    }
    Ok(motion)
}

/// Returns the motion of the gates of an interface, from a list of timers.
fn motion_of(gates: &[SoftwareGates], interface: &str, list: &str) -> GateMotion {
    let timers = match gate_timers(list) {
        Ok(timers) => timers,
        Err(reason) => return GateMotion::Unknown(reason.to_owned()),
    };
    let Some(own) = gates.iter().find(|it| it.interface == interface) else {
        return GateMotion::NotInKernel;
    };
    let own_timers = || timers.iter().filter(|expiry| own.may_have(**expiry));
    let alike = gates.iter();
    let alike = alike.filter(|other| own_timers().any(|expiry| other.may_have(*expiry)));
    let alike: Vec<String> = alike.map(|it| it.interface.clone()).collect();
    match own_timers().count() {
        0 => GateMotion::Frozen,
        count if count >= alike.len() => GateMotion::Moving,
        _ => GateMotion::SomeFrozen(alike),
    }
}

impl SoftwareGates {
    /// Returns true if the timer of these gates may expire at this time.
    fn may_have(&self, expiry: i128) -> bool {
        self.schedules.iter().any(|it| it.has_end_at(expiry))
    }
}

impl GateTimes {
    fn has_end_at(&self, nanos: i128) -> bool {
        let place = (nanos - self.base).rem_euclid(self.cycle.max(1));
        self.ends.contains(&place)
    }

    /// Reads a schedule of `tc -j`; `None` for one without entries, as long as no schedule runs.
    fn read(schedule: &Value) -> Option<Self> {
        let entries = schedule.get("schedule")?.as_array()?;
        let mut end = 0;
        let mut ends = vec![0];
        for entry in entries {
            end += i128::from(number(entry, "interval")?);
            ends.push(end);
        }
        let cycle = number(schedule, "cycle_time").map(i128::from);
        let cycle = cycle.filter(|cycle| *cycle > 0).unwrap_or(end);
        (!entries.is_empty()).then_some(Self {
            base: i128::from(number(schedule, "base_time")?),
            cycle,
            ends,
        })
    }
}

/// Reads the gates that the kernel moves from the output of `tc -j -d qdisc show`.
fn software_gates(text: &str) -> Result<Vec<SoftwareGates>, ReadBackError> {
    let values: Vec<Value> = serde_json::from_str(&repaired(text))?;
    let gates = |value: &Value| {
        let options = value.get("options")?;
        let is_taprio = value.get("kind")?.as_str()? == "taprio";
        // Flag 1 is txtime-assist, flag 2 full offload (tc-taprio(8)): both have no timer.
        let is_software = number(options, "flags").unwrap_or(0) & 3 == 0;
        let waiting = options.get("admin").and_then(GateTimes::read);
        (is_taprio && is_software).then_some(SoftwareGates {
            interface: value.get("dev")?.as_str()?.to_owned(),
            schedules: GateTimes::read(options)
                .into_iter()
                .chain(waiting)
                .collect(),
        })
    };
    Ok(values.iter().filter_map(gates).collect())
}

/// Returns the expiries of all timers of gates: nanoseconds of CLOCK_TAI.
fn gate_timers(list: &str) -> Result<Vec<i128>, &'static str> {
    if !list.starts_with("Timer List") {
        return Err("it is empty: containers hide it");
    }
    let mut timers = Vec::new();
    let mut lines = list.lines();
    let mut has_names = false;
    while let Some(line) = lines.next() {
        // ` #0: <00000000599b6c6c>, advance_sched [sch_taprio], S:01`
        let Some((_, function)) = line.split_once(">, ") else {
            continue;
        };
        has_names |= !function.starts_with("0x");
        if function.split([' ', ',']).next() != Some(FUNCTION) {
            continue;
        }
        // ` # expires at 1796037697531000000-1796037697531000000 nsecs [in 581816 to 581816 nsecs]`
        let expiry = lines.next().and_then(|line| {
            let (_, behind) = line.split_once("expires at ")?;
            behind.split_once('-')?.0.trim().parse().ok()
        });
        timers.push(expiry.ok_or("it has another format")?);
    }
    match has_names {
        true => Ok(timers),
        false => Err("this kernel has no names of functions (CONFIG_KALLSYMS)"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Lists of Linux 6.1 and 6.12: with gates that move, and after the link went down and up.
    const LISTS: [[&str; 2]; 2] = [
        [
            include_str!("../tests/kernel_6_1/timer_list_moving.txt"),
            include_str!("../tests/kernel_6_1/timer_list_frozen.txt"),
        ],
        [
            include_str!("../tests/kernel_6_12/timer_list_moving.txt"),
            include_str!("../tests/kernel_6_12/timer_list_frozen.txt"),
        ],
    ];
    const QDISCS: &str = include_str!("../tests/kernel_6_1/taprio_all_interfaces.json");

    #[test]
    fn a_missing_timer_is_found_in_lists_of_linux() {
        let gates = software_gates(QDISCS).unwrap();
        assert_eq!(gates.len(), 1);
        for [moving, frozen] in LISTS {
            assert_eq!(motion_of(&gates, "v0", moving), GateMotion::Moving);
            assert_eq!(motion_of(&gates, "v0", frozen), GateMotion::Frozen);
            assert_eq!(motion_of(&gates, "v1", frozen), GateMotion::NotInKernel);
        }
    }

    fn gates(interface: &str, base: i128) -> SoftwareGates {
        let times = GateTimes {
            base,
            cycle: 1000,
            ends: vec![0, 300, 1000],
        };
        SoftwareGates {
            interface: interface.to_owned(),
            schedules: vec![times],
        }
    }

    fn list(expiries: &[u64]) -> String {
        let timer = |expiry| {
            format!(
                " #0: <0>, advance_sched, S:01\n # expires at {expiry}-{expiry} nsecs [in 1 to 1 nsecs]\n"
            )
        };
        let timers: String = expiries.iter().map(timer).collect();
        format!(
            "Timer List Version: v0.10\nactive timers:\n #0: <0>, tick_nohz_handler, S:01\n{timers}"
        )
    }

    #[test]
    fn timers_belong_to_interfaces_by_their_times() {
        let both = [gates("a", 7), gates("b", 20)];
        let motion = |expiries: &[u64]| ["a", "b"].map(|it| motion_of(&both, it, &list(expiries)));
        let frozen = || [GateMotion::Frozen, GateMotion::Frozen];
        assert_eq!(
            motion(&[5_307, 9_020]),
            [GateMotion::Moving, GateMotion::Moving]
        );
        assert_eq!(motion(&[9_020]), [GateMotion::Frozen, GateMotion::Moving]);
        assert_eq!(motion(&[5_007]), [GateMotion::Moving, GateMotion::Frozen]);
        assert_eq!(motion(&[5_008]), frozen());
        // The timers of two interfaces with the same times look alike, but there must be two.
        let alike = [gates("a", 7), gates("b", 1_007)];
        let motion = |expiries: &[u64]| motion_of(&alike, "a", &list(expiries));
        assert_eq!(motion(&[5_307, 6_007]), GateMotion::Moving);
        let some = GateMotion::SomeFrozen(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(motion(&[5_307]), some);
        assert_eq!(motion(&[]), GateMotion::Frozen);
    }

    #[test]
    fn a_list_that_says_nothing_is_no_verdict() {
        let one = [gates("a", 7)];
        for text in ["", "Timer List Version: v0.10\n #0: <0>, 0xffff, S:01\n"] {
            let motion = motion_of(&one, "a", text);
            assert!(matches!(motion, GateMotion::Unknown(_)), "{motion:?}");
        }
        let damaged = "Timer List Version: v0.10\n #0: <0>, advance_sched, S:01\n";
        let motion = motion_of(&one, "a", damaged);
        assert!(matches!(motion, GateMotion::Unknown(_)), "{motion:?}");
    }

    #[test]
    fn a_schedule_that_waits_counts_too() {
        let text = include_str!("../tests/kernel_6_12/taprio_waiting.json");
        let text = text.replacen(r#"{"kind""#, r#"{"dev":"eth0","kind""#, 1);
        let gates = software_gates(&text).unwrap();
        assert_eq!(
            motion_of(&gates, "eth0", &list(&[3_500_000])),
            GateMotion::Moving
        );
        assert_eq!(
            motion_of(&gates, "eth0", &list(&[3_400_000])),
            GateMotion::Frozen
        );
    }
}
