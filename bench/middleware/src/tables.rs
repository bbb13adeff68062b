//! Tables of the comparison.

use takt_figures::{Column, Table};
use takt_statistics::{Estimate, GoalVerdict};

use crate::baseline::LinkRow;
use crate::condition::Condition;
use crate::environment::RelayCounts;
use crate::goals::Goal;
use crate::row::{Leftovers, MiddlewareRow, Subject};

/// Returns one decimal, or an empty cell.
fn one(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.1}"))
}

/// Returns the interval of a median; `None` for a single round, which has none.
fn interval_of(row: &MiddlewareRow) -> Option<Estimate> {
    row.median_us.filter(|it| it.count > 1)
}

/// Returns the round trips of all cases, the fastest peer first.
pub(crate) fn round_trips(rows: &[&MiddlewareRow]) -> Table {
    let micros = |name| Column::number(name).unit("\u{b5}s");
    let mut columns = vec![
        Column::text("kind"),
        Column::number("bytes"),
        Column::text("peer"),
    ];
    // Beside the peer, so that a narrow terminal does not divide them. Most tables have no faults.
    let has_faults = rows
        .iter()
        .any(|row| row.faults != [0; 4] || !row.is_right());
    if has_faults {
        columns.push(Column::text("faults"));
    }
    columns.extend([
        micros("median"),
        micros("low"),
        micros("high"),
        micros("p99"),
        Column::number("to TCP"),
        Column::number("per second"),
    ]);
    let mut table = Table::new(columns);
    for row in rows {
        let is_tcp = |it: &&&MiddlewareRow| it.peer == "tcp" && it.key() == row.key();
        let tcp = rows.iter().find(is_tcp);
        let ratio = tcp.and_then(|tcp| Some(row.median_us?.value / tcp.median_us?.value));
        let [wrong, lost, late, duplicate] = row.faults;
        let faults = match row.is_right() {
            true if row.faults == [0; 4] => String::new(),
            true => format!("link: {lost} lost, {late} late"),
            false => format!("\u{2717} {wrong}/{lost}/{late}/{duplicate}"),
        };
        let loaded = if row.is_loaded { "*" } else { "" };
        let mut cells = vec![
            row.mode.name().to_owned(),
            row.bytes.to_string(),
            format!("{}{loaded}", row.peer),
        ];
        cells.extend(has_faults.then_some(faults));
        cells.extend([
            one(row.median_us.map(|it| it.value)),
            one(interval_of(row).map(|it| it.low)),
            one(interval_of(row).map(|it| it.high)),
            one(row.p99_us),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
            row.per_second
                .map_or(String::new(), |rate| format!("{rate:.0}")),
        ]);
        table.row(cells);
    }
    table
}

/// Returns the medians without load beside those under each load, as in the paper's Table III; empty if there is only one.
pub(crate) fn loads(rows: &[MiddlewareRow]) -> Table {
    let mut conditions: Vec<Condition> = rows.iter().map(|row| row.condition).collect();
    conditions.retain(|condition| *condition != Condition::Resting);
    conditions.dedup();
    let (first, others) = match conditions.split_first() {
        Some((first, others)) if !others.is_empty() => (first, others),
        _ => return Table::new([Column::text("peer")]),
    };
    let mut columns = vec![
        Column::text("kind"),
        Column::number("bytes"),
        Column::text("peer"),
    ];
    let column = |condition: &Condition| Column::number(condition.name()).unit("\u{b5}s");
    columns.extend(conditions.iter().map(column));
    let ratio = |other: &Condition| Column::number(format!("{} to {}", other.name(), first.name()));
    columns.extend(others.iter().map(ratio));
    let mut table = Table::new(columns);
    for row in rows.iter().filter(|row| row.condition == *first) {
        let median = |condition: &Condition| {
            let same = |it: &&MiddlewareRow| {
                it.peer == row.peer && it.key() == (*condition, row.mode, row.bytes)
            };
            let found = rows.iter().find(same).filter(|it| it.is_right());
            Some(found?.median_us?.value)
        };
        let mut cells = vec![
            row.mode.name().to_owned(),
            row.bytes.to_string(),
            row.peer.clone(),
        ];
        cells.extend(conditions.iter().map(|condition| one(median(condition))));
        cells.extend(others.iter().map(|condition| {
            let ratio = median(condition).zip(median(first));
            ratio.map_or(String::new(), |(loaded, idle)| {
                format!("{:.2}", loaded / idle)
            })
        }));
        table.row(cells);
    }
    table
}

/// Returns a row for each goal and load: the numbers of sizes and kinds at which it is shown, refuted and undecided, and the worst of
/// them. Goals that are not judged have no ratio.
pub(crate) fn goals(goals: &[Goal]) -> Table {
    let mut table = Table::new([
        Column::text("goal"),
        Column::text("ratio of"),
        Column::text("load"),
        Column::number("at most"),
        Column::number("shown"),
        Column::number("refuted"),
        Column::number("undecided"),
        Column::number("worst"),
        Column::text("95 %"),
        Column::text("there"),
    ]);
    let key = |goal: &Goal| (goal.name.clone(), goal.quantity, goal.condition);
    let mut keys: Vec<_> = goals.iter().map(key).collect();
    keys.dedup();
    for key_of_row in keys {
        let same: Vec<&Goal> = goals
            .iter()
            .filter(|goal| key(goal) == key_of_row)
            .collect();
        let (name, quantity, condition) = key_of_row;
        let judged: Vec<&Goal> = same
            .iter()
            .copied()
            .filter(|goal| goal.is_judged())
            .collect();
        let number = |verdict| {
            let judged = judged.iter();
            let with = judged.filter(|goal| goal.verdict == Some(verdict));
            with.count().to_string()
        };
        let worst = judged
            .iter()
            .max_by(|one, other| one.ratio.value.total_cmp(&other.ratio.value));
        let Some(worst) = worst else {
            let at_most = same.iter().map(|goal| format!("{:.2}", goal.at_most));
            let at_most: String = at_most.take(1).collect();
            let none = || std::iter::repeat_n(String::new(), 6);
            let known = [name, quantity.to_owned(), condition.to_owned(), at_most];
            table.row(known.into_iter().chain(none()));
            table.text(format!("  not judged: {} cases", same.len()));
            continue;
        };
        table.row([
            name,
            quantity.to_owned(),
            condition.to_owned(),
            format!("{:.2}", worst.at_most),
            number(GoalVerdict::Shown),
            number(GoalVerdict::Refuted),
            number(GoalVerdict::Undecided),
            format!("{:.2}", worst.ratio.value),
            interval(worst),
            case(worst),
        ]);
        match same.len() - judged.len() {
            0 => {}
            unjudged => table.text(format!("  not judged: {unjudged} cases")),
        }
    }
    table
}

/// Returns the goals that are refuted or undecided. Each has the difference of resources, which tells where the time goes.
pub(crate) fn open_goals(goals: &[Goal]) -> Table {
    let mut table = Table::new([
        Column::text("peers"),
        Column::text("ratio of"),
        Column::text("load"),
        Column::text("case"),
        Column::number("ratio"),
        Column::text("95 %"),
        Column::number("at most"),
        Column::text("verdict"),
        Column::text("cause"),
    ]);
    for goal in goals.iter().filter(|goal| goal.is_open()) {
        table.row([
            goal.peers.join(" / "),
            goal.quantity.to_owned(),
            goal.condition.to_owned(),
            case(goal),
            format!("{:.2}", goal.ratio.value),
            interval(goal),
            format!("{:.2}", goal.at_most),
            goal.verdict.map_or("", GoalVerdict::name).to_owned(),
            goal.cause.clone(),
        ]);
    }
    table
}

fn interval(goal: &Goal) -> String {
    format!("{:.2}..{:.2}", goal.ratio.low, goal.ratio.high)
}

fn case(goal: &Goal) -> String {
    let case = goal.case.map(|(mode, bytes)| format!("{mode} {bytes}"));
    case.unwrap_or_else(|| "all".to_owned())
}

/// Returns the use of resources of both sides.
pub(crate) fn resources(subjects: &[Subject]) -> Table {
    let mut table = Table::new([
        Column::text("peer"),
        Column::text("load"),
        Column::text("side"),
        Column::number("CPU/request").unit("\u{b5}s"),
        Column::number("switches/request"),
        Column::number("system calls/request"),
        Column::number("memory").unit("MiB"),
        Column::number("threads"),
    ]);
    let used = subjects.iter().flat_map(|subject| {
        let resources = subject.resources.iter().enumerate();
        resources.map(move |(place, used)| (subject, place, used))
    });
    for (subject, place, used) in used.filter(|(_, _, used)| used.requests > 0) {
        let requests = used.requests as f64;
        // They are counted once, without load.
        let calls = subject.calls.filter(|_| place == 0);
        let calls = [calls.map(|it| it.client), calls.map(|it| it.server)];
        for ((side, usage), calls) in ["client", "server"].iter().zip(used.usage).zip(calls) {
            let beginning = [subject.label.as_str(), used.condition.name(), side];
            let [peer, load, side] = beginning.map(str::to_owned);
            // Each process has a thread: otherwise the other host did not tell its resources.
            if usage.threads == 0 {
                let [calls, switches, memory, threads] = [const { String::new() }; 4];
                let unknown = "not readable".to_owned();
                table.row([peer, load, side, unknown, switches, calls, memory, threads]);
                continue;
            }
            table.row([
                peer,
                load,
                side,
                format!("{:.1}", usage.cpu_ms * 1000.0 / requests),
                format!("{:.2}", usage.switches as f64 / requests),
                calls.map_or(String::new(), |calls| format!("{calls:.2}")),
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

/// Returns the baseline of the link. The columns of frames are there if a relay has counted them.
pub(crate) fn links(rows: &[LinkRow]) -> Table {
    let micros = |name| Column::number(name).unit("\u{b5}s");
    let has_frames = rows.iter().any(|row| row.frames.is_some());
    let mut columns = vec![
        Column::text("link"),
        micros("UDP round trip"),
        micros("low"),
        micros("high"),
        Column::text("lost"),
        Column::number("TCP stream").unit("Mbit/s"),
    ];
    if has_frames {
        let names = ["passed", "lost", "not delayed", "no room"];
        columns.extend(names.map(|name| Column::number(name).group("frames at the relay")));
    }
    let mut table = Table::new(columns);
    for row in rows {
        let [lost, sent] = row.lost;
        let count = |of: fn(&RelayCounts) -> u64| {
            row.frames
                .as_ref()
                .map_or(String::new(), |it| of(it).to_string())
        };
        let mut cells = vec![
            row.link.to_owned(),
            one(row.round_trip_us.map(|it| it.value)),
            one(row.round_trip_us.map(|it| it.low)),
            one(row.round_trip_us.map(|it| it.high)),
            format!("{lost} of {sent}"),
            row.mbit_per_second
                .map_or(String::new(), |rate| format!("{rate:.0}")),
        ];
        if has_frames {
            cells.extend([
                count(|it| it.passed),
                count(|it| it.lost),
                count(|it| it.reordered),
                count(|it| it.refused),
            ]);
        }
        table.row(cells);
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
