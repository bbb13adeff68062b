//! `takt wakeup`: wake-up latencies of real-time threads on this host.

mod histogram;
mod load;
mod result;

use std::time::Duration;

use miette::IntoDiagnostic;
use takt_rt::affinity;
use takt_rt::interrupt::Interrupt;
use takt_rt::priority::Policy;
use takt_rt::time_limit::TimeLimit;
use takt_wakeup::{Measurement, RealTimeOptions, ThreadPlan, ThreadProgress, WatchedCalls};

use super::late_causes;
use crate::arguments::WakeUpArguments;
use crate::{explain, output};

/// Interval of the progress line.
const STEP: Duration = Duration::from_millis(500);

/// Width of the progress line.
const WIDTH: usize = 78;
/// Characters of the longest latency of all other cores, with its name.
const OTHERS: usize = 18;

pub fn run(arguments: &WakeUpArguments) -> miette::Result<()> {
    if let Some(kind) = arguments.as_load {
        return load::be(kind);
    }
    if arguments.interval > arguments.run_for {
        return Err(explain::with_help(
            "too few wake-ups: --interval is longer than --for",
            "Use a shorter --interval, or a longer --for.",
        ));
    }
    let interrupt = Interrupt::install().into_diagnostic()?;
    // A result that cannot be saved is not measured.
    let histogram = arguments.histogram.as_deref();
    histogram.map(histogram::check).transpose()?;
    let cores = cores(arguments)?;
    let loads = load::start(&arguments.load)?;
    let recorder = match arguments.why {
        true => Some(late_causes::start(WatchedCalls::OnlySleep)?),
        false => None,
    };
    let recording = recorder.as_ref();
    let watch = recording.map(|it| late_causes::watch(it, arguments.above));
    let plans = cores.into_iter().map(|core| ThreadPlan {
        real_time: RealTimeOptions {
            policy: Some(Policy::Fifo(arguments.priority)),
            core: Some(core),
            ..RealTimeOptions::default()
        },
        work: None,
        watch: watch.clone(),
    });
    let measurement = Measurement::prepare(arguments.interval, plans.collect());
    let measurement = measurement.map_err(|error| {
        explain::with_help(error, "Use another --interval, for example --interval 1ms.")
    })?;
    recording.map_or(Ok(()), |it| late_causes::check(it))?;
    measurement.begin();
    let end = TimeLimit::after(arguments.run_for);
    while !end.is_over() && !interrupt.is_set() {
        if !arguments.json {
            output::status(progress_line(&measurement.progress(), arguments.interval));
        }
        interrupt.wait(Some(end.left().min(STEP)));
    }
    if !arguments.json {
        output::clear_status();
    }
    let ids = measurement.thread_ids();
    let results = measurement.finish();
    drop(loads);
    let results = result::Results {
        arguments,
        threads: &results,
    };
    results.print();
    let report = recorder.map(|it| it.finish());
    if let Some(report) = &report {
        let core = |thread| {
            let place = ids.iter().position(|id| *id == thread)?;
            results.threads.get(place)?.core
        };
        late_causes::print(report, arguments.json, &core);
    }
    if let Some(path) = histogram {
        histogram::write(path, &results)?;
    }
    report.as_ref().map_or(Ok(()), late_causes::outcome)
}

/// Returns the cores of the arguments, or all that this process may use.
fn cores(arguments: &WakeUpArguments) -> miette::Result<Vec<usize>> {
    let available = affinity::available().into_diagnostic()?;
    let Some(cores) = &arguments.cores else {
        return Ok(available.as_slice().to_vec());
    };
    let missing = |core: &&usize| !available.as_slice().contains(core);
    match cores.iter().find(missing) {
        None => Ok(cores.clone()),
        Some(core) => Err(explain::with_help(
            format!("core {core} is not available here (available: {available})"),
            "Name others with --core. `lscpu` lists the cores; a cpuset of the container or service may exclude some.",
        )),
    }
}

/// Returns the state of a measurement in one line of a terminal.
fn progress_line(threads: &[ThreadProgress], interval: Duration) -> String {
    let wake_ups = threads.iter().map(|it| it.wake_ups).max().unwrap_or(0);
    let seconds = interval.as_secs_f64() * wake_ups as f64;
    let mut line = format!("{seconds:.0} s, longest so far in µs:");
    for (index, it) in threads.iter().enumerate() {
        let micros = it.longest_nanos as f64 / 1000.0;
        let core = it.core.map(|core| format!("core {core} "));
        let part = format!("  {}{micros:.1}", core.unwrap_or_default());
        // The rest of many cores is one number, for which there has to be room.
        let is_last = index + 1 == threads.len();
        let room = if is_last { 0 } else { OTHERS };
        if line.chars().count() + part.chars().count() + room > WIDTH {
            let rest = threads.iter().skip(index).map(|it| it.longest_nanos).max();
            let rest = rest.unwrap_or(0) as f64 / 1000.0;
            return format!("{line}  others {rest:.1}");
        }
        line.push_str(&part);
    }
    line
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: WakeUpArguments,
    }

    /// The command had waited for the first wake-up, however long it took, and Ctrl-C had, too.
    #[test]
    fn an_interval_without_a_wake_up_is_refused() {
        let given = ["takt", "--interval", "876000h", "--for", "1h"];
        let refused = Command::try_parse_from(given).map(|it| run(&it.arguments));
        let text = refused.map(|it| it.map_err(|error| error.to_string()));
        assert!(
            matches!(&text, Ok(Err(text)) if text.contains("too few wake-ups")),
            "{text:?}"
        );
    }

    #[test]
    fn the_progress_of_many_cores_fits_a_terminal() {
        for count in [1, 2, 4, 128] {
            let thread = |core| ThreadProgress {
                core: Some(core),
                wake_ups: 3_600_000_000,
                longest_nanos: 1_234_567_890 + core as u64,
            };
            let threads: Vec<ThreadProgress> = (0..count).map(thread).collect();
            let line = progress_line(&threads, Duration::from_millis(1));
            assert!(line.chars().count() <= 80, "{line}");
            assert!(line.starts_with("3600000 s"), "{line}");
            assert_eq!(line.contains("others"), count > 2, "{line}");
        }
    }
}
