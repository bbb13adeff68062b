//! Tables of the comparison.

use takt_report::{Column, Table};

use crate::environment::{LinkRow, RelayCounts};
use crate::goals::Goal;
use crate::row::{Leftovers, MiddlewareRow, Subject};

/// Returns one decimal, or an empty cell.
fn one(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.1}"))
}

/// Returns the round trips of all cases, the fastest peer first.
pub(crate) fn round_trips(rows: &[MiddlewareRow]) -> Table {
    let micros = |name| Column::number(name).unit("\u{b5}s");
    let mut table = Table::new([
        Column::text("kind"),
        Column::number("bytes"),
        Column::text("peer"),
        micros("median"),
        micros("low"),
        micros("high"),
        micros("p99"),
        Column::number("to TCP"),
        Column::number("per second"),
        Column::text("faults"),
    ]);
    for row in rows {
        let is_tcp =
            |it: &&MiddlewareRow| it.peer == "tcp" && (it.mode, it.bytes) == (row.mode, row.bytes);
        let tcp = rows.iter().find(is_tcp);
        let ratio = tcp.and_then(|tcp| Some(row.median_us?.value / tcp.median_us?.value));
        let [wrong, lost, late, duplicate] = row.faults;
        let faults = match row.is_right() {
            true if row.faults == [0; 4] => String::new(),
            true => format!("link: {lost} lost, {late} late"),
            false => format!("\u{2717} {wrong}/{lost}/{late}/{duplicate}"),
        };
        let loaded = if row.is_loaded { "*" } else { "" };
        table.row([
            row.mode.name().to_owned(),
            row.bytes.to_string(),
            format!("{}{loaded}", row.peer),
            one(row.median_us.map(|it| it.value)),
            one(row.median_us.map(|it| it.low)),
            one(row.median_us.map(|it| it.high)),
            one(row.p99_us),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
            row.per_second
                .map_or(String::new(), |rate| format!("{rate:.0}")),
            faults,
        ]);
    }
    table
}

/// Returns the goals. A missed one has the difference of resources, which tells where the time goes.
pub(crate) fn goals(goals: &[Goal]) -> Table {
    let mut table = Table::new([
        Column::text("ratio of medians"),
        Column::text("kind"),
        Column::number("bytes"),
        Column::number("ratio"),
        Column::text("95 %"),
        Column::number("goal"),
        Column::text("result"),
        Column::text("cause"),
    ]);
    for goal in goals {
        let ratio = goal.ratio;
        table.row([
            goal.peers.join(" / "),
            goal.mode.to_owned(),
            goal.bytes.to_string(),
            format!("{:.2}", ratio.value),
            format!("{:.2}..{:.2}", ratio.low, ratio.high),
            format!("{:.2}", goal.at_most),
            if goal.is_met {
                "met"
            } else {
                "\u{2717} missed"
            }
            .to_owned(),
            goal.cause.clone(),
        ]);
    }
    table
}

/// Returns the use of resources of both sides.
pub(crate) fn resources(subjects: &[Subject]) -> Table {
    let mut table = Table::new([
        Column::text("peer"),
        Column::text("side"),
        Column::number("CPU/request").unit("\u{b5}s"),
        Column::number("switches/request"),
        Column::number("memory").unit("MiB"),
        Column::number("threads"),
    ]);
    for subject in subjects.iter().filter(|it| it.requests > 0) {
        let requests = subject.requests as f64;
        for (side, usage) in ["client", "server"].iter().zip(subject.usage) {
            let (peer, side) = (subject.label.clone(), (*side).to_owned());
            // Each process has a thread: otherwise the other host did not tell its resources.
            if usage.threads == 0 {
                let none = String::new;
                table.row([
                    peer,
                    side,
                    "not readable".to_owned(),
                    none(),
                    none(),
                    none(),
                ]);
                continue;
            }
            table.row([
                peer,
                side,
                format!("{:.1}", usage.cpu_ms * 1000.0 / requests),
                format!("{:.2}", usage.switches as f64 / requests),
                format!("{:.1}", usage.memory as f64 / f64::from(1 << 20)),
                usage.threads.to_string(),
            ]);
        }
    }
    table
}

/// Returns what is left after client and server were killed.
pub(crate) fn leftovers(subjects: &[Subject]) -> Table {
    let mut table = Table::new([
        Column::text("peer"),
        Column::number("files"),
        Column::number("kept"),
        Column::number("ports"),
        Column::number("new answer").unit("ms"),
        Column::text("remark"),
    ]);
    for subject in subjects {
        let Some(left) = &subject.leftovers else {
            continue;
        };
        let remark = match &left.reason {
            Some(reason) => format!("\u{2717} {reason}"),
            None => some_names(left),
        };
        table.row([
            subject.label.clone(),
            left.files.to_string(),
            left.kept.to_string(),
            left.ports.to_string(),
            left.answer_ms
                .map_or(String::new(), |time| format!("{time:.0}")),
            remark,
        ]);
    }
    table
}

/// Returns one name of the files, shortened, and the number of further ones.
fn some_names(left: &Leftovers) -> String {
    let Some(first) = left.names.first() else {
        return String::new();
    };
    let name: String = first.chars().take(36).collect();
    let dots = if name.len() < first.len() { "..." } else { "" };
    match left.files {
        1 => format!("{name}{dots}"),
        files => format!("{name}{dots} and {} more", files - 1),
    }
}

/// Returns the baseline of the link.
pub(crate) fn links(rows: &[LinkRow]) -> Table {
    let micros = |name| Column::number(name).unit("\u{b5}s");
    let frames = |name| Column::number(name);
    let mut table = Table::new([
        Column::text("link"),
        micros("UDP round trip"),
        micros("low"),
        micros("high"),
        Column::text("lost"),
        Column::number("TCP stream").unit("Mbit/s"),
        frames("frames"),
        frames("lost frames"),
        frames("without delay"),
        frames("without room"),
    ]);
    for row in rows {
        let [lost, sent] = row.lost;
        let count = |of: fn(&RelayCounts) -> u64| {
            row.frames
                .as_ref()
                .map_or(String::new(), |it| of(it).to_string())
        };
        table.row([
            row.link.to_owned(),
            one(row.round_trip_us.map(|it| it.value)),
            one(row.round_trip_us.map(|it| it.low)),
            one(row.round_trip_us.map(|it| it.high)),
            format!("{lost} of {sent}"),
            row.mbit_per_second
                .map_or(String::new(), |rate| format!("{rate:.0}")),
            count(|it| it.passed),
            count(|it| it.lost),
            count(|it| it.reordered),
            count(|it| it.refused),
        ]);
    }
    table
}

/// Returns versions and settings of the measured peers.
pub(crate) fn peers(subjects: &[Subject]) -> Table {
    let columns = ["peer", "title", "versions", "settings"].map(Column::text);
    let mut table = Table::new(columns);
    // The variants of a peer have the same program.
    let measured = subjects
        .iter()
        .filter(|it| !it.info.is_empty() && it.options.is_empty());
    for subject in measured {
        let info = subject
            .info
            .iter()
            .map(|(key, value)| format!("{key} {value}"));
        table.row([
            subject.label.clone(),
            subject.title.clone(),
            info.collect::<Vec<_>>().join("; "),
            subject.source.clone(),
        ]);
    }
    table
}

/// Returns the peers that were not, or not fully, measured.
pub(crate) fn missing(subjects: &[Subject]) -> Table {
    let columns = ["peer", "required", "reason"].map(Column::text);
    let mut table = Table::new(columns);
    for subject in subjects {
        if let Some(reason) = &subject.missing {
            let required = if subject.required { "yes" } else { "no" };
            table.row([subject.label.clone(), required.to_owned(), reason.clone()]);
        }
    }
    table
}
