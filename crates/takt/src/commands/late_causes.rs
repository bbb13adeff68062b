//! Causes of late wake-ups for people and programs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use miette::Report;
use serde_json::{Value, json};
use takt_analysis::{LATE_WAKE_UPS, LATE_WAKE_UPS_TOTAL, LateWakeUp};
use takt_figures::{Column, Table};
use takt_wakeup::{
    Cause, Explanation, LateKind, LateReport, Recorder, RecorderError, WatchStart, WatchedCalls,
    late_queue,
};

use crate::{explain, output};

/// Number of late wake-ups that are shown to people one by one: the worst.
const SHOWN: usize = 8;

/// Number of shares that are shown of each.
const SHARES: usize = 4;

/// Longest line of late wake-ups in the description of a trace, in bytes. A description has 64 KiB at most.
const LONGEST_LINE: usize = 40 << 10;

/// Function that returns the core of a thread, by its id.
type CoreOf<'a> = &'a dyn Fn(u32) -> Option<usize>;

/// Starts the recorder, before there are threads with priorities.
pub(super) fn start(calls: WatchedCalls) -> miette::Result<Arc<Recorder>> {
    let recorder = Recorder::start(calls).map_err(|error| refused(&error))?;
    Ok(Arc::new(recorder))
}

/// Returns the source of watches of threads whose latencies above a limit are late. The recorder remembers a failure.
pub(super) fn watch(recorder: &Arc<Recorder>, above: Duration) -> WatchStart {
    let recorder = Arc::clone(recorder);
    let limit = u64::try_from(above.as_nanos()).unwrap_or(u64::MAX);
    WatchStart::new(move |thread| {
        let (watch, receiver) = late_queue(thread, limit);
        recorder.watch(vec![receiver]).ok().map(|()| watch)
    })
}

/// Explains why nothing can be recorded.
fn refused(error: &RecorderError) -> Report {
    explain::with_help(
        error.with_cause(),
        "Without --why, the command measures without causes. docs/wakeup.md says what causes need.",
    )
}

/// Returns an error if a thread is not watched.
pub(super) fn check(recorder: &Recorder) -> miette::Result<()> {
    recorder.failure().map_or(Ok(()), |failure| {
        Err(explain::with_help(
            failure,
            "Without --why, the command measures without causes. docs/wakeup.md says what causes need.",
        ))
    })
}

/// Prints the causes. `core` returns the core of a thread.
pub(super) fn print(report: &LateReport, is_json: bool, core: CoreOf<'_>) {
    match is_json {
        true => output::lines(objects(report, core)),
        false => output::lines(lines(report, core)),
    }
}

/// Returns an error if causes are missing because the recorder failed. It comes after all results.
pub(super) fn outcome(report: &LateReport) -> miette::Result<()> {
    report.failures.first().map_or(Ok(()), |failure| {
        Err(explain::with_help(
            format!("causes of late wake-ups are missing: {failure}"),
            "The latencies are complete. docs/wakeup.md says what causes need.",
        ))
    })
}

/// Returns the objects for programs: one for each late wake-up, and their sum.
fn objects<'a>(report: &'a LateReport, core: CoreOf<'a>) -> impl Iterator<Item = Value> + 'a {
    let each = report.explanations.iter().map(move |it| object(it, core));
    let failures = report.failures.iter().map(ToString::to_string);
    let steal = report.steal.iter();
    let steal = steal.map(|it| json!({"core": it.processor, "ns": it.nanos}));
    let sum = json!({
        "lateWakeUps": count(report, LateKind::WakeUp),
        "overruns": count(report, LateKind::Overrun),
        "leftOut": report.left_out,
        "steal": steal.collect::<Vec<_>>(),
        "failures": failures.collect::<Vec<_>>(),
    });
    each.chain([sum])
}

fn count(report: &LateReport, kind: LateKind) -> usize {
    let all = report.explanations.iter();
    all.filter(|it| it.interval.kind == kind).count()
}

/// Returns a late wake-up as an object for programs.
fn object(it: &Explanation, core: CoreOf<'_>) -> Value {
    let shares = it.shares.iter().map(|share| {
        let mut object = json!({"cause": share.cause.kind(), "ns": share.nanos});
        let name = share.cause.name().map(|name| json!({"name": name}));
        object = output::joined(object, name.unwrap_or_default());
        let state = share.cause.idle_state();
        let state = state.map(|state| json!({"idleState": state}));
        object = output::joined(object, state.unwrap_or_default());
        let Some(thread) = share.cause.thread() else {
            return object;
        };
        output::joined(
            object,
            json!({"thread": thread.id, "priority": thread.priority.to_string()}),
        )
    });
    json!({
        "late": it.interval.kind.name(),
        "core": core(it.interval.thread),
        "cycle": it.interval.cycle,
        "beginMonotonicNs": it.interval.begin,
        "lateNs": it.nanos(),
        "causes": shares.collect::<Vec<_>>(),
    })
}

/// Returns the tables for people: sums of the causes, and the worst late wake-ups.
fn lines(report: &LateReport, core: CoreOf<'_>) -> Vec<String> {
    let all = &report.explanations;
    let mut lines = vec![String::new()];
    let counts = [LateKind::WakeUp, LateKind::Overrun].map(|kind| count(report, kind));
    let [late, overruns] = counts;
    let is_all = report.failures.is_empty() && report.left_out == 0;
    lines.push(match (all.is_empty(), is_all) {
        (true, true) => "no late wake-up".to_owned(),
        (true, false) => "no causes of late wake-ups".to_owned(),
        (false, _) => format!("{late} late wake-ups, {overruns} overruns"),
    });
    if report.left_out > 0 {
        let further = report.left_out;
        lines.push(format!(
            "{further} further late wake-ups have no causes: there were too many"
        ));
    }
    let mut steal: Vec<_> = report.steal.iter().collect();
    steal.sort_by_key(|it| std::cmp::Reverse(it.nanos));
    lines.extend(steal.iter().take(SHOWN).map(|it| {
        let (core, time) = (it.processor, Duration::from_nanos(it.nanos));
        format!("a hypervisor took core {core} away for {time:?} in all (steal time)")
    }));
    if steal.len() > SHOWN {
        let further = steal.len() - SHOWN;
        lines.push(format!("{further} further cores have steal time"));
    }
    if all.is_empty() {
        return lines;
    }
    lines.extend(sums(all).lines(takt_figures::width()));
    let objects = all.iter().map(|it| object(it, core));
    let objects = objects.filter_map(|it| LateWakeUp::of_object(&it));
    let mut worst: Vec<LateWakeUp> = objects.collect();
    LateWakeUp::sort_worst(&mut worst);
    lines.push(String::new());
    lines.push("the worst".to_owned());
    lines.extend(table(&worst).lines(takt_figures::width()));
    lines
}

/// Returns the table of causes: how often each is the longest one, and the sum of its times.
fn sums(all: &[Explanation]) -> Table {
    let mut sums: BTreeMap<Cause, (u64, u64, u64)> = BTreeMap::new();
    for it in all {
        for (place, share) in it.shares.iter().enumerate() {
            let sum = sums.entry(share.cause).or_default();
            sum.0 += u64::from(place == 0);
            sum.1 += share.nanos;
            sum.2 = sum.2.max(share.nanos);
        }
    }
    let mut sums: Vec<(Cause, (u64, u64, u64))> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (_, sum, _))| std::cmp::Reverse(*sum));
    let columns = [
        Column::text("cause"),
        Column::number("longest in"),
        Column::number("sum").unit("\u{b5}s"),
        Column::number("max").unit("\u{b5}s"),
    ];
    let mut table = Table::new(columns);
    for (cause, (count, sum, longest)) in sums.into_iter().take(SHOWN) {
        table.row([
            cause.to_string(),
            count.to_string(),
            micros(sum),
            micros(longest),
        ]);
    }
    table
}

fn micros(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1000.0)
}

/// Returns the table of the first late wake-ups. A column for cores is there if one of them has a core.
pub(super) fn table(worst: &[LateWakeUp]) -> Table {
    let shown = worst.get(..SHOWN).unwrap_or(worst);
    let has_cores = shown.iter().any(|it| it.core.is_some());
    let columns = [
        Column::number("cycle"),
        Column::number("late").unit("\u{b5}s"),
        Column::text("causes, \u{b5}s"),
    ];
    let core = has_cores.then(|| Column::number("core"));
    let mut table = Table::new(core.into_iter().chain(columns));
    for it in shown {
        let core = it.core.map_or_else(String::new, |core| core.to_string());
        let cells = [
            it.cycle.to_string(),
            micros(it.nanos),
            it.causes_text(SHARES),
        ];
        table.row(has_cores.then_some(core).into_iter().chain(cells));
    }
    table
}

/// Returns the lines of a trace's description that have the late wake-ups: an array of objects, the worst as far as there is room, and
/// the number of all. Their beginnings are also in nanoseconds of CLOCK_TAI, as the records of the trace are. None without late wake-ups.
pub(super) fn trace_lines(report: &LateReport, core: CoreOf<'_>) -> Vec<(&'static str, String)> {
    let mut worst: Vec<&Explanation> = report.explanations.iter().collect();
    worst.sort_by_key(|it| std::cmp::Reverse(it.nanos()));
    let (mut texts, mut length) = (Vec::new(), 0);
    for it in &worst {
        let begin = report.tai.tai_nanos(it.interval.begin);
        let text = output::joined(object(it, core), json!({"beginTaiNs": begin})).to_string();
        length += text.len() + 1;
        if length > LONGEST_LINE {
            break;
        }
        texts.push(text);
    }
    let total = report.left_out + u64::try_from(worst.len()).unwrap_or(u64::MAX);
    if total == 0 {
        return Vec::new();
    }
    vec![
        (LATE_WAKE_UPS, format!("[{}]", texts.join(","))),
        (LATE_WAKE_UPS_TOTAL, total.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_wakeup::trace::event::{KernelName, KernelPriority, KernelThread};
    use takt_wakeup::{CauseShare, LateInterval, RecordingFailure, StealTime, WhileLate};

    use super::*;

    fn explanation() -> Explanation {
        let thread = KernelThread {
            id: 7,
            name: KernelName::new(b"\x1b[31mevil\n"),
            priority: KernelPriority(9),
        };
        let shares = [
            (Cause::Thread(thread), 250_000),
            (Cause::Softirq(3), 40_100),
            (Cause::Return, 2000),
            (Cause::TimerLate(WhileLate::Idle(Some(2))), 1000),
            (Cause::Unknown, 500),
        ];
        let shares = shares.map(|(cause, nanos)| CauseShare { cause, nanos });
        Explanation {
            interval: LateInterval {
                thread: 3,
                cycle: 12,
                kind: LateKind::WakeUp,
                begin: 1000,
                end: 294_600,
            },
            shares: shares.to_vec(),
        }
    }

    fn core(_: u32) -> Option<usize> {
        Some(1)
    }

    #[test]
    fn each_cause_has_its_share_and_an_escaped_name() {
        let object = object(&explanation(), &core);
        let causes = object["causes"].as_array().unwrap();
        let sum: u64 = causes.iter().map(|it| it["ns"].as_u64().unwrap()).sum();
        assert_eq!(sum, object["lateNs"].as_u64().unwrap());
        assert_eq!(causes[0]["name"], "\\x1b[31mevil\\x0a");
        assert_eq!(causes[0]["priority"], "priority 90");
        assert_eq!(causes[1]["name"], "NET_RX");
        assert_eq!(causes[3]["idleState"], 2);
        let report = LateReport {
            explanations: vec![explanation()],
            ..LateReport::default()
        };
        let text = lines(&report, &core).join("\n");
        assert!(!text.contains('\x1b'), "{text}");
        for part in [
            "1 late wake-ups, 0 overruns",
            "softirq NET_RX 40.1",
            "others 0.5",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("further"), "{text}");
        assert!(outcome(&report).is_ok());
    }

    /// A recorder that fails is no measurement without late wake-ups.
    #[test]
    fn missing_causes_are_told() {
        let report = LateReport {
            left_out: 17,
            failures: vec![RecordingFailure::Panicked],
            ..LateReport::default()
        };
        let text = lines(&report, &core).join("\n");
        assert!(!text.contains("no late wake-up"), "{text}");
        assert!(text.contains("17 further late wake-ups"), "{text}");
        let objects: Vec<Value> = objects(&report, &core).collect();
        assert_eq!(objects.len(), 1);
        assert_eq!(objects[0]["leftOut"], 17);
        let failure = objects[0]["failures"][0].as_str().unwrap();
        assert!(failure.contains("panicked"), "{failure}");
        let error = outcome(&report).unwrap_err().to_string();
        assert!(error.contains("panicked"), "{error}");
        let none = LateReport::default();
        assert_eq!(lines(&none, &core)[1], "no late wake-up");
        let crowded = LateReport {
            left_out: 1,
            ..LateReport::default()
        };
        assert_ne!(lines(&crowded, &core)[1], "no late wake-up");
        assert!(outcome(&none).is_ok());
    }

    #[test]
    fn the_steal_time_of_each_core_is_told() {
        let report = LateReport {
            steal: vec![StealTime {
                processor: 3,
                nanos: 30_000_000,
            }],
            ..LateReport::default()
        };
        let text = lines(&report, &core).join("\n");
        let line = "a hypervisor took core 3 away for 30ms in all (steal time)";
        assert!(text.contains(line), "{text}");
        let sum = objects(&report, &core).last().unwrap();
        assert_eq!(sum["steal"][0], json!({"core": 3, "ns": 30_000_000}));
    }

    #[test]
    fn a_trace_has_the_worst_late_wake_ups() {
        let mut late = vec![explanation(); 1000];
        late[999].interval.end += 1;
        late[999].shares[4].nanos += 1;
        let report = LateReport {
            explanations: late,
            left_out: 5,
            ..LateReport::default()
        };
        let found = trace_lines(&report, &core);
        let [(_, text), (_, total)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(text.len() < 64 << 10 && !text.contains('\n'), "{text}");
        assert_eq!(total, "1005");
        let found = found.iter();
        let description: Vec<(String, String)> = found
            .map(|(name, text)| ((*name).to_owned(), text.clone()))
            .collect();
        let found = LateWakeUp::of_description(&description);
        assert!(found.len() > 50, "{}", found.len());
        assert_eq!(found[0].nanos, 293_601);
        let lines = table(&found).lines(None).join("\n");
        assert!(lines.contains("softirq NET_RX 40.1"), "{lines}");
        assert!(lines.contains("(priority 90)"), "{lines}");
        assert!(!lines.contains('\x1b'), "{lines}");
        assert!(trace_lines(&LateReport::default(), &core).is_empty());
    }
}
