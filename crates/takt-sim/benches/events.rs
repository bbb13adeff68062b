//! Number of frame events that one core simulates in a second, from 10 to 10 000 flows over five bridges.
//!
//! Run `cargo bench -p takt-sim --bench events`; numbers of flows behind `--` select those. The result is the median of several
//! runs.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark says what it measured"
)]

use std::fmt::Write;

use rustix::time::{ClockId, clock_gettime};

use takt_scenario::Scenario;
use takt_sim::{Model, RunOptions, Simulation};

const BRIDGES: usize = 5;
const FRAMES: u64 = 1_000_000;
const REPEATS: usize = 5;
/// Least number of messages of each flow, so that allocations for the flow do not count.
const LEAST_MESSAGES: u64 = 100;

/// Returns the processor time of this thread in seconds: other processes may use this machine too.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Makes a scenario with hosts at both ends of a line of bridges, and so many flows between them.
fn scenario(flows: usize, queue: &str) -> Scenario {
    let mut text = format!(
        "version = 1\ndiscipline = \"tsn\"\n[disciplines.tsn]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3], {queue} }}, {{ name = \"rest\" }}]\n"
    );
    for bridge in 0..BRIDGES {
        write!(text, "[[nodes]]\nname = \"b{bridge}\"\nkind = \"bridge\"\n").unwrap();
    }
    let hosts = flows.min(50);
    for host in 0..hosts {
        for (side, bridge) in [("in", 0), ("out", BRIDGES - 1)] {
            write!(text, "[[nodes]]\nname = \"{side}{host}\"\n[[links]]\nends = [\"{side}{host}\", \"b{bridge}\"]\nrate = \"1 Gbit/s\"\n").unwrap();
        }
    }
    for bridge in 1..BRIDGES {
        write!(
            text,
            "[[links]]\nends = [\"b{}\", \"b{bridge}\"]\nrate = \"10 Gbit/s\"\n",
            bridge - 1
        )
        .unwrap();
    }
    // All flows together use half of the line's rate, whatever their number.
    let cycle = 1 + flows * 202 * 8 / 10_000;
    for flow in 0..flows {
        write!(
            text,
            "[[applications]]\nname = \"f{flow}\"\npublisher = \"in{0}\"\nsubscriber = \"out{0}\"\ncycle = \"{cycle} us\"\noffset = \"{1} ns\"\nrepeated_node_count = 2\npcp = 3\n",
            flow % hosts,
            flow * 997 % (cycle * 1000),
        )
        .unwrap();
    }
    Scenario::parse(&text, "bench.toml").unwrap()
}

fn main() {
    let wanted: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    println!(
        "{:>7} {:>6} {:>6} {:>12} {:>14} {:>16}",
        "flows", "queue", "model", "events", "frame events", "frame events/s"
    );
    for flows in [10, 100, 1000, 10_000] {
        if !wanted.is_empty() && !wanted.contains(&flows) {
            continue;
        }
        for (name, queue, model) in [
            ("fifo", "queue = \"fifo\"", Model::Ieee),
            ("cbs", "queue = \"cbs\"", Model::Ieee),
            ("cbs", "queue = \"cbs\"", Model::Linux),
        ] {
            let scenario = scenario(flows, queue);
            let mut seconds = [0.0; REPEATS];
            let mut counts = (0, 0);
            for second in &mut seconds {
                let mut options = RunOptions::new(&scenario);
                options.simulation.cycles = (FRAMES / 6 / flows as u64).max(LEAST_MESSAGES);
                options.model = model;
                let simulation = Simulation::new(&scenario, options);
                let start = processor_time();
                let results = simulation.run(&mut ());
                *second = processor_time() - start;
                counts = (results.events, results.frame_events);
            }
            seconds.sort_by(f64::total_cmp);
            println!(
                "{flows:>7} {name:>6} {:>6} {:>12} {:>14} {:>14.2} M",
                format!("{model:?}").to_lowercase(),
                counts.0,
                counts.1,
                counts.1 as f64 / seconds[REPEATS / 2] / 1e6
            );
        }
    }
}
