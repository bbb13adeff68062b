//! Output: tables on the terminal, raw samples as CSV, an HTML page with charts.

use std::fmt::Write as _;

use takt_report::{
    Axis, Chart, ChartSeries, Column, CsvFile, Figure, Notice, Page, Report, Scale, Table,
};

use crate::error::MiddlewareError;
use crate::goals::{Goal, goals};
use crate::options::MiddlewareOptions;
use crate::own::Mode;
use crate::row::{MiddlewareRow, Subject};

/// Prints all tables, and writes `samples.csv`, `rows.jsonl`, `summary.txt` and `index.html`.
pub(crate) fn show(
    report: &mut Report<impl FnMut(String)>,
    subjects: &[Subject],
    rows: &[MiddlewareRow],
    options: &MiddlewareOptions,
) -> Result<(), MiddlewareError> {
    let output = |error: &dyn std::fmt::Display| MiddlewareError::Output(error.to_string());
    let goals = goals(rows, options.seed);
    let mut page = Page::new("Comparison of middleware");
    let mut summary = String::new();
    let notes = notes(subjects, rows);
    page.notice(Notice::Warning, "Limits of this run", &notes);
    for note in &notes {
        report.note(note);
        let _ = writeln!(summary, "{note}");
    }
    for (title, table) in [
        ("Round trips", round_trips(rows)),
        ("Goals", goal_table(&goals)),
        ("Resources", resources(subjects)),
        ("Peers that were not measured", missing(subjects)),
    ] {
        if table.is_empty() {
            continue;
        }
        page.section(title);
        if title == "Round trips" {
            let figures = Mode::ALL.map(|mode| chart(mode, rows));
            let caption = "median round trip over the size of the payload";
            page.figures(figures.iter().map(|figure| (figure, caption)));
        }
        page.table(&table, title);
        report.line(String::new());
        report.line(title);
        report.table(&table);
        let _ = writeln!(summary, "\n{title}\n{}", table.lines(Some(80)).join("\n"));
    }
    let mut objects = String::new();
    for row in rows {
        report.row(row).map_err(|error| output(&error))?;
        let object = serde_json::to_string(row).map_err(|error| output(&error))?;
        let _ = writeln!(objects, "{object}");
    }
    for (name, text) in [
        ("index.html", page.html()),
        ("rows.jsonl", objects),
        ("summary.txt", summary),
    ] {
        let path = options.output.join(name);
        std::fs::write(&path, text).map_err(MiddlewareError::file("write", path))?;
    }
    let path = options.output.join("samples.csv");
    let heading = ["peer", "mode", "bytes", "round", "micros"];
    let mut csv = CsvFile::create(&path, &heading).map_err(|error| output(&error))?;
    for row in rows {
        for (round, times) in row.rounds.iter().enumerate() {
            for time in times {
                csv.row([
                    row.peer.clone(),
                    row.mode.name().to_owned(),
                    row.bytes.to_string(),
                    round.to_string(),
                    format!("{time:.3}"),
                ]);
            }
        }
    }
    csv.finish().map_err(|error| output(&error))
}

fn notes(subjects: &[Subject], rows: &[MiddlewareRow]) -> Vec<String> {
    let mut notes = vec![
        "Client and server are processes of this host, over loopback. System calls are not counted.".to_owned(),
    ];
    if cfg!(debug_assertions) {
        notes.push("This is a debug build: figures of Takt mean nothing.".to_owned());
    }
    let missing = subjects.iter().filter(|it| it.missing.is_some()).count();
    if missing > 0 {
        notes.push(format!(
            "INCOMPLETE: {missing} of {} variants were not measured.",
            subjects.len()
        ));
    }
    if rows.iter().any(|row| row.is_loaded) {
        notes.push("LOADED: others used the processors during rows with *.".to_owned());
    }
    if rows.iter().any(|row| !row.is_right()) {
        notes.push(
            "WRONG: peers with faults (wrong, lost, late, duplicate answers) have no rank."
                .to_owned(),
        );
    }
    notes
}

fn round_trips(rows: &[MiddlewareRow]) -> Table {
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
        Column::text("faults"),
    ]);
    for row in rows {
        let text = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.1}"));
        let tcp = rows
            .iter()
            .find(|it| it.peer == "tcp" && (it.mode, it.bytes) == (row.mode, row.bytes));
        let ratio = tcp.and_then(|tcp| Some(row.median_us?.value / tcp.median_us?.value));
        let [wrong, lost, late, duplicate] = row.faults;
        let faults = match row.is_right() {
            true => String::new(),
            false => format!("WRONG {wrong}/{lost}/{late}/{duplicate}"),
        };
        let loaded = if row.is_loaded { "*" } else { "" };
        table.row([
            row.mode.name().to_owned(),
            row.bytes.to_string(),
            format!("{}{loaded}", row.peer),
            text(row.median_us.map(|it| it.value)),
            text(row.median_us.map(|it| it.low)),
            text(row.median_us.map(|it| it.high)),
            text(row.p99_us),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
            faults,
        ]);
    }
    table
}

fn goal_table(goals: &[Goal]) -> Table {
    let mut table = Table::new([
        Column::text("ratio of medians"),
        Column::text("kind"),
        Column::number("bytes"),
        Column::number("ratio"),
        Column::text("95 %"),
        Column::number("goal"),
        Column::text("result"),
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
            if goal.is_met { "met" } else { "missed" }.to_owned(),
        ]);
    }
    table
}

fn resources(subjects: &[Subject]) -> Table {
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
            table.row([
                subject.label.clone(),
                (*side).to_owned(),
                format!("{:.1}", usage.cpu_ms * 1000.0 / requests),
                format!("{:.2}", usage.switches as f64 / requests),
                format!("{:.1}", usage.memory as f64 / f64::from(1 << 20)),
                usage.threads.to_string(),
            ]);
        }
    }
    table
}

fn missing(subjects: &[Subject]) -> Table {
    let columns = [
        Column::text("peer"),
        Column::text("required"),
        Column::text("reason"),
    ];
    let mut table = Table::new(columns);
    for subject in subjects {
        if let Some(reason) = &subject.missing {
            let required = if subject.required { "yes" } else { "no" };
            table.row([subject.label.clone(), required.to_owned(), reason.clone()]);
        }
    }
    table
}

fn chart(mode: Mode, rows: &[MiddlewareRow]) -> Figure {
    let wanted: Vec<&MiddlewareRow> = rows
        .iter()
        .filter(|row| row.mode == mode && row.is_right())
        .collect();
    let mut peers: Vec<&str> = wanted.iter().map(|row| row.peer.as_str()).collect();
    peers.sort_unstable();
    peers.dedup();
    let line = |peer: &&str| {
        let of_peer = wanted.iter().filter(|row| row.peer == *peer);
        let points = of_peer.filter_map(|row| Some((f64::from(row.bytes), row.median_us?.value)));
        ChartSeries::marked(*peer, points.collect())
    };
    let axis = |name| Axis::new(name).scale(Scale::Logarithmic);
    let mut chart = Chart::new(
        mode.name(),
        axis("payload (bytes)"),
        axis("median (\u{b5}s)"),
    );
    chart.series = peers.iter().map(line).collect();
    Figure::of(chart)
}
