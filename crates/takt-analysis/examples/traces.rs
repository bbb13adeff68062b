//! Rate and memory of an analysis of two trace files: `cargo run --release -p takt-analysis --example traces -- 5000000`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use takt_analysis::{AnalysisOptions, CapturePort, RunAnalysis};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let messages: u64 = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 5_000_000,
    };
    let directory = tempfile::tempdir()?;
    let files = [("publisher", 1, 8), ("loopback", 4, 5)].map(|(name, first, second)| {
        let path = directory.path().join(name);
        (path, [first, second])
    });
    for (path, points) in &files {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(b"TAKTTRC1")?;
        // No description, and no lost records.
        file.write_all(&[0; 12])?;
        let mut state = 88_172_645_463_325_252_u64;
        for counter in 0..messages {
            for (point, longest) in points.iter().zip([1_000, 300_000]) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let time = counter * 250_000 + longest + (state >> 12) % longest;
                file.write_all(&[*point])?;
                file.write_all(&counter.to_le_bytes())?;
                file.write_all(&time.to_le_bytes())?;
            }
        }
        file.flush()?;
    }
    let files = files.map(|(path, _)| (path, CapturePort::default()));
    let start = Instant::now();
    let run = RunAnalysis::of(&files, &AnalysisOptions::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let intervals = run.intervals.iter();
    let intervals: u64 = intervals
        .map(|it| it.delay.count() + it.jitter.count())
        .sum();
    let points: u64 = run.points.iter().map(|it| it.spacing.count()).sum();
    let millions = |count: u64| count as f64 / seconds / 1e6;
    println!(
        "{} records in {seconds:.2} s: {:.1} million per second",
        messages * 4,
        millions(messages * 4)
    );
    println!(
        "{} samples: {:.1} million per second",
        intervals + points,
        millions(intervals + points)
    );
    let status = std::fs::read_to_string("/proc/self/status")?;
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!(
            "largest memory: {}",
            line.trim_start_matches("VmHWM:").trim()
        );
    }
    Ok(())
}
