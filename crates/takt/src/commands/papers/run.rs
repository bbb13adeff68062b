//! `takt papers run`.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::IntoDiagnostic;
use serde_json::json;
use takt_campaign::{
    CampaignLab, CampaignObserver, CampaignProgress, CampaignRow, CampaignRunOptions,
    run_campaign_in_lab,
};
use takt_lab::host::{HostFiles, host_facts};
use takt_papers::{PaperLibrary, PaperResults, TracedCase};
use takt_rt::interrupt::Interrupt;
use takt_scenario::CampaignBackend;

use super::super::campaign;
use super::advice;
use super::effort::effort;
use crate::arguments::PapersRunArguments;
use crate::{explain, output};

/// Interval of the lines of progress on a terminal.
const INTERVAL: Duration = Duration::from_millis(200);

/// Interval of the lines of progress if the error output is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

pub(super) fn run(arguments: &PapersRunArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let library =
        PaperLibrary::read(&arguments.library).map_err(|error| advice::explained(&error))?;
    let chosen = library.chosen(&arguments.names);
    let chosen = chosen.map_err(|error| advice::explained(&error))?;
    let effort = effort(arguments.quick, arguments.messages);
    let backends = campaign::run::backends(&arguments.backends)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut facts = host_facts(&HostFiles::of_this_host());
    facts.push(("processors".to_owned(), processors.to_string()));
    let lab = CampaignLab::new(std::env::current_exe().into_diagnostic()?);
    let mut failed = 0;
    for campaign in library.campaigns(&chosen) {
        let plan = campaign.plan(effort, &backends);
        let plan = Arc::new(plan.map_err(|error| advice::explained(&error))?);
        let directory = campaign.directory(&arguments.directory, effort);
        let options = CampaignRunOptions {
            directory: directory.clone(),
            resume: true,
            shard: None,
            jobs: arguments.jobs.map_or(processors, usize::from),
            takt: env!("CARGO_PKG_VERSION").to_owned(),
            facts: facts.clone(),
        };
        let mut shown = Shown {
            name: campaign.name.clone(),
            last: None,
        };
        let began = Instant::now();
        let outcome = run_campaign_in_lab(&plan, &options, &lab, &mut shown, &interrupt.flag());
        output::clear_status();
        let outcome = outcome.map_err(|error| advice::of_results(&error))?;
        failed += outcome.failed;
        output::tell(
            arguments.json,
            || {
                json!({
                    "campaign": campaign.name,
                    "elements": campaign.elements,
                    "directory": directory.display().to_string(),
                    "rows": outcome.rows,
                    "computed": outcome.computed,
                    "failed": outcome.failed,
                    "elapsedS": began.elapsed().as_secs_f64(),
                })
            },
            format_args!(
                "{}: {} rows, {} of them computed now in {:.1} s",
                campaign.name,
                outcome.rows,
                outcome.computed,
                began.elapsed().as_secs_f64()
            ),
        );
    }
    // Traces are simulations.
    let has_traces = backends.is_empty() || backends.contains(&CampaignBackend::Simulate);
    for element in chosen.iter().filter(|_| has_traces) {
        if !element.traces.is_empty() {
            if std::io::stderr().is_terminal() {
                output::status(format!("{}: traces", element.name));
            }
            let most = effort.trace_messages(element);
            let traces = TracedCase::of(element, most, &interrupt.flag());
            output::clear_status();
            let written = traces.and_then(|traces| {
                PaperResults::write_traces(&arguments.directory, effort, element, &traces)
            });
            written.map_err(|error| advice::explained(&error))?;
        }
    }
    match failed {
        0 => Ok(()),
        failed => Err(explain::with_help(
            format!("{failed} rows have no quantities"),
            "The rows have the reason as `failure`; for bounds it is a part of the scenario that no analysis models.",
        )),
    }
}

/// Display of a run.
struct Shown {
    name: String,
    /// Time of the last progress.
    last: Option<Instant>,
}

impl CampaignObserver for Shown {
    fn row(&mut self, _: &CampaignRow, progress: CampaignProgress) {
        let interval = match std::io::stderr().is_terminal() {
            true => INTERVAL,
            false => LINE_INTERVAL,
        };
        let last = *self.last.get_or_insert_with(Instant::now);
        if last.elapsed() >= interval {
            self.last = Some(Instant::now());
            let line = campaign::run::line(progress);
            output::status(format!("{}: {line}", self.name));
        }
    }
}
