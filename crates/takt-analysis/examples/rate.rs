//! Rate and memory of [`ExactStatistics`]: `cargo run --release -p takt-analysis --example rate -- 500000000`.

use std::time::Instant;

use takt_analysis::ExactStatistics;
use takt_statistics::Quantile;

fn main() {
    let samples: u64 = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(50_000_000);
    let mut state = 88_172_645_463_325_252_u64;
    let mut statistics = ExactStatistics::with_limit(ExactStatistics::MEMORY);
    let start = Instant::now();
    for _ in 0..samples {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // A round trip of 350 µs with 100 µs of variation; one in 1024 is anywhere within a second.
        let range = if state & 1023 == 0 {
            1_000_000_000
        } else {
            100_000
        };
        statistics.add(350_000 + i64::try_from((state >> 12) % range).unwrap_or(0));
    }
    let added = start.elapsed();
    let quantiles = statistics.quantiles([Quantile::MEDIAN, Quantile::P99, Quantile::P99_999]);
    let seconds = added.as_secs_f64();
    println!(
        "{samples} samples in {seconds:.2} s: {:.1} million per second",
        samples as f64 / seconds / 1e6
    );
    println!(
        "median, p99, p99.999 in ns: {quantiles:?}; resolution {} ns",
        statistics.resolution_nanos()
    );
    println!(
        "quantiles took {:.3} s",
        start.elapsed().as_secs_f64() - seconds
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!(
            "largest memory: {}",
            line.trim_start_matches("VmHWM:").trim()
        );
    }
}
