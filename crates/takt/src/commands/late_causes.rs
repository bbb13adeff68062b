//! Causes of late wake-ups for people and programs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use miette::Report;
use serde_json::{Value, json};
use takt_figures::{Column, Table};
use takt_wakeup::{
    Cause, Explanation, LateKind, LateReport, Recorder, RecorderError, WatchStart, late_queue,
};

use crate::{explain, output};

/// Number of late wake-ups that are shown to people one by one: the worst.
const SHOWN: usize = 8;

/// Number of shares that are shown of each.
const SHARES: usize = 4;

/// Starts the recorder, before there are threads with priorities.
pub(super) fn start() -> miette::Result<Arc<Recorder>> {
    let recorder = Recorder::start().map_err(|error| refused(&error))?;
    Ok(Arc::new(recorder))
}

/// Returns the function that makes the watch of a thread whose latencies above a limit are late.
pub(super) fn watch(recorder: &Arc<Recorder>, above: Duration) -> WatchStart {
    let recorder = Arc::clone(recorder);
    Box::new(move |thread| {
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
}
