//! Gates as text: a line for each class of a port, at most 80 columns wide.

use takt_scenario::Duration;

use super::picture::{ScheduleGates, SchedulePicture, interval};

/// Characters of a cycle.
const CELLS: u64 = 40;
/// Width of a line.
const WIDTH: usize = 80;
/// Longest name of a class.
const NAME: usize = 14;

impl SchedulePicture {
    /// Returns the lines of the picture. Open gates are `█`, closed ones `·`; beside them are the times of the windows.
    pub fn text(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for port in &self.ports {
            let kind = if port.is_txtime_assist {
                ", txtimes"
            } else {
                ""
            };
            lines.push(format!(
                "{}: cycle {}, shift {}{kind}",
                port.port, port.cycle, port.shift
            ));
            for (name, windows) in &port.classes {
                let name: String = name.chars().take(NAME).collect();
                let cells: String = (0..CELLS).map(|cell| mark(port, windows, cell)).collect();
                let line = format!("  {name:NAME$} {cells} ");
                lines.extend(with_times(line, port, windows));
            }
        }
        lines
    }
}

/// Returns the mark of a part of the cycle: open if the gate is open at its middle, or a window begins in it.
fn mark(port: &ScheduleGates, windows: &[(Duration, Duration)], cell: u64) -> char {
    let part = |number: u64| u128::from(port.cycle.0) * u128::from(number) / u128::from(2 * CELLS);
    let (begin, middle, end) = (part(2 * cell), part(2 * cell + 1), part(2 * cell + 2));
    let cycle = u128::from(port.cycle.0);
    let is_open = windows.iter().any(|(opens, length)| {
        let (opens, length) = (u128::from(opens.0), u128::from(length.0));
        // Windows begin within a cycle, so the difference is not negative.
        (middle + cycle - opens) % cycle < length || (begin <= opens && opens < end)
    });
    if is_open { '\u{2588}' } else { '\u{b7}' }
}

/// Adds the times of the windows behind the marks, on further lines where there is no room.
fn with_times(
    mut line: String,
    port: &ScheduleGates,
    windows: &[(Duration, Duration)],
) -> Vec<String> {
    let indent = " ".repeat(line.chars().count());
    let mut lines = Vec::new();
    let times = windows.iter().map(|window| interval(*window, port.cycle));
    let times: Vec<String> = if windows.is_empty() {
        vec!["never".to_owned()]
    } else {
        times.collect()
    };
    for (number, time) in times.iter().enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        if number > 0 && line.chars().count() + comma.len() + time.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            line.push_str(time);
        } else {
            line.push_str(comma);
            line.push_str(time);
        }
    }
    lines.push(line);
    lines
}
