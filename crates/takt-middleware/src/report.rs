//! Output: tables on the terminal and as Markdown, raw samples, charts as SVG, and an HTML page with all of it.

use std::fmt::Write as _;

use takt_report::{Axis, Chart, ChartSeries, Figure, Notice, Page, Picture, Report};
use takt_report::{Scale, Table, Theme};

use crate::environment::LinkRow;
use crate::error::MiddlewareError;
use crate::goals::goals;
use crate::options::MiddlewareOptions;
use crate::own::Mode;
use crate::row::{MiddlewareRow, Subject};
use crate::samples;
use crate::tables;

/// Place where the comparison ran.
pub(crate) struct Place {
    /// Sentences that describe it.
    pub(crate) description: String,
    /// Baseline of its link.
    pub(crate) links: Vec<LinkRow>,
}

/// Title of the page and of the Markdown file.
const TITLE: &str = "Comparison of middleware";
/// Largest number of sizes that are written at an axis.
const TICKS: usize = 8;
/// Largest number of lines in one chart.
const LINES: usize = 8;

/// Prints all tables, and writes the files of the results.
pub(crate) fn show(
    report: &mut Report<impl FnMut(String)>,
    subjects: &[Subject],
    rows: &[MiddlewareRow],
    place: &Place,
    options: &MiddlewareOptions,
) -> Result<(), MiddlewareError> {
    let goals = goals(subjects, rows, options.seed);
    let notes = notes(subjects, rows, place);
    let charts = charts(rows);
    let all = [
        ("Baseline of the link", tables::links(&place.links)),
        ("Round trips", tables::round_trips(rows)),
        ("Goals", tables::goals(&goals)),
        ("Resources", tables::resources(subjects)),
        ("Leftovers after kill -9", tables::leftovers(subjects)),
        ("Peers that were not measured", tables::missing(subjects)),
        ("Peers", tables::peers(subjects)),
    ];
    for note in &notes {
        report.note(note);
    }
    for (title, table) in all.iter().filter(|(_, table)| !table.is_empty()) {
        report.line(String::new());
        report.line(*title);
        report.table(table);
    }
    let mut objects = String::new();
    for link in &place.links {
        report.row(link).map_err(output)?;
        let object = serde_json::to_string(link).map_err(output)?;
        let _ = writeln!(objects, "{object}");
    }
    for row in rows {
        report.row(row).map_err(output)?;
        let object = serde_json::to_string(row).map_err(output)?;
        let _ = writeln!(objects, "{object}");
    }
    // Peers have a line of their own, with the reason of those that were not measured.
    for subject in subjects {
        report.row(subject).map_err(output)?;
        let object = serde_json::to_string(subject).map_err(output)?;
        let _ = writeln!(objects, "{object}");
    }
    let folder = &options.output;
    for (name, text) in [
        ("index.html", page(&notes, &all, &charts)),
        ("tables.md", markdown(&notes, &all)),
        ("rows.jsonl", objects),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(MiddlewareError::file("write", path))?;
    }
    for (name, figure) in &charts {
        let path = folder.join(format!("{name}.svg"));
        let picture: Picture = path.to_string_lossy().parse().map_err(output)?;
        picture.draw(figure, Theme::Auto).map_err(output)?;
    }
    samples::write(folder, rows)
}

fn output(error: impl std::fmt::Display) -> MiddlewareError {
    MiddlewareError::Output(error.to_string())
}

fn page(notes: &[String], all: &[(&str, Table)], charts: &[(String, Figure)]) -> String {
    let mut page = Page::new(TITLE);
    page.notice(Notice::Warning, "Limits of this run", notes);
    for (title, table) in all.iter().filter(|(_, table)| !table.is_empty()) {
        page.section(title);
        if *title == "Round trips" {
            let caption = "median round trip over the size of the payload";
            page.figures(charts.iter().map(|(_, figure)| (figure, caption)));
        }
        page.table(table, title);
    }
    page.html()
}

fn markdown(notes: &[String], all: &[(&str, Table)]) -> String {
    let mut text = format!("# {TITLE}\n\n");
    for note in notes {
        let _ = writeln!(text, "* {note}");
    }
    for (title, table) in all.iter().filter(|(_, table)| !table.is_empty()) {
        let _ = write!(text, "\n## {title}\n\n{}", table.markdown());
    }
    text
}

fn notes(subjects: &[Subject], rows: &[MiddlewareRow], place: &Place) -> Vec<String> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut notes = vec![
        place.description.clone(),
        "System calls are not counted.".to_owned(),
    ];
    if cfg!(debug_assertions) {
        notes.push("This is a debug build: figures of Takt mean nothing.".to_owned());
    }
    let is_missing = |it: &&Subject| it.missing.is_some() && !it.is_elsewhere;
    let missing = subjects.iter().filter(is_missing).count();
    if missing > 0 {
        let of = subjects.len();
        notes.push(format!(
            "INCOMPLETE: {missing} of {of} variants were not measured."
        ));
    }
    if rows.iter().any(|row| row.is_loaded) {
        notes.push("LOADED: others used the processors during rows with *.".to_owned());
    }
    if rows.iter().any(|row| row.link_loses) {
        notes.push(
            "LOSSES: the link loses frames or changes their order. Answers that are lost or late for it are no fault of a peer."
                .to_owned(),
        );
    }
    if rows.iter().any(|row| !row.is_right()) {
        let faults = "wrong/lost/late/duplicate answers";
        notes.push(format!("WRONG: peers with faults ({faults}) have no rank."));
    }
    if processors < 3 && rows.iter().any(|row| row.peer.contains("poll=true")) {
        notes.push(
            "POLLING: a broker beside a client and a server that poll has no processor of its own."
                .to_owned(),
        );
    }
    notes
}

/// Returns the charts of the peers without options, with the names of their files: the fastest ones of each kind first.
fn charts(rows: &[MiddlewareRow]) -> Vec<(String, Figure)> {
    let mut charts = Vec::new();
    for mode in Mode::ALL {
        let wanted: Vec<&MiddlewareRow> = rows
            .iter()
            .filter(|row| row.mode == mode && row.is_right())
            .collect();
        let mut peers: Vec<&str> = Vec::new();
        for row in &wanted {
            if !row.peer.contains(' ') && !peers.contains(&row.peer.as_str()) {
                peers.push(&row.peer);
            }
        }
        // No chart has a single line beside full ones.
        let each = peers
            .len()
            .div_ceil(peers.len().div_ceil(LINES).max(1))
            .max(1);
        let parts = peers.chunks(each);
        let of = parts.len();
        for (number, part) in parts.enumerate() {
            let (name, title) = match number {
                0 if of == 1 => (mode.name().to_owned(), mode.name().to_owned()),
                _ => {
                    let number = number + 1;
                    (
                        format!("{}-{number}", mode.name()),
                        format!("{} ({number} of {of})", mode.name()),
                    )
                }
            };
            charts.push((name, chart(&title, part, &wanted)));
        }
    }
    charts
}

fn chart(title: &str, peers: &[&str], rows: &[&MiddlewareRow]) -> Figure {
    let line = |peer: &&str| {
        let of_peer = rows.iter().filter(|row| row.peer == *peer);
        let points = of_peer.filter_map(|row| Some((f64::from(row.bytes), row.median_us?.value)));
        ChartSeries::marked(*peer, points.collect())
    };
    let axis = |name| Axis::new(name).scale(Scale::Logarithmic);
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let every = sizes.len().div_ceil(TICKS).max(1);
    let ticks = sizes.iter().step_by(every);
    let x = axis("payload (bytes)").ticks(ticks.map(|size| (f64::from(*size), size.to_string())));
    let mut chart = Chart::new(title, x, axis("median (\u{b5}s)"));
    chart.series = peers.iter().map(line).collect();
    Figure::of(chart)
}
