//! Comparison of the wait policies: latency and processor time of Reads over shared memory with client and server on one core, on
//! two cores, and beside a process that keeps a processor busy, at several rates.
//!
//! All threads have the system's usual scheduling policy. The client sleeps between two requests, whatever its wait policy is.
//! The first requests are not counted, because the adaptive policy learns in that time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_figures::{Column, Progress, Report, Table};
use takt_rt::{affinity, process};
use takt_statistics::{Estimate, GoalVerdict, SortedTimes};

use super::options::Options;
use crate::assignment::Assignment;
use crate::error::{BenchError, check_interrupt};
use crate::local_session::LocalSession;
use crate::measure::Samples;
use crate::pace::{Pace, RequestRate};
use crate::pair::{Pair, Setting, Subject};
use crate::parent;
use crate::payload::Payload;
use crate::process::Process;
use crate::round_trip::{self, Access, Operation, RoundTrip, Service, Wait};
use crate::seat::Placement;
use crate::serve::Role;

/// Number of requests in which the adaptive policy learns.
const LEARNING: u64 = 100;
/// Number of requests of one series back to back.
const BACK_TO_BACK: u64 = 20_000;
/// Duration of one series of requests at a rate.
const SERIES: Duration = Duration::from_secs(1);
/// Rates of requests; none for back to back.
const RATES: [Option<&str>; 4] = [Some("100Hz"), Some("1kHz"), Some("10kHz"), None];
/// Policies in the order in which they are measured.
const POLICIES: [Wait; 3] = [Wait::Spin, Wait::Adaptive, Wait::Sleep];
/// Their places in [`POLICIES`].
const SPIN: usize = 0;
const ADAPTIVE: usize = 1;
const SLEEP: usize = 2;
/// Largest cost of adaptive waiting, as a multiple of the better one of the two other policies.
const GOAL: f64 = 1.2;

/// Placement of client, server and a busy process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    name: &'static str,
    placement: Placement,
    busy: bool,
}

const PLACES: [Place; 4] = [
    Place {
        name: "one core",
        placement: Placement::Same,
        busy: false,
    },
    Place {
        name: "two cores",
        placement: Placement::Diff,
        busy: false,
    },
    Place {
        name: "one core, busy",
        placement: Placement::Same,
        busy: true,
    },
    Place {
        name: "two cores, busy",
        placement: Placement::Diff,
        busy: true,
    },
];

/// Results of one policy at one rate, in one series.
#[derive(Debug)]
struct Figures {
    durations: Samples,
    /// Processor time of client and server.
    cpu: Duration,
    requests: u64,
}

impl Figures {
    fn cpu_micros(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "requests far below 2^53")]
        let requests = self.requests.max(1) as f64;
        self.cpu.as_secs_f64() * 1e6 / requests
    }
}

/// A line of the table: one place and one rate.
#[derive(Debug, Serialize)]
struct Row {
    cores: &'static str,
    /// Requests per second; none for back to back.
    rate: Option<f64>,
    /// Medians in microseconds: spin, adaptive, sleep; none if not measured. Each is the median of the series.
    median: [Option<f64>; 3],
    /// 99th percentiles, likewise.
    p99: [Option<f64>; 3],
    /// Processor time of client and server for each request, in microseconds, likewise.
    cpu: [Option<f64>; 3],
    /// Median of the adaptive policy, divided by the better one of the others.
    median_ratio: Option<Estimate>,
    /// Processor time of the adaptive policy, divided by that of sleeping, where sleeping has the better median.
    cpu_ratio: Option<Estimate>,
    /// Verdict of the series on the goal.
    goal: GoalVerdict,
}

/// Figures of the three policies in one series; none if not measured.
type OfSeries = [Option<Figures>; 3];

impl Row {
    fn new(place: Place, rate: Option<RequestRate>, series: &[OfSeries]) -> Self {
        let all = |policy: usize, metric: fn(&Figures) -> f64| -> Vec<f64> {
            let figures = series.iter().filter_map(|it| it.get(policy)?.as_ref());
            figures.map(metric).collect()
        };
        let each = |metric: fn(&Figures) -> f64| {
            [0, 1, 2].map(|policy| SortedTimes::new(all(policy, metric)).median())
        };
        let p50 = |figures: &Figures| figures.durations.percentiles().p50;
        let median = each(p50);
        // Both parts of a ratio are of one series: they were measured one soon after the other.
        let ratio = |above: fn(&OfSeries) -> Option<f64>, below: fn(&OfSeries) -> Option<f64>| {
            let pairs = series
                .iter()
                .filter_map(|it| Some((above(it)?, below(it)?)));
            let ratios = pairs
                .filter(|(_, below)| *below > 0.0)
                .map(|(above, below)| above / below);
            SortedTimes::new(ratios.collect()).median_estimate()
        };
        let [spin, _, sleep] = median.map(|median| median.unwrap_or(f64::INFINITY));
        // Spinning takes all processor time: where it has the better median, that time is no part of the goal.
        let cpu_counts = spin >= sleep;
        let cpu_ratio = match cpu_counts {
            false => None,
            true => ratio(|it| cpu(it, ADAPTIVE), |it| cpu(it, SLEEP)),
        };
        let median_ratio = ratio(
            |it| micros(it, ADAPTIVE),
            |it| {
                let others = [micros(it, SPIN), micros(it, SLEEP)];
                others.into_iter().flatten().reduce(f64::min)
            },
        );
        Self {
            cores: place.name,
            rate: rate.map(RequestRate::hertz),
            median,
            p99: each(|figures| figures.durations.percentiles().p99),
            cpu: each(Figures::cpu_micros),
            goal: goal(
                median_ratio.as_ref(),
                cpu_counts.then_some(cpu_ratio.as_ref()),
            ),
            median_ratio,
            cpu_ratio,
        }
    }

    /// Returns the cells of the table.
    fn cells(&self) -> Vec<String> {
        let two_digits = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
        };
        let rate = self
            .rate
            .map_or_else(|| "most".to_owned(), |rate| format!("{rate:.0}"));
        let figures = self.median.into_iter().chain(self.cpu);
        let ratios = [self.median_ratio, self.cpu_ratio].map(|it| it.map(|it| it.value));
        [self.cores.to_owned(), rate]
            .into_iter()
            .chain(figures.chain(ratios).map(two_digits))
            .chain([self.goal.to_string()])
            .collect()
    }
}

fn micros(series: &OfSeries, policy: usize) -> Option<f64> {
    let figures = series.get(policy)?.as_ref()?;
    Some(figures.durations.percentiles().p50)
}

fn cpu(series: &OfSeries, policy: usize) -> Option<f64> {
    Some(series.get(policy)?.as_ref()?.cpu_micros())
}

/// Returns the verdict on the goal: both ratios are at most [`GOAL`], the second one where it counts. A ratio that counts and has no
/// estimate is undecided.
fn goal(median: Option<&Estimate>, cpu: Option<Option<&Estimate>>) -> GoalVerdict {
    let verdict = |ratio: Option<&Estimate>| {
        ratio.map_or(GoalVerdict::Undecided, |it| GoalVerdict::at_most(it, GOAL))
    };
    let verdicts = [Some(median), cpu].map(|it| it.map(verdict));
    let has = |wanted| verdicts.iter().flatten().any(|it| *it == wanted);
    match (has(GoalVerdict::Refuted), has(GoalVerdict::Undecided)) {
        (true, _) => GoalVerdict::Refuted,
        (false, true) => GoalVerdict::Undecided,
        (false, false) => GoalVerdict::Shown,
    }
}

/// Returns the columns of the table.
fn columns() -> Vec<Column> {
    let policies = |group: &'static str| {
        let names = ["spin", "adaptive", "sleep"];
        names.map(|name| Column::number(name).unit("µs").group(group).at_least(8))
    };
    let mut columns = vec![
        Column::text("client, server").at_least(15),
        Column::number("rate").unit("1/s"),
    ];
    columns.extend(policies("median"));
    columns.extend(policies("processor time"));
    columns.push(
        Column::number("median")
            .group("adaptive / better")
            .at_least(6),
    );
    columns.push(
        Column::number("time")
            .group("adaptive / better")
            .at_least(6),
    );
    columns.push(Column::text("goal").at_least(9));
    columns
}

/// Measures and shows the comparison.
pub(super) fn run<L: FnMut(String)>(
    options: &Options,
    setting: &Setting<'_>,
    interrupted: &AtomicBool,
    report: &mut Report<L>,
) -> Result<(), BenchError> {
    report.note(
        "Reads of 4 B over shared memory; the client sleeps between requests. µs; CPU: client and server together, for each request.",
    );
    report.note("Goal: median at most 1.2 of the better one; where sleeping is better, CPU at most 1.2 of sleeping. Ratios are medians over the series, and their intervals decide.");
    let layout = report.layout(&Table::new(columns()));
    report.line("");
    report.lines(layout.head());
    let places = PLACES
        .iter()
        .filter(|place| place.placement == Placement::Same || setting.cores.are_two());
    for place in places {
        for rate in RATES {
            let rate = rate
                .map(str::parse)
                .transpose()
                .map_err(BenchError::Option)?;
            let figures = measure_policies(options, setting, *place, rate, interrupted)?;
            let row = Row::new(*place, rate, &figures);
            report.lines(layout.row(row.cells()));
            report.row(&row)?;
        }
    }
    Ok(())
}

/// Measures all policies at one place and rate, in each series in the opposite order of the previous one.
fn measure_policies(
    options: &Options,
    setting: &Setting<'_>,
    place: Place,
    rate: Option<RequestRate>,
    interrupted: &AtomicBool,
) -> Result<Vec<OfSeries>, BenchError> {
    let mut all = Vec::new();
    let progress = Progress::new("series", options.series);
    for series in 0..options.series {
        progress.show(series);
        let mut figures = [None, None, None];
        let mut turn: Vec<_> = POLICIES.iter().zip(&mut figures).collect();
        if series % 2 == 1 {
            turn.reverse();
        }
        for (policy, figures) in turn {
            // The two sides would wait for each other until the system takes the processor away.
            if *policy == Wait::Spin && place.placement == Placement::Same {
                continue;
            }
            check_interrupt(interrupted)?;
            *figures = Some(measure(setting, place, *policy, rate, interrupted)?);
        }
        all.push(figures);
    }
    Ok(all)
}

/// Measures one series with fresh processes.
fn measure(
    setting: &Setting<'_>,
    place: Place,
    policy: Wait,
    rate: Option<RequestRate>,
    interrupted: &AtomicBool,
) -> Result<Figures, BenchError> {
    let payload = Payload::SCALAR;
    let pair = Pair {
        subject: Subject::Own(Role::TaktSharedMemory),
        placement: place.placement,
        wait: policy,
    };
    let busy = if place.busy {
        let mut command = Busy.command(setting.program)?;
        Some(Process::start("the busy process", &mut command)?)
    } else {
        None
    };
    let mut assignment = pair.assignment(Role::TaktSharedMemory, setting);
    assignment.ordinary = true;
    let mut command = assignment.command(setting.program)?;
    let server = Process::start(&pair.name(), &mut command)?;
    let operation =
        LocalSession::open(&[payload])?.operation(Service::Read, payload, Access::InPlace)?;
    let mut connection = pair.connect(server.ready(), setting)?;
    let before = affinity::available()?;
    affinity::pin(setting.cores.client_core(place.placement))?;
    let figures = measure_client(&mut *connection, &operation, rate, server.id(), interrupted);
    affinity::restrict(&before)?;
    drop(connection);
    drop(server);
    drop(busy);
    figures
}

fn measure_client(
    connection: &mut dyn RoundTrip,
    operation: &Operation,
    rate: Option<RequestRate>,
    server: u32,
    interrupted: &AtomicBool,
) -> Result<Figures, BenchError> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is at most 1 MHz"
    )]
    let requests = rate.map_or(BACK_TO_BACK, |rate| {
        (rate.hertz() * SERIES.as_secs_f64()) as u64
    });
    let mut pace = Pace::new(rate, false);
    let mut durations = Samples::nanos();
    // The pace is the same as later, because requests back to back would teach the policy something else.
    round_trip::measure_at(
        connection,
        operation,
        &mut pace,
        LEARNING,
        &mut durations,
        interrupted,
    )?;
    let mut durations = Samples::nanos();
    let cpu_before = cpu_time(server)?;
    pace.begin();
    for _ in 0..requests {
        check_interrupt(interrupted)?;
        pace.wait();
        durations.time(|| connection.round_trip())?;
    }
    let cpu = cpu_time(server)?.saturating_sub(cpu_before);
    Ok(Figures {
        durations,
        cpu,
        requests,
    })
}

/// Returns the processor time of the server process and of this process.
fn cpu_time(server: u32) -> Result<Duration, BenchError> {
    let account = |id| {
        process::cpu_time(id).ok_or_else(|| BenchError::Process {
            what: format!("process {id}"),
            reason: "has no processor time in /proc/PID/schedstat".to_owned(),
        })
    };
    Ok(account(server)? + account(std::process::id())?)
}

/// Assignment of a process that keeps one processor busy.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Busy;

impl Assignment for Busy {
    const NAME: &'static str = "busy";

    fn carry_out(self) -> Result<(), BenchError> {
        parent::until_input_ends(None, |announce, stop| {
            announce("");
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(micros: u64, cpu: u64) -> Option<Figures> {
        let mut durations = Samples::nanos();
        durations.record(micros * 1000);
        Some(Figures {
            durations,
            cpu: Duration::from_micros(cpu),
            requests: 1,
        })
    }

    /// Returns the row of series, each with microseconds and processor time of spin, adaptive and sleep.
    fn row(series: &[[Option<(u64, u64)>; 3]]) -> Row {
        let figures = |it: Option<(u64, u64)>| it.and_then(|(micros, cpu)| figures(micros, cpu));
        let series: Vec<OfSeries> = series.iter().map(|it| it.map(figures)).collect();
        Row::new(PLACES[1], None, &series)
    }

    #[test]
    fn processor_time_counts_where_sleeping_is_better() {
        let six = |spin, adaptive, sleep| row(&[[spin, Some(adaptive), Some(sleep)]; 6]);
        let spinning_is_better = six(Some((10, 500)), (11, 400), (70, 100));
        assert_eq!(spinning_is_better.goal, GoalVerdict::Shown);
        assert_eq!(spinning_is_better.cpu_ratio, None);
        let too_busy = six(Some((700, 500)), (70, 150), (70, 100));
        assert!((too_busy.cpu_ratio.unwrap().value - 1.5).abs() < 1e-9);
        assert_eq!(too_busy.goal, GoalVerdict::Refuted);
        let too_slow = six(Some((10, 500)), (13, 100), (70, 100));
        assert_eq!(too_slow.goal, GoalVerdict::Refuted);
        let one_core = six(None, (71, 101), (70, 100));
        assert_eq!(one_core.goal, GoalVerdict::Shown);
        assert!(one_core.cpu_ratio.is_some());
        // Processor time counts, and there is none to compare with.
        let unknown = six(None, (71, 101), (70, 0));
        assert_eq!(unknown.cpu_ratio, None);
        assert_eq!(unknown.goal, GoalVerdict::Undecided);
    }

    #[test]
    fn only_intervals_over_the_series_decide() {
        let series = |adaptive| [Some((10, 500)), Some((adaptive, 400)), Some((70, 100))];
        // One series, however clear, decides nothing.
        assert_eq!(row(&[series(10)]).goal, GoalVerdict::Undecided);
        assert_eq!(row(&[series(30)]).goal, GoalVerdict::Undecided);
        // The median of the series reaches the goal, and its interval does not.
        let mixed = [10, 10, 11, 11, 12, 14].map(series);
        let mixed = row(&mixed);
        assert!(mixed.median_ratio.unwrap().value < GOAL);
        assert_eq!(mixed.goal, GoalVerdict::Undecided);
        assert_eq!(row(&[]).goal, GoalVerdict::Undecided);
        // Series that are slow as a whole have the same ratios.
        let slow = [1, 2, 3, 4, 5, 6].map(|factor| {
            [
                Some((10 * factor, 500)),
                Some((11 * factor, 400)),
                Some((70 * factor, 100)),
            ]
        });
        assert_eq!(row(&slow).goal, GoalVerdict::Shown);
    }
}
