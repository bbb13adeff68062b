//! Charts of the medians over the size of the payload, and their files.

use std::path::Path;

use takt_figures::{Axis, Chart, ChartSeries, Figure, Scale};

use crate::condition::Condition;
use crate::error::MiddlewareError;
use crate::own::Mode;
use crate::row::MiddlewareRow;

/// Largest number of sizes that are written at an axis.
const TICKS: usize = 8;
/// Largest number of lines in one chart.
const LINES: usize = 8;
/// Conditions that have charts.
const CONDITIONS: [Condition; 3] = [Condition::Idle, Condition::Cpu, Condition::Network];

/// Removes the charts of an earlier comparison from the folder of the results, but for those with these names.
pub(crate) fn remove_other_charts(folder: &Path, names: &[&str]) -> Result<(), MiddlewareError> {
    let found = std::fs::read_dir(folder).map_err(MiddlewareError::file("read", folder))?;
    for entry in found {
        let path = entry.map_err(MiddlewareError::file("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.and_then(|name| name.strip_suffix(".svg")) else {
            continue;
        };
        if is_chart(name) && !names.contains(&name) {
            std::fs::remove_file(&path).map_err(MiddlewareError::file("remove", &path))?;
        }
    }
    Ok(())
}

/// Returns true if a chart may have this name: `echo`, `ack-cpu`, `echo-network-2` and others.
fn is_chart(name: &str) -> bool {
    let of_mode = |mode| CONDITIONS.map(|condition| base_name(mode, condition));
    let mut bases = Mode::ALL.into_iter().flat_map(of_mode);
    bases.any(|base| match name.strip_prefix(&base) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(is_number),
        None => false,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name that all charts of a kind of request under a condition begin with.
fn base_name(mode: Mode, condition: Condition) -> String {
    match condition {
        Condition::Idle => mode.name().to_owned(),
        _ => format!("{}-{}", mode.name(), condition.name()),
    }
}

/// Returns the charts of the peers without options under one condition, with the names of their files: the fastest ones of each kind first.
pub(crate) fn charts(condition: Condition, rows: &[&MiddlewareRow]) -> Vec<(String, Figure)> {
    let mut charts = Vec::new();
    for mode in Mode::ALL {
        let base = base_name(mode, condition);
        let wanted: Vec<&MiddlewareRow> = rows
            .iter()
            .copied()
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
                0 if of == 1 => (base.clone(), base.clone()),
                _ => {
                    let number = number + 1;
                    (
                        format!("{base}-{number}"),
                        format!("{base} ({number} of {of})"),
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
    let mut chart = Chart::new(takt_profile::titled(title), x, axis("median (\u{b5}s)"));
    chart.series = peers.iter().map(line).collect();
    Figure::of(chart)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn charts_of_an_earlier_comparison_are_removed_and_no_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let old = [
            "ack-network.svg",
            "echo-1.svg",
            "echo-cpu-12.svg",
            "ack.svg",
        ];
        let kept = [
            "echo.svg",
            "echo-network-2.svg",
            "echo-mine.svg",
            "echo-.svg",
            "echo-resting.svg",
            "my-echo.svg",
            "ack-1.txt",
            "index.html",
        ];
        for name in old.iter().chain(&kept) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        remove_other_charts(folder.path(), &["echo", "echo-network-2"]).unwrap();
        for name in old {
            assert!(!folder.path().join(name).exists(), "{name}");
        }
        for name in kept {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }
}
