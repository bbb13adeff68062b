//! Charts of a report, one file for each kind, with their names and captions.

mod histogram;
mod round_trips;
mod spacing;
mod time_line;

use takt_figures::Figure;

use crate::comparison::{ComparedRun, RoundTripKind};
use crate::entries::{Entries, Entry};

/// Picture with its name as a file, and its caption.
pub(crate) struct NamedPicture {
    pub(crate) name: String,
    pub(crate) caption: String,
    pub(crate) figure: Figure,
}

/// Returns the pictures of a run: one kind of round trip after the other.
pub(crate) fn of_run(run: &ComparedRun, entries: &Entries<'_>, origin: &str) -> Vec<NamedPicture> {
    let mut pictures = Vec::new();
    for kind in RoundTripKind::ALL.into_iter().filter(|kind| run.has(*kind)) {
        for (number, figure) in (1..).zip(round_trips::figures(run, entries, kind)) {
            pictures.push(NamedPicture {
                name: format!("{}-{}-round-trips-{number}", prefix(run), kind.name()),
                caption: format!(
                    "Round trip ({}). Boxes: measured quartiles and median; whiskers: 1 % and 99 %; dots: the longest of all \
                     messages; triangles: it is above the axis (never a measurement above its bound). Diamonds: worst simulated of all \
                     messages. Red lines: sound bound. Red crosses: values above it. {origin}",
                    kind.name()
                ),
                figure,
            });
        }
    }
    pictures
}

/// Returns the pictures of an application.
pub(crate) fn of_application(
    run: &ComparedRun,
    entry: &Entry<'_>,
    origin: &str,
) -> Vec<NamedPicture> {
    let application = entry.application;
    let name = |what: &str| {
        let directory = &entry.case.directory;
        format!(
            "{}-{directory}-{}-{what}",
            prefix(run),
            plain(&application.name)
        )
    };
    let mut pictures = Vec::new();
    let mut add = |what: &str, caption: &str, figure: Option<Figure>| {
        pictures.extend(figure.map(|figure| NamedPicture {
            name: name(what),
            caption: format!("{caption} {origin}"),
            figure,
        }));
    };
    for kind in RoundTripKind::ALL {
        let what = kind.name();
        let caption =
            format!("Histogram of the round trip ({what}), without messages at both ends.");
        let figure = histogram::figure(application, kind);
        add(&format!("{what}-histogram"), &caption, figure);
        let caption = format!(
            "Longest round trips ({what}) over the time of the run, both ends included. Diamonds: a thread was late meanwhile, by its longest cause."
        );
        let figure = time_line::figure(run, application, kind);
        add(&format!("{what}-time-line"), &caption, figure);
    }
    let caption = "Inter-frame spacing at the ports: share of spacings that are not longer.";
    add("spacing", caption, spacing::figure(application));
    pictures
}

/// Returns the beginning of the names of a run's pictures.
fn prefix(run: &ComparedRun) -> String {
    let name = run.directory.file_name();
    plain(&name.unwrap_or_default().to_string_lossy())
}

/// Replaces everything in a name that could be special in a path.
pub(crate) fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    if name.is_empty() {
        "run".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(plain("lab-line_2"), "lab-line_2");
        assert_eq!(plain("../a b\u{fc}"), "---a-b-");
        assert_eq!(plain(""), "run");
    }
}
