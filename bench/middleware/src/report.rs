//! Output: tables on the terminal and as Markdown, raw samples, charts as SVG, and an HTML page with all of it.

use std::fmt::Write as _;

use takt_figures::{Figure, Notice, Page, Picture, Report, Table, Theme};
use takt_statistics::{Quantile, SortedTimes};

use crate::baseline::LinkRow;
use crate::calls;
use crate::charts::{charts, remove_other_charts};
use crate::condition::{Condition, ConditionOptions};
use crate::error::MiddlewareError;
use crate::goals::{Goal, goals};
use crate::options::MiddlewareOptions;
use crate::peer_table;
use crate::row::{MiddlewareRow, RoundResult, Subject};
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
/// Ratio of long to short ways between processors above which a report says that they were moved.
const MOVED: f64 = 1.5;
/// Ends of the times between which a cache line is: a tenth is shorter, a tenth is longer.
const SHORT: Quantile = Quantile::parts_per_million(100_000);
const LONG: Quantile = Quantile::parts_per_million(900_000);

/// Tables of a comparison with their titles, and the charts of those that have some.
struct Section {
    title: &'static str,
    table: Table,
    /// Charts with the names of their files.
    charts: Vec<(String, Figure)>,
}

impl Section {
    fn new(title: &'static str, table: Table) -> Self {
        Self {
            title,
            table,
            charts: Vec::new(),
        }
    }
}

/// Prints all tables, and writes the files of the results.
pub(crate) fn show(
    report: &mut Report<impl FnMut(String)>,
    (subjects, left_out): (&[Subject], &[Subject]),
    (rows, rounds): (&[MiddlewareRow], &[RoundResult]),
    place: &Place,
    options: &MiddlewareOptions,
) -> Result<(), MiddlewareError> {
    let goals = goals((subjects, left_out), rows);
    let mut notes = notes(subjects, rows, place);
    notes.extend(unjudged(&goals));
    notes.extend(conditions(rounds, &options.conditions));
    let all = sections(subjects, rows, (&goals, place));
    for note in &notes {
        report.note(note);
    }
    for section in &all {
        report.line(String::new());
        report.line(section.title);
        report.table(&section.table);
    }
    let mut objects = String::new();
    for link in &place.links {
        report.row(link).map_err(output)?;
        let object = report.row_text(link).map_err(output)?;
        let _ = writeln!(objects, "{object}");
    }
    for row in rows {
        report.row(row).map_err(output)?;
        let object = report.row_text(row).map_err(output)?;
        let _ = writeln!(objects, "{object}");
    }
    // Peers have a line of their own, with the reason of those that were not measured.
    for subject in subjects {
        report.row(subject).map_err(output)?;
        let object = report.row_text(subject).map_err(output)?;
        let _ = writeln!(objects, "{object}");
    }
    // The terminal has it already.
    notes.splice(0..0, takt_profile::mark());
    let folder = &options.output;
    for (name, text) in [
        ("index.html", page(&notes, &all)),
        ("tables.md", markdown(&notes, &all)),
        ("rows.jsonl", objects),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(MiddlewareError::file("write", path))?;
    }
    for (name, figure) in all.iter().flat_map(|section| &section.charts) {
        let path = folder.join(format!("{name}.svg"));
        let picture: Picture = path.to_string_lossy().parse().map_err(output)?;
        picture.draw(figure, Theme::Auto).map_err(output)?;
    }
    let names = all.iter().flat_map(|section| &section.charts);
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    remove_other_charts(folder, &names)?;
    samples::write(folder, rows)
}

fn output(error: impl std::fmt::Display) -> MiddlewareError {
    MiddlewareError::Output(error.to_string())
}

/// Returns the tables that have rows.
fn sections(
    subjects: &[Subject],
    rows: &[MiddlewareRow],
    (goals, place): (&[Goal], &Place),
) -> Vec<Section> {
    let mut found: Vec<Condition> = rows.iter().map(|row| row.condition).collect();
    found.dedup();
    let mut all = vec![
        Section::new("Baseline of the link", tables::links(&place.links)),
        Section::new("Medians under load", tables::loads(rows)),
    ];
    for condition in found {
        let rows: Vec<&MiddlewareRow> =
            rows.iter().filter(|it| it.condition == condition).collect();
        let mut section = Section::new(condition.title(), tables::round_trips(&rows));
        // A chart over the size needs more than one.
        if condition != Condition::Resting {
            section.charts = charts(condition, &rows);
        }
        all.push(section);
    }
    all.extend([
        Section::new("Goals", tables::goals(goals)),
        Section::new("Goals that are not shown", tables::open_goals(goals)),
        Section::new("Resources", tables::resources(subjects)),
        Section::new("Leftovers after kill -9", tables::leftovers(subjects)),
        Section::new("Peers that were not measured", tables::missing(subjects)),
        Section::new("Peers", peer_table::peers(subjects)),
    ]);
    all.retain(|section| !section.table.is_empty());
    all
}

fn page(notes: &[String], all: &[Section]) -> String {
    let mut page = Page::new(takt_profile::titled(TITLE));
    page.notice(Notice::Warning, "Limits of this run", notes);
    for section in all {
        page.section(section.title);
        if !section.charts.is_empty() {
            let caption = "median round trip over the size of the payload";
            page.figures(section.charts.iter().map(|(_, figure)| (figure, caption)));
        }
        page.table(&section.table, section.title);
    }
    page.html()
}

fn markdown(notes: &[String], all: &[Section]) -> String {
    let mut text = format!("# {}\n\n", takt_profile::titled(TITLE));
    for note in notes {
        let _ = writeln!(text, "* {note}");
    }
    for section in all {
        let table = section.table.markdown();
        let _ = write!(text, "\n## {}\n\n{table}", section.title);
    }
    text
}

/// Returns the loads as they were, the rest and the scheduler.
fn conditions(rounds: &[RoundResult], options: &ConditionOptions) -> Vec<String> {
    let mut notes = Vec::new();
    let of = |condition| rounds.iter().filter(move |it| it.condition == condition);
    let median = |values: Vec<f64>| SortedTimes::new(values).quantile(Quantile::MEDIAN);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if let Some(used) = median(of(Condition::Cpu).map(|it| it.processors).collect()) {
        notes.push(format!(
            "CPU LOAD: stress-ng on all processors; on average {used:.2} of {processors} were in use."
        ));
    }
    let received = of(Condition::Network).filter_map(|it| it.received_mbits);
    if let Some(received) = median(received.collect()) {
        let (rate, processors) = (
            options.load_rate,
            of(Condition::Network).map(|it| it.processors),
        );
        let used = median(processors.collect()).unwrap_or_default();
        notes.push(format!(
            "NETWORK LOAD: {rate} Mbit/s through the same interface, of which {received:.0} arrived; on average {used:.2} processors \
             were in use."
        ));
    }
    if of(Condition::Resting).next().is_some() {
        let wait = f64::from(options.resting_wait) / 1000.0;
        notes.push(format!(
            "REST: a random wait of 0 to {wait} s precedes each resting round trip."
        ));
    }
    notes.extend(moved(rounds.iter().filter_map(|it| it.transfer_ns)));
    notes.push(format!(
        "Client, server and broker run with {}.",
        options.scheduler
    ));
    notes
}

/// Returns the limit of a run during which the distance between processors changed. `times` are those of a cache line's way from
/// one to another, in ns.
fn moved(times: impl Iterator<Item = f64>) -> Option<String> {
    let times = SortedTimes::new(times.collect());
    // A single time may be that of an interrupt.
    let (short, long) = (times.quantile(SHORT)?, times.quantile(LONG)?);
    (long > MOVED * short).then(|| {
        format!(
            "MOVED: before a tenth of the rounds a cache line took at most {short:.0} ns from one processor to another, before a tenth \
             at least {long:.0} ns. The host may have moved them between cores with and without a common cache: round trips of the same \
             peer differ between rounds, those with poll=true most."
        )
    })
}

/// Returns the limit of a run that lacks other middleware.
fn unjudged(goals: &[Goal]) -> Option<String> {
    let is_unjudged = goals.iter().any(|goal| !goal.is_judged());
    is_unjudged.then(|| {
        "INCOMPLETE: goals with the fastest other middleware are not judged: a foreign peer that they need was not measured."
            .to_owned()
    })
}

fn notes(subjects: &[Subject], rows: &[MiddlewareRow], place: &Place) -> Vec<String> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut notes = vec![place.description.clone()];
    if let Some(reason) = calls::forbidden() {
        notes.push(format!("System calls are not counted: {reason}."));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_that_processors_were_moved() {
        let times = |count: usize, long: f64| {
            let times = [50.0].into_iter().cycle().take(40);
            times.chain([long].into_iter().cycle().take(count))
        };
        assert_eq!(moved(std::iter::empty()), None);
        assert_eq!(moved(times(20, 70.0)), None);
        // A few times are those of interrupts.
        assert_eq!(moved(times(3, 500.0)), None);
        let note = moved(times(10, 180.0)).unwrap_or_default();
        assert!(
            note.contains("at most 50 ns") && note.contains("at least 180 ns"),
            "{note}"
        );
    }
}
