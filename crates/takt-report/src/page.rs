//! The HTML page of a report.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use takt_analysis::SentStamp;
use takt_figures::{Notice, Page};
use takt_lab::collect::BY_HAND;
use takt_scenario::names::parameter_name;
use takt_ua::DateTime;

use crate::charts::{self, NamedPicture};
use crate::comparison::{ComparedBound, ComparedRun, Requirement, RoundTripKind};
use crate::entries::{Entries, Entry};
use crate::late_table;
use crate::tables;
use crate::trace_points::round_trip;

/// Largest number of applications with pictures of their own, unless all are wanted.
const DETAILED: usize = 12;

/// Page and its pictures.
pub(crate) struct Composed {
    pub(crate) page: Page,
    pub(crate) pictures: Vec<NamedPicture>,
}

/// Composes the page of runs, which has room for campaigns with these names. Errors come first.
pub(crate) fn compose(
    runs: &[ComparedRun],
    campaigns: &[&str],
    requirements: &[Requirement],
    all: bool,
) -> Composed {
    let names = runs.iter().map(|run| run.description.scenario.as_str());
    let names: Vec<&str> = names.chain(campaigns.iter().copied()).collect();
    let what = match runs.is_empty() {
        true => "Campaign",
        false => "Bound, simulation and measurement",
    };
    let mut composed = Composed {
        page: Page::new(format!("{what}: {}", names.join(", "))),
        pictures: Vec::new(),
    };
    for run in runs {
        violations(&mut composed.page, run);
    }
    for run in runs {
        summary(&mut composed.page, run);
    }
    composed.page.paragraph(&format!(
        "Two kinds of round trip are never mixed: wire, from the port of the Publisher back to it (T2 to T7), and application, from \
         its thread back to it (T1 to T8). docs/measurements.md of Takt defines all quantities. Report by takt {}.",
        env!("CARGO_PKG_VERSION")
    ));
    for run in runs {
        section(&mut composed, run, requirements, all);
    }
    composed
}

/// Returns where and how the numbers of a run came about.
pub(crate) fn origin(run: &ComparedRun) -> String {
    let description = &run.description;
    let mut parts = vec![description.backend.clone()];
    for name in ["kernel", "links", "takt"] {
        let value = description.host.get(name);
        parts.extend(value.map(|value| format!("{name} {value}")));
    }
    let once = |values: BTreeSet<u64>| match (values.first(), values.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.to_string(),
        _ => "no".to_owned(),
    };
    let messages = once(run.cases.iter().map(|it| it.messages).collect());
    let trim = once(run.cases.iter().map(|it| it.trim).collect());
    let seed = once(run.cases.iter().map(|it| it.seed).collect());
    parts.push(format!(
        "{messages} messages, {trim} left out at each end, seed {seed}"
    ));
    if !description.disciplines {
        let lacking = match description.backend == BY_HAND {
            true => "disciplines not as planned",
            false => "without queueing disciplines",
        };
        parts.push(lacking.to_owned());
    }
    parts.join(", ")
}

/// Adds an error for each round trip above its sound bound, and for each case that cannot be read.
fn violations(page: &mut Page, run: &ComparedRun) {
    for violation in run.violations() {
        let from = format!("{}: {}", run.directory.display(), origin(run));
        let lines = violation.lines.into_iter().chain([from]);
        page.notice(Notice::Error, &violation.title, lines);
    }
    let name = run.directory.display();
    for (number, case) in (1..).zip(&run.cases) {
        if let Some(damage) = &case.damage {
            let title = format!("Case {number} of {name} cannot be read");
            page.notice(Notice::Error, &title, [damage]);
        }
        for application in case.applications.iter().filter(|it| it.is_damaged) {
            let title = format!("A file of case {number} of {name} is damaged");
            page.notice(Notice::Error, &title, &application.remarks);
        }
    }
}

/// Adds the result of a run in one notice: comparable or not, with bounds or without.
fn summary(page: &mut Page, run: &ComparedRun) {
    let name = format!(
        "{} on {}",
        run.description.scenario, run.description.backend
    );
    if !run.is_comparable() {
        let reasons = run.not_comparable.iter().map(ToString::to_string);
        let what = "Measured times stand beside bounds and simulation to show that the run works. They say nothing about the bounds, and \
                    none of them counts as an error.";
        let lines = reasons.chain([what.to_owned()]);
        let title = format!("{name}: times are not comparable with bounds and simulation");
        page.notice(Notice::Warning, &title, lines);
    } else if run.violations().is_empty() {
        // With violations, the errors above are the result.
        let applications = run.cases.iter().flat_map(|it| &it.applications);
        let judged = applications.flat_map(|it| {
            let delays = it.delays().map(|(_, it)| it);
            delays.map(|it| (if it.is_decidable() { it.count } else { 0 }, &it.bound))
        });
        let judged: Vec<(u64, &ComparedBound)> = judged.collect();
        let with_bound = judged.iter();
        let with_bound = with_bound.filter(|(count, bound)| *count > 0 && bound.nanos().is_some());
        let counts: Vec<u64> = with_bound.map(|(count, _)| *count).collect();
        let (notice, title) = match (counts.is_empty(), run.is_damaged()) {
            (true, _) => (
                Notice::Warning,
                format!("{name}: nothing was compared with a bound"),
            ),
            (false, true) => (
                Notice::Warning,
                format!("{name}: no measurement that could be read is above its sound bound"),
            ),
            (false, false) => (
                Notice::Good,
                format!("{name}: no measurement is above its sound bound"),
            ),
        };
        let line = format!(
            "{} measured delays were compared, of {} of {} round trips and ways (wire, application, there and back of each case). \
             Resolution: {}.",
            counts.iter().sum::<u64>(),
            counts.len(),
            judged.len(),
            run.resolution()
        );
        page.notice(notice, &title, [line]);
    }
    let failed = (1..).zip(&run.cases);
    let failed = failed.filter_map(|(number, case)| {
        let failure = case.failure.as_ref()?;
        Some(format!("case {number}: {failure}"))
    });
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        let title = format!("{name}: {} cases have no result", failed.len());
        page.notice(Notice::Warning, &title, failed);
    }
}

/// Adds the section of a run.
fn section(composed: &mut Composed, run: &ComparedRun, requirements: &[Requirement], all: bool) {
    let entries = Entries::of(run);
    let origin = origin(run);
    let page = &mut composed.page;
    let description = &run.description;
    page.section(&format!(
        "{} on {}",
        description.scenario, description.backend
    ));
    if !run.about.is_empty() {
        page.paragraph(&run.about);
    }
    page.terms(facts(run));
    let pictures = charts::of_run(run, &entries, &origin);
    page.figures(pictures.iter().map(|it| (&it.figure, it.caption.as_str())));
    composed.pictures.extend(pictures);
    for kind in RoundTripKind::ALL {
        let name = round_trip(kind, run.sent_stamp());
        let caption = format!(
            "Round trip ({name}): bound, simulation and measurement. The worst simulated, the longest measured and the margin are of all messages, \
             both ends included. {origin}"
        );
        page.table(&tables::round_trips(run, &entries, kind), &caption);
        let reasons = entries.all.iter().filter_map(|entry| {
            let reason = match &entry.application.round_trip(kind).delay.bound {
                ComparedBound::Finite(_) => return None,
                ComparedBound::Infinite(reason) => format!("infinite: {reason}"),
                ComparedBound::Unknown(reason) => format!("unknown: {reason}"),
            };
            Some(format!("Case {}, bound ({name}) {reason}", entry.number))
        });
        let reasons: Vec<String> = reasons.collect();
        if !reasons.is_empty() {
            page.list(reasons);
        }
    }
    let unsynchronized = run.description.cases.iter().any(|case| !case.synchronized);
    if unsynchronized {
        page.paragraph(
            "The clocks of the hosts are not synchronized: times of one way were not measured.",
        );
    }
    let caption = format!(
        "One way on the wire: bound, simulation and measurement. The worst simulated, the longest measured and the margin are of all messages. \
         {origin}"
    );
    page.table(&tables::one_way(run, &entries), &caption);
    for requirement in requirements {
        page.subsection(&format!("Requirement {}", requirement.title));
        page.paragraph(&format!("Source: {}.", requirement.source));
        if !run.is_comparable() {
            page.paragraph("Times of this run are not comparable, so verdicts of the measurement say nothing about hardware.");
        }
        let caption = format!(
            "Requirement {}: verdicts and margins. {origin}",
            requirement.name
        );
        page.table(&tables::requirement(&entries, requirement), &caption);
    }
    for kind in RoundTripKind::ALL {
        let caption = format!(
            "Jitter of the round trip ({}): difference between neighbouring delays. {origin}",
            round_trip(kind, run.sent_stamp())
        );
        page.table(&tables::jitter(&entries, kind), &caption);
    }
    let caption = format!(
        "Losses as shares of all messages: dP at the Publisher's port, dL at the loopback, d\u{3a3} all together. {origin}"
    );
    page.table(&tables::losses(&entries), &caption);
    let caption = format!("Counters and inter-frame spacing at the Publisher. {origin}");
    page.table(&tables::counters(&entries, false), &caption);
    let assumptions: BTreeSet<&str> = run
        .cases
        .iter()
        .flat_map(|it| it.assumptions.iter().copied())
        .collect();
    if !assumptions.is_empty() {
        page.subsection("Assumptions of the bounds");
        page.list(assumptions);
    }
    let broken = run.cases.iter().flat_map(|it| it.broken.iter().copied());
    let broken: BTreeSet<&str> = broken.collect();
    if !broken.is_empty() {
        page.subsection("Assumptions of the bounds that Linux in software breaks");
        page.list(broken);
    }
    details(composed, run, &entries, &origin, all);
}

/// Returns names and values about a run.
fn facts(run: &ComparedRun) -> Vec<(String, String)> {
    let description = &run.description;
    let started = i64::try_from(description.started).unwrap_or(0);
    // A description of another origin may have any number here.
    let started = DateTime::from_unix_nanos(started.saturating_mul(1_000_000_000));
    let mut facts = vec![
        ("directory".to_owned(), run.directory.display().to_string()),
        ("backend".to_owned(), description.backend.clone()),
        ("started".to_owned(), started.to_iso8601()),
    ];
    let disciplines = match (description.disciplines, description.backend == BY_HAND) {
        (_, true) => None,
        (true, false) => Some("those of the scenario"),
        (false, false) => Some("none: the kernel's default"),
    };
    // Hosts have facts of their own about them.
    facts.extend(disciplines.map(|it| ("disciplines".to_owned(), it.to_owned())));
    let resolution = run.resolution().to_string();
    facts.push(("resolution".to_owned(), resolution));
    facts.extend(
        description
            .host
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    facts.extend(
        description
            .settings
            .iter()
            .map(|(field, value)| (parameter_name(field), value.clone())),
    );
    facts
}

/// Adds settings and pictures of the applications, those with the longest round trips if there are many.
fn details(
    composed: &mut Composed,
    run: &ComparedRun,
    entries: &Entries<'_>,
    origin: &str,
    all: bool,
) {
    let mut chosen: Vec<&Entry<'_>> = entries.all.iter().collect();
    if !all && chosen.len() > DETAILED {
        let key = |entry: &&Entry<'_>| {
            let trips = &entry.application.round_trips;
            let above = trips.iter().map(|it| it.delay.above_bound).sum::<u64>();
            let longest = trips.iter().filter_map(|it| it.delay.longest.first());
            Reverse((above, longest.map(|it| it.nanos).max()))
        };
        chosen.sort_by_key(key);
        chosen.truncate(DETAILED);
        // The page shows the cases in the order of the run.
        chosen.sort_by_key(|entry| entry.number);
        composed.page.paragraph(&format!(
            "Below are the {DETAILED} of {} applications with the longest round trips. A report of all applications shows the others.",
            entries.all.len()
        ));
    }
    for entry in chosen {
        let page = &mut composed.page;
        let title = format!("Case {}: {}", entry.number, entries.label(entry));
        page.subsection(&title);
        page.terms(settings(entry));
        let remarks: Vec<&String> = entry
            .case
            .remarks
            .iter()
            .chain(&entry.application.remarks)
            .collect();
        if !remarks.is_empty() {
            page.list(remarks);
        }
        let origin = format!("Case {}, {}. {origin}", entry.number, entries.label(entry));
        let pictures = charts::of_application(run, entry, &origin);
        page.figures(pictures.iter().map(|it| (&it.figure, it.caption.as_str())));
        late_wake_ups(page, entry, &origin);
        let alone = Entries::alone(entry);
        let caption = format!("Counters and inter-frame spacing at all trace points. {origin}");
        page.table(&tables::counters(&alone, true), &caption);
        let begin = match entry.case.sent_stamp {
            SentStamp::FirstBit => "with the first bit",
            SentStamp::Driver | SentStamp::Unknown => "in the first queue",
        };
        let caption =
            format!("Parts of the way; bound and simulation of one way begin {begin}. {origin}");
        page.table(&tables::parts(&alone), &caption);
        composed.pictures.extend(pictures);
    }
}

/// Adds the longest round trips during which a thread was late, with the causes.
fn late_wake_ups(page: &mut Page, entry: &Entry<'_>, origin: &str) {
    let Some(line) = late_table::line(entry.application) else {
        return;
    };
    page.paragraph(&line);
    let is_measured = |kind: &RoundTripKind| {
        let trip = entry.application.round_trip(*kind);
        !trip.delay.longest.is_empty()
    };
    for kind in RoundTripKind::ALL.into_iter().filter(is_measured) {
        let name = round_trip(kind, entry.case.sent_stamp);
        match late_table::of(entry.application, kind) {
            Some((table, count)) => page.table(
                &table,
                &format!(
                    "Late threads during the longest round trips ({name}), {count} in all: time since the beginning, round trip, and how \
                     long the thread was late, with its causes. {origin}"
                ),
            ),
            None if entry.application.late_wake_ups.iter().all(|it| it.began.is_some()) => page
                .paragraph(&format!(
                    "None of them was during the longest round trips ({name})."
                )),
            None => page.paragraph(&format!(
                "Whether the loopback was late during the longest round trips ({name}) is not known: the clocks of the hosts are not \
                 synchronized."
            )),
        }
    }
}

/// Returns names and values of the settings of a case.
fn settings(entry: &Entry<'_>) -> Vec<(String, String)> {
    let case = entry.case;
    let mut settings = vec![
        ("messages".to_owned(), case.messages.to_string()),
        ("left out at each end".to_owned(), case.trim.to_string()),
        ("seed".to_owned(), case.seed.to_string()),
        ("devices".to_owned(), case.device.clone()),
        (
            "time stamp of sent frames".to_owned(),
            case.sent_stamp.described().to_owned(),
        ),
    ];
    if !case.capture_clocks.is_empty() {
        let clocks = case.capture_clocks.join("; ");
        settings.push(("clocks of captures".to_owned(), clocks));
    }
    if let Some(late) = entry.application.wake_up_latency_nanos {
        settings.push((
            "longest recorded wake-up latency".to_owned(),
            format!("{:.1} \u{b5}s", late / 1e3),
        ));
    }
    settings.extend(case.configuration.iter().cloned());
    settings
}
