//! Limits of the kernel and of `tc`: numbers that Linux refuses, or takes for others.

use takt_scenario::{Duration, FqCodelParameters, Rate, Taprio};

use super::error::{KernelLimit, LimitedPart, PlanError};
use super::input::PortInput;
use super::options::PlanOptions;
use crate::qdisc::{GateMode, GateSchedule, LaunchNumbers, Qdisc, QdiscKind, ShaperNumbers};

/// Least frame without check sequence, in bytes (`ETH_ZLEN`).
const LEAST_FRAME: u64 = 60;
/// Greatest signed number of 32 bits: `cycle_time` and `delta` in ns, credits in bytes, slopes in kbit/s.
const SIGNED: u64 = (1 << 31) - 1;
/// Greatest number of 32 bits: intervals and `txtime-delay` in ns, limits of queues.
const UNSIGNED: u64 = (1 << 32) - 1;
/// Greatest number of classes (`TC_QOPT_MAX_QUEUE`).
const CLASSES: usize = 16;
/// Greatest number of queues of `fq_codel`.
const FLOWS: u64 = 65_536;
/// Least and greatest quantum of `fq_codel` in bytes.
const QUANTUM: (u64, u64) = (256, 1 << 20);

/// Checks a tree of disciplines for an interface of this speed.
///
/// # Errors
/// The first number that Linux does not take.
pub(crate) fn check(
    tree: &[Qdisc],
    input: &PortInput,
    speed: Rate,
    options: &PlanOptions,
) -> Result<(), PlanError> {
    let count = input.discipline.classes.len();
    if count > CLASSES {
        return Err(refused(LimitedPart::Discipline, "classes", count, CLASSES)
            .of("sch_mqprio.c, mqprio_parse_opt")
            .fix("Put the priorities into fewer classes."));
    }
    for qdisc in tree {
        let class = usize::from(qdisc.handle.0 & 0xf).saturating_sub(1);
        let class = LimitedPart::Class(class.min(count.saturating_sub(1)));
        match &qdisc.kind {
            QdiscKind::Taprio(schedule) => {
                if let Some(taprio) = input.discipline.scheduler.gates() {
                    gates(taprio, schedule, speed, options)?;
                }
            }
            QdiscKind::Cbs(numbers) => shaper(numbers, class)?,
            QdiscKind::Etf(numbers) => launches(numbers, class)?,
            QdiscKind::Pfifo(limit) | QdiscKind::Bfifo(limit) => fifo(*limit, class)?,
            QdiscKind::FqCodel(parameters) => fq_codel(parameters)?,
            QdiscKind::Mqprio(_) => {}
        }
    }
    Ok(())
}

/// A limit that is exceeded, before its source and its fix are known.
struct Exceeded(KernelLimit);

fn refused(
    part: LimitedPart,
    field: &'static str,
    given: impl ToString,
    limit: impl std::fmt::Display,
) -> Exceeded {
    Exceeded(KernelLimit {
        part,
        field,
        given: given.to_string(),
        limit: format!("at most {limit}"),
        place: "",
        fix: String::new(),
    })
}

impl Exceeded {
    /// Replaces the words of the limit.
    fn limit(mut self, limit: String) -> Self {
        self.0.limit = limit;
        self
    }

    /// Names the place in the kernel, or `tc`.
    fn of(mut self, place: &'static str) -> Self {
        self.0.place = place;
        self
    }

    fn fix(mut self, fix: impl Into<String>) -> PlanError {
        self.0.fix = fix.into();
        PlanError::Limit(Box::new(self.0))
    }
}

/// Returns the least interval of an entry: the time of 60 B, as the kernel rounds it (`taprio_set_picos_per_byte`).
fn least_interval(speed: Rate) -> Duration {
    let megabits = (speed.0 / 1_000_000).max(1);
    let picos_per_byte = (8_000_000 / megabits).max(1);
    // The kernel compares whole nanoseconds, rounded down.
    Duration(LEAST_FRAME * picos_per_byte / 1000 * 1000)
}

fn gates(
    taprio: &Taprio,
    schedule: &GateSchedule,
    speed: Rate,
    options: &PlanOptions,
) -> Result<(), PlanError> {
    let nanos = |nanos: u64| Duration(nanos.saturating_mul(1000));
    let least = least_interval(speed);
    let cycle: u64 = schedule.entries.iter().map(|(_, interval)| interval).sum();
    if cycle > SIGNED {
        let part = LimitedPart::Discipline;
        return Err(refused(part, "cycle_time", nanos(cycle), nanos(SIGNED))
            .of("sch_taprio.c, parse_taprio_schedule")
            .fix("Make the cycle shorter."));
    }
    for (number, entry) in taprio.entries.iter().enumerate() {
        if entry.interval < least {
            return Err(
                refused(LimitedPart::Entry(number), "interval", entry.interval, "")
                    .limit(format!("at least {least}, the time of 60 B at {speed}"))
                    .of("sch_taprio.c, fill_sched_entry")
                    .fix("Make the entry longer, or join it with its neighbour."),
            );
        }
    }
    // The entries of the scenario are long enough here, so a short one comes from a guard band.
    if let Some((_, part)) = schedule.entries.iter().find(|(_, it)| nanos(*it) < least) {
        return Err(
            refused(LimitedPart::Discipline, "guard_band", taprio.guard_band, "")
                .limit(format!(
                    "a guard band that leaves entries of at least {least}, the time of 60 B at {speed}, but one has {}",
                    nanos(*part)
                ))
                .of("sch_taprio.c, fill_sched_entry")
                .fix("Use another guard band or another interval: taprio closes the gate by an entry of its own."),
        );
    }
    if let Some(most) = options.gate_list_length
        && schedule.entries.len() > usize::from(most)
    {
        let count = schedule.entries.len();
        return Err(refused(LimitedPart::Discipline, "entries", count, most)
            .limit(format!("at most {most} entries of this hardware"))
            .of("gate list length")
            .fix("Use fewer entries: join neighbours with the same gates, or leave out the guard band, which needs entries of its own."));
    }
    if let GateMode::TxtimeAssist(delay) = schedule.mode
        && delay > UNSIGNED
    {
        let part = LimitedPart::Discipline;
        return Err(
            refused(part, "txtime_assist", nanos(delay), nanos(UNSIGNED))
                .of("sch_taprio.c, taprio_policy")
                .fix("Use a shorter delay."),
        );
    }
    Ok(())
}

fn shaper(numbers: &ShaperNumbers, class: LimitedPart) -> Result<(), PlanError> {
    let values = [
        ("idle_slope", numbers.idle_slope, "kbit/s"),
        ("send_slope", numbers.send_slope, "kbit/s"),
        ("hi_credit", numbers.hi_credit, "B"),
        ("lo_credit", numbers.lo_credit, "B"),
    ];
    for (field, value, unit) in values {
        if i32::try_from(value).is_err() {
            let given = format!("{value} {unit}");
            return Err(
                refused(class, field, given, format_args!("{SIGNED} {unit}"))
                    .of("sch_cbs.c, tc_cbs_qopt: 32 bits")
                    .fix("Use a smaller number."),
            );
        }
    }
    Ok(())
}

fn launches(numbers: &LaunchNumbers, class: LimitedPart) -> Result<(), PlanError> {
    if numbers.delta > SIGNED {
        let (given, most) = (
            Duration(numbers.delta.saturating_mul(1000)),
            Duration(SIGNED * 1000),
        );
        return Err(refused(class, "delta", given, most)
            .of("sch_etf.c, validate_input_params")
            .fix("Use a shorter delta."));
    }
    Ok(())
}

fn fifo(limit: u64, class: LimitedPart) -> Result<(), PlanError> {
    if limit > UNSIGNED {
        return Err(refused(class, "limit", limit, UNSIGNED)
            .of("sch_fifo.c, tc_fifo_qopt: 32 bits")
            .fix("Use a smaller limit."));
    }
    Ok(())
}

fn fq_codel(parameters: &FqCodelParameters) -> Result<(), PlanError> {
    let part = LimitedPart::Discipline;
    let source = "sch_fq_codel.c, fq_codel_change";
    let (least, most) = QUANTUM;
    if !(least..=most).contains(&parameters.quantum.0) {
        let given = format!("{} B", parameters.quantum.0);
        return Err(refused(part, "quantum", given, "")
            .limit(format!("{least} B to {most} B"))
            .of(source)
            .fix("By default, the quantum is 1514 B."));
    }
    if !(1..=FLOWS).contains(&parameters.flows) {
        return Err(refused(part, "flows", parameters.flows, "")
            .limit(format!("1 to {FLOWS}"))
            .of(source)
            .fix("By default, there are 1024 queues."));
    }
    let numbers = [
        ("limit", parameters.limit),
        ("memory_limit", parameters.memory_limit.0),
    ];
    for (field, value) in numbers {
        if value > UNSIGNED {
            return Err(refused(part, field, value, UNSIGNED)
                .of(source)
                .fix("Use a smaller limit."));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use takt_scenario::{PortIndex, Scenario};

    use super::super::plan_port;
    use super::*;

    /// Returns the error of a plan for a port of a link of 1 Gbit/s with this discipline.
    fn error(discipline: &str, options: &PlanOptions) -> Option<String> {
        let text = format!(
            "version = 1\ndiscipline = \"d\"\n[topology]\nkind = \"p2p\"\nrate = \"1 Gbit/s\"\n[disciplines.d]\n{discipline}\n"
        );
        let scenario = Scenario::parse(&text, "limits.toml").unwrap();
        let input = PortInput::of_scenario(&scenario, PortIndex(0)).unwrap();
        plan_port(&input, options)
            .err()
            .map(|error| error.to_string())
    }

    fn gates(entries: &str, more: &str) -> String {
        format!(
            "scheduler = \"taprio\"\nclasses = [{{ name = \"A\", priorities = [3] }}, {{ name = \"B\" }}]\nentries = [{entries}]\n{more}"
        )
    }

    fn entry(class: &str, interval: &str) -> String {
        format!("{{ gates = [\"{class}\"], interval = \"{interval}\" }}")
    }

    #[test]
    fn entries_last_as_long_as_the_least_frame() {
        let of = |first: &str| gates(&[entry("A", first), entry("B", "100 us")].join(", "), "");
        let options = PlanOptions::default();
        assert_eq!(error(&of("480 ns"), &options), None);
        assert_eq!(
            error(&of("479 ns"), &options).unwrap(),
            "entry 1: `interval` is 479 ns, but Linux takes at least 480 ns, the time of 60 B at 1 Gbit/s (sch_taprio.c, fill_sched_entry)"
        );
        // The interface is slower than the link of the scenario.
        let slow = PlanOptions {
            speed: Some(Rate(100_000_000)),
            ..PlanOptions::default()
        };
        assert!(
            error(&of("2 us"), &slow)
                .unwrap()
                .contains("at least 4.8 us")
        );
        let guarded = gates(
            &[entry("A", "10 us"), entry("B", "100 us")].join(", "),
            "guard_band = \"100 ns\"",
        );
        assert!(
            error(&guarded, &options)
                .unwrap()
                .starts_with("`guard_band` is 100 ns")
        );
    }

    #[test]
    fn cycles_and_lists_have_a_greatest_length() {
        let long = gates(&[entry("A", "1 s"), entry("B", "1.2 s")].join(", "), "");
        let options = PlanOptions::default();
        assert!(
            error(&long, &options)
                .unwrap()
                .contains("`cycle_time` is 2.2 s")
        );
        let short = gates(&[entry("A", "1 ms"), entry("B", "1 ms")].join(", "), "");
        for (length, is_refused) in [(2, false), (1, true)] {
            let options = PlanOptions {
                gate_list_length: Some(length),
                ..PlanOptions::default()
            };
            assert_eq!(error(&short, &options).is_some(), is_refused);
        }
    }

    #[test]
    fn numbers_have_32_bits() {
        let options = PlanOptions::default();
        let class = |class: &str| {
            let text = format!(
                "scheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3], {class} }}, {{ name = \"B\" }}]"
            );
            error(&text, &options)
        };
        let etf = class("queue = \"etf\", delta = \"3 s\"").unwrap();
        assert!(etf.starts_with("class 1: `delta` is 3 s"), "{etf}");
        let shaped = |credit: &str| {
            class(&format!(
                "queue = \"cbs\", idle_slope = \"1 Mbit/s\", hi_credit = \"{credit}\""
            ))
        };
        assert_eq!(shaped("1000 B"), None);
        assert!(shaped("3000000000 B").unwrap().contains("`hi_credit`"));
        let fq = |field: &str| error(&format!("scheduler = \"fq_codel\"\n{field}"), &options);
        assert_eq!(fq("quantum = \"300 B\""), None);
        assert!(
            fq("quantum = \"200 B\"")
                .unwrap()
                .contains("256 B to 1048576 B")
        );
        assert!(fq("flows = 70000").unwrap().contains("1 to 65536"));
    }
}
