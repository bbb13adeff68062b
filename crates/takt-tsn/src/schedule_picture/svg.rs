//! Gates as SVG: a row for each class of a port, with the name of the class and the times in each window.

use std::fmt::Write;

use takt_scenario::Duration;

use super::picture::{ScheduleGates, SchedulePicture, interval};

/// Colours that colour-blind readers tell apart (Okabe and Ito), for classes from the highest on, and the colour of letters on them
/// with the greater contrast.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#fff"),
    ("#e69f00", "#000"),
    ("#009e73", "#000"),
    ("#cc79a7", "#000"),
    ("#56b4e9", "#000"),
    ("#d55e00", "#000"),
    ("#f0e442", "#000"),
    ("#999999", "#000"),
];
const LEFT: f64 = 130.0;
const CYCLE_WIDTH: f64 = 720.0;
const ROW: f64 = 22.0;
const GAP: f64 = 10.0;
/// Height of the name of a port, above its rows.
const HEADING: f64 = 16.0;
const TOP: f64 = 34.0;

impl SchedulePicture {
    /// Returns the picture as a document of its own. All ports have the axis of the longest cycle; shorter cycles are
    /// repeated.
    pub fn svg(&self) -> String {
        let longest = self
            .ports
            .iter()
            .map(|port| port.cycle)
            .max()
            .unwrap_or(Duration(1));
        let rows: usize = self.ports.iter().map(|port| port.classes.len()).sum();
        let height = TOP + rows as f64 * ROW + self.ports.len() as f64 * (HEADING + GAP) + 20.0;
        let width = LEFT + CYCLE_WIDTH + 20.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n\
             <style>text{{fill:#222}}.axis{{stroke:#888}}.closed{{fill:#eee}}\
             @media(prefers-color-scheme:dark){{text{{fill:#ddd}}.closed{{fill:#333}}}}</style>\n\
             <title>Open gates in a cycle</title>\n"
        );
        axis(&mut svg, longest, height);
        let mut y = TOP;
        for port in &self.ports {
            y = port_rows(&mut svg, port, longest, y) + GAP;
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Adds a tick and its time at each quarter of the cycle.
fn axis(svg: &mut String, longest: Duration, height: f64) {
    for quarter in 0..=4u64 {
        let x = LEFT + CYCLE_WIDTH * quarter as f64 / 4.0;
        let time = Duration(
            u64::try_from(u128::from(longest.0) * u128::from(quarter) / 4).unwrap_or(u64::MAX),
        );
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"24\" y2=\"{:.1}\" stroke-dasharray=\"2 3\"/>\
             <text x=\"{x:.1}\" y=\"18\" text-anchor=\"middle\">{time}</text>",
            height - 16.0
        );
    }
}

/// Adds the rows of a port, and returns the place below them.
fn port_rows(svg: &mut String, port: &ScheduleGates, longest: Duration, top: f64) -> f64 {
    let mut y = top;
    let kind = if port.is_txtime_assist {
        " (txtimes)"
    } else {
        ""
    };
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}{kind}</text>",
        y + 11.0,
        escaped(&port.port)
    );
    y += HEADING;
    for (number, (name, windows)) in port.classes.iter().enumerate() {
        let (colour, letters) = COLOURS[number % COLOURS.len()];
        let name = escaped(name);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
             <rect class=\"closed\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{CYCLE_WIDTH}\" height=\"{:.1}\"/>",
            LEFT - 6.0,
            y + 14.0,
            ROW - 4.0
        );
        for window in windows {
            let label = format!("{name} {}", interval(*window, port.cycle));
            for (begin, end) in parts(*window, port.cycle, longest) {
                let scale = CYCLE_WIDTH / longest.0 as f64;
                let (x, wide) = (LEFT + begin as f64 * scale, (end - begin) as f64 * scale);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{colour}\">\
                     <title>{label}</title></rect>",
                    ROW - 4.0
                );
                // A letter of this size is about 6 wide. Times that do not fit inside stand in the title of the window.
                let shown = if label.chars().count() as f64 * 6.0 < wide {
                    &label
                } else {
                    &name
                };
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" style=\"fill:{letters}\">{shown}</text>",
                    x + wide / 2.0,
                    y + 13.0
                );
            }
        }
        y += ROW;
    }
    y
}

/// Returns the parts of a window on an axis of the longest cycle: repeated in each cycle of the port, cut at the end of
/// the axis.
fn parts(
    (begin, length): (Duration, Duration),
    cycle: Duration,
    longest: Duration,
) -> Vec<(u64, u64)> {
    /// Number of repetitions that can still be told apart.
    const MOST: u64 = 200;
    let length = length.0.min(cycle.0);
    if length == cycle.0 {
        return vec![(0, longest.0)];
    }
    let mut parts = Vec::new();
    for repetition in 0..longest.0.div_ceil(cycle.0).min(MOST) {
        let start = repetition * cycle.0 + begin.0;
        let end = start + length;
        parts.push((start.min(longest.0), end.min(longest.0)));
        // The part of a window that extends beyond the axis is that of the cycle before.
        if repetition == 0 && begin.0 + length > cycle.0 {
            parts.push((0, begin.0 + length - cycle.0));
        }
    }
    parts.retain(|(start, end)| start < end);
    parts.sort_unstable();
    parts
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_repeated_and_cut() {
        let parts = |begin, length, cycle, longest| {
            parts(
                (Duration(begin), Duration(length)),
                Duration(cycle),
                Duration(longest),
            )
        };
        assert_eq!(parts(20, 40, 100, 100), [(20, 60)]);
        assert_eq!(parts(80, 40, 100, 100), [(0, 20), (80, 100)]);
        assert_eq!(parts(80, 40, 100, 200), [(0, 20), (80, 120), (180, 200)]);
        assert_eq!(parts(0, 100, 100, 200), [(0, 200)]);
    }
}
