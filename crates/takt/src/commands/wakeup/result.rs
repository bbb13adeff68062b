//! Result of a measurement: a table for people, or objects for programs.

use std::collections::BTreeSet;

use serde_json::json;
use takt_figures::{Column, Table};
use takt_rt::priority::Policy;
use takt_statistics::{Quantile, TimeHistogram};
use takt_wakeup::ThreadResult;

use crate::arguments::WakeUpArguments;
use crate::output;

/// Quantiles of the table, with their headings and keys.
const QUANTILES: [(Quantile, &str, &str); 5] = [
    (Quantile::MIN, "min", "minNs"),
    (Quantile::MEDIAN, "median", "medianNs"),
    (Quantile::P99, "p99", "p99Ns"),
    (Quantile::P99_9, "p99.9", "p999Ns"),
    (Quantile::P99_999, "p99.999", "p99999Ns"),
];

/// Returns a quantile of the latencies, in nanoseconds; `None` without wake-ups. The histogram rounds it up, but not above the longest
/// one.
fn quantile_of(thread: &ThreadResult, quantile: Quantile) -> Option<u64> {
    let nanos = thread.latencies.quantile(quantile);
    longest_of(thread).map(|longest| nanos.min(longest))
}

/// Returns the longest latency, in nanoseconds; `None` without wake-ups.
fn longest_of(thread: &ThreadResult) -> Option<u64> {
    (thread.latencies.count() > 0).then_some(thread.longest_nanos)
}

/// Returns the real-time priority that a thread had; `None` if it had none.
fn priority_of(thread: &ThreadResult) -> Option<u8> {
    thread.policy.and_then(Policy::priority)
}

/// Result of a measurement.
pub(super) struct Results<'a> {
    pub(super) arguments: &'a WakeUpArguments,
    pub(super) threads: &'a [ThreadResult],
}

impl Results<'_> {
    /// Returns the latencies of all threads.
    pub(super) fn all(&self) -> TimeHistogram {
        let mut all = TimeHistogram::of_a_minute();
        self.threads.iter().for_each(|it| all.add(&it.latencies));
        all
    }

    /// Returns the conditions of the measurement in one line.
    pub(super) fn description(&self) -> String {
        let cores = self.threads.iter().filter_map(|it| it.core);
        let cores: takt_rt::affinity::Cores = cores.collect();
        let priorities = || self.threads.iter().map(priority_of);
        let different: BTreeSet<u8> = priorities().flatten().collect();
        let different: Vec<String> = different.iter().map(u8::to_string).collect();
        let priority = format!("priority {}", different.join(" and "));
        let priority = match priorities().filter(Option::is_none).count() {
            0 => priority,
            all if all == self.threads.len() => "no real-time priority".to_owned(),
            some => format!("{priority}, refused on {some} cores"),
        };
        format!(
            "takt wakeup: core {cores}, {priority}, interval {:?}, {} wake-ups",
            self.arguments.interval,
            self.threads
                .iter()
                .map(|it| it.latencies.count())
                .sum::<u64>(),
        )
    }

    pub(super) fn print(&self) {
        match self.arguments.json {
            true => self.threads.iter().for_each(|it| self.print_object(it)),
            false => self.print_table(),
        }
        self.tell_problems();
    }

    /// Logs settings that could not be applied, each once.
    fn tell_problems(&self) {
        let mut told: Vec<&str> = Vec::new();
        let preparations = self.threads.iter().flat_map(|it| &it.preparations);
        for preparation in preparations {
            let Some(problem) = preparation.problem.as_deref() else {
                continue;
            };
            if !told.contains(&problem) {
                told.push(problem);
                tracing::warn!("{}: {problem}", preparation.setting);
            }
        }
    }

    fn print_object(&self, thread: &ThreadResult) {
        let mut object = json!({
            "core": thread.core,
            "priority": priority_of(thread),
            "intervalNs": u64::try_from(self.arguments.interval.as_nanos()).unwrap_or(u64::MAX),
            "wakeUps": thread.latencies.count(),
            "overruns": thread.overruns,
        });
        let times = QUANTILES.iter().map(|(quantile, _, key)| {
            let nanos = quantile_of(thread, *quantile);
            ((*key).to_owned(), nanos.into())
        });
        let others = json!({
            "meanNs": longest_of(thread).map(|_| thread.latencies.mean()),
            "maxNs": longest_of(thread),
            "settings": thread.preparations.iter().map(|it| json!({
                "setting": it.setting,
                "problem": it.problem,
            })).collect::<Vec<_>>(),
        });
        object = output::joined(object, serde_json::Value::Object(times.collect()));
        output::line(output::joined(object, others));
    }

    fn print_table(&self) {
        let micros = |nanos: Option<u64>| match nanos {
            Some(nanos) => format!("{:.1}", nanos as f64 / 1000.0),
            None => "\u{2013}".to_owned(),
        };
        let columns = [
            Column::text("core"),
            Column::number("wake-ups"),
            Column::number("overruns"),
        ];
        let times = QUANTILES.iter().map(|(_, heading, _)| *heading);
        let times = times.chain(["max"]);
        let times = times.map(|heading| Column::number(heading).unit("\u{b5}s"));
        let mut table = Table::new(columns.into_iter().chain(times));
        for thread in self.threads {
            let core = thread
                .core
                .map_or_else(|| "any".to_owned(), |it| it.to_string());
            let counts = [thread.latencies.count(), thread.overruns];
            let counts = counts.map(|count| count.to_string());
            let quantiles = QUANTILES.iter();
            let quantiles = quantiles.map(|(quantile, ..)| quantile_of(thread, *quantile));
            let times = quantiles.chain([longest_of(thread)]).map(micros);
            table.row(std::iter::once(core).chain(counts).chain(times));
        }
        output::lines(table.lines(takt_figures::width()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use clap::Parser;
    use takt_wakeup::Preparation;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: WakeUpArguments,
    }

    fn thread(policy: Policy) -> ThreadResult {
        let mut latencies = TimeHistogram::of_a_minute();
        latencies.record(25_901);
        ThreadResult {
            core: Some(1),
            latencies,
            longest_nanos: 25_901,
            overruns: 0,
            preparations: vec![Preparation {
                setting: "SCHED_FIFO",
                problem: None,
            }],
            policy: Some(policy),
        }
    }

    #[test]
    fn no_quantile_is_longer_than_the_longest_latency() {
        let thread = thread(Policy::Other);
        let longest = thread.longest_nanos;
        assert!(thread.latencies.quantile(Quantile::P99) > longest);
        assert_eq!(quantile_of(&thread, Quantile::P99), Some(longest));
    }

    #[test]
    fn a_thread_without_wake_ups_has_no_latencies() {
        let silent = ThreadResult {
            latencies: TimeHistogram::of_a_minute(),
            longest_nanos: 0,
            ..thread(Policy::Other)
        };
        assert_eq!(quantile_of(&silent, Quantile::MIN), None);
        assert_eq!(longest_of(&silent), None);
    }

    /// The file of a scenario had the priority of the arguments, which may be refused.
    #[test]
    fn the_priority_is_that_of_the_threads() {
        let Ok(command) = Command::try_parse_from(["takt", "--priority", "70"]) else {
            panic!("the arguments are valid");
        };
        let (fifo, other) = (Policy::Fifo(70), Policy::Other);
        for (policies, text) in [
            ([fifo, fifo], ", priority 70, interval"),
            ([other, other], ", no real-time priority, interval"),
            ([other, fifo], ", priority 70, refused on 1 cores, interval"),
            ([fifo, Policy::Fifo(30)], ", priority 30 and 70, interval"),
        ] {
            let threads = policies.map(thread);
            let results = Results {
                arguments: &command.arguments,
                threads: &threads,
            };
            let description = results.description();
            assert!(description.contains(text), "{description}");
        }
    }
}
