//! Causes of late wake-ups for people and programs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use miette::Report;
use serde_json::{Value, json};
use takt_figures::{Column, Table};
use takt_rt::clock::Clock;
use takt_wakeup::{
    Cause, Explanation, LateKind, LateReport, Recorder, RecorderError, WatchStart, WatchedCalls,
    late_queue,
};

use crate::{explain, output};

/// Number of late wake-ups that are shown to people one by one: the worst.
const SHOWN: usize = 8;

/// Number of shares that are shown of each.
const SHARES: usize = 4;

/// Name of the line of a trace's description that has the late wake-ups.
const TRACE_LINE: &str = "late_wake_ups";

/// Longest such line in bytes. A description has 64 KiB at most.
const LONGEST_LINE: usize = 40 << 10;

/// Starts the recorder, before there are threads with priorities.
pub(super) fn start(calls: WatchedCalls) -> miette::Result<Arc<Recorder>> {
    let recorder = Recorder::start(calls).map_err(|error| refused(&error))?;
    Ok(Arc::new(recorder))
}

/// Returns the source of watches of threads whose latencies above a limit are late.
pub(super) fn watch(recorder: &Arc<Recorder>, above: Duration) -> WatchStart {
    let recorder = Arc::clone(recorder);
    WatchStart::new(move |thread| {
        let (watch, receiver) = late_queue(thread, nanos(above));
        match recorder.watch(vec![receiver]) {
            Ok(()) => Some(watch),
            Err(error) => {
                tracing::warn!("late cycles have no causes: {error}");
                None
            }
        }
    })
}

/// Returns a limit in nanoseconds.
pub(super) fn nanos(limit: Duration) -> u64 {
    u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
}

/// Explains why nothing can be recorded.
pub(super) fn refused(error: &RecorderError) -> Report {
    let source = std::error::Error::source(error);
    let text = match (error, source) {
        (RecorderError::System { .. }, Some(cause)) => format!("{error}: {cause}"),
        _ => error.to_string(),
    };
    explain::with_help(
        text,
        "Without --why, the command measures without causes. docs/wakeup.md says what causes need.",
    )
}

/// Prints the causes. `core` returns the core of a thread.
pub(super) fn print(report: &LateReport, is_json: bool, core: &dyn Fn(u32) -> Option<usize>) {
    if is_json {
        let objects = report.explanations.iter().map(|it| object(it, core));
        output::lines(objects);
    } else {
        output::lines(lines(report, core));
    }
    if report.left_out > 0 {
        tracing::warn!(
            "{} further late wake-ups are not explained: there were too many at once",
            report.left_out
        );
    }
}

/// Returns a late wake-up as an object for programs.
pub(super) fn object(it: &Explanation, core: &dyn Fn(u32) -> Option<usize>) -> Value {
    let shares = it.shares.iter().map(|share| {
        let mut object = json!({"cause": share.cause.kind(), "ns": share.nanos});
        let name = share.cause.name().map(|name| json!({"name": name}));
        object = output::joined(object, name.unwrap_or_default());
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
fn lines(report: &LateReport, core: &dyn Fn(u32) -> Option<usize>) -> Vec<String> {
    let all = &report.explanations;
    if all.is_empty() {
        return vec![String::new(), "no late wake-up".to_owned()];
    }
    let of = |kind| all.iter().filter(|it| it.interval.kind == kind).count();
    let mut lines = vec![
        String::new(),
        format!(
            "{} late wake-ups, {} overruns",
            of(LateKind::WakeUp),
            of(LateKind::Overrun)
        ),
    ];
    lines.extend(sums(all).lines(takt_figures::width()));
    let mut worst: Vec<&Explanation> = all.iter().collect();
    worst.sort_by_key(|it| std::cmp::Reverse(it.nanos()));
    let columns = [
        Column::number("core"),
        Column::number("cycle"),
        Column::number("late").unit("\u{b5}s"),
        Column::text("causes, µs"),
    ];
    let mut table = Table::new(columns);
    for it in worst.into_iter().take(SHOWN) {
        let core = core(it.interval.thread).map_or_else(String::new, |core| core.to_string());
        let cycle = it.interval.cycle.to_string();
        table.row([core, cycle, micros(it.nanos()), shares(it)]);
    }
    lines.push(String::new());
    lines.push("the worst".to_owned());
    lines.extend(table.lines(takt_figures::width()));
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

fn shares(it: &Explanation) -> String {
    let shown = it.shares.iter().take(SHARES);
    let shown: Vec<String> = shown
        .map(|share| format!("{} {}", share.cause, micros(share.nanos)))
        .collect();
    let rest: u64 = it.shares.iter().skip(SHARES).map(|it| it.nanos).sum();
    let rest = (rest > 0).then(|| format!(", others {}", micros(rest)));
    format!("{}{}", shown.join(", "), rest.unwrap_or_default())
}

fn micros(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1000.0)
}

/// Returns the line of a trace's description that has the late wake-ups: an array of objects, the worst as far as there is room. Their
/// begin is also in nanoseconds of CLOCK_TAI, as the records of the trace are. `None` without late wake-ups.
pub(super) fn trace_line(
    report: &LateReport,
    core: &dyn Fn(u32) -> Option<usize>,
) -> Option<(&'static str, String)> {
    let to_tai = Clock::Tai.nanos().saturating_sub(Clock::Monotonic.nanos());
    let mut worst: Vec<&Explanation> = report.explanations.iter().collect();
    worst.sort_by_key(|it| std::cmp::Reverse(it.nanos()));
    let (mut texts, mut length) = (Vec::new(), 0);
    for it in worst {
        let begin = it.interval.begin.cast_signed().saturating_add(to_tai);
        let text = output::joined(object(it, core), json!({"beginTaiNs": begin})).to_string();
        length += text.len() + 1;
        if length > LONGEST_LINE {
            break;
        }
        texts.push(text);
    }
    (!texts.is_empty()).then(|| (TRACE_LINE, format!("[{}]", texts.join(","))))
}

/// Returns the late wake-ups in the description of a trace. A damaged line has none.
pub(super) fn of_description(description: &[(String, String)]) -> Vec<Value> {
    let mut lines = description.iter();
    let line = lines.find(|(name, _)| name == TRACE_LINE);
    let found = line.and_then(|(_, text)| serde_json::from_str(text).ok());
    found.unwrap_or_default()
}

/// Returns the table of late wake-ups of a trace, the worst ones.
pub(super) fn table_of_trace(late: &[Value]) -> Table {
    let number = |it: &Value, key: &str| it[key].as_u64();
    let mut worst: Vec<&Value> = late.iter().collect();
    worst.sort_by_key(|it| std::cmp::Reverse(number(it, "lateNs")));
    let columns = [
        Column::number("cycle"),
        Column::number("late").unit("\u{b5}s"),
        Column::text("causes, \u{b5}s"),
    ];
    let mut table = Table::new(columns);
    for it in worst.into_iter().take(SHOWN) {
        let causes = it["causes"].as_array().into_iter().flatten();
        let causes = causes.take(SHARES).map(|share| {
            let kind = words(share["cause"].as_str().unwrap_or_default());
            let name = share["name"].as_str().map(|name| format!(" {name}"));
            let nanos = number(share, "ns").unwrap_or(0);
            format!("{kind}{} {}", name.unwrap_or_default(), micros(nanos))
        });
        let causes: Vec<String> = causes.collect();
        let cycle = number(it, "cycle").map(|cycle| cycle.to_string());
        let late = micros(number(it, "lateNs").unwrap_or(0));
        table.row([cycle.unwrap_or_default(), late, causes.join(", ")]);
    }
    table
}

/// Returns the words of a name in camelCase.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_wakeup::trace::event::{KernelName, KernelPriority, KernelThread};
    use takt_wakeup::{CauseShare, LateInterval};

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
            (Cause::OwnCode, 1000),
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

    #[test]
    fn each_cause_has_its_share_and_an_escaped_name() {
        let core = |_| Some(1);
        let object = object(&explanation(), &core);
        let causes = object["causes"].as_array().unwrap();
        let sum: u64 = causes.iter().map(|it| it["ns"].as_u64().unwrap()).sum();
        assert_eq!(sum, object["lateNs"].as_u64().unwrap());
        assert_eq!(causes[0]["name"], "\\x1b[31mevil\\x0a");
        assert_eq!(causes[0]["priority"], "priority 90");
        assert_eq!(causes[1]["name"], "NET_RX");
        let report = LateReport {
            explanations: vec![explanation()],
            left_out: 0,
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
    }

    #[test]
    fn a_trace_has_the_worst_late_wake_ups() {
        let core = |_| Some(1);
        let mut late = vec![explanation(); 1000];
        late[999].interval.end += 1;
        late[999].shares[4].nanos += 1;
        let report = LateReport {
            explanations: late,
            left_out: 0,
        };
        let (name, text) = trace_line(&report, &core).unwrap();
        assert!(text.len() < 64 << 10 && !text.contains('\n'), "{text}");
        let description = [
            ("cycle_ns".to_owned(), "1".to_owned()),
            (name.to_owned(), text),
        ];
        let found = of_description(&description);
        assert!(found.len() > 50, "{}", found.len());
        assert_eq!(found[0]["lateNs"], 293_601);
        assert!(found[0]["beginTaiNs"].is_i64(), "{}", found[0]);
        let lines = table_of_trace(&found).lines(None).join("\n");
        assert!(lines.contains("softirq NET_RX 40.1"), "{lines}");
        assert!(!lines.contains('\x1b'), "{lines}");
        let damaged = [(TRACE_LINE.to_owned(), "[{".to_owned())];
        assert!(of_description(&damaged).is_empty());
        assert_eq!(words("timerLate"), "timer late");
    }
}
