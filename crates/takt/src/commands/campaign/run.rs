//! `takt campaign run`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::IntoDiagnostic;
use serde_json::json;
use takt_campaign::{
    CampaignLab, CampaignObserver, CampaignPlan, CampaignProgress, CampaignRow, CampaignRunOptions,
    CampaignStart, run_campaign_in_lab,
};
use takt_lab::host::{HostFiles, host_facts};
use takt_rt::interrupt::Interrupt;
use takt_scenario::CampaignBackend;

use super::advice;
use crate::arguments::{CampaignBackendName, CampaignRunArguments};
use crate::output::joined;
use crate::{explain, output};

/// Interval of the lines of progress on a terminal.
const INTERVAL: Duration = Duration::from_millis(200);

/// Interval of the lines of progress if the error output is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

pub(super) fn run(arguments: &CampaignRunArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let mut plan = CampaignPlan::read(&arguments.file).map_err(|error| advice::plan(&error))?;
    if !arguments.backends.is_empty() {
        let backends = backends(&arguments.backends)?;
        plan.set_backends(backends)
            .map_err(|error| advice::plan(&error))?;
    }
    let directory = directory(arguments, &plan.file.name);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut facts = host_facts(&HostFiles::of_this_host());
    facts.push(("processors".to_owned(), processors.to_string()));
    let options = CampaignRunOptions {
        directory: directory.clone(),
        resume: arguments.resume,
        shard: arguments.shard,
        jobs: arguments.jobs.map_or(processors, usize::from),
        takt: env!("CARGO_PKG_VERSION").to_owned(),
        facts,
    };
    let plan = Arc::new(plan);
    let mut shown = Shown {
        name: plan.file.name.clone(),
        directory: directory.display().to_string(),
        json: arguments.json,
        is_measured: plan.backends().iter().any(|it| it.is_measured()),
        last: None,
    };
    let lab = CampaignLab::new(std::env::current_exe().into_diagnostic()?);
    let outcome = run_campaign_in_lab(&plan, &options, &lab, &mut shown, &interrupt.flag());
    output::clear_status();
    let outcome = outcome.map_err(|error| advice::explained(&error))?;
    #[cfg(feature = "parquet")]
    if let Some(file) = &arguments.parquet {
        super::parquet::write(&directory, file)?;
    }
    output::tell(
        arguments.json,
        || {
            json!({
                "event": "ended",
                "directory": directory.display().to_string(),
                "rows": outcome.rows,
                "computed": outcome.computed,
                "failed": outcome.failed,
            })
        },
        format_args!(
            "{} rows in {}, {} of them computed now",
            outcome.rows,
            directory.display(),
            outcome.computed
        ),
    );
    match outcome.failed {
        0 => Ok(()),
        failed => Err(explain::with_help(
            format!("{failed} of {} rows have no quantities", outcome.rows),
            "The rows have the reason as `failure`: a part of the scenario that no analysis models, or that the lab cannot run.",
        )),
    }
}

/// Returns the backends of the command line, each of which must be named once.
pub(in crate::commands) fn backends(
    names: &[CampaignBackendName],
) -> miette::Result<Vec<CampaignBackend>> {
    let backends = names.iter().map(|name| match name {
        CampaignBackendName::Simulate => CampaignBackend::Simulate,
        CampaignBackendName::Bounds => CampaignBackend::Bounds,
        CampaignBackendName::Uml => CampaignBackend::Uml,
        CampaignBackendName::Netns => CampaignBackend::Netns,
    });
    let backends: Vec<CampaignBackend> = backends.collect();
    let mut rest = backends.as_slice();
    while let Some((first, others)) = rest.split_first() {
        if others.contains(first) {
            let message = format!("--backend {} is given twice", first.name());
            return Err(explain::with_help(message, "Name each backend once."));
        }
        rest = others;
    }
    Ok(backends)
}

/// Returns the directory of the results.
fn directory(arguments: &CampaignRunArguments, name: &str) -> PathBuf {
    if let Some(directory) = &arguments.directory {
        return directory.clone();
    }
    // The name of a campaign may have characters that are special in paths and shells.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '-' });
    let name: String = plain.collect();
    let shard = arguments.shard;
    let shard = shard.map(|it| format!("-{}-of-{}", it.number, it.of));
    PathBuf::from(format!("campaign-{name}{}", shard.unwrap_or_default()))
}

/// Display of a run.
struct Shown {
    name: String,
    directory: String,
    json: bool,
    /// True if rows are measured on this host.
    is_measured: bool,
    /// Time of the last progress.
    last: Option<Instant>,
}

impl CampaignObserver for Shown {
    fn begins(&mut self, start: CampaignStart, progress: CampaignProgress) {
        let CampaignStart {
            present,
            damaged,
            is_extended,
        } = start;
        if self.json {
            output::line(json!({
                "event": "started",
                "name": self.name,
                "directory": self.directory,
                "rows": progress.of,
                "present": present,
                "damaged": damaged,
                "extended": is_extended,
            }));
            return;
        }
        let name = output::printable(&self.name);
        let rows = progress.of;
        output::line(format_args!("{name}: {rows} rows, in {}", self.directory));
        if self.is_measured {
            output::line("rows of netns are measured on this host: another run gives other times");
        }
        if present > 0 {
            output::line(format_args!("{present} rows are there"));
        }
        if is_extended {
            output::line(
                "the campaign has changed since they were computed; all of them belong to it",
            );
        }
        if damaged > 0 {
            output::warning(format!(
                "{damaged} damaged lines are not rows; their rows are computed again"
            ));
        }
    }

    fn row(&mut self, row: &CampaignRow, progress: CampaignProgress) {
        if self.json {
            let object = serde_json::to_value(row).unwrap_or_default();
            output::line(joined(json!({"event": "row"}), object));
            return;
        }
        let interval = match std::io::stderr().is_terminal() {
            true => INTERVAL,
            false => LINE_INTERVAL,
        };
        let last = *self.last.get_or_insert_with(Instant::now);
        if last.elapsed() >= interval {
            self.last = Some(Instant::now());
            output::status(line(progress));
        }
    }
}

/// Returns the progress in one line.
pub(in crate::commands) fn line(progress: CampaignProgress) -> String {
    let CampaignProgress { done, of, .. } = progress;
    let left = progress.remaining().map(|left| left.as_secs());
    let left = left.map_or(String::new(), |seconds| match seconds {
        0..=90 => format!(", {} s left", seconds.max(1)),
        91..=5400 => format!(", {} min left", seconds.div_ceil(60)),
        _ => format!(", {:.1} h left", seconds as f64 / 3600.0),
    });
    format!("{done} of {of} rows{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_the_remaining_time() {
        let shown = |seconds| {
            line(CampaignProgress {
                done: 10,
                of: 110,
                computed: 10,
                elapsed: Duration::from_secs(seconds),
            })
        };
        assert_eq!(shown(0), "10 of 110 rows, 1 s left");
        assert_eq!(shown(5), "10 of 110 rows, 50 s left");
        assert_eq!(shown(60), "10 of 110 rows, 10 min left");
        assert_eq!(shown(3600), "10 of 110 rows, 10.0 h left");
        assert_eq!(line(CampaignProgress::default()), "0 of 0 rows");
    }
}
