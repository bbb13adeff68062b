//! Layout of the live display: it fits a terminal of 80 columns and 24 lines.

use takt_terminal::{Style, StyledLine};

use crate::gauge::Gauge;

/// Columns of the name, the value and the unit of a row.
const NAME: usize = 27;
const VALUE: usize = 14;
const UNIT: usize = 6;

/// Live data of one Provider.
pub(crate) struct Section<'a> {
    /// ApplicationName.
    pub(crate) name: &'a str,
    /// Endpoints in one text.
    pub(crate) endpoints: String,
    /// Paths below the Provider, and their values.
    pub(crate) rows: Vec<(&'a str, &'a Gauge)>,
}

/// Contents of the display.
pub(crate) struct Dashboard<'a> {
    /// Providers, the most important one first.
    pub(crate) sections: Vec<Section<'a>>,
    /// Results of requests.
    pub(crate) requests: &'a [StyledLine],
    /// Latency table. It is always shown.
    pub(crate) latency: Vec<StyledLine>,
    /// True if the key `q` ends the program.
    pub(crate) has_keys: bool,
}

impl Dashboard<'_> {
    /// Returns the lines for a terminal of this height. Where it is too low, rows of the last Providers are left out.
    pub(crate) fn lines(&self, height: usize) -> Vec<StyledLine> {
        let ends = if self.has_keys { "q" } else { "Ctrl-C" };
        let mut head = vec![
            StyledLine::new()
                .with(Style::Title, "Takt demo")
                .with(Style::Label, format!("   {ends} ends it")),
        ];
        let mut tail = self.requests.to_vec();
        tail.extend(self.latency.iter().cloned());
        let mut left = height.saturating_sub(head.len() + tail.len());
        for (number, section) in self.sections.iter().enumerate() {
            // Each later Provider keeps its title and one row.
            let later = 3 * (self.sections.len() - number - 1);
            let lines = section.lines(left.saturating_sub(later));
            left = left.saturating_sub(lines.len());
            head.extend(lines);
        }
        // Requests make room for the latency.
        let excess = (head.len() + tail.len()).saturating_sub(height);
        tail.drain(..excess.min(self.requests.len()));
        head.extend(tail);
        head
    }
}

impl Section<'_> {
    /// Returns at most `height` lines: a title, rows, and the number of rows that are left out.
    fn lines(&self, height: usize) -> Vec<StyledLine> {
        let mut lines = vec![
            StyledLine::new()
                .with(Style::Title, self.name)
                .with(Style::Label, format!("   {}", self.endpoints)),
        ];
        let room = height.saturating_sub(1);
        let shown = match self.rows.len() <= room {
            true => self.rows.len(),
            false => room.saturating_sub(1),
        };
        for (path, gauge) in self.rows.iter().take(shown) {
            lines.push(row(path, gauge));
        }
        if shown < self.rows.len() {
            let hidden = self.rows.len() - shown;
            lines.push(StyledLine::new().with(
                Style::Label,
                format!("  … and {hidden} more: a taller window shows them"),
            ));
        }
        lines
    }
}

fn row(path: &str, gauge: &Gauge) -> StyledLine {
    let line = StyledLine::new()
        .with(Style::Label, format!("  {:<NAME$}", end_of(path)))
        .with(Style::Plain, format!("{:>VALUE$} ", gauge.value()))
        .with(Style::Label, format!("{:<UNIT$} ", gauge.shown_unit()));
    match gauge.bad() {
        Some(status) => line.with(Style::Bad, status.to_string()),
        None => line.with(Style::Course, gauge.course()),
    }
}

/// Returns the path, or its end behind an ellipsis where the column is too narrow.
fn end_of(path: &str) -> String {
    let length = path.chars().count();
    if length < NAME {
        return path.to_owned();
    }
    let end = path.chars().skip(length + 2 - NAME);
    std::iter::once('…').chain(end).collect()
}

#[cfg(test)]
mod tests {
    use takt_ua::Variant;

    use super::*;
    use crate::gauge::tests::gauge;

    const REQUESTS: usize = 5;

    fn lines(height: usize, rows: usize) -> Vec<String> {
        let speed: Vec<Variant> = (0..40)
            .map(|n| Variant::Double(f64::from(n) * 250.0))
            .collect();
        let gauge = gauge("r/min", &speed);
        let section = |name: &'static str, rows| Section {
            name,
            endpoints: format!("opc.iox2://{name}, opc.tcp://127.0.0.1:40123"),
            rows: vec![("Network/enp0s31f6/PacketsReceived", &gauge); rows],
        };
        let requests = vec![StyledLine::from("call   Machine/Start()  →  Good"); REQUESTS];
        let dashboard = Dashboard {
            sections: vec![section("Machine", 7), section("HostTelemetry", rows)],
            requests: &requests,
            latency: vec![
                StyledLine::from("Read"),
                StyledLine::from("opc.iox2"),
                StyledLine::from("opc.tcp"),
            ],
            has_keys: true,
        };
        let lines = dashboard.lines(height);
        lines.iter().map(|line| line.plain(usize::MAX)).collect()
    }

    #[test]
    fn a_terminal_of_80_columns_and_24_lines_shows_everything_that_matters() {
        // The last line is for the cursor.
        let lines = lines(23, 40);
        assert_eq!(lines.len(), 23);
        let machine = lines.iter().position(|line| line.starts_with("Machine"));
        assert_eq!(machine, Some(1));
        assert!(
            lines[2..9]
                .iter()
                .all(|line| line.contains("PacketsReceived"))
        );
        assert!(lines[9].starts_with("HostTelemetry"));
        assert!(lines.iter().any(|line| line.contains("and 36 more")));
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80),
            "{lines:#?}"
        );
        assert_eq!(lines[20..], ["Read", "opc.iox2", "opc.tcp"]);
    }

    #[test]
    fn the_latency_is_shown_on_the_lowest_terminals_too() {
        for height in [8, 12, 16] {
            let lines = lines(height, 40);
            assert!(lines.len() <= height.max(8), "{height}: {lines:#?}");
            assert_eq!(lines[lines.len() - 3..], ["Read", "opc.iox2", "opc.tcp"]);
        }
    }

    #[test]
    fn a_tall_terminal_shows_all_rows() {
        let lines = lines(80, 40);
        assert_eq!(lines.len(), 1 + 1 + 7 + 1 + 40 + REQUESTS + 3);
        assert!(!lines.iter().any(|line| line.contains("more")));
    }
}
