//! The histogram that scenarios read as `wake_up_latency`.

use std::path::Path;

use takt_scenario::{Duration, Histogram};
use takt_statistics::TimeHistogram;

use super::result::Results;
use crate::{explain, output_file};

/// Picoseconds of a nanosecond.
const PICOS: u64 = 1000;

/// Checks that the file can be written.
pub(super) fn check(path: &Path) -> miette::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    tempfile::tempfile_in(parent).map_err(|error| refused(path, &error))?;
    match path.is_dir() {
        true => Err(refused(path, &std::io::ErrorKind::IsADirectory.into())),
        false => Ok(()),
    }
}

/// Writes the latencies of all threads.
pub(super) fn write(path: &Path, results: &Results<'_>) -> miette::Result<()> {
    let histogram = Histogram::new(bins(&results.all())).map_err(|error| {
        explain::with_help(
            format!("there is no histogram to write: {error}"),
            "Measure for a longer time with --for.",
        )
    })?;
    let text = format!("# {}\n{}", results.description(), lines(&histogram));
    let written = output_file::write(path, text.as_bytes(), true);
    written.map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &std::io::Error) -> miette::Report {
    explain::with_help(
        format!("cannot write {}: {error}", path.display()),
        "Choose another file with --histogram, or check for free space on the disk.",
    )
}

/// Returns the lines that scenarios read (docs/scenario.md).
fn lines(histogram: &Histogram) -> String {
    let bins = histogram.bins().iter();
    let lines = bins.map(|(bound, count)| format!("{bound}, {count}\n"));
    std::iter::once("lower bound, count\n".to_owned())
        .chain(lines)
        .collect()
}

/// Returns lower bounds and counts. An empty bin ends each one that has no neighbour, and the last one.
fn bins(times: &TimeHistogram) -> Vec<(Duration, u64)> {
    let time = |nanos: u64| Duration(nanos.saturating_mul(PICOS));
    let mut bins = Vec::new();
    let mut end = None;
    for bin in times.bins() {
        if let Some(end) = end.filter(|end| *end < bin.lower) {
            bins.push((time(end), 0));
        }
        bins.push((time(bin.lower), bin.count));
        end = Some(bin.end);
    }
    bins.extend(end.map(|end| (time(end), 0)));
    bins
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_scenario_reads_the_measured_latencies() {
        let mut times = TimeHistogram::of_a_minute();
        let nanos = [1500, 1500, 1501, 9000, 250_321, 4_000_000];
        for nanos in nanos {
            times.record(nanos);
        }
        let histogram = Histogram::new(bins(&times)).unwrap();
        let read = Histogram::from_csv(&lines(&histogram)).unwrap();
        assert_eq!(read, histogram);
        assert_eq!(read.total(), 6);
        assert!(read.least() <= Duration(1_500_000));
        // Bounds must hold for the longest latency.
        let most = read.most();
        let (measured, rounded) = (Duration(4_000_000_000), Duration(4_004_000_000));
        assert!(most >= measured && most <= rounded, "{most}");
        let in_gap = read.bins().iter().find(|bin| bin.0 == Duration(1_502_000));
        assert_eq!(in_gap.map(|bin| bin.1), Some(0), "{read:?}");
    }
}
