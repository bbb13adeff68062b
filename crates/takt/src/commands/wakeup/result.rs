//! Result of a measurement: a table for people, or objects for programs.

use serde_json::json;
use takt_figures::{Column, Table};
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

/// Name of the setting of the priority.
const POLICY: &str = "SCHED_FIFO";

/// Returns a quantile of the latencies, in nanoseconds. The histogram rounds it up, but not above the longest one.
fn quantile_of(thread: &ThreadResult, quantile: Quantile) -> u64 {
    let nanos = thread.latencies.quantile(quantile);
    nanos.min(thread.longest_nanos)
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
        let refused = self.threads.iter().filter(|it| self.priority(it).is_none());
        let priority = match refused.count() {
            0 => format!("priority {}", self.arguments.priority),
            all if all == self.threads.len() => "no real-time priority".to_owned(),
            some => format!(
                "priority {}, refused on {some} cores",
                self.arguments.priority
            ),
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

    /// Returns the priority of a thread; `None` if it was not permitted.
    fn priority(&self, thread: &ThreadResult) -> Option<u8> {
        let mut settings = thread.preparations.iter();
        let is_refused = settings.any(|it| it.setting == POLICY && it.problem.is_some());
        (!is_refused).then_some(self.arguments.priority)
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
            "priority": self.priority(thread),
            "intervalNs": u64::try_from(self.arguments.interval.as_nanos()).unwrap_or(u64::MAX),
            "wakeUps": thread.latencies.count(),
            "overruns": thread.overruns,
        });
        let times = QUANTILES.iter().map(|(quantile, _, key)| {
            let nanos = quantile_of(thread, *quantile);
            ((*key).to_owned(), nanos.into())
        });
        let others = json!({
            "meanNs": thread.latencies.mean(),
            "maxNs": thread.longest_nanos,
            "settings": thread.preparations.iter().map(|it| json!({
                "setting": it.setting,
                "problem": it.problem,
            })).collect::<Vec<_>>(),
        });
        object = output::joined(object, serde_json::Value::Object(times.collect()));
        output::line(output::joined(object, others));
    }

    fn print_table(&self) {
        let micros = |nanos: u64| format!("{:.1}", nanos as f64 / 1000.0);
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
            let times = quantiles.chain([thread.longest_nanos]).map(micros);
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

    fn thread(problem: Option<&str>) -> ThreadResult {
        let mut latencies = TimeHistogram::of_a_minute();
        latencies.record(25_901);
        ThreadResult {
            core: Some(1),
            latencies,
            longest_nanos: 25_901,
            overruns: 0,
            preparations: vec![Preparation {
                setting: POLICY,
                problem: problem.map(str::to_owned),
            }],
        }
    }

    #[test]
    fn no_quantile_is_longer_than_the_longest_latency() {
        let thread = thread(None);
        assert!(thread.latencies.quantile(Quantile::P99) > thread.longest_nanos);
        assert_eq!(quantile_of(&thread, Quantile::P99), thread.longest_nanos);
    }

    /// The file of a scenario had the priority that was refused.
    #[test]
    fn a_refused_priority_is_not_told() {
        let Ok(command) = Command::try_parse_from(["takt", "--priority", "70"]) else {
            panic!("the arguments are valid");
        };
        for (problem, priority, text) in [
            (None, Some(70), "core 1, priority 70, interval"),
            (
                Some("not permitted"),
                None,
                "core 1, no real-time priority,",
            ),
        ] {
            let threads = [thread(problem)];
            let results = Results {
                arguments: &command.arguments,
                threads: &threads,
            };
            assert_eq!(results.priority(&threads[0]), priority);
            let description = results.description();
            assert!(description.contains(text), "{description}");
        }
    }
}
